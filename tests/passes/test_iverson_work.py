"""What gradients cost after the pipeline, counted by the interpreter at growing sizes.

The bound is that of the design: six times the program, and no more of it as sizes grow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.compile import optimise
from anadrome.config import Config
from anadrome.dtypes import F64, I64
from anadrome.frontend.stage import ArgumentSpec, stage

RANDOM = np.random.default_rng(4)
LIMIT = 6.0
SIZES = (6, 12, 24)


def lower_triangle(a: Any, x: Any) -> Any:
    n = x.shape[0]
    return sum(sum(a[i, j] * x[j] for j in range(n) if j <= i) * x[i] for i in range(n))


def triangle_by_hand(a: Any, x: Any) -> Any:
    n = x.shape[0]
    return sum(sum(a[i, j] * x[j] for j in range(i + 1)) * x[i] for i in range(n))


def band(a: Any, x: Any) -> Any:
    n = x.shape[0]
    return sum(sum(a[i, j] * x[j] for j in range(n) if abs(i - j) <= 1) * x[i] for i in range(n))


def diagonal(a: Any) -> Any:
    n = a.shape[0]
    return sum(sum(np.sin(a[i, j]) for j in range(n) if i == j) for i in range(n))


def one_term(x: Any) -> Any:
    n = x.shape[0]
    return sum(np.exp(x[j]) for j in range(n) if j == 3)


def pairs(x: Any) -> Any:
    n = x.shape[0]
    return sum((x[i] - x[j]) ** 2 for i in range(n) for j in range(n) if j < i)


def masked(x: Any, p: Any) -> Any:
    n = x.shape[0]
    return sum(np.sin(x[i]) for i in range(n) if p[i] > 1)


def convolution(x: Any, w: Any) -> Any:
    n, k = x.shape[0], w.shape[0]
    return sum(sum(w[d] * x[i + d] for d in range(k)) ** 2 for i in range(n - k + 1))


def quadratic(a: Any, x: Any) -> Any:
    n = x.shape[0]
    return sum(x[i] * a[i, j] * x[j] for i in range(n) for j in range(n))


def squared_product(a: Any, x: Any) -> Any:
    y = a @ x
    return y @ y


def read_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total = total + np.sin(x[i] * x[i])
    return total


def k_means(c: Any, x: Any) -> Any:
    n, d, k = x.shape[0], x.shape[1], c.shape[0]
    return sum(min(sum((x[i, a] - c[j, a]) ** 2 for a in range(d)) for j in range(k)) for i in range(n))


def gather(x: Any, p: Any) -> Any:
    return sum(np.sin(x[p[i]]) for i in range(p.shape[0]))


def row_sums(a: Any, x: Any) -> Any:
    n = a.shape[0]
    return sum(np.exp(sum(a[i, j] for j in range(n) if j > i)) * x[i] for i in range(n))


Program = Callable[..., Any]


def matrix(size: int) -> Any:
    return np.random.default_rng(1).uniform(-1, 1, (size, size))


def vector(size: int) -> Any:
    return np.random.default_rng(2).uniform(-1, 1, size)


def places(size: int) -> Any:
    return np.arange(size)[::-1].copy() // 2


MATRIX_AND_VECTOR: tuple[Program, ...] = (
    lower_triangle,
    triangle_by_hand,
    band,
    quadratic,
    squared_product,
    row_sums,
)

PROGRAMS: dict[Program, tuple[Callable[[int], Any], ...]] = {
    **dict.fromkeys(MATRIX_AND_VECTOR, (matrix, vector)),
    diagonal: (matrix,),
    one_term: (vector,),
    pairs: (vector,),
    masked: (vector, places),
    convolution: (lambda size: vector(4 * size), vector),
    read_in_a_loop: (vector,),
    k_means: (matrix, matrix),
    gather: (vector, places),
}


def work(function: Program, args: list[Any]) -> int:
    """The work of a function after every pass."""
    specs = [ArgumentSpec(F64 if a.dtype.kind == "f" else I64, (None,) * a.ndim) for a in args]
    staged = stage(function, tuple(specs), {}, Config())
    return run(optimise(staged.function, Config()), args).work.total


def arguments(function: Program, size: int) -> list[Any]:
    return [make(size) for make in PROGRAMS[function]]


def floats(args: list[Any]) -> tuple[int, ...]:
    return tuple(place for place, arg in enumerate(args) if arg.dtype.kind == "f")


GRADIENT_IS_LARGER = {diagonal: 2, band: 2, one_term: 1}
"""Programs that read less than their arguments hold: the gradient's size is counted with the program."""


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient_is_cheap(function: Program) -> None:
    ratios = []
    for size in SIZES:
        args = arguments(function, size)
        gradient = ad.grad(function, argnums=floats(args))
        held = 3 * sum(args[place].size for place in floats(args)) if function in GRADIENT_IS_LARGER else 0
        ratios.append(work(gradient, args) / (work(function, args) + held))
    assert max(ratios) <= LIMIT and ratios[2] <= ratios[1] * 1.1, ratios


@pytest.mark.parametrize(
    ("filtered", "degree"),
    [(lower_triangle, 2), (band, 1), (diagonal, 1), (one_term, 0), (pairs, 2), (row_sums, 2)],
    ids=lambda f: getattr(f, "__name__", f),
)
def test_filters_cost_what_they_leave(filtered: Program, degree: int) -> None:
    small, large = (work(filtered, arguments(filtered, size)) for size in (16, 32))
    assert large <= 2**degree * small * 1.15, (small, large)


def test_filter_is_as_good_as_a_range() -> None:
    for function in (lower_triangle, triangle_by_hand):
        args = arguments(function, 16)
        assert work(lower_triangle, args) <= work(triangle_by_hand, args)


def test_gradients_are_right() -> None:
    for function in PROGRAMS:
        args = arguments(function, 5)
        for place in floats(args):
            found = ad.grad(function, argnums=place)(*args)
            assert np.allclose(found, differences(function, args, place), atol=1e-6), function.__name__


def differences(function: Program, args: list[Any], place: int) -> Any:
    """Central differences of the Python program itself."""
    found = np.zeros_like(args[place])
    for at in np.ndindex(found.shape):
        values = []
        for step in (1e-5, -1e-5):
            moved = [arg.copy() for arg in args]
            moved[place][at] += step
            values.append(function(*moved))
        found[at] = (values[0] - values[1]) / 2e-5
    return found


def quadratic_form(a: Any, x: Any) -> Any:
    n = len(x)
    return sum(x[i] * a[i, j] * x[j] for i in range(n) for j in range(n))


def quadratic_form_by_products(a: Any, x: Any) -> Any:
    return x @ a @ x


@pytest.mark.parametrize("function", [quadratic_form, quadratic_form_by_products], ids=lambda f: f.__name__)
def test_the_hessian_of_a_quadratic_form_costs_what_it_holds(function: Program) -> None:
    """Θ(n²): four times the work for twice the size, not eight (Bernstein et al. 2020, §7.1)."""
    found = []
    for size in (10, 20, 40):
        a, x = RANDOM.normal(size=(size, size)), RANDOM.normal(size=size)
        found.append(work(ad.hessian(function, argnums=1), [a, x]))
    assert found[2] / found[1] < 4.1
    np.testing.assert_allclose(ad.hessian(function, argnums=1)(a, x), a + a.T, rtol=1e-12, atol=1e-12)
