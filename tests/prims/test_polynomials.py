"""Polynomials: what is computed of them is what is computed of the numbers that they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from anadrome.prims.polynomials import ONE, Polynomial, divided, number, variable

NAMES = "xyz"
TERMS = st.tuples(st.integers(-5, 5), st.lists(st.sampled_from(NAMES), max_size=3))
POLYNOMIALS = st.lists(TERMS, max_size=5).map(
    lambda terms: sum_of(
        reduce(Polynomial.times, map(variable, names), number(coefficient)) for coefficient, names in terms
    )
)
POINTS = st.fixed_dictionaries({name: st.integers(-4, 4) for name in NAMES})


def sum_of(terms: Iterable[Polynomial]) -> Polynomial:
    return reduce(Polynomial.plus, terms, number(0))


def value(poly: Polynomial, point: dict[str, int]) -> int:
    return sum(c * prod(point[name] for name in monomial) for monomial, c in poly.terms.items())


@given(POLYNOMIALS, POLYNOMIALS, st.integers(-3, 3), POINTS)
def test_sums_and_products(one, other, factor, point):
    first, second = value(one, point), value(other, point)
    assert value(one.plus(other, factor), point) == first + factor * second
    assert value(one.plus(factor), point) == first + factor
    assert value(one.times(other), point) == first * second
    assert value(one.times(factor), point) == first * factor
    for made in (one.plus(other, factor), one.times(other), one.times(factor)):
        assert 0 not in made.terms.values()
    assert one.times(other) == other.times(one)
    assert one.plus(other) == other.plus(one)
    assert hash(one.plus(other)) == hash(other.plus(one))


@given(POLYNOMIALS, POLYNOMIALS, POINTS)
def test_another_polynomial_in_the_place_of_a_variable(one, other, point):
    moved = {**point, "x": value(other, point)}
    assert value(one.at("x", other), point) == value(one, moved)
    assert value(one.at("x", one), point) == value(one, {**point, "x": value(one, point)})


@given(POLYNOMIALS, POINTS)
def test_parts(one, point):
    assert value(one.varying, point) + one.added == value(one, point)
    assert not one.without("x").has({"x"})
    factor = one.factor("x")
    if factor is None:
        assert any(monomial.count("x") > 1 for monomial in one.terms)
    else:
        assert one.without("x").plus(factor.times(variable("x"))) == one
        assert not factor.has({"x"})
    assert (one.constant is None) == any(True for _ in one.variables())
    assert one.constant in (None, one.added)


def test_numbers_and_variables():
    assert number(0).terms == {} and number(0).constant == 0
    assert number(3).terms == {ONE: 3} and number(3).constant == 3
    assert variable("x").plus(variable("x"), -1) == number(0)
    assert divided(("x", "x", "y"), "x") == ("x", "y")
    assert [poly.degree for poly in (number(0), number(3), variable("x").times(variable("x")))] == [0, 0, 2]


def test_a_hash_of_many_operations_is_computed_once():
    poly = variable("x")
    for _ in range(60):
        poly = variable(("xor", poly, poly)).plus(1)
    assert hash(poly) == hash(Polynomial(dict(poly.terms)))
