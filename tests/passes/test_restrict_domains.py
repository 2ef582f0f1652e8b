"""Filters that become extents, filters that do not, and what a filtered sum then costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle import becomes, same

import anadrome as ad
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import ArrayType, Atom, Carry, Const, Function, Part, Reduce, Var, i64
from anadrome.array_ir.operators import identity
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.dtypes import BOOL, F64, I64
from anadrome.passes.restrict_domains import restrict_domains

HEAD = "fn f(x: f64[n], k: i64, l: i64) -> f64 {\n"
LOOP = "{before} s = parfor i < {extent} {{ {body}; yield reduce {operator} {result} }}\n return s\n}}"
TERM = "v = if {c} {{ u = x[{at}]; return u }} else {{ return {unit} }}"

TIGHTENED = {
    "below": ("c = lt i k", "h = min n k\n e = max h 0\n", "e", ""),
    "at most": ("c = le i k", "h = add k 1\n g = min n h\n e = max g 0\n", "e", ""),
    "above": ("c = gt i k", "h = add k 1\n g = max h 0\n o = sub n g\n e = max o 0\n", "e", "j = add g i"),
    "mirrored": ("c = ge k i", "h = add k 1\n g = min n h\n e = max g 0\n", "e", ""),
    "two bounds": (
        "a = ge i l; b = lt i k; c = and a b",
        "g = min n k\n h = max l 0\n o = sub g h\n e = max o 0\n",
        "e",
        "j = add h i",
    ),
    "twice the index": ("h = mul 2 i; c = lt h k", None, None, None),
    "magnitude": ("h = sub i k; g = abs h; c = le g 1", None, None, None),
    "reversed": ("h = sub n i; c = le h k", None, None, None),
    "negated": ("a = lt i k; c = not a", None, None, None),
}

LEFT = {
    "data": "u = x[i]; c = lt u 0.5",
    "parity": "h = mod i 2; c = eq h 0",
    "unequal": "c = ne i k",
    "disjunction": "a = lt i k; b = gt i l; c = or a b",
}


@pytest.mark.parametrize("rule", TIGHTENED)
@pytest.mark.parametrize("operator", ["add", "min", "max", "mul"])
def test_tightened(rule: str, operator: str) -> None:
    condition, before, extent, index = TIGHTENED[rule]
    unit = {"add": "0.0", "min": "inf", "max": "-inf", "mul": "1.0"}[operator]
    body = f"{condition}; {TERM.format(c='c', at='i', unit=unit)}"
    text = HEAD + LOOP.format(before="", extent="n", body=body, operator=operator, result="v")
    if before is not None and extent is not None:
        at = "j" if index else "i"
        plain = f"{index}; u = x[{at}]" if index else f"u = x[{at}]"
        expected = LOOP.format(before=before, extent=extent, body=plain, operator=operator, result="u")
        becomes(restrict_domains, text, HEAD + expected)
    made = restrict_domains(parse(text), Config())
    assert "if" not in show(made)
    for k in (-3, 0, 1, 4, 9):
        args = [np.linspace(0.5, 1.5, 7), np.int64(k), np.int64(2)]
        same(run(parse(text), args).results, run(made, args).results)


@pytest.mark.parametrize("rule", LEFT)
def test_left(rule: str) -> None:
    body = f"{LEFT[rule]}; {TERM.format(c='c', at='i', unit='0.0')}"
    text = HEAD + LOOP.format(before="", extent="n", body=body, operator="add", result="v")
    assert restrict_domains(parse(text), Config()) is not None
    becomes(restrict_domains, text, text)


def test_equation_leaves_no_loop() -> None:
    body = f"h = add i 1; c = eq h k; {TERM.format(c='c', at='i', unit='0.0')}"
    text = HEAD + LOOP.format(before="", extent="n", body=body, operator="add", result="v")
    made = restrict_domains(parse(text), Config())
    assert "parfor" not in show(made)
    for k in (-1, 0, 1, 5, 7, 8):
        args = [np.linspace(0.5, 1.5, 7), np.int64(k), np.int64(2)]
        same(run(parse(text), args).results, run(made, args).results)
        assert run(made, args).work.total < 12


def test_checks_outside_the_filter_keep_every_iteration() -> None:
    body = f"q = x[i]?; c = lt i k; {TERM.format(c='c', at='i', unit='0.0')}"
    text = HEAD + LOOP.format(before="", extent="l", body=body, operator="add", result="v")
    becomes(restrict_domains, text, text)


def test_stacks_keep_their_places() -> None:
    text = (
        "fn f(x: f64[n], k: i64) -> f64[n] {\n"
        f" s = parfor i < n {{ c = lt i k; {TERM.format(c='c', at='i', unit='0.0')}; yield stack v }}\n"
        " return s\n}"
    )
    becomes(restrict_domains, text, text)


def test_accumulator() -> None:
    text = (
        "fn f(x: f64[n], z: f64[n], k: i64) -> f64[n] {{\n"
        " s = with_sum (t = z) {{ b = parfor i < {extent} {{ {body} yield carry t d }}; return b }}\n"
        " return s\n}}"
    )
    filtered = "c = lt i k; d = if c { u = x[i]; e = add_to t[i] u; return e } else { return t };"
    made = restrict_domains(parse(text.format(extent="n", body=filtered)), Config())
    assert "if" not in show(made)
    args = [np.arange(1.0, 6.0), np.ones(5), np.int64(3)]
    same(run(made, args).results, [np.array([2.0, 3.0, 4.0, 1.0, 1.0])])


# ---------------------------------------------------------------------------- filters drawn at random
INTEGER, TRUTH = ArrayType(I64), ArrayType(BOOL)
Draw = Any


@st.composite
def filtered(draw: Draw) -> tuple[Function, list[Any]]:
    """A nest of reductions whose terms are guarded by conditions, most of them affine."""
    n, m = Var("n", INTEGER), Var("m", INTEGER)
    params = (Var("x", ArrayType(F64, (n,))), Var("y", ArrayType(F64, (m,))), Var("k", INTEGER))
    builder = Builder()
    builder.bind(n, m, *params)
    zeros = builder.full((n,), number(0.0, F64))
    assert isinstance(zeros, Var)
    writer = _Filters(draw, params, draw(st.sampled_from(("add", "mul", "min", "max"))))
    depth = draw(st.integers(1, 3))

    def body(inner: Builder, tokens: tuple[Var, ...]) -> list[Atom]:
        return list(writer.level(inner, tokens[0], (), depth))

    results = builder.with_sum((zeros,), body)
    fn = Function("f", params, builder.body(results))
    note(show(fn))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    sizes = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    return fn, [*(rng.uniform(-1, 1, size) for size in sizes), np.int64(draw(st.integers(-2, 5)))]


class _Filters:
    def __init__(self, draw: Draw, params: tuple[Var, ...], operator: str) -> None:
        self.draw, self.params, self.operator = draw, params, operator
        self.unit: Const = identity(operator, F64)

    def one(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def affine(self, builder: Builder, indices: tuple[Var, ...]) -> Atom:
        total: Atom = self.one(i64(0), i64(1), i64(-2), self.params[2])
        for index in self.draw(st.lists(st.sampled_from(indices), max_size=2, unique=True)):
            scaled = builder.apply("mul", index, i64(self.one(1, 1, 1, 2, 3)))
            total = builder.apply(self.one("add", "sub"), total, scaled)
        return builder.apply("abs", total) if self.draw(st.integers(0, 4)) == 0 else total

    def condition(self, builder: Builder, indices: tuple[Var, ...], depth: int = 2) -> Atom:
        choice = self.draw(st.integers(0, 6)) if depth else 6
        if choice == 0:
            return builder.apply("not", self.condition(builder, indices, depth - 1))
        if choice <= 3:
            sides = [self.condition(builder, indices, depth - 1) for _ in range(2)]
            if choice == 3:
                return builder.branch(sides[0], lambda b: (sides[1],), lambda b: (Const(False, BOOL),))[0]
            return builder.apply(self.one("and", "and", "or"), *sides)
        if choice == 4:
            place = builder.apply("mod", indices[-1], self.params[0].type.shape[0])
            return builder.apply("lt", builder.index(self.params[0], (place,)), number(0.3, F64))
        name = self.one("lt", "le", "gt", "ge", "eq", "ne")
        return builder.apply(name, self.affine(builder, indices), self.affine(builder, indices))

    def level(self, builder: Builder, token: Var, indices: tuple[Var, ...], depth: int) -> tuple[Atom, ...]:
        """The accumulator and the term of a body."""
        if depth == 0:
            return self.terms(builder, token, indices)

        def body(inner: Builder, index: Var) -> list[Part]:
            after, value = self.level(inner, token, (*indices, index), depth - 1)
            assert isinstance(after, Var)
            return [Carry.of(token, after), Reduce.of(self.operator, (value,))]

        size = self.one(self.params[0].type.shape[0], self.params[1].type.shape[0], i64(4))
        found = builder.parfor(size, body)
        if not indices or self.draw(st.booleans()):
            return found
        condition = self.condition(builder, indices)
        if self.draw(st.booleans()):
            return found[0], builder.apply("select", condition, found[1], self.unit)
        return found[0], builder.branch(condition, lambda b: (found[1],), lambda b: (self.unit,))[0]

    def terms(self, builder: Builder, token: Var, indices: tuple[Var, ...]) -> tuple[Atom, ...]:
        size = self.params[0].type.shape[0]

        def place(inner: Builder) -> Atom:
            total: Atom = indices[0]
            for index in indices[1:]:
                total = inner.apply("add", total, index)
            return inner.apply("mod", total, size)

        def then(inner: Builder) -> tuple[Atom, ...]:
            value = inner.index(self.params[0], (place(inner),))
            if self.draw(st.booleans()):
                condition = self.condition(inner, indices)
                value = inner.branch(condition, lambda b: (value,), lambda b: (self.unit,))[0]
            return inner.add_to(token, (place(inner),), inner.apply("sin", value)), value

        condition = self.condition(builder, indices)
        if self.operator == "add" or self.draw(st.booleans()):
            return builder.branch(condition, then, lambda other: (token, self.unit))
        return builder.branch(builder.apply("not", condition), lambda other: (token, self.unit), then)


def keeps_terms(fn: Function, args: list[Any]) -> None:
    made = restrict_domains(fn, Config())
    check(made)
    before, after = run(fn, args), run(made, args)
    same(before.results, after.results, 1e-12)
    assert after.work.total <= before.work.total + 60 * (1 + before.work.iterations), show(made)


@given(st.data())
def test_filters_keep_their_terms(data: st.DataObject) -> None:
    keeps_terms(*data.draw(filtered()))


@pytest.mark.fuzz
@settings(max_examples=1500)
@given(st.data())
def test_many_filters_keep_their_terms(data: st.DataObject) -> None:
    keeps_terms(*data.draw(filtered()))


def test_a_gradient_of_a_reversed_array_asks_for_no_place() -> None:
    """Each element was read once, by the iteration n - 1 - j: that is one, whatever j is."""

    def turned(a: np.ndarray) -> float:
        return np.sum(np.sin(a) * a[::-1])

    a = np.linspace(0.1, 0.5, 7)
    text = ad.show(ad.grad(turned), a)
    assert not any(word in text for word in ("floordiv", "bracket", "if ", "lt ", "ge "))
    np.testing.assert_allclose(ad.grad(turned)(a), np.cos(a) * a[::-1] + np.sin(a)[::-1], rtol=1e-14)
