"""How much work loops are estimated to be, and which of them are cheap passes over arrays."""

from __future__ import annotations

import pytest

from anadrome.kernel_ir.limits import Limits
from anadrome.kernel_ir.nodes import For
from anadrome.kernel_ir.text import parse
from anadrome.kernel_ir.walk import statements, trip_count
from anadrome.kernel_ir.work import PATIENCE, Work, Works, is_cheap_pass, iterations_at_once


def loop(body):
    """A program of one loop over i."""
    return (
        "fn f(x: f64 buffer, p: i64 buffer, n: i64) { alloc y: f64 global [max(n, 1)] "
        "alloc s: f64 local [1] s[0] = 0.0 "
        f"for i in 0 .. n sequential {{ {body} }} return y as f64 [n], s[0] as f64 }}"
    )


def loops(text):
    """The loops of a program, outer ones first."""
    return [stmt for stmt in statements(parse(text).body) if isinstance(stmt, For)]


def test_work_counts_operations_and_constant_loops():
    text = loop("for j in 0 .. 10 sequential { y[i] = add(exp(x[i]), 1.0) }")
    outer, inner = loops(text)
    each = Works().of(inner.body)
    assert each.is_all and each.operations == 1 + 10 + 1 + 1  # the store, exp, add, the load
    assert Works().of(outer.body) == Work(1 + 10 * each.operations)
    assert trip_count(inner) == 10 and trip_count(outer) is None


@pytest.mark.parametrize(
    "inside",
    [
        "for j in 0 .. n sequential { y[i] = 1.0 }",
        "for j in 0 .. 1000000 sequential { y[i] = exp(y[i]) }",
        "while { let h: bool = gt(y[i], 1.0) } test h { y[i] = sub(y[i], 1.0) }",
        "if gt(x[i], 0.0) { for j in 0 .. n sequential { y[i] = 1.0 } }",
    ],
)
def test_work_that_only_the_run_knows(inside):
    outer = loops(loop(inside))[0]
    assert not Works().of(outer.body).is_all
    assert iterations_at_once(None, Works().of(outer.body)) is None


def test_iterations_at_once():
    assert iterations_at_once(None, Work(4)) == PATIENCE // 4
    assert iterations_at_once(None, Work(0)) == PATIENCE
    assert iterations_at_once(PATIENCE // 4, Work(4)) == 0
    assert iterations_at_once(PATIENCE // 4 + 1, Work(4)) == PATIENCE // 4
    assert iterations_at_once(None, Work(10 * PATIENCE)) == 1
    assert iterations_at_once(1, Work(10 * PATIENCE)) == 0


@pytest.mark.parametrize(
    ("inside", "is_cheap"),
    [
        ("y[i] = mul(x[i], 2.0)", True),
        ("y[i] = 0.0", True),
        ("s[0] = add~(s[0], mul(x[i], x[i]))", True),
        ("s[0] = max(s[0], x[i])", False),  # each waits for the one before
        ("y[i] = mul(y[sub(i, 1)], 0.5)", False),
        ("s[0] = add(mul(s[0], 0.5), 1.0)", False),  # no array bounds it
        ("s[0] = mul(s[0], x[mod(i, 7)])", False),
        ("y[0] = x[min(i, 5)]", False),
        ("let k: i64 = min(i, 5) y[0] = x[k]", False),
        ("y[i] = x[p[i]]", False),
        ("let k: i64 = p[i] y[i] = x[k]", False),  # it may miss every cache
        ("y[i] = exp(exp(exp(exp(x[i]))))", False),  # not cheap
        ("check 0: lt(i, 5), i y[i] = x[i]", False),
    ],
)
def test_cheap_passes(inside, is_cheap):
    assert is_cheap_pass(loops(loop(inside))[0]) is is_cheap


@pytest.mark.parametrize(
    ("bounds", "most"),
    [
        ("0 .. 7", 7),
        ("3 .. 1", 0),
        ("0 .. n", None),
        ("0 .. min(n, 7)", 7),
        ("2 .. min(7, n)", 5),
        ("mul(n, 8) .. min(p[0], add(mul(n, 8), 7))", 7),
        ("mul(n, 8) .. min(p[0], add(mul(n, 4), 7))", None),
        ("p[0] .. min(n, add(p[0], 7))", None),
        ("0 .. max(n, 7)", None),
    ],
)
def test_the_most_iterations(bounds, most):
    (found,) = loops(loop("y[i] = 1.0").replace("0 .. n", bounds))
    assert Limits().trips(found) == most
