"""A bitonic sort of each row in shared memory.

It teaches that data may move as the data say: pairs are exchanged where they are out of order, and the
derivative remembers which were, a truth value for each step, to bring adjoints back to where the numbers
came from.
"""

import numpy as np

import anadrome as ad

WIDTH = 32
"""Elements of a row: a power of two."""


@ad.kernel
def sort_rows(x, ordered):
    row = ad.shared.array(WIDTH, np.float64)
    t = ad.threadIdx.x
    row[t] = x[ad.blockIdx.x, t]
    ad.syncthreads()
    length = 2
    while length <= WIDTH:
        distance = length // 2
        while distance > 0:
            partner = t ^ distance
            own, other = row[t], row[partner]
            ad.syncthreads()
            is_rising, is_lower = (t & length) == 0, t < partner
            if is_rising == is_lower:
                row[t] = min(own, other)
            else:
                row[t] = max(own, other)
            ad.syncthreads()
            distance //= 2
        length *= 2
    ordered[ad.blockIdx.x, t] = row[t]


@ad.jit
def loss(x: np.ndarray, weights: np.ndarray) -> float:
    """Σ w_k · x_(k)², where x_(k) is the k-th smallest of its row."""
    ordered = np.zeros(x.shape)
    sort_rows[len(x), WIDTH](x, ordered)
    return np.sum(weights * ordered**2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1))


def reference(x: np.ndarray, weights: np.ndarray) -> float:
    return float(np.sum(weights * np.sort(x, axis=1) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    apart = random.permuted(np.tile(np.linspace(-2.0, 2.0, WIDTH), (3, 1)), axis=1)
    return apart + 0.02 * random.normal(size=(3, WIDTH)), random.normal(size=(3, WIDTH))


def main() -> None:
    x, weights = sample(np.random.default_rng(0))
    value, (x_adj, _) = value_and_gradient(x, weights)
    ranks = np.argsort(np.argsort(x, axis=1), axis=1)
    by_hand = 2.0 * np.take_along_axis(weights, ranks, axis=1) * x
    print(f"Σ w x_(k)² = {value:.8f}, NumPy {reference(x, weights):.8f}")
    print(
        f"adjoints are back where the numbers came from: largest error {np.max(np.abs(x_adj - by_hand)):.1e}"
    )


if __name__ == "__main__":
    main()
