"""Patterns are sound: no derivative of a random program, at any values, stands outside its pattern."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Body, Function, ParFor
from anadrome.array_ir.text import parse, show
from anadrome.prims.node import replace
from anadrome.sparsity import loops, values, yields
from anadrome.sparsity.pattern import Dependence
from tests.ad.oracles import is_float
from tests.programs import programs

FAST = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def pattern(fn: Function, args: list[Any], active: tuple[bool, ...]) -> list[np.ndarray]:
    """The pattern of each float result, dense."""
    forward = jvp(fn, active)
    wanted = [place for place, is_active in enumerate(active) if is_active]
    seeds = range(len(args), len(args) + len(wanted))
    shapes = [np.shape(arg) for arg in args] + [np.shape(args[place]) for place in wanted]
    found = Dependence(forward, seeds, wanted).find(shapes, [*args, *(args[place] for place in wanted)])
    inputs = sum(np.size(args[place]) for place in wanted)
    results = run(fn, args).results
    sizes = [np.size(value) for value in results if is_float(value)]
    sets = found[len(results) :]
    return [
        np.zeros((size, inputs), bool) if one.sets is None else one.sets.toarray()
        for size, one in zip(sizes, sets, strict=True)
    ]


def jacobian(fn: Function, args: list[Any], active: tuple[bool, ...]) -> list[np.ndarray]:
    """The Jacobian of each float result, column by column."""
    forward = jvp(fn, active)
    wanted = [np.asarray(arg) for arg, is_active in zip(args, active, strict=True) if is_active]
    count = len(fn.body.results)
    columns: list[list[np.ndarray]] = []
    for position, arg in enumerate(wanted):
        for element in range(arg.size):
            tangents = [np.zeros_like(other) for other in wanted]
            tangents[position].reshape(-1)[element] = 1.0
            results = run(forward, [*args, *[t if t.ndim else t[()] for t in tangents]]).results
            columns.append([np.asarray(part).reshape(-1) for part in results[count:]])
    return [np.stack(parts, axis=1) for parts in zip(*columns, strict=True)]


def elsewhere(args: list[Any], active: tuple[bool, ...], seed: int) -> list[Any]:
    """Other values of the active arguments."""
    source = np.random.default_rng(seed)
    return [
        np.asarray(arg).dtype.type(source.uniform(-1.5, 1.5, np.shape(arg)))
        if is_active and not np.shape(arg)
        else source.uniform(-1.5, 1.5, np.shape(arg))
        if is_active
        else arg
        for arg, is_active in zip(args, active, strict=True)
    ]


def assert_sound(fn: Function, args: list[Any], active: tuple[bool, ...]) -> None:
    found = pattern(fn, args, active)
    for seed in range(3):
        point = args if seed == 0 else elsewhere(args, active, seed)
        for mine, numbers in zip(found, jacobian(fn, point, active), strict=True):
            assert not (numbers[~mine] != 0).any(), f"{show(fn)}\n{mine.astype(int)}\n{numbers}"


@FAST
@given(case=programs(statements=5, depth=2))
def test_patterns_of_programs_are_sound(case):
    fn, args = case
    assert_sound(fn, args, tuple(is_float(arg) for arg in args))


@FAST
@given(case=programs(statements=5, depth=2))
def test_patterns_by_one_argument_are_sound(case):
    fn, args = case
    assert_sound(fn, args, (True, *[False] * (len(args) - 1)))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=4, depth=2))
def test_patterns_of_gradients_are_sound(case):
    fn, args = case
    active = tuple(is_float(arg) for arg in args)
    results = run(fn, args).results
    gradient = vjp(fn, active)
    seeds = [np.ones_like(value) for value in results if is_float(value)]
    assert_sound(gradient, [*args, *seeds], (*active, *[False] * len(seeds)))


@pytest.mark.fuzz
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=8, depth=3))
def test_patterns_of_many_programs_are_sound(case):
    fn, args = case
    assert_sound(fn, args, tuple(is_float(arg) for arg in args))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=5, depth=3))
def test_patterns_found_in_small_parts_are_sound(case):
    """Every loop joined where it can be, every parfor a few iterations at a time, sums joined at once."""
    fn, args = case
    with (
        patch.object(loops, "STEPS", 0),
        patch.object(loops, "ELEMENTS", 2),
        patch.object(yields, "ELEMENTS", 2),
        patch.object(values, "PENDING", 2),
    ):
        assert_sound(fn, args, tuple(is_float(arg) for arg in args))


def test_a_yield_that_stands_twice_is_two() -> None:
    """Parfors that are merged may have one yield in common, which is no key of what they make."""
    fn = parse(
        "fn f(x: f64[n], y: f64[n]) -> f64, f64 { a, b = parfor i < n { u = x[i]; v = y[i]; "
        "yield reduce add u; yield reduce add v }; return a, b }"
    )
    nest = fn.body.lets[0]
    assert isinstance(nest.expr, ParFor)
    shared = replace(nest.expr, yields=(nest.expr.yields[0],) * 2)
    fn = replace(fn, body=Body((replace(nest, expr=shared),), fn.body.results))
    with patch.object(yields, "ELEMENTS", 2):
        of_x, of_y = Dependence(fn, [0, 1], [0, 1]).find([(5,), (5,)], [np.ones(5), np.ones(5)])
    assert of_x.sets is not None and of_x.sets.toarray().tolist() == [[True] * 5 + [False] * 5]
    assert of_y.sets is not None and of_y.sets.toarray().tolist() == [[False] * 5 + [True] * 5]


# ---------------------------------------------------------------------------- exactness
def found_in(text: str, args: list[Any]) -> list[list[int]]:
    """The members of each element's set, for a program of one result, by all its floats."""
    fn = parse(text)
    active = tuple(is_float(arg) for arg in args)
    (found,) = pattern(fn, args, active)
    assert_sound(fn, args, active)
    return [np.flatnonzero(row).tolist() for row in found]


