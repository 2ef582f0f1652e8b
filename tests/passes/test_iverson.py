"""Sums over brackets: what is gathered, what stays, and that the elements are those of the accumulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle import becomes, same

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import (
    AddTo,
    ArrayType,
    Atom,
    Bounds,
    Carry,
    Function,
    ParFor,
    Part,
    Reduce,
    Scan,
    Stack,
    Var,
    i64,
)
from anadrome.array_ir.text import parse, show
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.dtypes import F64, I64
from anadrome.passes.iverson import iverson

HEAD = "fn f(x: f64[n], w: f64[m], a: f64[n, m], p: i64[n], k: i64) -> {result} {{\n"
FULL = "z = full [{shape}] 0.0\n s = with_sum (t = z) {{ {body}; return b }}\n return s\n}}"

GATHERED = {
    "matrix": (
        "n, m",
        "b = parfor i < n { c = parfor j < m { u = x[i]; v = w[j]; q = mul u v; d = add_to t[i, j] q; "
        "yield carry t d }; yield carry t c }",
        "s = parfor i < n { c = parfor j < m { u = x[i]; v = w[j]; q = mul u v; yield stack q }\n"
        " yield stack c }",
    ),
    "transposed": (
        "m, n",
        "b = parfor i < n { c = parfor j < m { u = x[i]; v = w[j]; q = mul u v; d = add_to t[j, i] q; "
        "yield carry t d }; yield carry t c }",
        "s = parfor j < m { c = parfor i < n { u = x[i]; v = w[j]; q = mul u v; yield stack q }\n"
        " yield stack c }",
    ),
    "shifted": (
        "n",
        "e = add n -1; b = parfor i < e { u = x[i]; h = add i 1; d = add_to t[h] u; yield carry t d }",
        "s = parfor i < n { h = add i -1; g = ge h 0; "
        "c = if g { u = x[h]; return u } else { return 0.0 }; yield stack c }",
    ),
    "diagonals of a product": (
        "n",
        "b = parfor i < n { c = parfor j < m { h = add i j; u = x[i]; v = w[j]; q = mul u v; "
        "d = add_to t[h]~ q; yield carry t d }; yield carry t c }",
        None,
    ),
    "dear value of the outer loop": (
        "n, m",
        "b = parfor i < n { u = x[i]; l = parfor j < m { v = w[j]; h = mul u v; q = exp h; "
        "yield reduce add q }; "
        "c = parfor j < m { v = w[j]; q = mul l v; d = add_to t[i, j] q; yield carry t d }\n"
        " yield carry t c }",
        None,
    ),
    "branch": (
        "n",
        "b = parfor i < n { h = p[i]; g = lt h k; c = if g { u = x[i]; d = add_to t[i] u; return d } "
        "else { return t }; yield carry t c }",
        "s = parfor i < n { h = p[i]; g = lt h k; c = if g { u = x[i]; return u } else { return 0.0 }\n"
        " yield stack c }",
    ),
}

STAYS = {
    "an index that is data": (
        "n",
        "b = parfor i < n { h = p[i]; u = x[i]; d = add_to t[h] u; yield carry t d }",
    ),
    "a sequential loop": (
        "n",
        "b = loop (y = t) for i < n { u = x[i]; d = add_to y[i] u; return d }",
    ),
    "a dear value": (
        "n",
        "b = parfor i < n { c = parfor j < m { v = a[i, j]; q = exp v; h = sin q; d = add_to t[i] h; "
        "yield carry t d }; l = parfor j < m { v = a[i, j]; q = exp v; h = sin q; yield reduce add h }; "
        "o = add_to c[i] l; yield carry t o }",
    ),
    "a branch that cuts loops short": (
        "m",
        "b = parfor i < n { h = p[i]; g = lt h k; c = if g { e = parfor j < m { v = w[j]; d = add_to t[j] v; "
        "yield carry t d }; return e } else { return t }; yield carry t c }",
    ),
    "an array made in a branch": (
        "n",
        "g = gt k 0; b = if g { l = parfor i < n { u = x[i]; yield scan add u }; "
        "c = parfor j < n { v = l[j]; d = add_to t[j] v; yield carry t d }; return c } else { return t }",
    ),
    "a sum made in a branch": (
        "n",
        "g = gt k 0; b = if g { l = parfor i < n { u = x[i]; yield reduce add u }; "
        "c = parfor j < n { u = x[j]; v = mul l u; d = add_to t[j] v; yield carry t d }; return c } "
        "else { return t }",
    ),
    "a diagonal": (
        "n, m",
        "b = parfor i < n { u = x[i]; d = add_to t[i, i]~ u; yield carry t d }",
    ),
    "few elements": (
        "n",
        "b = parfor i < 3 { u = x[i]; d = add_to t[i] u; yield carry t d }",
    ),
    "columns of a triangle": (
        "m",
        "b = parfor i < n { e = add i 1; c = parfor j < e { v = a[i, j]; d = add_to t[j] v; "
        "yield carry t d }\n"
        "yield carry t c }",
    ),
}


def sums(fn: Function) -> int:
    """How many contributions to accumulators a function holds."""
    return sum(isinstance(let.expr, AddTo) for let in all_lets(fn.body))


def program(shape: str, body: str) -> str:
    result = f"f64[{shape}]"
    return HEAD.format(result=result) + FULL.format(shape=shape, body=body)


@pytest.mark.parametrize("rule", GATHERED)
def test_gathered(rule: str) -> None:
    shape, body, after = GATHERED[rule]
    before = program(shape, body)
    if after is not None:
        becomes(iverson, before, HEAD.format(result=f"f64[{shape}]") + after + "\n return s\n}")
    made = iverson(parse(before), Config())
    assert not sums(made), show(made)
    rng = np.random.default_rng(0)
    args = [
        rng.normal(size=7),
        rng.normal(size=5),
        rng.normal(size=(7, 5)),
        rng.integers(0, 7, 7),
        np.int64(3),
    ]
    old, new = run(parse(before), args), run(made, args)
    same(old.results, new.results, 1e-12)
    assert new.work.total <= 2 * old.work.total + 40, (old.work, new.work)


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    text = program(*STAYS[rule])
    becomes(iverson, text, text)


def test_accumulate_yield() -> None:
    text = (
        "fn f(x: f64[n]) -> f64[n] {\n z = full [n] 0.0\n e = add n -1\n"
        " s = parfor i < n { u = x[i]; h = sub e i; yield accumulate add z[h] u }\n return s\n}"
    )
    made = iverson(parse(text), Config())
    assert "accumulate" not in show(made)
    same(run(made, [np.arange(5.0)]).results, [np.arange(5.0)[::-1]])


# ---------------------------------------------------------------------------- nests drawn at random
FEW_ROWS = """fn f(a: f64[{count}, {length}], w: f64[{count}]) -> f64[{length}], f64[{count}, {length}] {{
  s, b = parfor i < {count} {{
    v = w[i]
    r, q = parfor j < {length} {{
      u = a[i, j]
      p = mul u v
      z = mul p p
      yield stack p
      yield stack z
    }}
    yield reduce add r
    yield stack q
  }}
  return s, b
}}"""


@pytest.mark.parametrize(
    ("count", "length", "is_turned"), [("4", "n", True), ("17", "n", False), ("4", "9", False)]
)
def test_few_long_rows_are_added_up_element_by_element(count: str, length: str, is_turned: bool) -> None:
    fn = parse(FEW_ROWS.format(count=count, length=length))
    found = iverson(fn, Config())
    check(found)
    loops = [let.expr for let in all_lets(found.body) if isinstance(let.expr, ParFor)]
    sums = [part.value for loop in loops for part in loop.parts if isinstance(part.item, Reduce)]
    assert [bool(value.type.shape) for value in sums] == [not is_turned]
    a, w = np.random.default_rng(1).normal(size=(int(count), 9)), np.linspace(-1.0, 2.0, int(count))
    same(run(found, [a, w]).results, run(fn, [a, w]).results)


INTEGER = ArrayType(I64)
Draw = Any


@st.composite
def nests(draw: Draw) -> tuple[Function, list[Any]]:
    """A sum over a nest of parfors with affine places, extents and guards, and other results beside it, or in
    a branch that makes the array that is read."""
    n, m = Var("n", INTEGER), Var("m", INTEGER)
    params = (Var("x", ArrayType(F64, (n,))), Var("y", ArrayType(F64, (m,))), Var("k", INTEGER))
    builder = Builder()
    builder.bind(n, m, *params)
    rank, depth = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    shape = [draw(st.sampled_from((n, m, i64(3)))) for _ in range(rank)]
    zeros = builder.full(shape, number(0.0, F64))
    assert isinstance(zeros, Var)
    writer = _Writer(draw, params, rank)
    extra: list[Var] = []

    def taken(inner: Builder, token: Var) -> tuple[Var]:
        sums = inner.parfor(n, lambda within, i: [Scan.of("add", (within.index(params[0], (i,)),))])
        writer.params = (sums[0], *params[1:])
        return (writer.level(inner, token, (), depth)[0],)

    def body(inner: Builder, tokens: tuple[Var, ...]) -> list[Atom]:
        if draw(st.integers(0, 3)) == 0:
            condition = inner.apply("ge", params[2], i64(0))
            sides = inner.branch(condition, lambda then: taken(then, tokens[0]), lambda other: tokens)
            return [sides[0]]
        token, *others = writer.level(inner, tokens[0], (), depth)
        extra.extend(others)
        return [token, *others]

    results = builder.with_sum((zeros,), body)
    fn = Function("f", params, builder.body(results))
    note(show(fn))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    sizes = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    return fn, [*(rng.uniform(-1, 1, size) for size in sizes), np.int64(draw(st.integers(-1, 4)))]


class _Writer:
    def __init__(self, draw: Draw, params: tuple[Var, ...], rank: int) -> None:
        self.draw, self.params, self.rank = draw, params, rank
        self.shifts: list[Atom] = []

    def one(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def affine(self, builder: Builder, indices: tuple[Var, ...]) -> Atom:
        """±i ± j + c"""
        total: Atom = self.one(i64(0), i64(0), i64(1), i64(-1), self.params[2])
        for index in (
            self.draw(st.lists(st.sampled_from(indices), max_size=2, unique=True)) if indices else ()
        ):
            total = builder.apply(self.one("add", "add", "sub"), total, index)
        if indices and self.shifts and self.draw(st.booleans()):
            total = builder.apply("add", total, self.shifts[-1])
        return total

    def extent(self, builder: Builder, indices: tuple[Var, ...]) -> Atom:
        x, y, _ = self.params
        size = self.one(x.type.shape[0], y.type.shape[0], i64(3))
        if not indices or self.draw(st.booleans()):
            return size
        bound = builder.apply("add", indices[-1], i64(1))
        rest = builder.apply("max", builder.apply("sub", size, indices[-1]), i64(0))
        if self.draw(st.booleans()):
            return self.one(bound, builder.apply("min", size, bound), rest)
        low = builder.apply("max", builder.apply("sub", indices[-1], i64(1)), i64(0))
        self.shifts.append(low)
        return builder.apply("max", builder.apply("sub", builder.apply("min", size, bound), low), i64(0))

    def value(self, builder: Builder, indices: tuple[Var, ...]) -> Atom:
        total: Atom = number(0.5, F64)
        for index in indices:
            array = self.one(*self.params[:2])
            place = builder.apply("mod", index, array.type.shape[0])
            total = builder.apply(self.one("add", "mul"), total, builder.index(array, (place,)))
        return builder.apply(self.one("neg", "neg", "sin"), total)

    def level(self, builder: Builder, token: Var, indices: tuple[Var, ...], depth: int) -> tuple[Var, ...]:
        """The token after what a body of this depth contributes, and a value for another result."""
        shared = self.value(builder, indices)
        if self.draw(st.booleans()):
            token = self.guarded(builder, token, indices, shared)
        if depth == 0:
            return (token, shared) if isinstance(shared, Var) else (token,)

        def body(inner: Builder, index: Var) -> list[Part]:
            inside = (*indices, index)
            after, *values = self.level(inner, token, inside, depth - 1)
            items: list[Part] = [Carry.of(token, after)]
            if values and not values[0].type.shape and self.draw(st.booleans()):
                items.append(self.one(Reduce.of("add", (values[0],)), Stack.of(values[0])))
            return items if not indices else [items[0], *(i for i in items[1:] if isinstance(i, Reduce))]

        mark = len(self.shifts)
        extent = self.extent(builder, indices)
        found = builder.parfor(extent, body)
        del self.shifts[mark:]
        if depth == 1 and indices:
            again = self.guarded(builder, found[0], indices, shared)
            return (again, *found[1:])
        return found

    def guarded(self, builder: Builder, token: Var, indices: tuple[Var, ...], value: Atom) -> Var:
        """A contribution, perhaps in a branch."""

        def add(inner: Builder) -> Var:
            at = [self.affine(inner, indices) for _ in range(self.rank)]
            return inner.add_to(token, at, value, Bounds.IGNORED)

        if self.draw(st.booleans()):
            return add(builder)
        left, right = self.affine(builder, indices), self.affine(builder, indices)
        condition = builder.apply(self.one("lt", "le", "eq", "ge"), left, right)
        if isinstance(value, Var) and self.draw(st.booleans()):
            condition = builder.apply("lt", value, number(0.3, F64))
        return builder.branch(condition, lambda inner: (add(inner),), lambda other: (token,))[0]


def keeps_elements(fn: Function, args: list[Any]) -> None:
    """The same results, and no work that the sum's size and its contributions do not pay for."""
    made = iverson(fn, Config())
    check(made)
    before, after = run(fn, args), run(made, args)
    same(before.results, after.results, 1e-12)
    elements = before.results[0].size
    assert after.work.total <= 12 * before.work.total + 60 * elements, (before.work, after.work, show(made))


