"""Attention without the matrix of scores: keys and values pass through shared memory tile by tile.

It teaches memory of a thread's own (`ad.local.array`) and rescaling as it goes: each thread has a query,
and keeps the largest score so far, the sum of exponentials, and a weighted sum of values. The derivative
runs through the tiles in reverse, and needs no matrix of scores either.

Dao et al., "FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness", 2022.
"""

import math

import numpy as np

import anadrome as ad

TILE, WIDTH = 8, 4


@ad.kernel
def attend(queries, keys, values, out):
    key_tile = ad.shared.array((TILE, WIDTH), np.float64)
    value_tile = ad.shared.array((TILE, WIDTH), np.float64)
    query = ad.local.array(WIDTH, np.float64)
    total = ad.local.array(WIDTH, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    n = keys.shape[0]
    for d in range(WIDTH):
        query[d] = queries[min(i, queries.shape[0] - 1), d] / math.sqrt(WIDTH)
    largest, weight = -math.inf, 0.0
    for start in range(0, n, TILE):
        if start + t < n:
            for d in range(WIDTH):
                key_tile[t, d] = keys[start + t, d]
                value_tile[t, d] = values[start + t, d]
        ad.syncthreads()
        for k in range(min(TILE, n - start)):
            score = 0.0
            for d in range(WIDTH):
                score += query[d] * key_tile[k, d]
            highest = max(largest, score)
            shrunk, own = math.exp(largest - highest), math.exp(score - highest)
            for d in range(WIDTH):
                total[d] = total[d] * shrunk + own * value_tile[k, d]
            weight = weight * shrunk + own
            largest = highest
        ad.syncthreads()
    if i < queries.shape[0]:
        for d in range(WIDTH):
            out[i, d] = total[d] / weight


@ad.jit
def loss(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, weights: np.ndarray) -> float:
    """Σ w ⊙ softmax(Q·Kᵀ/√d)·V."""
    out = np.zeros(queries.shape)
    attend[(len(queries) + TILE - 1) // TILE, TILE](queries, keys, values, out)
    return np.sum(weights * out)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2, 3))


def reference(queries: np.ndarray, keys: np.ndarray, values: np.ndarray, weights: np.ndarray) -> float:
    scores = np.exp(queries @ keys.T / math.sqrt(WIDTH))
    return float(np.sum(weights * ((scores / np.sum(scores, axis=1, keepdims=True)) @ values)))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    queries, weights = random.normal(size=(2, 10, WIDTH))
    keys, values = random.normal(size=(2, 21, WIDTH))
    return queries, keys, values, weights


def main() -> None:
    arguments = sample(np.random.default_rng(0))
    value, (_, _, values_adj, weights_adj) = value_and_gradient(*arguments)
    print(f"Σ w · attention = {value:.10f}, NumPy {reference(*arguments):.10f}")
    print(f"it is linear in V, ⟨V, ∂/∂V⟩ = {np.sum(arguments[2] * values_adj):.10f}")
    print(f"and linear in w,   ⟨w, ∂/∂w⟩ = {np.sum(arguments[3] * weights_adj):.10f}")


if __name__ == "__main__":
    main()
