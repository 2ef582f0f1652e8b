"""Simulations: ordinary differential equations, particles, orbits, ray marching, chains, populations."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.runtime import RaisedValueError
from tests.corpus.draw import N, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def lotka_volterra(state, rates, steps):
    x, y = state
    a, b, c, d = rates
    for _ in range(steps):
        x, y = x + 0.05 * (a * x - b * x * y), y + 0.05 * (c * x * y - d * y)
    return x * y


def runge_kutta_of_a_pendulum(angle, speed, length, steps):
    def slope(state):
        return np.array([state[1], -9.81 / length * math.sin(state[0])])

    state = np.array([angle, speed])
    h = 0.02
    for _ in range(steps):
        k1 = slope(state)
        k2 = slope(state + 0.5 * h * k1)
        k3 = slope(state + 0.5 * h * k2)
        k4 = slope(state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state[0] ** 2 + state[1]


def adaptive_runge_kutta(y, end):
    t, h = 0.0, 0.2
    while t < end - 1e-12:
        h = min(h, end - t)
        full = y + h * math.sin(y + t)
        half = y + 0.5 * h * math.sin(y + t)
        twice = half + 0.5 * h * math.sin(half + t + 0.5 * h)
        if abs(twice - full) < 0.02:
            y, t = twice, t + h
            h = 1.4 * h
        else:
            h = 0.5 * h
    return y


def implicit_euler_by_newton(y, rate, steps):
    for _ in range(steps):
        z = y
        for _ in range(4):
            z = z - (z - y + 0.1 * rate * z**3) / (1.0 + 0.3 * rate * z**2)
        y = z
    return y


def leapfrog_orbit(position, velocity, steps):
    for _ in range(steps):
        velocity = velocity - 0.01 * position / np.sum(position**2) ** 1.5
        position = position + 0.02 * velocity
        velocity = velocity - 0.01 * position / np.sum(position**2) ** 1.5
    return position @ velocity


def bodies_energy(positions, masses):
    n = len(masses)
    total = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = positions[i] - positions[j]
            total -= masses[i] * masses[j] / math.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2 + 0.01)
    return total


def bodies_in_motion(positions, velocities, masses, steps):
    n = len(masses)
    for _ in range(steps):
        forces = np.array(
            [
                sum(
                    masses[j]
                    * (positions[j] - positions[i])
                    / (np.sum((positions[j] - positions[i]) ** 2) + 0.1) ** 1.5
                    for j in range(n)
                )
                for i in range(n)
            ]
        )
        velocities = velocities + 0.05 * forces
        positions = positions + 0.05 * velocities
    return np.sum(positions**2)


def lennard_jones(positions):
    total = 0.0
    for i in range(len(positions)):
        for j in range(i):
            r2 = np.sum((positions[i] - positions[j]) ** 2)
            if r2 < 9.0:
                s = 1.0 / (r2 + 0.3) ** 3
                total += 4.0 * (s * s - s)
    return total


def hanging_chain(heights, stiffness):
    total = 0.0
    for i in range(1, len(heights)):
        length = math.sqrt(0.2**2 + (heights[i] - heights[i - 1]) ** 2)
        total += 0.5 * stiffness * (length - 0.25) ** 2 + 0.1 * heights[i]
    return total


def cloth_of_springs(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i > 0:
                total += (np.linalg.norm(x[i, j] - x[i - 1, j]) - 1.0) ** 2
            if j > 0:
                total += (np.linalg.norm(x[i, j] - x[i, j - 1]) - 1.0) ** 2
    return total


def bouncing_ball(height, speed, elasticity, steps):
    y, v = height, speed
    for _ in range(steps):
        v = v - 0.2
        y = y + 0.1 * v
        if y < 0.0:
            y = -y * elasticity
            v = -v * elasticity
    return y + v * v


def sphere_march(origin, direction, radius):
    def distance(p):
        return math.sqrt(p[0] ** 2 + p[1] ** 2 + p[2] ** 2) - radius

    p = origin
    travelled = 0.0
    for _ in range(40):
        step = distance(p)
        if step < 1e-9:
            break
        travelled += step
        p = p + step * direction
    return travelled


def marched_image(origins, center, radius):
    def depth(origin):
        z = origin[2]
        for _ in range(8):
            d = math.sqrt((origin[0] - center[0]) ** 2 + (origin[1] - center[1]) ** 2 + (z - center[2]) ** 2)
            z = z + 0.9 * (min(d - radius, abs(z + 3.0)))
        return z

    return sum(depth(origin) ** 2 for origin in origins)


def smooth_union_of_shapes(points, centers, radii, softness):
    total = 0.0
    for p in points:
        s = 0.0
        for c, r in zip(centers, radii):
            s += math.exp(-(np.linalg.norm(p - c) - r) / softness)
        total += (-softness * math.log(s)) ** 2
    return total


def disease_with_vaccination(rates, days):
    s, i, r = 0.98, 0.02, 0.0
    worst = 0.0
    for day in range(days):
        infected = rates[0] * s * i
        recovered = rates[1] * i
        vaccinated = rates[2] * s if day > 3 else 0.0
        s, i, r = s - infected - vaccinated, i + infected - recovered, r + recovered + vaccinated
        worst = max(worst, i)
    return worst + r * r


def robot_arm(angles, target):
    x, y, a = 0.0, 0.0, 0.0
    for k in range(len(angles)):
        a += angles[k]
        x += math.cos(a) / (k + 1)
        y += math.sin(a) / (k + 1)
    return (x - target[0]) ** 2 + (y - target[1]) ** 2


def inverse_kinematics(angles, target, rounds):
    for _ in range(rounds):
        x = math.cos(angles[0]) + math.cos(angles[0] + angles[1])
        y = math.sin(angles[0]) + math.sin(angles[0] + angles[1])
        e0, e1 = x - target[0], y - target[1]
        g0 = -e0 * y + e1 * x
        g1 = -e0 * math.sin(angles[0] + angles[1]) + e1 * math.cos(angles[0] + angles[1])
        angles = angles - 0.1 * np.array([g0, g1])
    return np.sum(angles**2)


def diffusion_on_a_graph(values, weights, sources, targets, steps):
    for _ in range(steps):
        flow = np.zeros(len(values))
        for e in range(len(sources)):
            d = weights[e] * (values[sources[e]] - values[targets[e]])
            flow[sources[e]] -= d
            flow[targets[e]] += d
        values = values + 0.1 * flow
    return np.sum(values**2)


def cellular_growth(field, threshold, steps):
    for _ in range(steps):
        total = np.roll(field, 1) + np.roll(field, -1)
        field = np.where(total > threshold, field * 1.1, field * 0.8 + 0.05 * total)
    return field


def damped_oscillators(x, k, steps):
    v = np.zeros(len(x))
    x = x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            v[i] += -0.1 * k[i] * x[i] - 0.05 * v[i]
            x[i] += 0.1 * v[i]
    return np.sum(x**2 + v**2)


def shooting_method(guess, steps):
    for _ in range(4):
        y, slope, w, wslope = 0.0, guess, 0.0, 1.0
        for _ in range(steps):
            y, slope = y + 0.1 * slope, slope - 0.1 * y**2
            w, wslope = w + 0.1 * wslope, wslope - 0.2 * y * w
        guess = guess - 0.5 * (y - 0.3) / (w + 0.1)
    return guess


def edges(random, size):
    return random.integers(0, size, 2 * size)


CUBIC = (4, 8, 16)
PROGRAMS = (
    Program(lotka_volterra, (given((1.0, 0.5)), given((1.1, 0.4, 0.3, 0.9)), whole(N))),
    Program(runge_kutta_of_a_pendulum, (normal(), normal(), positive(), whole(N)), sizes=CUBIC),
    Program(adaptive_runge_kutta, (given(0.4), given(1.7)), sizes=(1,)),
    Program(implicit_euler_by_newton, (normal(), positive(), whole(N)), sizes=CUBIC),
    Program(leapfrog_orbit, (given(np.array([1.0, 0.2])), given(np.array([0.1, 0.9])), whole(N))),
    Program(bodies_energy, (normal(N, 3), positive(N)), sizes=CUBIC),
    Program(bodies_in_motion, (normal(N, 2), normal(N, 2), positive(N), given(2)), sizes=CUBIC),
    Program(lennard_jones, (normal(N, 3, scale=2.0),), sizes=CUBIC),
    Program(hanging_chain, (normal(N), positive())),
    Program(cloth_of_springs, (normal(N, N, 3),), sizes=CUBIC, at=4),
    Program(bouncing_ball, (given(0.5), given(0.1), given(0.8), whole(3 * N))),
    Program(
        sphere_march,
        (given(np.array([0.1, 0.2, -3.0])), given(np.array([0.02, 0.0, 1.0])), given(1.0)),
        sizes=(1,),
        rtol=1e-5,
    ),
    Program(marched_image, (normal(N, 3, scale=0.3), normal(3), given(0.7))),
    Program(smooth_union_of_shapes, (normal(N, 3), normal(4, 3), positive(4), given(0.3))),
    Program(disease_with_vaccination, (given(np.array([0.6, 0.2, 0.02])), whole(2 * N))),
    Program(robot_arm, (normal(N), normal(2))),
    Program(inverse_kinematics, (normal(2), normal(2), whole(N))),
    Program(diffusion_on_a_graph, (normal(N), positive(2 * N), edges, edges, given(3))),
    Program(cellular_growth, (positive(N), given(2.1), given(4)), seed=1),
    Program(damped_oscillators, (normal(N), positive(N), given(4))),
    Program(shooting_method, (given(0.6), whole(N)), sizes=CUBIC),
)


def _checked(x):
    total = 0.0
    for v in x:
        if v < 0.0:
            raise ValueError("a negative mass")
        total += math.sqrt(v)
    return total


REFUSED = (
    Refused(
        "raised_by_the_program",
        lambda: ad.grad(_checked)(np.array([1.0, -1.0])),
        RaisedValueError,
        words="a negative mass",
    ),
)