X = np.array([1.0, 2.0, 3.0])


def test_a_known_branch_goes_one_way():
    text = """fn f(x: f64[n]) -> f64[n] {
      a = parfor i < n {
        c = lt i 1
        v = if c { l = x[0]; return l } else { r = x[i]; return r }
        w = mul v v
        yield stack w
      }
      return a
    }"""
    assert found_in(text, [X]) == [[0], [1], [2]]


def test_an_unknown_branch_goes_both_ways_and_an_unknown_index_anywhere():
    text = """fn f(x: f64[n]) -> f64[n] {
      s = call argsort(x)
      a = parfor i < n {
        u = x[i]
        c = lt u 1.5
        v = if c { l = x[0]; return l } else { j = s[0]; r = x[j]; return r }
        yield stack v
      }
      return a
    }"""
    assert found_in(text, [X]) == [[0, 1, 2]] * 3


def test_a_scatter_forgets_what_it_overwrites():
    text = """fn f(x: f64[n], p: i64[n]) -> f64[n] {
      a = parfor i < n { j = p[i]; v = x[i]; w = exp v; yield scatter x[j] w }
      return a
    }"""
    assert found_in(text, [X, np.array([1, 1, 1])]) == [[0], [2], [2]]


def test_ragged_loops_end_where_they_end():
    text = """fn f(x: f64[n]) -> f64[n] {
      a = parfor i < n {
        s = loop (c = 0.0) for j < i { v = x[j]; w = mul v v; t = add c w; return t }
        yield stack s
      }
      return a
    }"""
    assert found_in(text, [X]) == [[], [0], [0, 1]]


def test_a_zero_of_integers_is_a_zero():
    text = """fn f(x: f64[n]) -> f64[n] {
      a = parfor i < n {
        s = parfor j < n {
          c = eq i j
          b = to_f64 c
          v = x[j]
          e = exp v
          w = mul b e
          yield reduce add w
        }
        yield stack s
      }
      return a
    }"""
    assert found_in(text, [X]) == [[0], [1], [2]]


def test_a_product_depends_on_its_row_and_column():
    text = """fn f(a: f64[n, m], b: f64[m, k]) -> f64[n, k] {
      c = call matmul(a, b, transpose_left=false, transpose_right=false)
      return c
    }"""
    found = found_in(text, [np.ones((2, 2)), np.ones((2, 2))])
    assert found == [[0, 1, 4, 6], [0, 1, 5, 7], [2, 3, 4, 6], [2, 3, 5, 7]]


def test_a_transform_depends_on_its_row():
    program = """fn f(x: f64[r, n], half: f64[m], whole: f64[n]) -> f64[r, {0}] {{
      a, b = call fourier_of_real(x, half)
      c = call fourier_to_real(a, b, whole)
      e = parfor i < r {{ u = x[i]; v = c[0]; p, q = call fourier(u, v, backward=true); yield stack q }}
      return {1}
    }}"""
    args = [np.ones((2, 3)), np.zeros(2), np.zeros(3)]
    first, second = [0, 1, 2], [3, 4, 5]
    assert found_in(program.format("m", "b"), args) == [first] * 2 + [second] * 2
    assert found_in(program.format("n", "c"), args) == [first] * 3 + [second] * 3
    assert found_in(program.format("n", "e"), args) == [first] * 3 + [first + second] * 3
