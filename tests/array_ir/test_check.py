"""The verifier: each rule, broken once."""

from __future__ import annotations

import pytest

from anadrome.array_ir.build import Builder
from anadrome.array_ir.check import check, check_body
from anadrome.array_ir.nodes import (
    TRUE,
    AddTo,
    Apply,
    ArrayType,
    Body,
    Bounds,
    Carry,
    Check,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Lambda,
    Let,
    Loop,
    ParFor,
    Reduce,
    Reshape,
    Stack,
    SumType,
    Var,
    WithSum,
    i64,
)
from anadrome.array_ir.text import parse
from anadrome.dtypes import F32, F64, I64
from anadrome.errors import Span
from anadrome.errors.ir import IRError
from anadrome.prims.table import PRIMS

REAL, INTEGER = ArrayType(F64), ArrayType(I64)
N = Var("n", INTEGER)
VECTOR = ArrayType(F64, (N,))
SUM = SumType(F64, (N,))
X, Y, P = Var("x", VECTOR), Var("y", REAL), Var("k", INTEGER)
ONE = Const(1.0, F64)


def fn(*lets: Let, results: tuple = ()) -> Function:
    return Function("f", (X, Y, P), Body(lets, results))


def let(expr: Expr, *targets: Var) -> Let:
    return Let(targets, expr, Span("fit.py", 3, 0, 5))


def sin(arg, target: Var) -> Let:
    return let(Apply(PRIMS["sin"], (arg,)), target)


def refused(rule: str, *lets: Let, results: tuple = ()) -> None:
    with pytest.raises(IRError, match=rule):
        check(fn(*lets, results=results))


def test_error_names_statement_and_place() -> None:
    a, b = Var("a", REAL), Var("b", REAL)
    with pytest.raises(IRError) as error:
        check(fn(sin(Y, a), sin(X, b)))
    assert "sin works on scalars" in str(error.value)
    assert "in `b = sin x`" in str(error.value)
    assert error.value.span == Span("fit.py", 3, 0, 5)


def test_scope() -> None:
    a, b, i = Var("a", REAL), Var("b", REAL), Var("i", INTEGER)
    refused("a is read but bound nowhere", sin(a, b))
    refused("a is read but bound nowhere", results=(a,))
    refused("a is bound twice", sin(Y, a), sin(Y, a))
    inner = Body((sin(Y, a),))
    refused("a is read outside the body", let(ParFor.of(i, N, inner.lets, ())), sin(a, b))
    then, other = Body((sin(Y, a),)), Body((sin(a, b),))
    refused("a is read outside the body", let(If(TRUE, then, other)))


def test_sizes_of_results_are_bound_outside() -> None:
    i, size = Var("i", INTEGER), Var("size", INTEGER)
    row = Var("row", ArrayType(F64, (size,)))
    body = Body((let(Apply(PRIMS["add"], (i, i64(1))), size), let(Full((size,), ONE), row)))
    stacked = Var("a", ArrayType(F64, (N, size)))
    refused("size is read outside", let(ParFor.of(i, N, body.lets, [Stack.of(row)]), stacked))


def test_recorded_types() -> None:
    wrong = Var("a", ArrayType(F32))
    refused("a is of type f32, its value of f64", sin(Y, wrong))
    refused("1 results for 2 targets", let(Apply(PRIMS["sin"], (Y,)), Var("a", REAL), Var("b", REAL)))
    refused("other types", let(Loop((Var("c", REAL),), (Y,), Body((), (P,)), Var("i", INTEGER), N), wrong))
    refused(
        "branches",
        let(
            If(
                TRUE,
                Body((), (Y,)),
                Body((), (P,)),
            ),
            wrong,
        ),
    )


def test_sizes_and_constants() -> None:
    a = Var("a", ArrayType(F64, (Y,)))
    refused("the size or index y is not an i64", let(Full((Y,), ONE), a))
    refused("not written as f64", let(Full((N,), Const(1, F64)), Var("a", VECTOR)))
    refused("-1 is no size", let(Full((i64(-1),), ONE), Var("a", ArrayType(F64, (i64(-1),)))))
    a, b = Var("a", ArrayType(F64, (i64(6),))), Var("b", ArrayType(F64, (i64(2), i64(2))))
    refused("keeps the elements", let(Full((i64(6),), ONE), a), let(Reshape(a, b.type.shape), b))


def test_words_of_nodes() -> None:
    refused("an index that is read is not ignored", let(Index(X, (P,), Bounds.IGNORED), Var("a", REAL)))
    refused("2 indices into rank 1", let(Index(X, (P, P)), Var("a", REAL)))
    refused("no error is called oops", let(Check(TRUE, "oops", "")))


def test_operators_read_nothing_of_the_iteration() -> None:
    i, v, r = Var("i", INTEGER), Var("v", REAL), Var("r", REAL)
    left, right, t = Var("l", REAL), Var("m", REAL), Var("t", REAL)
    operator = Lambda((left,), (right,), Body((let(Apply(PRIMS["add"], (left, v)), t),), (t,)), (ONE,))
    body = Body((let(Index(X, (i,)), v),))
    refused("v is read outside", let(ParFor.of(i, N, body.lets, [Reduce.of(operator, (v,))]), r))


