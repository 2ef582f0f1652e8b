"""A histogram with linear weights: each value is shared between the two bins around it.

It teaches atomic additions at two levels: each block counts in shared bins, and adds these to the histogram
in the end. Which bin a value falls into has no derivative; how it is shared between two bins has one.
"""

import math

import numpy as np

import anadrome as ad

BINS, THREADS = 16, 64


@ad.kernel
def histogram(values, weights, bins):
    own = ad.shared.array(BINS, np.float64)
    t = ad.threadIdx.x
    for k in range(t, BINS, ad.blockDim.x):
        own[k] = 0.0
    ad.syncthreads()
    i = ad.grid(1)
    if i < len(values):
        place = values[i] * (BINS - 1)
        first = min(math.floor(place), BINS - 2)
        share = place - first
        ad.atomic.add(own, first, weights[i] * (1.0 - share))
        ad.atomic.add(own, first + 1, weights[i] * share)
    ad.syncthreads()
    for k in range(t, BINS, ad.blockDim.x):
        ad.atomic.add(bins, k, own[k])


@ad.jit
def counted(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The histogram of values from 0 to 1."""
    bins = np.zeros(BINS)
    histogram[(len(values) + THREADS - 1) // THREADS, THREADS](values, weights, bins)
    return bins


@ad.jit
def loss(values: np.ndarray, weights: np.ndarray) -> float:
    """½ Σ bins²."""
    return 0.5 * np.sum(counted(values, weights) ** 2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))


def reference(values: np.ndarray, weights: np.ndarray) -> float:
    place = values * (BINS - 1)
    first = np.minimum(np.floor(place).astype(int), BINS - 2)
    share = place - first
    bins = np.bincount(first, weights * (1.0 - share), BINS) + np.bincount(first + 1, weights * share, BINS)
    return 0.5 * float(np.sum(bins**2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random.uniform(size=200), random.uniform(size=200)


def main() -> None:
    values, weights = sample(np.random.default_rng(0))
    before = 2.0 * reference(values, weights)
    for _ in range(200):
        _, (values_adj, _) = value_and_gradient(values, weights)
        values = np.clip(values - 2e-4 * values_adj, 0.0, 1.0)
    after = 2.0 * reference(values, weights)
    least = np.sum(weights) ** 2 / BINS
    print(f"Σ bins² was {before:.2f}; values moved against the gradient make it {after:.2f}")
    print(f"equal bins have {least:.2f}")


if __name__ == "__main__":
    main()
