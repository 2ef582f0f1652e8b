"""Cross entropy of the softmax of each row: a block has a row, and its warp adds by shuffles.

It teaches reductions that every lane sees: `shfl_xor_sync` exchanges values in pairs, so that after five
steps each lane has the result. The largest element of a row is subtracted for the sake of rounding, and has
no effect on values or derivatives.
"""

import math

import numpy as np

import anadrome as ad

WARP = 32
EVERY_LANE = 0xFFFFFFFF


def largest_of_warp(value):
    for step in (16, 8, 4, 2, 1):
        value = max(value, ad.shfl_xor_sync(EVERY_LANE, value, step))
    return value


def sum_of_warp(value):
    for step in (16, 8, 4, 2, 1):
        value += ad.shfl_xor_sync(EVERY_LANE, value, step)
    return value


@ad.kernel
def softmax(logits, probabilities):
    row, columns = ad.blockIdx.x, logits.shape[1]
    largest = -math.inf
    for k in range(ad.threadIdx.x, columns, WARP):
        largest = max(largest, logits[row, k])
    largest = largest_of_warp(largest)
    total = 0.0
    for k in range(ad.threadIdx.x, columns, WARP):
        total += math.exp(logits[row, k] - largest)
    total = sum_of_warp(total)
    for k in range(ad.threadIdx.x, columns, WARP):
        probabilities[row, k] = math.exp(logits[row, k] - largest) / total


@ad.jit
def loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """The mean of -log p[label]."""
    probabilities = np.zeros(logits.shape)
    softmax[len(logits), WARP](logits, probabilities)
    return -sum(math.log(probabilities[i, label]) for i, label in enumerate(labels)) / len(labels)


value_and_gradient = ad.value_and_grad(loss)


def reference(logits: np.ndarray, labels: np.ndarray) -> float:
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    sums = np.log(np.sum(np.exp(shifted), axis=1))
    return float(np.mean(sums - shifted[np.arange(len(labels)), labels]))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return random.normal(size=(5, 70)), random.integers(0, 70, size=5)


def main() -> None:
    logits, labels = sample(np.random.default_rng(0))
    value, logits_adj = value_and_gradient(logits, labels)
    exponentials = np.exp(logits)
    by_hand = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    by_hand[np.arange(len(labels)), labels] -= 1.0
    print(f"cross entropy {value:.10f}, NumPy {reference(logits, labels):.10f}")
    error = np.max(np.abs(logits_adj - by_hand / len(labels)))
    print(f"∂/∂logits = (p - 1[label]) / n: largest error {error:.1e}")


if __name__ == "__main__":
    main()
