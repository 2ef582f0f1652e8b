"""Loops that end before their bound: fixed points, line searches, sweeps, walks, roots of each element."""

from __future__ import annotations

import numpy as np

from tests.corpus.draw import N, given, normal, positive
from tests.corpus.harness import Program


def fixed_point(k, b):
    x = np.zeros(len(b))
    for _ in range(200):
        step = 0.3 * (b - k * x - 0.1 * np.sin(x))
        x = x + step
        if np.max(np.abs(step)) < 1e-11:
            break
    return np.sum(x**2)


def conjugate_gradients(diagonal, b):
    x = np.zeros(len(b))
    r = b.copy()
    p = r.copy()
    rs = r @ r
    it = 0
    while np.sqrt(rs) > 1e-9 and it < len(b):
        ap = (2.0 + diagonal) * p - 0.1 * np.roll(p, 1) - 0.1 * np.roll(p, -1)
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
        it += 1
    return np.sum(x * b) + it


def line_search(x, target):
    for _ in range(6):
        g = 4.0 * x * (x * x - target)
        value = np.sum((x * x - target) ** 2)
        step = 1.0
        tries = 0
        while tries < 30 and np.sum(((x - step * g) ** 2 - target) ** 2) > value - 0.1 * step * np.sum(g * g):
            step *= 0.5
            tries += 1
        x = x - step * g
    return np.sum(x)


def sweeps_in_place(u, f):
    u = u.copy()
    for _ in range(400):
        change = 0.0
        for i in range(1, len(u) - 1):
            new = 0.4 * (u[i - 1] + u[i + 1] + 0.01 * f[i])
            change = max(change, abs(new - u[i]))
            u[i] = new
        if change < 1e-2:
            break
    return np.sum(u * u)


def roots_of_each(c):
    found = []
    for v in c:
        x = 1.0
        for _ in range(30):
            step = (x * x * x - v) / (3.0 * x * x)
            x -= step
            if abs(step) < 1e-12:
                break
        found.append(x)
    return np.sum(np.array(found))


def counting_down(x, limit):
    total = 0.0
    k = 2 * len(x) - 1
    while k > 0 and total < limit:
        total += np.exp(-(x[k // 2] ** 2))
        k -= 2
    return total + k


def at_most(x, most):
    y = x.copy()
    for i in range(most):
        y[i % len(y)] = 0.4 * y[i % len(y)] * np.cos(y[(i + 1) % len(y)])
        if np.sum(y * y) < 1e-3:
            break
    else:
        y = y * 2.0
    return np.sum(y)


def pushed_apart(x):
    x = x.copy()
    for i in range(len(x)):
        for _ in range(8):
            moved = False
            for j in range(len(x)):
                if j != i and abs(x[i] - x[j]) < 0.01:
                    x[j] = x[j] + 0.02 * np.sign(x[j] - x[i])
                    moved = True
            if not moved:
                break
    return np.sum(np.sin(x))


def first_passage(noise, drift):
    level = 0.0
    for i in range(len(noise)):
        level += drift + 0.05 * noise[i]
        if level > 0.9 * len(noise) * drift:
            return level * i
    return level


def implicit_steps(rates, y):
    for i in range(len(rates)):
        guess = y
        for _ in range(20):
            residual = guess + 0.1 * rates[i] * guess**3 - y
            guess = guess - residual / (1.0 + 0.3 * rates[i] * guess**2)
            if abs(residual) < 1e-13:
                break
        y = guess
    return y


PROGRAMS = (
    Program(fixed_point, (positive(N), normal(N))),
    Program(conjugate_gradients, (positive(N), normal(N))),
    Program(line_search, (positive(N), positive(N))),
    Program(sweeps_in_place, (normal(N), normal(N))),
    Program(roots_of_each, (positive(N),)),
    Program(counting_down, (normal(N), given(1e6))),
    Program(counting_down, (normal(N), given(2.0)), "counting_down_to_a_limit", sizes=(16, 32, 64)),
    Program(at_most, (normal(N), given(40))),
    Program(at_most, (normal(N), given(-3)), "no_iteration"),
    Program(at_most, (normal(N), given(2**62)), "a_bound_far_away"),
    Program(pushed_apart, (normal(N),)),
    Program(first_passage, (normal(N), given(0.3))),
    Program(implicit_steps, (positive(N), given(0.8))),
)
REFUSED = ()
