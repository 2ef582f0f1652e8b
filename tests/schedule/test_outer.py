"""Outer loops in lanes: of every length and width, with memory of their own, in branches, in programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from launching import config, prepared, scheduled

import anadrome as ad
from anadrome.array_ir.check import check as check_array
from anadrome.array_ir.interp import run as run_array
from anadrome.array_ir.text import parse as parse_array
from anadrome.array_ir.text import show as show_array
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Binding, For, Function
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements
from anadrome.lower.function import lower
from anadrome.passes import blocks
from anadrome.passes.outer_lanes import outer_lanes
from anadrome.passes.tiles import tiles
from anadrome.schedule import outer
from anadrome.schedule.cpu import schedule_cpu
from anadrome.targets.cpu import compile_cpu
from tests.lanes_everywhere import BITS as LANES_BITS
from tests.lanes_everywhere import lanes_everywhere
from tests.lower.oracle import kernel_arguments
from tests.outer_nests import outer_nests

RNG = np.random.default_rng(5)
BITS = [0, 64, 128, 256, 512]
LENGTHS = [0, 1, 7, 8, 31, 32, 33, 67]

TABLES = """fn f(x: f64 buffer, y: f64 buffer, n: i64, m: i64) {
  alloc out: f64 global [n]
  alloc total: f64 global [max(m, 1)]
  for k in 0 .. m parallel { total[k] = 0.0 }
  for i in 0 .. n outer {
    alloc row: f64 global [max(m, 1)]
    alloc s: f64 local [1]
    s[0] = 0.0
    for j in 0 .. m sequential { row[j] = mul(x[i], y[j]) }
    if gt(x[i], 0.0) {
      for j1 in 0 .. m sequential { s[0] = add~(s[0], row[sub(sub(m, 1), j1)]) }
    } else {
      for j2 in 0 .. m sequential { row[j2] = mul(row[j2], 3.0) }
    }
    out[i] = s[0]
    for k1 in 0 .. m parallel { combine add total[k1] = row[k1] }
    free row
  }
  return out as f64 [n], total as f64 [m]
}"""
"""A table for each iteration, which one way of a branch reads and the other changes; sums over all."""

SHORT = """fn f(x: f64 buffer, y: f64 buffer, n: i64, m: i64) {
  alloc out: f64 global [max(n, 1)]
  for k in 0 .. n parallel { out[k] = 1.0 }
  for r in 0 .. 3 sequential {
    for i in 0 .. n outer {
      alloc s: f64 local [1]
      s[0] = 0.0
      for j in 0 .. m sequential { s[0] = add~(s[0], mul(x[i], y[j])) }
      combine add out[i] = s[0]
    }
  }
  return out as f64 [n]
}"""


def bindings(fn: Function) -> list[Binding]:
    """What runs the loops of a program."""
    return [stmt.binding for stmt in statements(fn.body) if isinstance(stmt, For)]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("text", [TABLES, SHORT], ids=["tables", "short"])
def test_every_length_at_every_width(text: str, length: int, bits: int) -> None:
    args = (RNG.standard_normal(length), RNG.standard_normal(5), length, 5)
    written = parse(text)
    wanted = run(written, prepared(written, args))
    fn = scheduled(text, vector_bits=bits)
    assert Binding.OUTER not in bindings(fn)
    assert (Binding.LANES in bindings(fn)) is (bits > 64)
    for found in (run(fn, prepared(fn, args)), compile_cpu(fn, config(1))(prepared(fn, args))):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def mixture(x, centres, factors):
    """Σ_i log Σ_k exp(-½‖F_k (x_i - c_k)‖²), loops as one writes them."""

    def height(point, f, m):
        return -0.5 * sum(sum(f[r, c] * (point[c] - m[c]) for c in range(r + 1)) ** 2 for r in range(len(m)))

    pairs = range(len(centres))
    return sum(np.log(sum(np.exp(height(point, factors[k], centres[k])) for k in pairs)) for point in x)


def sizes(points, components, dimension):
    """Arguments of a mixture."""
    x, centres = RNG.normal(size=(points, dimension)), RNG.normal(size=(components, dimension))
    return x, centres, RNG.normal(size=(components, dimension, dimension)) / dimension


@pytest.mark.parametrize("points", [1, 31, 32, 33, 100])
@pytest.mark.parametrize(("components", "dimension"), [(1, 17), (20, 1), (18, 19), (20, 5)])
def test_a_mixture_and_its_gradient(points: int, components: int, dimension: int) -> None:
    args = sizes(points, components, dimension)
    plain, in_lanes = ad.Config(lanes=1, threads=1), ad.Config(threads=2)
    one, other = (ad.jit(mixture, config=config)(*args) for config in (plain, in_lanes))
    assert one == pytest.approx(mixture(*args), rel=1e-12)
    assert other == pytest.approx(one, rel=1e-12)
    gradient = ad.grad(mixture, argnums=(1, 2))
    pairs = zip(*(ad.jit(gradient, config=config)(*args) for config in (plain, in_lanes)), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    text = ad.show(ad.jit(gradient, config=in_lanes), *args, stage="optimised")
    assert (" lanes {" in text) is (points > 1 and components > 1 and dimension > 1)


def test_single_precision_has_twice_the_lanes() -> None:
    args = [value.astype(np.float32) for value in sizes(100, 20, 17)]
    found = ad.jit(mixture, config=ad.Config(threads=1))(*args)
    assert found.dtype == np.float32
    assert found == pytest.approx(mixture(*(value.astype(np.float64) for value in args)), rel=1e-5)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_in_its_lane(value: float) -> None:
    """The gradient by the points: a column of each lane's own."""
    x, centres, factors = sizes(70, 18, 17)
    gradient = ad.grad(mixture)
    wanted = gradient(x, centres, factors)
    x[33, 3] = value
    found = ad.jit(gradient, config=ad.Config(threads=1))(x, centres, factors)
    plain = ad.jit(gradient, config=ad.Config(threads=1, lanes=1))(x, centres, factors)
    np.testing.assert_allclose(found, plain, rtol=1e-10)
    np.testing.assert_allclose(np.delete(found, 33, 0), np.delete(wanted, 33, 0), rtol=1e-10)


