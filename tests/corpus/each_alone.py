"""Each element goes through a loop of its own: roots, orbits, searches and walks, one beside the other."""

from __future__ import annotations

import math

import numpy as np

from tests.corpus.draw import N, given, normal, positive
from tests.corpus.harness import Program


def roots_of_products(a, b):
    total = 0.0
    for i in range(len(a)):
        x = 1.0
        while abs(x * x * x - a[i] * b[i]) > 1e-12:
            x = x - (x * x * x - a[i] * b[i]) / (3.0 * x * x)
        total += x
    return total


def kepler(mean, eccentricity, axis):
    radius = np.empty(len(mean))
    for i in range(len(mean)):
        e = 0.3 * math.tanh(eccentricity[i])
        anomaly = mean[i]
        for _ in range(50):
            step = (anomaly - e * math.sin(anomaly) - mean[i]) / (1.0 - e * math.cos(anomaly))
            anomaly -= step
            if abs(step) < 1e-13:
                break
        radius[i] = axis[i] * (1.0 - e * math.cos(anomaly))
    return radius.sum()


def oscillators(starts, stiffness, damping):
    total = 0.0
    for i in range(len(starts)):
        x, v = starts[i], 0.0
        for _ in range(20):
            v += 0.05 * (-stiffness[i] * x - damping * v)
            x += 0.05 * v
        total += x * x
    return total


def pendulums(starts, constants, steps):
    ends = np.zeros(len(starts))
    for i in range(len(starts)):
        x, v = starts[i], 0.0
        for _ in range(steps):
            v += 0.05 * (constants[1] - constants[0] * math.sin(x))
            x += 0.05 * v
        ends[i] = x
    return np.mean(ends**2)


def attractors(starts, constants):
    total = 0.0
    for i in range(starts.shape[0]):
        s = starts[i]
        for _ in range(18):
            change = [
                constants[0] * (s[1] - s[0]),
                s[0] * (constants[1] - s[2]) - s[1],
                s[0] * s[1] - constants[2] * s[2],
            ]
            s = s + 0.01 * np.array(change)
        total += s @ s
    return total


def bisections(low, weights):
    found = np.zeros(len(low))
    for i in range(len(low)):
        left, right = low[i], low[i] + 8.0
        for _ in range(40):
            middle = 0.5 * (left + right)
            if (middle - low[i]) ** 3 > 20.0:
                right = middle
            else:
                left = middle
        found[i] = 0.5 * (left + right) * weights[i]
    return found.sum()


def as_often_as_said(x, rates):
    total = 0.0
    for i in range(len(x)):
        v = x[i]
        for _ in range(3 * i % 7):
            v = v + rates[0] * math.sin(v)
        total += v * rates[1]
    return total


def rows_with_a_state(rows, weights):
    ends = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        h = 0.0
        for j in range(rows.shape[1]):
            h = 0.5 * h + weights[2] * math.tanh(weights[0] * h + weights[1] * rows[i, j])
        ends[i] = h
    return np.sum(ends**2)


def walks(steps, drift):
    highest = -10.0
    total = 0.0
    for i in range(steps.shape[0]):
        place, n = 0.0, 0
        while abs(place) < 0.6 and n < 4:
            place += drift + steps[i, n]
            n += 1
        total += place * n
        highest = max(highest, place)
    return total + highest


def tridiagonal_systems(diagonal, sides):
    n, m = sides.shape
    factors, x = np.zeros(m), np.zeros((n, m))
    for i in range(n):
        pivot = 2.0 + diagonal[i] ** 2
        factors[0] = -1.0 / pivot
        x[i, 0] = sides[i, 0] / pivot
        for j in range(1, m):
            pivot = 2.0 + diagonal[i] ** 2 + factors[j - 1]
            factors[j] = -1.0 / pivot
            x[i, j] = (sides[i, j] + x[i, j - 1]) / pivot
        for j in range(m - 2, -1, -1):
            x[i, j] -= factors[j] * x[i, j + 1]
    return np.sum(x * x)


PROGRAMS = (
    Program(roots_of_products, (positive(N), positive(N)), rtol=1e-5),
    Program(kepler, (positive(N), normal(N), positive(N)), rtol=1e-5),
    Program(oscillators, (normal(N), positive(N), positive())),
    Program(pendulums, (normal(N), positive(2), given(25))),
    Program(attractors, (normal(N, 3), given(np.array([10.0, 28.0, 8.0 / 3.0])))),
    Program(bisections, (normal(N), normal(N)), rtol=1e-5),
    Program(as_often_as_said, (normal(N), positive(2))),
    Program(rows_with_a_state, (normal(N, 6), normal(3))),
    Program(walks, (normal(N, 4), positive())),
    Program(tridiagonal_systems, (normal(N), normal(N, 4))),
)

REFUSED = ()
