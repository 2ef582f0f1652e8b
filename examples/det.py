"""The determinant by expansion by minors, and its gradient, the matrix of cofactors.

    det A = Σ_j (-1)ʲ A[0, j] det A[1:, all columns but j]

The recursion ends where one column is left. It takes about e·n! operations, and is meant to: it is a test
of scalar code, not of linear algebra. How deep it goes is known when it is compiled, for a matrix of at most
16 columns; each level is one loop in the compiled program.

GradBench eval `det`, after `det_by_minor` of cmpad.
"""

import numpy as np

import anadrome as ad


def without(columns: np.ndarray, j: int) -> np.ndarray:
    """The columns, less the one at place j."""
    return np.array([columns[i] if i < j else columns[i + 1] for i in range(len(columns) - 1)])


def minor(matrix: np.ndarray, columns: np.ndarray) -> float:
    """The determinant of the last rows of the matrix, as many as there are columns, at these columns."""
    size = len(columns)
    row = len(matrix) - size
    if size == 1:
        return matrix[row, columns[0]]
    return sum(
        (1 - 2 * (j % 2)) * matrix[row, columns[j]] * minor(matrix, without(columns, j)) for j in range(size)
    )


@ad.jit
def determinant(matrix: np.ndarray) -> float:
    return minor(matrix, np.arange(len(matrix)))


gradient = ad.grad(determinant)


def main() -> None:
    matrix = np.random.default_rng(0).uniform(size=(6, 6))
    value = determinant(matrix)
    cofactors = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    print(f"determinant by minors {value:.12f}, by LU {np.linalg.det(matrix):.12f}")
    print(f"largest difference of gradient and cofactors: {np.max(np.abs(gradient(matrix) - cofactors)):.1e}")


if __name__ == "__main__":
    main()