TWO = ad.Config(threads=2)
"""Of many threads some may find nothing left to do, and hold nothing."""


def test_memory_is_predicted() -> None:
    gradient = ad.jit(ad.grad(mixture, argnums=(1, 2)), config=TWO)
    found = ad.explain(gradient, *sizes(100, 20, 17), measure=True)
    assert found.is_exact
    assert found.measured == found.predicted


def agree_in_lanes(text: str, args: list[np.ndarray]) -> None:
    """As it is; in lanes and interpreted; scheduled and interpreted; compiled."""
    fn = parse_array(text)
    wanted = run_array(fn, args).results
    with lanes_everywhere():
        changed = tiles(outer_lanes(fn, config(1)), config(1))
        lowered = lower(changed, config(1))
        scheduled = schedule_cpu(lowered, config(1), LANES_BITS).function
    check_array(changed)
    check(lowered)
    check(scheduled)
    assert " lanes {" in show_array(changed)
    assert ("add_to" in text) is ("blocks" in show_array(changed))
    given_ = kernel_arguments(fn, args)
    compiled = compile_cpu(scheduled, config(1))(given_)
    for found in (run_array(changed, args).results, run(scheduled, given_), compiled):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=outer_nests())
def test_generated_nests(case: tuple[str, list[np.ndarray]]) -> None:
    agree_in_lanes(*case)


@pytest.mark.fuzz
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=outer_nests())
def test_many_generated_nests(case: tuple[str, list[np.ndarray]]) -> None:
    agree_in_lanes(*case)


def test_lanes_do_without_memory_that_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Iterations one by one, blocks of one; the same numbers."""
    x, centres, factors = sizes(70, 18, 17)
    compiled = ad.jit(ad.grad(mixture, argnums=(1, 2)), config=TWO)
    wanted = compiled(x, centres, factors)
    before = ad.explain(compiled, x, centres, factors, measure=True)
    monkeypatch.setattr(outer, "MEMORY", 64)
    monkeypatch.setattr(blocks, "MEMORY", 64)
    gradient = ad.jit(ad.grad(lambda *args: mixture(*args), argnums=(1, 2)), config=TWO)
    found = ad.explain(gradient, x, centres, factors, measure=True)
    assert found.is_exact
    assert found.measured == found.predicted < before.measured
    for one, other in zip(gradient(x, centres, factors), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)


def test_lanes_do_without_a_stack_that_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    args = (RNG.standard_normal(67), RNG.standard_normal(5), 67, 5)
    monkeypatch.setattr(outer, "STACK", 16)
    for text in (TABLES, SHORT):
        fn = scheduled(text, vector_bits=512)
        (outermost,) = (
            stmt for stmt in statements(fn.body) if isinstance(stmt, For) and stmt.index.name == "i"
        )
        assert outermost.binding is Binding.SEQUENTIAL
        wanted = run(parse(text), prepared(parse(text), args))
        for one, other in zip(run(fn, prepared(fn, args)), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
