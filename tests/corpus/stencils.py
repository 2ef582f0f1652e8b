"""Stencils: one and two dimensions, boundaries, heat, waves, lattices, convolutions, several steps."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.runtime import IndexOutOfBounds
from tests.corpus.draw import N, given, normal, positive
from tests.corpus.harness import Program, Refused


def three_points(x):
    return np.sum((x[:-2] - 2.0 * x[1:-1] + x[2:]) ** 2)


def three_points_by_comprehension(x):
    return np.array([x[i - 1] * x[i] + x[i + 1] for i in range(1, len(x) - 1)])


def periodic_by_roll(x):
    return np.sum(np.sin(np.roll(x, 1) - np.roll(x, -1)) * x)


def periodic_by_modulo(x):
    n = len(x)
    return sum((x[(i + 1) % n] - x[(i - 1) % n]) ** 2 * x[i] for i in range(n))


def clamped_by_min_and_max(x):
    n = len(x)
    return sum(x[max(i - 1, 0)] * x[min(i + 1, n - 1)] * x[i] for i in range(n))


def mirrored_boundary(x):
    y = np.concatenate([x[1:2], x, x[-2:-1]])
    return np.sum((y[2:] - y[:-2]) ** 2 * y[1:-1])


def heat_steps(u, rate, steps):
    for _ in range(steps):
        u = u + rate * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
    return u**2


def heat_steps_in_place(u, rate, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + rate * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = new
    return np.sum(u**2)


def nonlinear_heat_by_slices(u, rate, steps):
    u = u.copy()
    for _ in range(steps):
        flux = np.tanh(np.diff(u))
        u[1:-1] += rate * (flux[1:] - flux[:-1])
    return np.sum(u**2)


def wave_equation(u, speed, steps):
    before, now = u, u
    for _ in range(steps):
        acceleration = np.roll(now, 1) - 2.0 * now + np.roll(now, -1)
        before, now = now, 2.0 * now - before + speed**2 * acceleration
    return np.sum(now**2)


def laplacian_two_dimensions(a):
    inner = a[1:-1, 1:-1] * -4.0 + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    return np.sum(inner**2)


def laplacian_by_loops(a):
    total = 0.0
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            total += (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4.0 * a[i, j]) ** 2
    return total


def convolution_one_dimension(x, kernel):
    k = len(kernel)
    return np.array([sum(x[i + j] * kernel[j] for j in range(k)) for i in range(len(x) - k + 1)])


def convolution_two_dimensions(image, kernel):
    n, m = kernel.shape
    rows, columns = image.shape[0] - n + 1, image.shape[1] - m + 1
    return sum(
        np.tanh(sum(image[i + p, j + q] * kernel[p, q] for p in range(n) for q in range(m)))
        for i in range(rows)
        for j in range(columns)
    )


def convolution_layer(images, kernels):
    n, size = len(images), kernels.shape[1]
    length = images.shape[1] - size + 1
    out = np.array(
        [
            [[sum(images[b, i + j] * k[j] for j in range(size)) for i in range(length)] for k in kernels]
            for b in range(n)
        ]
    )
    return np.sum(np.maximum(out, 0.0) ** 2)


def max_pooling(a):
    n, m = a.shape[0] // 2, a.shape[1] // 2
    return sum(
        max(a[2 * i, 2 * j], a[2 * i + 1, 2 * j], a[2 * i, 2 * j + 1], a[2 * i + 1, 2 * j + 1]) ** 2
        for i in range(n)
        for j in range(m)
    )


def total_variation(a):
    right = a[:, 1:] - a[:, :-1]
    down = a[1:, :] - a[:-1, :]
    return np.sum(np.sqrt(right[:-1] ** 2 + down[:, :-1] ** 2 + 0.01))


def lattice_boltzmann_one_dimension(f, relaxation, steps):
    for _ in range(steps):
        density = f[0] + f[1] + f[2]
        velocity = (f[1] - f[2]) / density
        square = velocity**2
        rest = density * (2.0 - square) / 3.0 * 0.5 + 0.5 * density * 0.2
        right = density * (1.0 + 3.0 * velocity + 3.0 * square) / 6.0
        left = density * (1.0 - 3.0 * velocity + 3.0 * square) / 6.0
        f = f + relaxation * (np.stack([rest, right, left]) - f)
        f = np.stack([f[0], np.roll(f[1], 1), np.roll(f[2], -1)])
    return np.sum(f**2)


def upwind_advection(u, speed, steps):
    for _ in range(steps):
        left = u - np.roll(u, 1)
        right = np.roll(u, -1) - u
        u = u - 0.3 * np.where(speed > 0.0, speed * left, speed * right)
    return np.sum(u**3)


def burgers(u, viscosity, steps):
    n = len(u)
    for _ in range(steps):
        u = np.array(
            [
                u[i]
                - 0.05 * u[i] * (u[(i + 1) % n] - u[i - 1])
                + viscosity * (u[(i + 1) % n] - 2.0 * u[i] + u[i - 1])
                for i in range(n)
            ]
        )
    return u


def red_black_sweeps(x, b, sweeps):
    x = x.copy()
    n = len(x)
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(1 + colour, n - 1, 2):
                x[i] = 0.5 * (b[i] + x[i - 1] + x[i + 1])
    return np.sum(x**2)


def smooth_then_difference(x, w):
    smooth = w * x[:-2] + (1.0 - 2.0 * w) * x[1:-1] + w * x[2:]
    return np.sum(np.abs(np.diff(smooth)) ** 1.5)


QUADRATIC = (8, 16, 32)
PROGRAMS = (
    Program(three_points, (normal(N),)),
    Program(three_points_by_comprehension, (normal(N),), sizes=(8, 16, 32)),
    Program(periodic_by_roll, (normal(N),)),
    Program(periodic_by_modulo, (normal(N),)),
    Program(clamped_by_min_and_max, (normal(N),)),
    Program(mirrored_boundary, (normal(N),)),
    Program(heat_steps, (normal(N), given(0.2), given(4))),
    Program(heat_steps_in_place, (normal(N), given(0.2), given(4))),
    Program(nonlinear_heat_by_slices, (normal(N), given(0.2), given(4))),
    Program(wave_equation, (normal(N), given(0.6), given(5))),
    Program(laplacian_two_dimensions, (normal(N, N),), at=8),
    Program(laplacian_by_loops, (normal(N, N),), sizes=(4, 8, 16)),
    Program(convolution_one_dimension, (normal(N), normal(3)), at=8),
    Program(convolution_two_dimensions, (normal(N, N), normal(3, 3)), at=6, sizes=(8, 12, 16)),
    Program(convolution_layer, (normal(4, N), normal(4, 3)), at=8),
    Program(max_pooling, (normal(2 * N, 2 * N),), at=4, sizes=(4, 8, 16)),
    Program(total_variation, (normal(N, N),), sizes=(4, 8, 16)),
    Program(lattice_boltzmann_one_dimension, (positive(3, N), given(0.7), given(3))),
    Program(upwind_advection, (normal(N), normal(N), given(4))),
    Program(burgers, (normal(N), given(0.1), given(3))),
    Program(red_black_sweeps, (normal(N), normal(N), given(3))),
    Program(smooth_then_difference, (normal(N), given(0.2))),
)


def _runs_over_the_edge(x):
    return sum(x[i] * x[i + 1] for i in range(len(x)))


REFUSED = (Refused("over_the_edge", lambda: ad.grad(_runs_over_the_edge)(np.ones(20)), IndexOutOfBounds),)
