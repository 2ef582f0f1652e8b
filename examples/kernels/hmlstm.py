"""The cell of a hierarchical multiscale LSTM: each column is flushed, copied or updated.

It teaches a map whose control differs from thread to thread: neighbours may take different branches, and
the derivative takes the same ones.

    z = 1             σ(i)·tanh g
    z = 0, z' = 0     c
    z = 0, z' = 1     σ(f)·c + σ(i)·tanh g

Chung, Ahn and Bengio, "Hierarchical multiscale recurrent neural networks", 2017; as a benchmark of
derivatives: Revels, Besard, Churavy, De Sutter and Vielma, "Dynamic automatic differentiation of GPU
broadcast kernels", 2018.
"""

import math

import numpy as np

import anadrome as ad

THREADS = 16


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@ad.kernel
def cell(c, f, i, g, z, below, out):
    column, row = ad.grid(2)
    if row >= c.shape[0] or column >= c.shape[1]:
        return
    if z[column] == 1:
        out[row, column] = sigmoid(i[row, column]) * math.tanh(g[row, column])
    elif below[column] == 0:
        out[row, column] = c[row, column]
    else:
        kept = sigmoid(f[row, column]) * c[row, column]
        out[row, column] = kept + sigmoid(i[row, column]) * math.tanh(g[row, column])


@ad.jit
def loss(
    c: np.ndarray, f: np.ndarray, i: np.ndarray, g: np.ndarray, z: np.ndarray, below: np.ndarray
) -> float:
    """The sum of all outputs, so that the gradient holds the partials."""
    rows, columns = c.shape
    out = np.zeros_like(c)
    cell[((columns + THREADS - 1) // THREADS, (rows + THREADS - 1) // THREADS), (THREADS, THREADS)](
        c, f, i, g, z, below, out
    )
    return np.sum(out)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2, 3))


def reference(
    c: np.ndarray, f: np.ndarray, i: np.ndarray, g: np.ndarray, z: np.ndarray, below: np.ndarray
) -> float:
    new = np.tanh(g) / (1.0 + np.exp(-i))
    return float(np.sum(np.where(z == 1, new, np.where(below == 0, c, c / (1.0 + np.exp(-f)) + new))))


def sample(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    c, f, i, g = random.uniform(size=(4, 20, 30))
    return c, f, i, g, random.integers(0, 2, size=30), random.integers(0, 2, size=30)


def main() -> None:
    arguments = sample(np.random.default_rng(0))
    value, (c_adj, *_) = value_and_gradient(*arguments)
    print(f"sum of outputs {value:.10f}, NumPy {reference(*arguments):.10f}")
    z, below = arguments[4:]
    for words, columns in (
        ("flushed", z == 1),
        ("copied", (z == 0) & (below == 0)),
        ("updated", (z == 0) & (below == 1)),
    ):
        mean = np.mean(c_adj[:, columns])
        print(f"{np.count_nonzero(columns):2d} columns are {words}: mean ∂/∂c = {mean:.4f}")


if __name__ == "__main__":
    main()
