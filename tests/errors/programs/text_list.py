"""A list of run-time length in a string."""
import numpy as np

def program(x):
    squares = [v * v for v in x]
    print(f"squares: {squares}")
    return sum(squares)


ARGUMENTS = (np.ones(20),)
