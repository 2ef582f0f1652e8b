"""A Gaussian mixture with a Wishart prior: the log posterior, and its gradient.

N points x_i of D coordinates, K components with weights softmax(α), means μ_k and precisions Q_kᵀQ_k, where
Q_k is lower triangular with exp(q_k) on its diagonal and the strictly lower part packed column by column:

    F = -N (D/2·log 2π + LSE(α)) + Σ_i LSE_k β_ik + prior
    β_ik = α_k - ½‖Q_k (x_i - μ_k)‖² + Σ_j q_kj
    prior = K (n D log(γ/√2) - log Γ_D(n/2)) - ½γ² Σ_k ‖Q_k‖² + m Σ_kj q_kj,    n = D + m + 1

GradBench eval `gmm`, which corrects the objective of ADBench (Srajer, Kukelova and Fitzgibbon, 2018).
"""

import math

import numpy as np
from adbench_data import gmm_input

import anadrome as ad


def logsumexp(values: np.ndarray) -> float:
    largest = max(values)
    return largest + math.log(sum(math.exp(value - largest) for value in values))


def packed(row: int, column: int, dimension: int) -> int:
    """Where an element below the diagonal stands when the columns are packed one after the other."""
    return column * (2 * dimension - column - 3) // 2 + row - 1


def triangular_factors(q: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """The matrices Q_k."""
    components, dimension = q.shape
    return np.array(
        [
            [
                [
                    math.exp(q[k, r]) if r == c else lower[k, packed(r, c, dimension)] if r > c else 0.0
                    for c in range(dimension)
                ]
                for r in range(dimension)
            ]
            for k in range(components)
        ]
    )


def squared_norm(factor: np.ndarray, vector: np.ndarray) -> float:
    """‖Q v‖² for a lower triangular Q."""
    return sum(sum(factor[r, c] * vector[c] for c in range(r + 1)) ** 2 for r in range(len(vector)))


def log_multigamma(a: float, dimension: int) -> float:
    """log Γ_D(a) = D(D-1)/4·log π + Σ_{j=1..D} log Γ(a + (1-j)/2)."""
    constant = 0.25 * dimension * (dimension - 1) * math.log(math.pi)
    return constant + sum(math.lgamma(a + 0.5 * (1 - j)) for j in range(1, dimension + 1))


def log_wishart_prior(factors: np.ndarray, q: np.ndarray, gamma: float, m: int) -> float:
    components, dimension = q.shape
    degrees = dimension + m + 1
    scale = degrees * dimension * math.log(gamma / math.sqrt(2.0)) - log_multigamma(0.5 * degrees, dimension)
    return components * scale - 0.5 * gamma**2 * np.sum(factors**2) + m * np.sum(q)


@ad.jit
def log_posterior(
    alpha: np.ndarray,
    mu: np.ndarray,
    q: np.ndarray,
    lower: np.ndarray,
    x: np.ndarray,
    gamma: float,
    m: int,
) -> float:
    components, dimension = mu.shape
    factors = triangular_factors(q, lower)
    heights = alpha + np.sum(q, axis=1)
    likelihood = sum(
        logsumexp([heights[k] - 0.5 * squared_norm(factors[k], point - mu[k]) for k in range(components)])
        for point in x
    )
    constant = len(x) * (0.5 * dimension * math.log(2.0 * math.pi) + logsumexp(alpha))
    return likelihood - constant + log_wishart_prior(factors, q, gamma, m)


gradient = ad.grad(log_posterior, argnums=(0, 1, 2, 3))


def main() -> None:
    data = gmm_input(dimension=2, components=5)
    parameters = [data["alpha"], data["mu"], data["q"], data["l"]]
    rest = (data["x"], data["gamma"], data["m"])
    print(f"log posterior of {data['k']} components for {data['n']} points in {data['d']} dimensions")
    rate = 1e-4
    for step in range(101):
        if step % 20 == 0:
            print(f"step {step:3d}    F = {log_posterior(*parameters, *rest):.4f}")
        slopes = gradient(*parameters, *rest)
        parameters = [value + rate * slope for value, slope in zip(parameters, slopes, strict=True)]


if __name__ == "__main__":
    main()
