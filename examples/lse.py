"""LogSumExp: a smooth maximum, computed without overflow, and its gradient.

    LSE(x) = log Σ_i exp(x_i) = a + log Σ_i exp(x_i - a),    a = max_i x_i

GradBench eval `lse`.
"""

import numpy as np

import anadrome as ad


@ad.jit
def logsumexp(x: np.ndarray) -> float:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


gradient = ad.grad(logsumexp)


def main() -> None:
    x = np.random.default_rng(0).uniform(-100.0, 100.0, size=10_000)
    weights = gradient(x)
    print(f"LSE of {len(x)} numbers: {logsumexp(x):.6f} (their maximum: {np.max(x):.6f})")
    print(f"its gradient, the softmax, sums to {np.sum(weights):.12f}, largest {np.max(weights):.6f}")


if __name__ == "__main__":
    main()
