"""The transpose of a matrix by tiles: each block reads a tile by rows, and writes it by rows as well.

It teaches what shared memory and a barrier do: elements that one thread has read, another one writes. The
rows of the tile are one element longer than they need be, so that a column of it lies in different banks.
"""

import numpy as np

import anadrome as ad

TILE = 8


@ad.kernel
def transpose(x, y):
    tile = ad.shared.array((TILE, TILE + 1), np.float64)
    tx, ty = ad.threadIdx.x, ad.threadIdx.y
    row, column = ad.blockIdx.y * TILE + ty, ad.blockIdx.x * TILE + tx
    if row < x.shape[0] and column < x.shape[1]:
        tile[ty, tx] = x[row, column]
    ad.syncthreads()
    row, column = ad.blockIdx.x * TILE + ty, ad.blockIdx.y * TILE + tx
    if row < y.shape[0] and column < y.shape[1]:
        y[row, column] = tile[tx, ty]


@ad.jit
def transposed(x: np.ndarray) -> np.ndarray:
    rows, columns = x.shape
    y = np.zeros((columns, rows))
    transpose[((columns + TILE - 1) // TILE, (rows + TILE - 1) // TILE), (TILE, TILE)](x, y)
    return y


@ad.jit
def loss(x: np.ndarray, weights: np.ndarray) -> float:
    """Σ w_ji · x_ij²."""
    return np.sum(weights * transposed(x) ** 2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))


def reference(x: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sum(weights * x.T**2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=(20, 13)), random.normal(size=(13, 20))


def main() -> None:
    x, weights = sample(np.random.default_rng(0))
    value, (x_adj, _) = value_and_gradient(x, weights)
    print(f"Σ w xᵀ² = {value:.6f}, NumPy {reference(x, weights):.6f}")
    print(f"∂/∂x: largest error {np.max(np.abs(x_adj - 2.0 * x * weights.T)):.1e}")


if __name__ == "__main__":
    main()
