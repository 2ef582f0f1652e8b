"""Transforms inside programs: vmap, grad of grad, jvp of vjp, Hessians, Jacobians, three levels, closures."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.errors.api import NonScalarOutput
from anadrome.errors.runtime import SizeMismatch
from tests.corpus.draw import N, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def cubic_form(x):
    return np.sum(np.sin(x) * x**2) * np.sum(x)


def gradient_norm(x):
    g = ad.grad(cubic_form)(x)
    return np.sum(g * g)


def value_and_gradient(x):
    value, g = ad.value_and_grad(lambda v: np.sum(v**3))(x)
    return value * np.sum(g)


def gradient_step(x, rate):
    for _ in range(3):
        x = x - rate * ad.grad(lambda v: np.sum(np.cos(v) + 0.5 * v**2))(x)
    return np.sum(x**2)


def hessian_trace(x):
    return np.trace(ad.hessian(lambda v: np.sum(v**3) + v[0] * v[1] * v[2])(x))


def hessian_vector_product(x, v):
    return np.sum(ad.hvp(cubic_form, (x,), (v,)) * v)


def hessian_of_a_quadratic_form(a):
    return np.sum(ad.hessian(lambda x: x @ a @ x)(a[0]) ** 2)


def jacobian_determinant(x):
    j = ad.jacfwd(lambda v: np.array([v[0] * v[1], v[0] + math.sin(v[1])]))(x)
    return j[0, 0] * j[1, 1] - j[0, 1] * j[1, 0]


def both_jacobians(x):
    def f(v):
        return np.array([v[0] * v[1] * v[2], np.sum(v**2)])

    return np.sum(ad.jacrev(f)(x) * ad.jacfwd(f)(x))


def forward_of_forward(x, v):
    def slope(y):
        return ad.jvp(cubic_form, (y,), (v,))[1]

    return ad.jvp(slope, (x,), (v,))[1]


def pullback_used_twice(x):
    out, pull_back = ad.vjp(lambda v: np.tanh(v) * np.sum(v), x)
    (one,) = pull_back(out)
    (other,) = pull_back(np.ones(len(x)))
    return np.sum(one * other)


def pushforward_of_a_pullback(x, v):
    def pulled(y):
        return ad.vjp(cubic_form, y)[1](1.0)[0]

    return np.sum(ad.jvp(pulled, (x,), (v,))[1] ** 2)


def third_derivative(x):
    return ad.grad(ad.grad(ad.grad(lambda v: math.sin(v) * v**3)))(x)


def perturbation_confusion(x):
    return ad.grad(lambda v: v * ad.grad(lambda w: v + w)(1.0))(x) * x


def closure_between_levels(x, y):
    def outer(v):
        inner = ad.grad(lambda w: v * w**2 + math.sin(v * w) * y)(x)
        return inner * v

    return ad.grad(outer)(y) * x


def inner_gradient_in_a_loop(x):
    total = 0.0
    for v in x:
        total += ad.grad(lambda w: w**3 + total * w)(v)
    return total


def inner_gradient_in_a_comprehension(x):
    return sum(ad.grad(lambda w: math.exp(w) * w)(v) * v for v in x)


def inner_gradient_under_a_branch(x, y):
    if x > 0.0:
        slope = ad.grad(lambda v: v**3 * y)(x)
    else:
        slope = x * y
    return slope * slope


def inner_gradient_of_a_loop(x, n):
    def iterate(v):
        for _ in range(n):
            v = math.sin(v) + 0.5 * v
        return v

    return ad.grad(iterate)(x) * x


def inner_gradient_of_a_while(x):
    def root(v):
        r = v
        while abs(r * r - v) > 1e-10:
            r = 0.5 * (r + v / r)
        return r

    return ad.grad(root)(x) * x**2


def inner_gradient_of_a_write(x):
    def f(v):
        y = v.copy()
        for i in range(1, len(y)):
            y[i] = y[i] * y[i - 1] + 0.5
        return np.sum(y)

    return np.sum(ad.grad(f)(x) ** 2)


def mapped(x):
    return np.sum(ad.vmap(lambda v: math.sin(v) * v)(x))


def mapped_with_a_branch(x):
    def one(v):
        if v > 0.0:
            return math.sqrt(v)
        return v * v

    return ad.vmap(one)(x)


def mapped_with_a_while(x):
    def one(v):
        while abs(v) > 0.3:
            v = v * 0.6
        return v * v

    return np.sum(ad.vmap(one)(x))


def mapped_over_two(a, x):
    return np.sum(ad.vmap(lambda row, v: np.dot(row, row) * v)(a, x))


def mapped_with_a_shared_argument(a, x):
    return np.sum(ad.vmap(lambda row, shared: np.tanh(row @ shared), in_axes=(0, None))(a, x))


def mapped_over_columns(a):
    return np.sum(ad.vmap(lambda column: np.sum(column) ** 2, in_axes=1)(a))


def mapped_twice(a):
    return np.sum(ad.vmap(ad.vmap(lambda v: v**3))(a) * a)


def mapped_gradient(a):
    return np.sum(ad.vmap(ad.grad(lambda row: np.sum(np.sin(row) * row)))(a) ** 2)


def gradient_of_mapped(x, w):
    return np.sum(ad.grad(lambda u: np.sum(ad.vmap(lambda v: np.tanh(u @ v))(x)))(w) ** 2)


def mapped_loop(x, n):
    def one(v):
        for k in range(n):
            v = v * v * 0.5 + k * 0.1
        return v

    return np.sum(ad.vmap(one)(x))


def mapped_writes(a):
    def one(row):
        y = row.copy()
        for i in range(1, len(y)):
            y[i] += y[i - 1] ** 2
        return y[-1]

    return np.sum(ad.vmap(one)(a))


def newton_with_an_inner_gradient(x):
    f = lambda v: v**3 - x * v - 2.0
    y = 2.0
    for _ in range(5):
        y = y - f(y) / ad.grad(f)(y)
    return y


def hamiltonian_flow(q, p, steps):
    def energy(a, b):
        return np.sum(b**2) / 2.0 + np.sum(np.cos(a))

    for _ in range(steps):
        p = p - 0.1 * ad.grad(energy, argnums=0)(q, p)
        q = q + 0.1 * ad.grad(energy, argnums=1)(q, p)
    return np.sum(q * p)


def learned_rate(w, x, y):
    rate = math.exp(w[0])
    theta = w[1:]
    for _ in range(2):
        theta = theta - rate * ad.grad(lambda t: np.mean((x @ t - y) ** 2))(theta)
    return np.mean((x @ theta - y) ** 2)


def physics_informed(w, points):
    def u(t):
        return w[0] * math.tanh(w[1] * t + w[2])

    return sum((ad.grad(ad.grad(u))(t) + u(t)) ** 2 for t in points)


def stopped_inside(x):
    target = ad.stop_gradient(x)
    return np.sum((x - 0.5 * target + 0.5 * x) ** 2) + 0.0 * np.sum(target)


def jitted_inside(x):
    return _compiled(x) * 2.0 + _compiled(x[1:])


@ad.jit
def _compiled(x):
    return np.sum(x**3)


CUBIC = (4, 8, 16)
PROGRAMS = (
    Program(gradient_norm, (normal(N),)),
    Program(value_and_gradient, (normal(N),)),
    Program(gradient_step, (normal(N), given(0.3))),
    Program(hessian_trace, (normal(3),), sizes=(1,)),
    Program(hessian_vector_product, (normal(N), normal(N))),
    Program(hessian_of_a_quadratic_form, (normal(N, N),), sizes=CUBIC),
    Program(jacobian_determinant, (normal(2),), sizes=(1,)),
    Program(both_jacobians, (normal(3),), sizes=(1,)),
    Program(forward_of_forward, (normal(N), normal(N))),
    Program(pullback_used_twice, (normal(N),)),
    Program(pushforward_of_a_pullback, (normal(N), normal(N))),
    Program(third_derivative, (normal(),), sizes=(1,)),
    Program(perturbation_confusion, (normal(),), sizes=(1,)),
    Program(closure_between_levels, (normal(), normal()), sizes=(1,)),
    Program(inner_gradient_in_a_loop, (normal(N, scale=0.4),)),
    Program(inner_gradient_in_a_comprehension, (normal(N),)),
    Program(inner_gradient_under_a_branch, (positive(), normal()), sizes=(1,)),
    Program(inner_gradient_of_a_loop, (normal(), whole(N))),
    Program(inner_gradient_of_a_while, (given(1.7),), sizes=(1,), rtol=1e-5),
    Program(inner_gradient_of_a_write, (normal(N),)),
    Program(mapped, (normal(N),)),
    Program(mapped_with_a_branch, (normal(N),)),
    Program(mapped_with_a_while, (normal(N),)),
    Program(mapped_over_two, (normal(N, 3), normal(N))),
    Program(mapped_with_a_shared_argument, (normal(N, 3), normal(3))),
    Program(mapped_over_columns, (normal(4, N),)),
    Program(mapped_twice, (normal(N, N),), sizes=CUBIC),
    Program(mapped_gradient, (normal(N, 3),)),
    Program(gradient_of_mapped, (normal(N, 3), normal(3))),
    Program(mapped_loop, (normal(N), given(4))),
    Program(mapped_writes, (normal(N, 4, scale=0.5),)),
    Program(newton_with_an_inner_gradient, (normal(),), sizes=(1,), rtol=1e-5),
    Program(hamiltonian_flow, (normal(N), normal(N), given(3))),
    Program(learned_rate, (normal(4, scale=0.4), normal(N, 3), normal(N))),
    Program(physics_informed, (normal(3), normal(N))),
    Program(stopped_inside, (normal(N),), kink="a stopped gradient is not the derivative, by intention"),
    Program(jitted_inside, (normal(N),)),
)

REFUSED = (
    Refused(
        "inner_gradient_of_a_vector",
        lambda: ad.jit(lambda x: ad.grad(lambda v: v * v)(x))(np.ones(20)),
        NonScalarOutput,
    ),
    Refused(
        "mapped_over_different_lengths",
        lambda: ad.vmap(lambda a, b: a * b)(np.ones(20), np.ones(21)),
        SizeMismatch,
        spanless=True,
    ),
)
