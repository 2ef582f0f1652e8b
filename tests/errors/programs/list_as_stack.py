"""A list of what is still to be done, in a program that prints."""

def program(x):
    stack, total = [x], 0.0
    print("begins with", x)
    while stack:
        v = stack.pop()
        total = total + v
        if v > 1.0:
            stack.append(0.5 * v)
            stack.append(0.25 * v)
    return total


ARGUMENTS = (5.0,)
