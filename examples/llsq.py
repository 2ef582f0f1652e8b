"""Least squares: how far a polynomial is from the sign function, and the gradient by its coefficients.

    y(x) = ½ Σ_{i<n} (sign(t_i) - Σ_j x_j t_iʲ)²,    t_i = -1 + 2i / (n - 1)

GradBench eval `llsq`, after `llsq_obj` of cmpad.
"""

import numpy as np

import anadrome as ad


def polynomial(x: np.ndarray, t: float) -> float:
    """Σ_j x_j tʲ, the powers made one from the other."""
    value = 0.0
    power = 1.0
    for coefficient in x:
        value += coefficient * power
        power *= t
    return value


@ad.jit
def objective(x: np.ndarray, n: int) -> float:
    abscissae = [-1.0 + 2.0 * i / (n - 1) for i in range(n)]
    return 0.5 * sum((np.sign(t) - polynomial(x, t)) ** 2 for t in abscissae)


gradient = ad.grad(objective)


def main() -> None:
    n = 1024
    x = np.zeros(8)
    print(f"a polynomial of {len(x)} coefficients fitted to sign(t) at {n} points")
    for step in range(401):
        if step % 100 == 0:
            print(f"step {step:3d}    y(x) = {objective(x, n):.6f}")
        x = x - gradient(x, n) / n


if __name__ == "__main__":
    main()
