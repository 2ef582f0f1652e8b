"""A fit of rates to measurements, through an adaptive method of Runge and Kutta (Dormand and Prince)."""

import numpy as np

import anadrome as ad


def slope(y, p):
    """A predator, its prey, and what one takes of the other."""
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def solve(p, y, end: float):
    """The state at the end, with errors of a step below 1e-8."""
    t, h = 0.0, 0.01
    while t < end:
        h = min(h, end - t)
        k1 = slope(y, p)
        k2 = slope(y + h * (k1 / 5), p)
        k3 = slope(y + h * (3 / 40 * k1 + 9 / 40 * k2), p)
        k4 = slope(y + h * (44 / 45 * k1 - 56 / 15 * k2 + 32 / 9 * k3), p)
        k5 = slope(y + h * (19372 / 6561 * k1 - 25360 / 2187 * k2 + 64448 / 6561 * k3 - 212 / 729 * k4), p)
        k6 = slope(
            y
            + h * (9017 / 3168 * k1 - 355 / 33 * k2 + 46732 / 5247 * k3 + 49 / 176 * k4 - 5103 / 18656 * k5),
            p,
        )
        z = y + h * (35 / 384 * k1 + 500 / 1113 * k3 + 125 / 192 * k4 - 2187 / 6784 * k5 + 11 / 84 * k6)
        k7 = slope(z, p)
        e = h * (
            71 / 57600 * k1 - 71 / 16695 * k3 + 71 / 1920 * k4 - 17253 / 339200 * k5 + 22 / 525 * k6 - k7 / 40
        )
        error = np.sqrt(np.sum(e * e)) / 1e-8
        if error < 1.0:
            t = t + h
            y = z
        h = h * min(5.0, max(0.2, 0.9 * (error + 1e-10) ** -0.2))
    return y


def misfit(p, times, seen) -> float:
    """The sum of squares over measurements."""
    y = np.array([1.0, 1.0])
    total, t = 0.0, 0.0
    for i in range(times.shape[0]):
        y = solve(p, y, times[i] - t)
        t = times[i]
        total = total + np.sum((y - seen[i]) ** 2)
    return total


def arguments():
    rng = np.random.default_rng(0)
    times = np.linspace(0.5, 3.0, 6)
    return np.array([1.5, 1.0, 1.0, 3.0]), times, rng.uniform(0.5, 2.0, (6, 2))


gradient = ad.grad(misfit)
hessian = ad.hessian(misfit)
