"""axpy, y ← a·x + y, with a thread for each element.

It teaches how a kernel is launched in the midst of an array program: it writes into an array that the
program has made, and the derivative of the program goes through the launch.
"""

import numpy as np

import anadrome as ad

THREADS = 128


@ad.kernel
def axpy(a, x, y):
    i = ad.grid(1)
    if i < len(y):
        y[i] += a * x[i]


@ad.jit
def loss(a: float, x: np.ndarray, y: np.ndarray) -> float:
    """½‖a·x + y‖²."""
    total = y.copy()
    axpy[(len(x) + THREADS - 1) // THREADS, THREADS](a, x, total)
    return 0.5 * np.sum(total**2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2))


def reference(a: float, x: np.ndarray, y: np.ndarray) -> float:
    return 0.5 * float(np.sum((a * x + y) ** 2))


def sample(random: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    return 2.0, random.normal(size=300), random.normal(size=300)


def main() -> None:
    a, x, y = sample(np.random.default_rng(0))
    value, (a_adj, x_adj, y_adj) = value_and_gradient(a, x, y)
    total = a * x + y
    print(f"½‖a·x + y‖² = {value:.6f}, NumPy {reference(a, x, y):.6f}")
    print(f"∂/∂a = {a_adj:.6f}, by hand {total @ x:.6f}")
    print(f"∂/∂x: largest error {np.max(np.abs(x_adj - a * total)):.1e}")
    print(f"∂/∂y: largest error {np.max(np.abs(y_adj - total)):.1e}")


if __name__ == "__main__":
    main()
