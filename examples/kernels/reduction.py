"""Sums over a block and over a grid: a tree in shared memory, then warps by shuffles and one atomic
addition.

It teaches two ways to add what many threads bring. `block_sums` halves the block in each step, and leaves a
number for each block; `grid_sum` goes over the array with the stride of the grid, adds within each warp
without memory, and has the first lane add to the total.
"""

import math

import numpy as np

import anadrome as ad

THREADS, WARP = 128, 32
EVERY_LANE = 0xFFFFFFFF


@ad.kernel
def block_sums(x, sums):
    part = ad.shared.array(THREADS, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    part[t] = math.exp(x[i]) if i < len(x) else 0.0
    ad.syncthreads()
    half = ad.blockDim.x // 2
    while half > 0:
        if t < half:
            part[t] += part[t + half]
        ad.syncthreads()
        half //= 2
    if t == 0:
        sums[ad.blockIdx.x] = part[0]


@ad.kernel
def grid_sum(x, total):
    value = 0.0
    for i in range(ad.grid(1), len(x), ad.gridsize(1)):
        value += x[i]
    for step in (16, 8, 4, 2, 1):
        value += ad.shfl_down_sync(EVERY_LANE, value, step)
    if ad.laneid == 0:
        ad.atomic.add(total, 0, value)


@ad.jit
def loss(x: np.ndarray) -> float:
    """log Σ exp x, in two launches."""
    blocks = (len(x) + THREADS - 1) // THREADS
    sums, total = np.zeros(blocks), np.zeros(1)
    block_sums[blocks, THREADS](x, sums)
    grid_sum[2, WARP](sums, total)
    return math.log(total[0])


value_and_gradient = ad.value_and_grad(loss)


def reference(x: np.ndarray) -> float:
    return math.log(np.sum(np.exp(x)))


def sample(random: np.random.Generator) -> tuple[np.ndarray]:
    return (random.normal(size=1000),)


def main() -> None:
    (x,) = sample(np.random.default_rng(0))
    value, x_adj = value_and_gradient(x)
    weights = np.exp(x) / np.sum(np.exp(x))
    print(f"log Σ exp x = {value:.10f}, NumPy {reference(x):.10f}")
    print(f"the gradient is softmax: largest error {np.max(np.abs(x_adj - weights)):.1e}")


if __name__ == "__main__":
    main()
