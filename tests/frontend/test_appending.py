"""Lists that a run-time loop appends to once in every iteration."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import EscapingMutation
from tests.derivatives.agreement import agree, assert_same

X = np.random.default_rng(6).normal(size=20)
LONG = np.random.default_rng(7).normal(size=70)


def running(xs):
    out = []
    total = 0.0
    for x in xs:
        total = total + x * x
        out.append(total)
    return np.array(out)


def whole_total(xs):
    out = []
    total = 0
    for x in xs:
        total = total + x * x
        out.append(2 * total)
    return np.array(out)


def rows(xs):
    out = []
    state = np.ones(3)
    for x in xs:
        state = np.tanh(state * x + 0.5)
        out.append(state)
    return np.stack(out)


def pairs(xs):
    out = []
    previous = 0.0
    for x in xs:
        previous = previous * x + 1.0
        out.append((x, previous))
    return sum(a * b for a, b in out)


def nested(xs):
    table = []
    for x in xs:
        row = []
        for y in xs:
            row.append(x * y)
        table.append(row)
    return np.array(table)


def branches(xs):
    out: list = []
    best = xs[0]
    for x in xs:
        if x > best:
            best = x
        out.append(best)
    return np.array(out) * len(out)


def two_loops(xs):
    out = []
    for x in xs:
        out.append(x)
    doubled = []
    for x in out:
        doubled.append(2.0 * x)
    return doubled[0] + np.sum(doubled)


@pytest.mark.parametrize("program", [running, whole_total, rows, pairs, nested, branches, two_loops])
def test_is_an_array(program) -> None:
    assert_same(ad.jit(program)(X), program(X))
    agree(program, X)


def test_more_iterations_than_are_repeated() -> None:
    agree(running, LONG)


def looks_inside(xs):
    out = []
    for x in xs:
        out.append(x + len(out))
    return np.array(out)


def has_another_name(xs):
    out = []
    other = out
    for x in xs:
        out.append(x)
    return np.array(other)


def under_a_branch(xs):
    out = []
    for x in xs:
        if x > 0.0:
            out.append(x)
    return np.array(out)


def twice(xs):
    out = []
    for x in xs:
        out.append(x)
        out.append(-x)
    return np.array(out)


def with_break(xs):
    out = []
    for x in xs:
        if x > 99.0:
            break
        out.append(x)
    return np.array(out)


def held_by_a_function(xs):
    out = []
    last = lambda: len(out)
    for x in xs:
        out.append(x)
    return last()


@pytest.mark.parametrize(
    "program", [looks_inside, has_another_name, under_a_branch, twice, with_break, held_by_a_function]
)
def test_others_are_refused(program) -> None:
    with pytest.raises(EscapingMutation) as caught:
        ad.jit(program)(X)
    assert caught.value.diagnostic.span is not None
