"""Checkpoint policies on the array IR: the schedule is the best there is, and the program follows it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.ad.sweep.schedule import distance, repeats, schedule, slots_kept
from anadrome.array_ir.check import check
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Body, Function, Let, Loop
from anadrome.array_ir.text import parse, show
from anadrome.errors.ir import IRError, IRSyntaxError
from anadrome.prims.node import replace
from tests.ad.oracles import assert_derivatives

POLICIES = ("sqrt", "log", 1, 2, 3, 5)


# ---------------------------------------------------------------------------- the schedule
def simulated(trip: int, slots: int) -> list[int]:
    """How often each iteration runs once more; no more than `slots` states are kept."""
    stack, done, again = [0], 0, [0] * trip
    while done < trip:
        done += max(1, distance(trip - done, slots - len(stack)))
        if done < trip:
            stack.append(done)
        assert len(stack) <= slots
    for last in reversed(range(trip)):
        if stack[-1] > last:
            stack.pop()
        while stack[-1] < last:
            begin = stack[-1]
            end = begin + max(1, distance(last - begin + 1, slots - len(stack)))
            for iteration in range(begin, end):
                again[iteration] += 1
            stack.append(end)
            assert len(stack) <= slots and end <= last
        again[last] += 1
    return again


@cache
def fewest(trip: int, slots: int) -> int:
    """The least number of iterations run from a snapshot to reverse `trip` of them, by trying everything."""
    if trip <= 1:
        return 0
    if slots == 1:
        return trip * (trip - 1) // 2
    return min(m + fewest(trip - m, slots - 1) + fewest(m, slots) for m in range(1, trip))


@pytest.mark.parametrize("slots", range(2, 9))
def test_no_schedule_runs_fewer_iterations(slots: int) -> None:
    for trip in range(slots, 40):
        total = sum(simulated(trip, slots))
        assert total == repeats(trip, slots)
        assert total == fewest(trip, slots - 1) + 1


def test_no_iteration_runs_more_often_than_asked_for() -> None:
    for policy, most in (("sqrt", 2), (1, 1), (2, 2), (3, 3), (5, 5)):
        hint = Checkpoint.of(policy, None)
        assert hint is not None
        for trip in range(1, 200):
            slots = slots_kept(hint, trip, 8)
            again = simulated(trip, slots)
            assert max(again) <= most and sum(again) == repeats(trip, slots)


@pytest.mark.parametrize(
    ("policy", "trip", "slots", "total"),
    [
        ("sqrt", 10**6, 1414, 1998586),
        ("log", 10**6, 21, 6815961),
        (3, 10**6, 181, 2983348),
        (1, 10**6, 10**6, 10**6),
        ("log", 0, 1, 0),
        ("log", 1, 1, 1),
    ],
)
def test_what_a_policy_comes_to(policy: str | int, trip: int, slots: int, total: int) -> None:
    hint = Checkpoint.of(policy, None)
    assert hint is not None
    found = schedule(hint, trip, 8)
    assert (found.slots, found.repeats) == (slots, total)


# ---------------------------------------------------------------------------- the program
SCALAR = """
fn f(x: f64, a: f64, n: i64) -> f64 {
  s, total = loop WISH (t = x, r = x) for i < n {
    v = sin t
    w = mul v a
    z = add r w
    return w, z
  }
  r2 = add s total
  return r2
}
"""
ARRAY = """
fn f(x: f64[m], w: f64[m], n: i64) -> f64[m] {
  s = loop WISH (t = x) for i < n {
    u = parfor j < m { a = t[j]; b = w[j]; c = mul a b; d = sin c; yield stack d }
    return u
  }
  return s
}
"""
WHILE = """
fn f(x: f64, a: f64) -> f64 {
  s = loop WISH (t = x) while { p = lt t 50.0; return p } do {
    v = mul t a
    w = add v 1.0
    return w
  }
  return s
}
"""
NESTED = """
fn f(x: f64, w: f64[m], n: i64) -> f64 {
  s = loop WISH (t = x) for i < n {
    q = loop WISH (u = t) for j < m { b = w[j]; c = mul u b; d = sin c; return d }
    e = add q t
    return e
  }
  return s
}
"""


def program(text: str, policy: str) -> Function:
    fn = parse(text.replace("WISH ", f"{policy} " if policy else ""))
    check(fn)
    return fn


WISHES = ("checkpoint sqrt", "checkpoint log", "checkpoint 1", "checkpoint 3", "memory 1000")


@pytest.mark.parametrize("hint", WISHES)
def test_derivatives(hint: str) -> None:
    for n in (0, 1, 2, 3, 7):
        assert_derivatives(program(SCALAR, hint), [1.3, 0.9, n], order=2)
        assert_derivatives(program(ARRAY, hint), [np.array([0.3, 1.2]), np.array([0.8, -1.1]), n])
        assert_derivatives(program(NESTED, hint), [0.4, np.array([0.8, -1.1, 0.4]), n])
    assert_derivatives(program(WHILE, hint), [1.3, 1.4], order=2)


@pytest.mark.parametrize("hint", WISHES)
@pytest.mark.parametrize("n", (0, 1, 2, 3, 7, 100, 1000))
def test_the_program_runs_the_iterations_of_the_schedule(hint: str, n: int) -> None:
    fn = program(SCALAR, hint)
    outcome = run(vjp(fn, (True, True, False)), [1.3, 0.9, n, 1.0])
    plain = run(vjp(program(SCALAR, ""), (True, True, False)), [1.3, 0.9, n, 1.0])
    assert outcome.results == plain.results
    (loop,) = (let.expr for let in fn.body.lets if isinstance(let.expr, Loop))
    assert loop.checkpoint is not None
    slots = schedule(loop.checkpoint, n, 24).slots  # two numbers and a place: what is dropped counts
    assert outcome.work.applied["sin"] == n + repeats(n, slots)


def test_an_accumulator_is_not_kept() -> None:
    text = show(vjp(program(SCALAR, "checkpoint log"), (True, True, False)))
    assert text.count("= full [") == text.count("= unfilled [") == 1  # the places, and one number of the two


def test_a_policy_stays_with_its_loop() -> None:
    fn = program(NESTED, "checkpoint 3 memory 100")
    assert show(fn).count("loop checkpoint 3 memory 100 (") == 2
    assert show(parse(show(fn))) == show(fn)
    assert show(jvp(fn, (True, True, False))).count("loop checkpoint 3 memory 100 (") == 2
    swept = show(vjp(fn, (True, True, False)))
    assert swept.count("loop swept checkpoint 3 memory 100 (") == 2
    assert show(parse(swept)) == swept


def test_a_wish_is_held_to_what_it_may_be() -> None:
    with pytest.raises(IRSyntaxError, match="all, sqrt, log or a number"):
        parse(SCALAR.replace("WISH", "checkpoint cube"))
    fn = program(SCALAR, "checkpoint 3")
    (let,) = (let for let in fn.body.lets if isinstance(let.expr, Loop))
    for hint, words in (
        (Checkpoint("repeats"), "may run again at least once"),
        (Checkpoint("budget"), "a number of bytes"),
    ):
        broken = Let(let.targets, replace(let.expr, checkpoint=hint), let.span)
        lets = tuple(broken if one is let else one for one in fn.body.lets)
        with pytest.raises(IRError, match=words):
            check(Function(fn.name, fn.params, Body(lets, fn.body.results)))
