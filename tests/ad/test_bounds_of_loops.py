"""Loops whose condition says how often they run at most: what is known of that, and logs of that size."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.ad.reverse import vjp
from anadrome.ad.sweep import log
from anadrome.array_ir.check import check
from anadrome.array_ir.induction import most_iterations
from anadrome.array_ir.interp import Outcome, run
from anadrome.array_ir.nodes import Full, Function, Loop
from anadrome.array_ir.text import parse, show
from anadrome.array_ir.walk import all_lets
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from tests.ad.oracles import assert_derivatives
from tests.corpus.early_ends import PROGRAMS

CASES = {str(program): program for program in PROGRAMS}


def program_of(name: str) -> tuple[Function, tuple[object, ...]]:
    case = CASES[name]
    args = case.draw(case.at)
    text = ad.show(case.function, *args, stage="array")
    return prepare(parse(text), Config()), args


def whiles(fn: Function) -> int:
    """How many loops of a program end by a condition."""
    lets = all_lets(fn.body)
    return sum(isinstance(let.expr, Loop) and let.expr.condition is not None for let in lets)


def gradient_of(fn: Function, args: tuple[object, ...]) -> tuple[Function, Outcome]:
    """The gradient, and what a run of it gives."""
    active = tuple(np.issubdtype(np.asarray(arg).dtype, np.floating) for arg in args)
    gradient = optimise(vjp(fn, active), Config())
    check(gradient)
    return gradient, run(gradient, [*args, np.float64(1.0)])


@pytest.mark.parametrize("room", [0, 100, 1 << 30])
@pytest.mark.parametrize("name", CASES)
def test_gradients_with_and_without_room(name: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fn, args = program_of(name)
    _, expected = gradient_of(fn, args)
    monkeypatch.setattr(log, "ROOM", room)
    monkeypatch.setattr(log, "ROOM_OF_ITERATION", room)
    assert_derivatives(fn, args, tolerance=1e-4)
    _, found = gradient_of(fn, args)
    for one, other in zip(found.results, expected.results, strict=True):
        np.testing.assert_array_equal(one, other)


LOGGED = ("fixed_point", "conjugate_gradients", "at_most", "first_passage", "implicit_steps")
"""Programs whose return sweep reads what their iterations were entered with."""


@pytest.mark.parametrize("name", LOGGED)
def test_no_iteration_runs_to_be_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fn, args = program_of(name)
    _, once = gradient_of(fn, args)
    monkeypatch.setattr(log, "ROOM", 0)
    monkeypatch.setattr(log, "ROOM_OF_ITERATION", 0)
    _, twice = gradient_of(fn, args)
    assert once.work.total < 0.95 * twice.work.total


def test_an_inspector_is_left_out_where_constants_say_that_logs_fit() -> None:
    text = """fn f(x: f64) -> f64 {{
      y, k = loop (a = x, i = 0) while {{
        u = lt i {most}
        v = gt a 0.1
        w = and u v
        return w
      }} do {{
        b = mul a a
        j = add i 1
        return b, j
      }}
      return y
    }}"""
    fits, does_not = (vjp(parse(text.format(most=most)), (True,)) for most in (1 << 20, 1 << 40))
    assert (whiles(fits), whiles(does_not)) == (1, 2)
    for gradient in (fits, does_not):
        rooms = [let.expr for let in all_lets(gradient.body) if isinstance(let.expr, Full)]
        assert rooms and all(room.is_room for room in rooms)
        assert show(parse(show(gradient))) == show(gradient)
    assert does_not.body.results[0].type == fits.body.results[0].type
    assert run(fits, [0.9, 1.0]).results == run(does_not, [0.9, 1.0]).results


# ---------------------------------------------------------------------------- what is known of a condition
LOOP = """fn f(x: f64[m], n: i64, first: i64) -> f64 {{
  y, k, p = loop (a = 0.0, i = {start}, q = 0) while {{
    {condition}
  }} do {{
    v = x[0]
    b = add a v
    j = add i {step}
    r = mul q 2
    return b, j, r
  }}
  return y
}}"""


@pytest.mark.parametrize(
    ("start", "step", "condition", "most"),
    [
        ("0", "1", "c = lt i 10; return c", 10),
        ("0", "1", "c = le i 10; return c", 11),
        ("0", "1", "c = gt 10 i; return c", 10),
        ("0", "1", "c = ge 10 i; return c", 11),
        ("0", "3", "c = lt i 10; return c", 4),
        ("10", "-2", "c = gt i 1; return c", 5),
        ("10", "-2", "c = gt 1 i; return c", None),
        ("0", "1", "c = lt i n; d = lt a 1.0; e = and d c; return e", 5),
        ("first", "1", "c = lt i n; return c", 3),
        ("0", "1", "e = add i i; c = lt e n; return c", 3),
        ("0", "1", "d = lt a 1.0; e = if d { c = lt i 7; return c } else { return false }; return e", 7),
        ("0", "1", "d = lt i 7; e = if d { c = lt a 1.0; return c } else { return false }; return e", 7),
        ("0", "1", "d = lt a 1.0; e = if d { return false } else { c = lt i 7; return c }; return e", None),
        ("0", "1", "d = lt a 1.0; e = if d { c = lt i 7; return c } else { return true }; return e", None),
        ("0", "1", "c = lt i q; return c", None),
        ("0", "1", "c = lt q 7; return c", None),
        ("0", "1", "c = ne i 7; return c", None),
        ("0", "1", "c = lt i 7; d = not c; return d", None),
        ("0", "1", "d = lt a 1.0; c = lt i 7; e = or d c; return e", None),
        ("0", "0", "c = lt i 7; return c", None),
    ],
)
def test_how_often_a_loop_runs_at_most(start: str, step: str, condition: str, most: int | None) -> None:
    fn = parse(LOOP.format(start=start, step=step, condition=condition.replace("; ", "\n    ")))
    (let,) = fn.body.lets
    assert isinstance(let.expr, Loop)
    found = most_iterations(let.expr)
    if most is None:
        assert found is None
        return
    assert found is not None
    numbers = {"n": 5, "first": 2}
    left = found.left.constant + sum(factor * numbers[var.name] for var, factor in found.left.terms)
    assert -(-left // found.each) == most
