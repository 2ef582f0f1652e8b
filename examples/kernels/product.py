"""The product of two matrices by tiles: a block computes a tile of C, and shares tiles of A and B to do it.

It teaches that barriers stand in loops: one before the shared tiles are read, one before they are
overwritten. The derivative has both again, in the opposite order.
"""

import numpy as np

import anadrome as ad

TILE = 8


@ad.kernel
def product(a, b, c):
    a_tile = ad.shared.array((TILE, TILE), np.float64)
    b_tile = ad.shared.array((TILE, TILE), np.float64)
    tx, ty = ad.threadIdx.x, ad.threadIdx.y
    column, row = ad.grid(2)
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        is_inside = row < a.shape[0] and start + tx < a.shape[1]
        a_tile[ty, tx] = a[row, start + tx] if is_inside else 0.0
        is_inside = start + ty < b.shape[0] and column < b.shape[1]
        b_tile[ty, tx] = b[start + ty, column] if is_inside else 0.0
        ad.syncthreads()
        for k in range(TILE):
            total += a_tile[ty, k] * b_tile[k, tx]
        ad.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


@ad.jit
def loss(a: np.ndarray, b: np.ndarray) -> float:
    """½‖A·B‖²."""
    rows, columns = a.shape[0], b.shape[1]
    c = np.zeros((rows, columns))
    product[((columns + TILE - 1) // TILE, (rows + TILE - 1) // TILE), (TILE, TILE)](a, b, c)
    return 0.5 * np.sum(c**2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))


def reference(a: np.ndarray, b: np.ndarray) -> float:
    return 0.5 * float(np.sum((a @ b) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=(12, 20)), random.normal(size=(20, 9))


def main() -> None:
    a, b = sample(np.random.default_rng(0))
    value, (a_adj, b_adj) = value_and_gradient(a, b)
    c = a @ b
    print(f"½‖A·B‖² = {value:.6f}, NumPy {reference(a, b):.6f}")
    print(f"∂/∂A: largest error {np.max(np.abs(a_adj - c @ b.T)):.1e}")
    print(f"∂/∂B: largest error {np.max(np.abs(b_adj - a.T @ c)):.1e}")


if __name__ == "__main__":
    main()
