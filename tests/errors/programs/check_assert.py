"""An assertion that fails when the program runs."""

def program(x, n):
    total = 0.0
    for i in range(n):
        total += x / (i + 1)
        assert total < 5.0, f"total is {total} after {i} steps"
    return total


ARGUMENTS = (3.0, 10)
