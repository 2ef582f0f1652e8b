"""An ordinary differential equation by Runge-Kutta steps, and the gradient of the last component at the end.

    y_0' = x_0,    y_i' = x_i y_{i-1},    y(0) = 0,    t from 0 to 2 in s steps of the classical fourth order

    exact: y_i(t) = tⁱ⁺¹ / (i+1)! · Π_{j≤i} x_j

GradBench eval `ode`, after `an_ode` of cmpad.
"""

import numpy as np

import anadrome as ad

FINAL_TIME = 2.0


def velocity(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.concatenate((x[:1], x[1:] * y[:-1]))


@ad.jit
def solve(x: np.ndarray, steps: int) -> np.ndarray:
    h = FINAL_TIME / steps
    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = velocity(x, y)
        k2 = velocity(x, y + 0.5 * h * k1)
        k3 = velocity(x, y + 0.5 * h * k2)
        k4 = velocity(x, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


@ad.jit
def last_component(x: np.ndarray, steps: int) -> float:
    return solve(x, steps)[-1]


gradient = ad.grad(last_component)


def main() -> None:
    x = np.random.default_rng(0).uniform(0.5, 1.5, size=8)
    exact = np.prod(x) * FINAL_TIME ** len(x) / np.prod(np.arange(1, len(x) + 1))
    print("steps    y_last          error      error of the gradient")
    for steps in (10, 20, 40, 80):
        value, slope = last_component(x, steps), gradient(x, steps)
        slope_error = np.max(np.abs(slope - exact / x))
        print(f"{steps:5d}    {value:.10f}    {abs(value - exact):.1e}    {slope_error:.1e}")


if __name__ == "__main__":
    main()
