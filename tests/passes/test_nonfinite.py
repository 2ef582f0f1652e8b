"""Infinities and NaNs among the data: passes keep what a program gives, and add no NaN to its derivative."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, note, reject, settings
from hypothesis import strategies as st
from oracle import PASSES, PIPELINE, same

from anadrome.ad.reverse import vjp
from anadrome.array_ir.build import Builder
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Atom, Function
from anadrome.array_ir.text import parse, show
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from anadrome.errors.runtime import AssertionFailed
from anadrome.prims.record import Prim
from tests.ad.oracles import direction, is_float
from tests.programs import programs

SPECIAL = (np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0)
CONFIG = Config(verify=True)
TOLERANCE = 1e-9


def spoilt(draw: Any, args: list[Any]) -> list[Any]:
    """The arguments with special values here and there."""
    found = []
    for arg in args:
        if is_float(arg):
            flat = np.array(arg, dtype=float).ravel()
            for place in range(flat.size):
                if draw(st.integers(0, 2)) == 0:
                    flat[place] = draw(st.sampled_from(SPECIAL))
            arg = flat.reshape(np.shape(arg))[()]
        found.append(arg)
    return found


def quietly(fn: Function, args: list[Any]) -> list[Any]:
    """What the interpreter gives."""
    with np.errstate(all="ignore"):
        return list(run(fn, args).results)


def passing(fn: Function, args: list[Any]) -> list[Any]:
    """What the interpreter gives of a program whose run-time checks hold: one of a NaN may not."""
    try:
        return quietly(fn, args)
    except AssertionFailed:
        reject()


def keeps_the_program(names: tuple[str, ...], data: st.DataObject, statements: int) -> None:
    """The passes give what the program gives, to the last bit of an infinity."""
    fn, args = data.draw(programs(statements=statements))
    args = spoilt(data.draw, args)
    wanted = passing(fn, args)
    for name in names:
        fn = PASSES[name](fn, CONFIG)
        note(f"{name}\n{show(fn)}")
        same(wanted, quietly(fn, args), TOLERANCE)


def product(builder: Builder, prim: Prim, change: Atom, partial: Atom, is_masked: bool = False) -> Atom:
    """A cotangent times a partial, whatever they are."""
    return builder.mul(change, partial)


def adds_no_nan(fn: Function, args: list[Any], data: st.DataObject) -> None:
    """The gradient after all passes is that of the program as it stands, wherever that one is a number.

    Sums may be taken apart otherwise, so a NaN of the plain gradient may be a number here: x·∞ + y·∞ is
    (x + y)·∞ for x and y of opposite sign. Dual numbers multiply 0·∞ at sides that are not taken, which
    reverse mode leaves out (decision 10): which a body gets may differ after passes, so both are reverse.

    Which products are guarded follows from what the program asks (decision 17), also from what is never
    used and leaves before it is differentiated. So the gradient without guards is compared with that of
    what is differentiated, and this one with what the passes after it make.
    """
    results = passing(fn, args)
    active = tuple(map(is_float, args))
    cotangents = direction(np.random.default_rng(5), [value for value in results if is_float(value)])
    given_ = [*args, *spoilt(data.draw, cotangents)]
    with patch("anadrome.ad.reverse.chain_product", product):
        plain = quietly(vjp(fn, active, "reverse"), given_)
    differentiated = vjp(prepare(fn, CONFIG), active, "reverse")
    made = optimise(differentiated, CONFIG)
    note(show(made))
    guarded = quietly(differentiated, given_)
    stays_a_number(plain, guarded)
    stays_a_number(guarded, quietly(made, given_))


def stays_a_number(before: list[Any], after: list[Any]) -> None:
    """What was a number is the same one."""
    for wanted, found in zip(before, after, strict=True):
        is_number = ~np.isnan(wanted)
        np.testing.assert_allclose(
            np.asarray(found)[is_number], np.asarray(wanted)[is_number], TOLERANCE, TOLERANCE
        )


# ---------------------------------------------------------------------------- loops that do not run
NESTS = {
    "squares": "s = parfor j < n { v = y[j]; w = mul v v; yield reduce add w }",
    "sines": "s = parfor j < n { v = y[j]; w = sin v; yield reduce add w }",
    "exponentials": "s = parfor j < n { v = y[j]; w = exp v; yield reduce add w }",
    "a scaled sum": "a = parfor j < n { v = y[j]; yield reduce add v }\n s = mul a z",
    "a quotient of sums": (
        "a, b = parfor j < n { v = y[j]; w = mul v z; yield reduce add v; yield reduce add w }\n s = div a b"
    ),
    "a product": "s = parfor j < n { v = y[j]; yield reduce mul v }",
    "a sequential loop": "s = loop (a = z) for j < n { v = y[j]; w = mul a v; return w }",
    "an array of squares": (
        "a = parfor j < n { v = y[j]; w = mul v v; yield stack w }\n"
        " s = parfor j < n { v = a[j]; yield reduce add v }"
    ),
    "a sum of infinite numbers": "s = parfor j < n { v = y[j]; w = mul v inf; yield reduce add w }",
    "an array that a loop starts with": (
        "a = loop (b = y) for i < 3 { u = parfor j < n { v = b[j]; w = mul v v; yield stack w }; return u }\n"
        " s = parfor j < n { v = a[j]; yield reduce add v }"
    ),
    "a nest of products": (
        "s = parfor i < n { u = y[i]\n"
        " b = parfor j < n { v = y[j]; w = mul u v; yield reduce add w }\n yield reduce add b }"
    ),
}
LOOPS = {
    "for": "r = loop (t = z) for l < k {{ {nest}\n q = mul t s; return q }}",
    "while": (
        "r, e = loop (t = z, l = 0) while {{ c = lt l k; return c }} do"
        " {{ {nest}\n q = add t s; m = add l 1; return q, m }}"
    ),
    "parfor": "r = parfor l < k {{ {nest}\n yield reduce add s }}",
    "parfor in parfor": (
        "r = parfor g < n {{ d = parfor l < k {{ {nest}\n yield reduce add s }}\n yield reduce add d }}"
    ),
    "for in for": (
        "r = loop (t = z) for g < n {{ d = loop (f = t) for l < k {{ {nest}\n q = add f s; return q }}\n"
        " return d }}"
    ),
}
SPOILT = [np.array([1.5, bad, 0.0]) for bad in (np.inf, -np.inf, np.nan, 0.0)]


@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("y", SPOILT, ids=str)
def test_what_a_loop_never_makes_has_no_slope(loop: str, nest: str, y: np.ndarray) -> None:
    text = LOOPS[loop].format(nest=NESTS[nest])
    fn = parse(f"fn f(y: f64[n], z: f64, k: i64) -> f64 {{\n{text}\n return r\n}}")
    gradient = optimise(vjp(prepare(fn, CONFIG), (True, True, False)), CONFIG)
    _, slope, scale = quietly(gradient, [y, np.inf, np.int64(0), 1.0])
    np.testing.assert_array_equal(slope, np.zeros(3))
    assert scale == (0.0 if loop.startswith("parfor") else 1.0)
    plain = quietly(vjp(fn, (True, True, False)), [y, 0.5, np.int64(2), 1.0])
    found = quietly(gradient, [y, 0.5, np.int64(2), 1.0])
    for wanted, got in zip(plain, found, strict=True):
        is_number = ~np.isnan(wanted)
        np.testing.assert_allclose(np.asarray(got)[is_number], np.asarray(wanted)[is_number], TOLERANCE)


@pytest.mark.parametrize("bad", (np.inf, -np.inf, np.nan, 2.0))
def test_rows_have_no_slope_where_no_loop_reads_them(bad: float) -> None:
    fn = parse("""
    fn f(y: f64[n, m], z: f64, k: i64) -> f64 {
      r = loop (t = z) for l < k {
        s = parfor i < n { u = y[i]; b = parfor j < m { v = u[j]; w = mul v v; yield reduce add w }
          yield reduce add b }
        q = add t s
        return q
      }
      return r
    }
    """)
    y = np.array([[1.0, bad], [3.0, 4.0]])
    gradient = optimise(vjp(prepare(fn, CONFIG), (True, True, False)), CONFIG)
    _, slope, scale = quietly(gradient, [y, 0.5, np.int64(0), 1.0])
    np.testing.assert_array_equal(slope, np.zeros((2, 2)))
    assert scale == 1.0
    _, slope, scale = quietly(gradient, [y, 0.5, np.int64(2), 1.0])
    np.testing.assert_allclose(slope, 4.0 * y, TOLERANCE)
    assert scale == 1.0


@pytest.mark.parametrize("large", (1e200, -1e200, 2.0))
@pytest.mark.parametrize(("outer", "inner"), ((0, 0), (0, 2), (2, 0), (2, 3)))
def test_what_left_one_loop_is_read_through_the_gate_of_two(outer: int, inner: int, large: float) -> None:
    """The squares leave the outer loop; what reads their sum, which may be infinite, leaves both, and is not
    made where the inner loop does not run."""
    fn = parse("""
    fn f(y: f64[n], k: i64, h: i64) -> f64 {
      r = loop (t = 0.0) for l < k {
        a = parfor j < n { v = y[j]; w = mul v v; yield reduce add w }
        d = loop (f = t) for g < h {
          s = parfor j < n { v = y[j]; b = mul a a; w = mul v b; yield reduce add w }
          q = add f s
          return q
        }
        return d
      }
      return r
    }
    """)
    y = np.array([1.5, large, 3.0])
    gradient = optimise(vjp(prepare(fn, CONFIG), (True, False, False)), CONFIG)
    _, slope = quietly(gradient, [y, np.int64(outer), np.int64(inner), 1.0])
    if outer * inner == 0:
        np.testing.assert_array_equal(slope, np.zeros(3))
    elif large == 2.0:  # r = kh·(Σ y)·(Σ y²)²
        total, squares = np.sum(y), np.sum(y**2)
        np.testing.assert_allclose(slope, outer * inner * squares * (squares + 4 * y * total), TOLERANCE)


# ---------------------------------------------------------------------------- generated programs
@pytest.mark.parametrize("name", PASSES)
@given(data=st.data())
def test_a_pass_keeps_the_program(name: str, data: st.DataObject) -> None:
    keeps_the_program((name,), data, 5)


@given(data=st.data())
def test_the_pipeline_keeps_the_program(data: st.DataObject) -> None:
    keeps_the_program(PIPELINE, data, 7)


@given(data=st.data())
def test_gradients_get_no_nan(data: st.DataObject) -> None:
    fn, args = data.draw(programs(library=False))
    adds_no_nan(fn, spoilt(data.draw, args), data)


@pytest.mark.fuzz
@settings(max_examples=2000)
@given(data=st.data())
def test_the_pipeline_keeps_many_programs(data: st.DataObject) -> None:
    keeps_the_program(PIPELINE, data, 10)


@pytest.mark.fuzz
@settings(max_examples=2000)
@given(data=st.data())
def test_many_gradients_get_no_nan(data: st.DataObject) -> None:
    fn, args = data.draw(programs(statements=7, depth=3, library=False))
    adds_no_nan(fn, spoilt(data.draw, args), data)
