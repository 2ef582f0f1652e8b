"""k-means by Newton's method: the cost, its gradient, and the diagonal which is its whole Hessian.

    cost(C) = Σ_i min_j ‖p_i - c_j‖²,    direction = ∇cost / diag(H),    C ← C - direction

No term couples two coordinates of the centres, so H is diagonal, and H·1, one derivative of the gradient
along a vector of ones, is all of it.

GradBench eval `kmeans`; Bottou and Bengio, "Convergence properties of the k-means algorithms", 1994.
"""

import numpy as np

import anadrome as ad


@ad.jit
def cost(points: np.ndarray, centroids: np.ndarray) -> float:
    return sum(min(sum((p - c) ** 2) for c in centroids) for p in points)


@ad.jit
def direction(points: np.ndarray, centroids: np.ndarray) -> np.ndarray:
    """Newton's step, as GradBench wants it: the gradient divided by the diagonal of the Hessian."""
    slope = ad.grad(lambda c: cost(points, c))
    gradient, curvature = ad.jvp(slope, (centroids,), (np.ones_like(centroids),))
    return gradient / curvature


def main() -> None:
    random = np.random.default_rng(0)
    places = random.uniform(-5.0, 5.0, size=(4, 2))
    points = np.concatenate([place + random.normal(size=(250, 2)) for place in places])
    centroids = points[::250].copy()
    for step in range(8):
        print(f"step {step}    cost {cost(points, centroids):.4f}")
        centroids = centroids - direction(points, centroids)
    print("centres found:", np.round(centroids, 2).tolist())
    print("means drawn:  ", np.round(places, 2).tolist())


if __name__ == "__main__":
    main()
