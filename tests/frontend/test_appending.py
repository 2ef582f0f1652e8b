"""Lists whose length is known at run time only."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import WritesThroughView
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
    return np.array(out).sum() + len(out)


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
    return np.array(out).sum() + len(out)


def held_by_a_function(xs):
    out = []
    last = lambda: len(out)
    for x in xs:
        out.append(x)
    return last()


@pytest.mark.parametrize(
    "program", [looks_inside, has_another_name, under_a_branch, twice, with_break, held_by_a_function]
)
def test_grows_as_in_python(program) -> None:
    assert_same(ad.jit(program)(X), program(X))
    agree(program, X)


def counted_first(x):
    out = []
    while x < 100.0:
        if x > 4.0:
            out.append(x)
        x = 2.0 * x
    return sum(out, 0.0) + len(out)


def taken_from_the_end(xs):
    stack = [0.0]
    for x in xs:
        if x > 0.5 and len(stack) > 1:
            stack.pop()
        else:
            stack.append(x * x)
    return sum(stack)


def pairs_under_a_branch(xs):
    out = []
    for i, x in enumerate(xs):
        if x > 0.0:
            out.append((x, i * x))
    return sum(a * b for a, b in out)


def whole_rows(xs):
    out = []
    y = xs * 1.0
    for i in range(len(xs)):
        y = y * 0.9 + i
        out.append(y)
    return np.array(out)[::3] + out[2]


def bins(xs):
    found = [0] * 4
    for i in range(len(xs)):
        found[i % 4] += xs[i]
    return found[0] + 2.0 * found[1] - found[3]


def zeros_first(xs):
    n = len(xs)
    table = [0] * n
    for i in range(n):
        table[i] = 2.5 * xs[i]
    for i in range(1, n):
        table[i] += table[i - 1]
    return table[-1]


def of_each_pair(xs):
    out = []
    for x in xs:
        for y in xs:
            if y < x:
                out.append(x * y)
    return np.sum(np.array(out))


def with_more(xs):
    out = [1.0]
    out.extend(xs)
    out += [2.0, 3.0]
    return np.array(out) * 2.0


@pytest.mark.parametrize(
    "program",
    [taken_from_the_end, pairs_under_a_branch, whole_rows, bins, zeros_first, of_each_pair, with_more],
)
@pytest.mark.parametrize("xs", [X[:3], X, LONG], ids=len)
def test_what_lists_are_used_for(program, xs) -> None:
    assert_same(ad.jit(program)(xs), program(xs))
    agree(program, xs)


@pytest.mark.parametrize("x", [1.5, 200.0])
def test_a_while_counts_before_it_stores(x) -> None:
    assert_same(ad.jit(counted_first)(x), counted_first(x))
    agree(counted_first, x)


def appends_one_array(xs):
    out = []
    y = xs * 1.0
    for i in range(len(xs)):
        y += i
        out.append(y)
    return out[0].sum()


def test_an_array_that_changes_after_it_was_appended_is_refused() -> None:
    with pytest.raises(WritesThroughView):
        ad.jit(appends_one_array)(X)