@given(st.data())
def test_nests_keep_their_elements(data: st.DataObject) -> None:
    keeps_elements(*data.draw(nests()))


@pytest.mark.fuzz
@settings(max_examples=1500)
@given(st.data())
def test_many_nests_keep_their_elements(data: st.DataObject) -> None:
    keeps_elements(*data.draw(nests()))


# ---------------------------------------------------------------------------- rows that a nest adds up
ROWS = "fn f(y: f64[n, m], x: f64[k, n, m]) -> f64[k]{more} {{\n {nest}\n return s{other}\n}}"
DEEP = (
    "s = parfor i < n { t = parfor j < m { v = y[i, j]; h = add j 0; r = parfor l < k { u = x[l, i, h]; "
    "q = mul u v; yield stack q }; yield reduce add r }; yield reduce add t }"
)


def adds_rows(fn: Function) -> bool:
    """Whether a loop adds up arrays."""
    parts = [part for let in all_lets(fn.body) if isinstance(let.expr, ParFor) for part in let.expr.parts]
    return any(isinstance(part.item, Reduce) and bool(part.value.type.shape) for part in parts)


def test_a_nest_that_adds_up_rows_is_turned_inside_out() -> None:
    fn = parse(ROWS.format(nest=DEEP, more="", other=""))
    made = iverson(fn, Config())
    check(made)
    assert adds_rows(fn) and not adds_rows(made)
    random = np.random.default_rng(0)
    args = [random.normal(size=(3, 4)), random.normal(size=(5, 3, 4))]
    assert run(made, args).work.operations <= run(fn, args).work.operations
    same(run(made, args).results, run(fn, args).results)


@pytest.mark.parametrize(
    ("nest", "more", "other"),
    [
        (DEEP.replace("yield reduce add t }", "p = y[i, 0]; yield reduce add t; yield reduce max p }")
         .replace("s =", "s, o ="), ", f64", ", o"),
        ("s = parfor i < n { v = y[i, 0]; r = parfor l < k { u = x[l, i, 0]; q = mul u v; yield stack q }; "
         "yield reduce add r }", "", ""),
        (DEEP.replace("reduce add t", "reduce max t"), "", ""),
        (DEEP.replace("x[l, i, h]", "x[h, i, l]").replace("j < m", "j < k").replace("l < k", "l < m")
         .replace("y[i, j]", "y[i, 0]"), "", ""),
    ],
    ids=["beside another result", "a loop over rows", "no sum", "rows that are read along"],
)  # fmt: skip
def test_a_nest_that_stays_as_it_is(nest: str, more: str, other: str) -> None:
    text = ROWS.format(nest=nest, more=more, other=other)
    fn = parse(text.replace("-> f64[k]", "-> f64[m]") if "x[h" in nest else text)
    assert adds_rows(iverson(fn, Config()))
