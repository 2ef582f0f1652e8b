"""Operators of the user's own classes, and Python's containers asked about run-time values."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend


@dataclass
class Dual:
    """A number with operators that look at their operands."""

    value: float
    slope: float

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other, 0.0)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.slope * other)
        if other.value == 0:
            return Dual(99.0, 99.0)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __contains__(self, number):
        return number == self.value

    def __matmul__(self, other):
        return NotImplemented

    def __rmatmul__(self, other):
        return self.value * other

    def __iadd__(self, other):
        self.value = self.value + 2 * other
        return self


def polynomial(a):
    x = Dual(a, 1.0)
    y = 2.0 * x * x + (-x) + a + a * x
    return y.value + y.slope


def contains(a):
    return 1.0 if a in Dual(2.0, 0.0) else 3.0


def does_not_contain(a):
    return 1.0 if a not in Dual(2.0, 0.0) else 3.0


def reflected(a):
    return a @ Dual(a, 1.0)


def in_place(a):
    x = Dual(a, 1.0)
    same = x
    x += a
    return same.value


def compares(a):
    return 1.0 if Dual(a, 1.0) == Dual(0.0, 1.0) else 2.0


@pytest.mark.parametrize("number", [0.0, 2.0, -1.5])
@pytest.mark.parametrize("function", [polynomial, contains, does_not_contain, reflected, in_place, compares])
def test_operators_of_a_class_are_evaluated(function, number):
    assert ad.jit(function)(number) == pytest.approx(function(number), abs=1e-12)


def test_operators_of_a_class_have_derivatives():
    ad.check_grads(polynomial, (1.3,), order=2)
    ad.check_grads(in_place, (1.3,))


def counts(a):
    return [1.0, a].count(2.0)


def looks_up(a):
    return {0.0: 1.0}.setdefault(a, 2.0)


def finds(a):
    return [1.0, a].index(2.0)


def multiplies(xs):
    return sum(a * b for a, b in itertools.zip_longest(xs, xs))


class Counted:
    """A class that makes its objects in a way of its own."""

    def __new__(cls, value):
        made = object.__new__(cls)
        made.extra = 2.0
        return made

    def __init__(self, value):
        self.value = value


def makes(a):
    return Counted(a).value


@pytest.mark.parametrize(
    ("function", "refusal"),
    [
        (looks_up, frontend.StaticRequired),
        (makes, frontend.UnsupportedCall),
    ],
)
def test_python_is_not_asked_about_run_time_values(function, refusal):
    with pytest.raises(refusal) as caught:
        ad.jit(function)(2.0)
    assert caught.value.diagnostic.span is not None


@pytest.mark.parametrize("function", [counts, finds])
def test_items_known_at_run_time_are_compared_there(function):
    assert ad.jit(function)(2.0) == function(2.0)


def test_iterators_of_long_sequences_are_refused():
    assert ad.jit(multiplies)(np.arange(3.0)) == multiplies(np.arange(3.0))
    with pytest.raises(frontend.UnsupportedCall, match="go over indices"):
        ad.jit(multiplies)(np.arange(30.0))


def test_what_arrays_leave_to_an_object() -> None:
    """NumPy's rule: an object with `__array_ufunc__ = None`, or with a priority, is asked itself."""

    class Left:
        __array_ufunc__ = None

        def __rmatmul__(self, other):
            return 2.0 * other

        def __radd__(self, other):
            return 3.0 * other

    class Before:
        __array_priority__ = 1.0

        def __rmul__(self, other):
            return 4.0 * other

    x = np.linspace(-1.0, 2.0, 23)
    for function in (lambda x: x @ Left(), lambda x: x + Left(), lambda x: x * Before()):
        np.testing.assert_array_equal(ad.jit(function)(x), function(x))
