"""Prefix sums of an array: within warps by shuffles, within blocks in shared memory, over the grid by
launches.

It teaches how threads pass values on without memory, and that the adjoint of a prefix sum is a suffix sum:
the derivative of `shfl_up_sync` brings values back down.
"""

import numpy as np

import anadrome as ad

THREADS, WARP = 128, 32
EVERY_LANE = 0xFFFFFFFF


def warp_scan(value):
    """The sum of this lane's value and those of all lanes below."""
    for step in (1, 2, 4, 8, 16):
        below = ad.shfl_up_sync(EVERY_LANE, value, step)
        if ad.laneid >= step:
            value += below
    return value


@ad.kernel
def block_scan(x, prefix, totals):
    of_warps = ad.shared.array(WARP, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    warp = t // WARP
    value = warp_scan(x[i] if i < len(x) else 0.0)
    if ad.laneid == WARP - 1:
        of_warps[warp] = value
    ad.syncthreads()
    before = 0.0
    for k in range(warp):
        before += of_warps[k]
    value += before
    if i < len(x):
        prefix[i] = value
    if t == ad.blockDim.x - 1:
        totals[ad.blockIdx.x] = value


@ad.kernel
def add_blocks_before(prefix, totals):
    i = ad.grid(1)
    if i < len(prefix) and ad.blockIdx.x > 0:
        prefix[i] += totals[ad.blockIdx.x - 1]


@ad.jit
def prefix_sums(x: np.ndarray) -> np.ndarray:
    """Up to THREADS² elements: the sums of blocks fit into one block."""
    blocks = (len(x) + THREADS - 1) // THREADS
    prefix, totals, whole = np.zeros(len(x)), np.zeros(blocks), np.zeros(1)
    block_scan[blocks, THREADS](x, prefix, totals)
    before = np.zeros(blocks)
    block_scan[1, THREADS](totals, before, whole)
    add_blocks_before[blocks, THREADS](prefix, before)
    return prefix


@ad.jit
def loss(x: np.ndarray, weights: np.ndarray) -> float:
    """Σ_i w_i · (x_0 + … + x_i)²."""
    return np.sum(weights * prefix_sums(x) ** 2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))


def reference(x: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sum(weights * np.cumsum(x) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=300), random.normal(size=300)


def main() -> None:
    x, weights = sample(np.random.default_rng(0))
    value, (x_adj, _) = value_and_gradient(x, weights)
    by_hand = np.cumsum((2.0 * weights * np.cumsum(x))[::-1])[::-1]
    print(f"Σ w · prefix² = {value:.6f}, NumPy {reference(x, weights):.6f}")
    print(f"the gradient is a suffix sum: largest error {np.max(np.abs(x_adj - by_hand)):.1e}")


if __name__ == "__main__":
    main()