# ---------------------------------------------------------------------------- accumulators
def tokens(count: int) -> list[Var]:
    return [Var(f"t{k}", SUM) for k in range(count)]


def add(token: Var, target: Var) -> Let:
    return let(AddTo(token, (i64(0),), ONE), target)


def with_sum(token: Var, lets: list[Let], *results: Var) -> Let:
    targets = (Var("out", VECTOR), *(Var(result.name, result.type) for result in results[1:]))
    return let(WithSum((X,), (token,), Body(tuple(lets), results)), *targets)


def test_a_token_is_used_exactly_once() -> None:
    s, t, u = tokens(3)
    refused("t0 is used twice", with_sum(s, [add(s, t), add(s, u)], t))
    refused("t0 is used twice", with_sum(s, [add(s, t)], s))
    with pytest.raises(IRError, match="t1 is not used"):
        check_body(Body((add(s, t),)), [N, s])


def test_a_token_is_not_read() -> None:
    s, t = tokens(2)
    element = Var("e", REAL)
    refused("the accumulator t0 is read", with_sum(s, [let(Index(s, (P,)), element), add(s, t)], t))
    i, stacked = Var("i", INTEGER), Var("a", ArrayType(F64, (N, N)))
    refused("the accumulator t0 is read", with_sum(s, [let(ParFor.of(i, N, (), [Stack.of(s)]), stacked)], s))


def test_branches_use_the_same_tokens() -> None:
    s, t, u = tokens(3)
    branch = let(If(TRUE, Body((add(s, t),), (t,)), Body((), (s,))), u)
    check(fn(with_sum(s, [branch], u)))
    r, w, after, other = tokens(4)
    branch = let(If(TRUE, Body((), (r, w)), Body((), (w, r))), after, other)
    two = WithSum((X, X), (r, w), Body((branch,), (after, other)))
    refused("continue different accumulators", let(two, Var("a", VECTOR), Var("b", VECTOR)))


def test_a_parfor_uses_only_what_it_carries() -> None:
    s, t, u = tokens(3)
    i = Var("i", INTEGER)
    refused("not passed into", with_sum(s, [let(ParFor.of(i, N, [add(s, t)], ())), add(s, u)], u))
    s, t, u = tokens(3)
    carried = let(ParFor.of(i, N, [add(s, t)], [Carry.of(s, t)]), u)
    check(fn(with_sum(s, [carried], u)))
    s, t, u, w = tokens(4)
    twice = Carry.of(s, t)
    refused("used twice", with_sum(s, [let(ParFor.of(i, N, [add(s, t)], [twice, twice]), u, w)], u))


def test_a_chain_ends_at_the_accumulator_it_begins_at() -> None:
    s, t, u, w, a, b = tokens(6)
    i = Var("i", INTEGER)
    body = Body((add(s, u), add(t, w)))
    crossed = let(ParFor.of(i, N, body.lets, [Carry.of(s, w), Carry.of(t, u)]), a, b)
    two = WithSum((X, X), (s, t), Body((crossed,), (a, b)))
    refused("does not begin at t0", let(two, Var("a", VECTOR), Var("b", VECTOR)))


def test_a_loop_uses_only_what_it_carries() -> None:
    s, t, c, after = tokens(4)
    i = Var("i", INTEGER)
    check(fn(with_sum(s, [let(Loop((c,), (s,), Body((add(c, t),), (t,)), i, N), after)], after)))
    s, t, c, after = tokens(4)
    captured = let(Loop((), (), Body((add(s, t),), ()), i, N))
    refused("t1 is not used|not passed into", with_sum(s, [captured], s))


def test_open_bodies_list_what_is_free() -> None:
    builder = Builder()
    builder.apply("sin", Y)
    check_body(builder.body(), [Y])
    with pytest.raises(IRError, match="y is read but bound nowhere"):
        check_body(builder.body())


def test_what_runs_in_any_order_does_not_print() -> None:
    say = 'print "[\\"stdout\\",false,[\\"x\\"]]"'
    parallel = f"parfor i < n {{ loop () for j < n {{ {say} }} }}"
    condition = f"loop () while {{ {say}; return false }} do {{ }}"
    for text, words in ((parallel, "in any order does not print"), (condition, "a loop does not print")):
        with pytest.raises(IRError, match=words):
            check(parse(f"fn f(n: i64) -> () {{\n{text}\n}}"))
    check(parse(f"fn f(n: i64) -> () {{\nloop () for i < n {{ {say} }}\n}}"))


def test_a_text_holds_every_value() -> None:
    with pytest.raises(IRError, match="a text holds every value"):
        check(parse('fn f(n: i64) -> () {\nprint "[\\"stdout\\",false,[\\"x\\"]]" n\n}'))


@pytest.mark.parametrize("kind", ["accumulate add", "scatter"])
def test_what_is_put_fits_its_place(kind: str) -> None:
    with pytest.raises(IRError, match=r"the value (accumulated|scattered) into x does not fit its place"):
        parse(
            f"fn f(x: f64[n], y: f64[n]) -> f64[n] {{ a = parfor i < n {{ yield {kind} x[i] y }}; return a }}"
        )
