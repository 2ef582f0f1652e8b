"""Functions that are smooth where their usual formula is not: sinc, lengths, squares of magnitudes.

The oracles are series in 60 digits and the derivatives of √Σx² and Σx² written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest

import anadrome as ad

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
PLACES = (0.0, -0.0, 1e-200, 1e-6, -1e-3, 0.1, 0.3, 0.31, 0.3183, 0.3184, -0.4, 0.5, 1.0, 1.75)


def sinc_derivative(x: float, order: int) -> float:
    """The derivative of Σ (-π²x²)ᵏ / (2k + 1)!, term by term."""
    with localcontext() as digits:
        digits.prec = 60
        total = Decimal(0)
        for k in range((order + 1) // 2, 40):
            factor = Decimal(math.perm(2 * k, order)) / math.factorial(2 * k + 1)
            power = Decimal(x) ** (2 * k - order) if 2 * k > order else Decimal(1)
            total += (-1) ** k * factor * PI ** (2 * k) * power
        return float(total)


def derivative(function: Callable[..., Any], order: int, is_forward: bool) -> Callable[..., Any]:
    """The derivative of a function of a number, of any order, in one mode."""
    for _ in range(order):
        of = function
        function = (lambda x, of=of: ad.jvp(of, (x,), (1.0,))[1]) if is_forward else ad.grad(of)
    return function


@pytest.mark.parametrize("is_forward", [False, True])
@pytest.mark.parametrize("order", range(5))
def test_sinc(order: int, is_forward: bool) -> None:
    program = ad.jit(derivative(lambda x: np.sinc(x), order, is_forward))
    got = [program(x) for x in PLACES]
    wanted = [sinc_derivative(x, order) for x in PLACES]
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12 * math.pi**order)


def test_values_of_sinc() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate(
        [random.uniform(-2, 2, 2000), 10.0 ** random.uniform(-320, 0, 500), [0.0, -0.0, np.nan]]
    )
    program = ad.jit(lambda x: np.sinc(x))
    np.testing.assert_allclose(program(x), np.sinc(x), rtol=5e-16, atol=5e-17)
    single = x.astype(np.float32)
    assert program(single).dtype == np.float32
    np.testing.assert_allclose(program(single), np.sinc(single), rtol=3e-7, atol=3e-8)


# ---------------------------------------------------------------------------- lengths
def hypot_of_three(v: Any) -> Any:
    return math.hypot(v[0], v[1], v[2])


def complex_norm(v: Any) -> Any:
    return np.linalg.norm(v + 0j)


def complex_frobenius(v: Any) -> Any:
    return np.linalg.norm(v.reshape(3, 1) * 1j, "fro")


def complex_norm_along(v: Any) -> Any:
    return np.linalg.norm(np.outer(v, np.array([0.6, 0.8j])), 2, axis=0) @ np.array([0.6, 0.8])


POINTS = ((0.0, 0.0, 5.0), (3.0, -4.0, 12.0), (0.0, 1e-3, 0.0), (1e-8, 2.0, -0.0))
LENGTHS = (hypot_of_three, complex_norm, complex_frobenius, complex_norm_along)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("point", POINTS)
def test_lengths(length: Callable[..., Any], point: tuple[float, ...]) -> None:
    """∂|v| = v/|v|, ∂²|v| = (1 - v vᵀ/|v|²)/|v|"""
    v = np.array(point)
    assert_length(length, v, 1e-14 / np.linalg.norm(v))


@pytest.mark.parametrize("size", [1e-305, 1e-160, 1e-40, 1e40, 1e200, 1e305])
@pytest.mark.parametrize("point", POINTS)
def test_lengths_of_any_size(point: tuple[float, ...], size: float) -> None:
    v = np.array(point) * size
    assert_length(hypot_of_three, v, 1e-14 / math.hypot(*v))


def assert_length(length: Callable[..., Any], v: np.ndarray, atol: float) -> None:
    radius = math.hypot(*v)
    turn = v / radius
    hessian = (np.eye(3) - np.outer(turn, turn)) / radius
    np.testing.assert_allclose(ad.jit(length)(v), length(v), rtol=1e-15)
    np.testing.assert_allclose(ad.grad(length)(v), turn, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(ad.jacfwd(length)(v), turn, rtol=1e-14, atol=1e-15)
    for second in (ad.hessian(length), ad.jacrev(ad.grad(length)), ad.jacfwd(ad.jacfwd(length))):
        np.testing.assert_allclose(second(v), hessian, rtol=1e-13, atol=atol)


def test_hypot_of_one_variable_twice() -> None:
    """√(2x² + 1)'' = 2 at 0"""
    function = lambda x: math.hypot(x, 1.0, x)
    np.testing.assert_allclose(ad.grad(ad.grad(function))(0.0), 2.0, rtol=1e-15)


ODD = (math.inf, -math.inf, math.nan, 0.0, -0.0, 5e-324, 1.5, 1e308)


def test_hypot_of_odd_numbers() -> None:
    program = ad.jit(lambda x, y, z: math.hypot(x, y, z))
    for numbers in ((x, y, z) for x in ODD for y in ODD for z in ODD):
        np.testing.assert_allclose(
            program(*numbers), math.hypot(*numbers), rtol=1e-15, atol=1e-323, err_msg=str(numbers)
        )


def test_hypot_at_the_origin() -> None:
    for of in (ad.grad, ad.jacfwd):
        np.testing.assert_array_equal(of(hypot_of_three)(np.zeros(3)), 0.0)


def test_hypot_of_the_least_number() -> None:
    np.testing.assert_array_equal(ad.grad(hypot_of_three)(np.array([5e-324, 0.0, 0.0])), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(ad.jacfwd(hypot_of_three)(np.array([5e-324, 0.0, 0.0])), [1.0, 0.0, 0.0])


# ---------------------------------------------------------------------------- squares of magnitudes
def changed_in_between(v: Any) -> Any:
    x = v.copy()
    size = abs(x)
    x[0] = 3.0
    return np.sum(size**2) + x[0]


def chosen_afterwards(v: Any) -> Any:
    size = abs(v[0] + 1j * v[1])
    if size < 9.0:
        return size**2
    return size


def in_a_loop(v: Any) -> Any:
    total = 0.0
    for i in range(len(v)):
        size = abs(v[i])
        total += size * size
    return total


SQUARES: dict[str, Callable[..., Any]] = {
    "abs": lambda v: np.sum(abs(v) ** 2),
    "np.abs": lambda v: np.sum(np.abs(v) ** 2.0),
    "np.fabs": lambda v: np.sum(np.fabs(v) ** 2),
    "np.square": lambda v: np.sum(np.square(np.absolute(v))),
    "np.power": lambda v: np.sum(np.power(np.abs(v), 2)),
    "elements": lambda v: sum(abs(x) ** 2 for x in v),
    "math.fabs": lambda v: math.fabs(v[0]) ** 2 + abs(v[1]) * abs(v[1]),
    "math.hypot": lambda v: math.hypot(v[0], v[1]) ** 2,
    "one math.hypot": lambda v: math.hypot(v[0]) ** 2 + math.hypot(v[1], 0.0, 0.0) ** 2,
    "np.hypot": lambda v: np.sum(np.hypot(v, np.zeros((1, 1))) ** 2),
    "complex": lambda v: np.sum(abs(v + 0j) ** 2),
    "complex np.square": lambda v: np.sum(np.square(np.abs(v * 1j))),
    "complex product": lambda v: sum((lambda size: size * size)(abs(z)) for z in v + 0j),
    "one complex number": lambda v: abs(v[0] + 1j * v[1]) ** 2,
    "complex array product": lambda v: (lambda size: np.sum(size * size))(abs(v + 0j)),
    "spectrum": lambda v: np.sum(np.abs(np.fft.fft(v)) ** 2) / 2.0,
    "norm": lambda v: np.linalg.norm(np.append(v, 1.0) + 0j) ** 2,
    "changed in between": changed_in_between,
    "chosen afterwards": chosen_afterwards,
    "in a loop": in_a_loop,
}
"""Σv² with |v|² in it; some with a constant more."""


@pytest.mark.parametrize("name", SQUARES)
@pytest.mark.parametrize("point", [(0.0, 0.0), (0.0, -1.5), (2.0, 0.5)])
def test_squares(name: str, point: tuple[float, ...]) -> None:
    function, v = SQUARES[name], np.array(point)
    np.testing.assert_allclose(ad.jit(function)(v), function(v), rtol=1e-15)
    np.testing.assert_allclose(ad.grad(function)(v), 2.0 * v, rtol=1e-14, atol=1e-15)
    for second in (ad.hessian(function), ad.jacrev(ad.grad(function))):
        np.testing.assert_allclose(second(v), 2.0 * np.eye(2), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("size", [lambda x: abs(x), lambda x: abs(1j * x), lambda x: np.hypot(x, 0.0)])
@pytest.mark.parametrize("exponent", [4, 6])
def test_even_powers(size: Callable[..., Any], exponent: int) -> None:
    """The derivative of order n of xⁿ is n!"""
    function = lambda x: size(x) ** exponent
    np.testing.assert_allclose(ad.jit(function)(-1.3), function(-1.3), rtol=1e-15)
    np.testing.assert_allclose(
        derivative(function, exponent, is_forward=False)(0.0), math.factorial(exponent), rtol=1e-14
    )


def test_variance_of_complex_numbers() -> None:
    """var(z) = (x - y)²/4 of two numbers"""
    got = ad.hessian(lambda v: np.var(v + 0j))(np.zeros(2))
    np.testing.assert_allclose(got, [[0.5, -0.5], [-0.5, 0.5]], rtol=1e-15)


def test_a_magnitude_is_a_variable_of_its_own() -> None:
    """What is differentiated by |x| is not differentiated by x."""
    np.testing.assert_array_equal(ad.jit(lambda x: ad.grad(lambda a: a**2)(abs(x)))(-3.0), 6.0)
    np.testing.assert_array_equal(ad.grad(lambda x: ad.stop_gradient(abs(x)) ** 2)(3.0), 0.0)
    np.testing.assert_array_equal(ad.grad(lambda x: abs(x) ** 3)(-2.0), -12.0)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_squares_in_single_precision(dtype: Any) -> None:
    z = (np.array([1.5, -0.25, 0.0]) * (1.0 + (2j if dtype is np.complex64 else 0.0))).astype(dtype)
    for function in (
        lambda z: abs(z) ** 2,
        lambda z: abs(z) ** np.float64(2.0),
        lambda z: np.square(np.abs(z)),
    ):
        got, wanted = ad.jit(function)(z), function(z)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_squares_of_odd_numbers() -> None:
    odd = np.array(ODD)
    pairs = np.empty((len(odd), len(odd)), complex)
    pairs.real, pairs.imag = odd[:, None], odd[None, :]
    with np.errstate(all="ignore"):
        for function in (lambda z: abs(z) ** 2, lambda z: np.abs(z) ** 4):
            np.testing.assert_allclose(ad.jit(function)(pairs), function(pairs), rtol=1e-15)
            np.testing.assert_allclose(ad.jit(function)(odd), function(odd), rtol=1e-15)


# ---------------------------------------------------------------------------- squares of roots and norms
ORIGIN = np.zeros(3)
SQUARED_ROOTS = [
    lambda x: np.linalg.norm(x) ** 2,
    lambda x: np.square(np.linalg.norm(x, keepdims=True)).sum(),
    lambda x: np.sqrt(np.sum(x**2)) ** 2,
    lambda x: math.sqrt(np.sum(x * x)) ** 2,
    lambda x: np.sum(np.linalg.norm(x[:, None], axis=1) ** 2),
    lambda x: np.sum(np.sqrt(x * x) ** 2),
]


@pytest.mark.parametrize("square", SQUARED_ROOTS)
@pytest.mark.parametrize("point", [ORIGIN, np.array([0.3, 0.0, -1.2])], ids=["origin", "elsewhere"])
def test_squares_of_roots_are_smooth(square: Callable[..., Any], point: np.ndarray) -> None:
    np.testing.assert_allclose(ad.jit(square)(point), np.sum(point**2), rtol=1e-15)
    np.testing.assert_allclose(ad.grad(square)(point), 2 * point, rtol=1e-15)
    for second in (ad.hessian(square), ad.jacrev(ad.grad(square)), ad.jacfwd(ad.jacfwd(square))):
        np.testing.assert_allclose(second(point), 2 * np.eye(3), atol=1e-15)


def test_fourth_powers_of_norms() -> None:
    point = np.array([0.3, 0.0, -1.2])
    length = point @ point
    second = 4 * length * np.eye(3) + 8 * np.outer(point, point)
    for power in (lambda x: np.linalg.norm(x) ** 4, lambda x: np.sqrt(x @ x) ** 4):
        np.testing.assert_allclose(ad.hessian(power)(point), second, rtol=1e-13)
        np.testing.assert_array_equal(ad.hessian(power)(ORIGIN), np.zeros((3, 3)))


def test_values_of_squared_roots_are_those_of_numpy() -> None:
    x = np.array([2.0, -1.0, 0.0, np.inf, np.nan, 1e-320, 3.0])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(ad.jit(lambda x: np.sqrt(x) ** 2)(x), np.sqrt(x) ** 2)


@pytest.mark.parametrize("size", [0, 3, 40])
def test_norm_of_zeros(size: int) -> None:
    zeros = np.zeros(size)
    for derivative_of in (ad.grad, ad.jacfwd, ad.jacrev):
        np.testing.assert_array_equal(derivative_of(lambda x: np.linalg.norm(x))(zeros), zeros)
    rows = np.zeros((size, 2))
    rows[:1] = [3.0, 4.0]
    slopes = ad.grad(lambda x: np.sum(np.linalg.norm(x, axis=1)))(rows)
    np.testing.assert_allclose(slopes, rows / 5.0, rtol=1e-15)
