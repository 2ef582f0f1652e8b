"""Loops in order with what is dear ahead: which loops, what runs ahead, and that they compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from launching import config, prepared, scheduled
from test_innermost import BITS, LENGTHS, agree, arguments, program

from anadrome.errors.runtime import IndexOutOfBounds
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Binding, Compute, For, Stmt
from anadrome.kernel_ir.walk import expressions, statements, subexpressions
from anadrome.schedule.parts import BLOCK, DEAR
from anadrome.targets.cpu import compile_cpu

PARTED = {
    "a sum in its order": "let v: f64 = x[i] let w: f64 = exp(v) s[0] = add(s[0], mul(v, w))",
    "the largest and where it is": """let v: f64 = sin(x[i]) let p: bool = gt(v, s[0])
        if p { s[0] = v c[0] = i }""",
    "two that are kept": """let v: f64 = log(x[i]) let w: f64 = mul(sin(v), 2.0) s[0] = add(mul(s[0], 0.5), v)
        out[i] = add(w, s[0])""",
    "of what is kept": """let v: f64 = exp(x[i]) let w: f64 = sqrt(add(v, 1.0)) let u: f64 = mul(w, x[i])
        s[0] = add(mul(s[0], 0.5), u) out[i] = s[0]""",
    "under a branch": """let v: f64 = x[i]
        if gt(v, 0.7) { let w: f64 = log(v) s[0] = add(s[0], w) c[0] = add(c[0], 1) }""",
    "on either side of a branch": """let p: bool = gt(x[i], 1.0)
        if p { let w: f64 = log(x[i]) s[0] = add(s[0], w) }
        else { let w1: f64 = exp(x[i]) s[0] = sub(s[0], w1) }""",
    "a branch in a branch": """if gt(x[i], 0.4) { let w: f64 = log(x[i]) out[i] = w
        if gt(x[add(i, n)], 1.0) { let u: f64 = mul(w, sin(w)) s[0] = add(mul(s[0], 0.9), u) } }""",
    "a branch on what is kept": """let w: f64 = sin(mul(3.0, x[i])) if gt(w, 0.0) { s[0] = add(s[0], w) }""",
    "a branch on what waits": """let w: f64 = exp(x[i])
        if gt(w, s[0]) { s[0] = add(s[0], 1.0) out[i] = w }""",
    "a whole number that is kept": """let r: i64 = to_i64(mul(100.0, exp(x[i])))
        c[0] = add(mul(c[0], 3), r)""",
    "a truth that is kept": """let p: bool = gt(sin(mul(9.0, x[i])), 0.1)
        if p { c[0] = add(mul(c[0], 3), i) } out[i] = to_f64(c[0])""",
    "memory of an iteration": """alloc m: f64 local [1] let w: f64 = exp(x[i])
        if gt(x[i], 1.0) { m[0] = add(s[0], w) } else { m[0] = s[0] } s[0] = mul(m[0], 0.5)""",
    "a short loop": """alloc m: f64 local [1] m[0] = 0.0
        for j in 0 .. 3 sequential { m[0] = add(m[0], mul(x[add(i, 0)], to_f64(j))) }
        let v: f64 = m[0] let w: f64 = exp(sub(0.0, v)) s[0] = add(mul(s[0], 0.5), w)""",
    "rows of short loops": """alloc m: f64 local [4] for j in 0 .. 2 parallel { for h in 0 .. 2 parallel {
        m[add(mul(j, 2), h)] = mul(x[i], to_f64(add(j, mul(2, h)))) } }
        for g in 1 .. 4 parallel { m[g] = add(m[g], m[sub(g, 1)]) }
        let w: f64 = sin(m[3]) s[0] = add(mul(s[0], 0.5), mul(w, m[1])) out[i] = s[0]""",
    "a division by a number": """let w: f64 = exp(x[floordiv(i, 2)]) s[0] = add(mul(s[0], 0.5), w)""",
    "a check behind it": """let w: f64 = exp(x[i]) let p: bool = lt(w, 100.0) check 0: p, i, n
        s[0] = add(mul(s[0], 0.5), w)""",
}
"""Bodies of which something runs ahead."""

BEHIND = {
    "of a state": "s[0] = add(mul(s[0], 0.5), x[i]) let v: f64 = s[0] out[i] = exp(v)",
    "of a state before": "let v: f64 = s[0] out[i] = exp(v) s[0] = add(mul(v, 0.5), x[i])",
    "a sum in its order": """let v: f64 = s[0] let w: f64 = log(add(v, 2.0)) r[0] = add(r[0], w)
        s[0] = add(mul(v, 0.5), x[i])""",
    "a sum in any order": """let v: f64 = s[0] let w: f64 = log(add(v, 2.0)) r[0] = add~(r[0], w)
        s[0] = add(mul(v, 0.5), x[i])""",
    "ahead and behind": """let u: f64 = sin(x[i]) let v: f64 = s[0] let w: f64 = exp(mul(v, 0.1))
        s[0] = add(mul(v, 0.5), u) r[0] = add(mul(r[0], 0.5), w)""",
    "one for both": """let u: f64 = sin(x[i]) let v: f64 = s[0] let w: f64 = exp(mul(v, 0.1))
        s[0] = add(mul(v, 0.5), u) r[0] = add(mul(r[0], 0.5), mul(u, w))""",
    "cheap numbers for both": """let p: f64 = mul(x[i], 2.0) let v: f64 = s[0]
        let w: f64 = exp(mul(v, p)) s[0] = add(mul(v, 0.25), p) r[0] = add(mul(r[0], 0.5), mul(w, p))""",
    "two states": """let v: f64 = s[0] let u: f64 = r[0] let w: f64 = exp(mul(sub(v, u), 0.1))
        s[0] = add(mul(v, 0.5), u) r[0] = add(mul(u, -0.25), x[i]) out[i] = w""",
    "in a branch": """let v: f64 = s[0] let p: bool = gt(v, x[i])
        if p { let w: f64 = exp(mul(v, 0.1)) r[0] = add(r[0], w) } else { r[0] = mul(r[0], 0.5) }
        s[0] = add(mul(v, 0.5), x[i])""",
    "a state set in branches": """let v: f64 = s[0]
        if gt(v, 1.0) { s[0] = sub(v, 1.0) } else { s[0] = add(v, x[i]) }
        let u: f64 = s[0] out[i] = sin(u)""",
    "a state in another": """let v: f64 = s[0] s[0] = add(mul(v, 0.5), x[i]) let w: f64 = exp(mul(v, 0.1))
        let u: f64 = r[0] r[0] = add(mul(u, 0.5), w) out[i] = mul(u, w)""",
    "a check that waits for nothing": """let v: f64 = s[0] let p: bool = lt(x[i], 1e6) check 0: p, i, n
        s[0] = add(mul(v, 0.5), x[i]) let w: f64 = exp(mul(v, 0.1)) r[0] = add(mul(r[0], 0.5), w)""",
    "read behind the check": """let p: bool = lt(k[i], mul(2, n)) check 0: p, i, n let v: f64 = s[0]
        s[0] = add(mul(v, 0.5), x[k[i]]) let w: f64 = exp(mul(v, x[k[i]])) r[0] = add(mul(r[0], 0.5), w)""",
    "a whole number": """let q: i64 = c[0] c[0] = mod(add(mul(q, 5), i), 17)
        out[i] = exp(mul(to_f64(q), 0.1))""",
    "a truth": """let q: i64 = c[0] c[0] = mod(add(mul(q, 5), i), 17) let p: bool = gt(q, 8)
        if p { let w: f64 = log(add(x[i], to_f64(q))) s[0] = add(s[0], w) }""",
}
"""Bodies of which something runs in lanes behind what it waits for."""

LEFT = {
    "nothing dear": "s[0] = add(mul(s[0], 0.5), x[i])",
    "what waits for the one before": "let w: f64 = exp(mul(-0.1, s[0])) s[0] = add(w, x[i])",
    "what was written before": """let w: f64 = exp(mul(-0.1, out[i]))
        s[0] = add(mul(s[0], 0.5), w) out[add(i, 1)] = s[0]""",
    "read behind a check": """let p: bool = lt(k[i], mul(2, n)) check 0: p, i, n let w: f64 = exp(x[k[i]])
        s[0] = add(mul(s[0], 0.5), w)""",
    "under a branch on what waits": """if gt(s[0], x[i]) { let w: f64 = exp(x[i]) s[0] = mul(w, 0.1) }
        else { s[0] = add(s[0], 0.3) }""",
    "a division that may fail": """let w: f64 = exp(to_f64(floordiv(i, k[i])))
        s[0] = add(mul(s[0], 1e-3), w)""",
    "what a short loop sets under a condition": """alloc m: f64 local [2] m[0] = x[i] m[1] = 0.0
        for j in 0 .. 2 sequential { if gt(x[i], to_f64(j)) { m[j] = exp(x[i]) } }
        s[0] = add(mul(s[0], 0.5), add(m[0], m[1]))""",
    "what the state waits for in turn": """let v: f64 = s[0] let w: f64 = exp(mul(v, -0.1))
        let u: f64 = r[0] r[0] = add(mul(u, 0.5), w) s[0] = add(mul(u, 0.5), x[i])""",
    "a check of it": """let v: f64 = s[0] let w: f64 = exp(mul(v, 0.1)) let p: bool = lt(w, 1e9)
        check 0: p, i, n s[0] = add(mul(v, 0.5), x[i]) r[0] = add(mul(r[0], 0.5), w)""",
    "one array for both": """let v: f64 = out[i] let w: f64 = exp(mul(v, 0.1)) out[add(i, n)] = w
        out[add(i, 1)] = add(mul(v, 0.5), x[i])""",
    "a loop inside": """for j in 0 .. n sequential { s[0] = mul(add(s[0], x[j]), 0.5) } let w: f64 = exp(x[i])
        s[0] = add(s[0], w)""",
}
"""Bodies of which nothing does."""


WRITTEN_THROUGH_A_VIEW = """fn f(x: f64 buffer, n: i64) {
  alloc out: f64 global [add(n, 1)]
  fill out [add(n, 1)] = 0.5
  alloc s: f64 local [1]
  s[0] = 0.0
  view later = out [1]
  for i in 0 .. n sequential {
    let w: f64 = exp(mul(-0.1, out[i]))
    s[0] = add(mul(s[0], 0.5), mul(w, x[i]))
    later[i] = s[0]
  }
  return out as f64 [n]
}"""


def is_parted(text: str, bits: int = 512) -> bool:
    loops = [stmt for stmt in statements(scheduled(text, vector_bits=bits).body) if isinstance(stmt, For)]
    return any(loop.index.name == "block" for loop in loops)


def with_another_sum(body: str) -> str:
    """A loop with one more number that goes on, where the body has one."""
    text = program(body)
    if "r[0]" not in body:
        return text
    text = text.replace("alloc c:", "alloc r: f64 local [1] r[0] = 0.25 alloc c:")
    return text.replace("c[0] as i64", "c[0] as i64, r[0] as f64")


@pytest.mark.parametrize("name", BEHIND)
def test_what_is_behind_is_in_lanes(name: str) -> None:
    inside = [
        stmt
        for loop in statements(scheduled(with_another_sum(BEHIND[name]), vector_bits=512).body)
        if isinstance(loop, For) and loop.binding is Binding.LANES
        for stmt in statements(loop.body)
    ]
    in_order = list(statements(scheduled(with_another_sum(BEHIND[name])).body))
    assert dear(inside) == dear(in_order) != set()


def dear(stmts: list[Stmt]) -> set[str]:
    """The dear operations among statements."""
    parts = (part for stmt in stmts for expr in expressions(stmt) for part in subexpressions(expr))
    return {part.prim.name for part in parts if isinstance(part, Compute) and part.prim.cost >= DEAR}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", [*PARTED, *BEHIND])
def test_every_length_at_every_width(name: str, bits: int) -> None:
    text = with_another_sum({**PARTED, **BEHIND}[name])
    assert is_parted(text, bits) is (bits > 64)
    for length in (*LENGTHS, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5):
        agree(text, bits, *arguments(length))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_as_it_is(name: str) -> None:
    text = with_another_sum(LEFT[name])
    assert not is_parted(text)
    for length in (1, 9, 67):
        x, k, n = arguments(length)
        agree(text, 512, x, np.maximum(k % n, 1), n)


@pytest.mark.parametrize(
    "bounds", ["2 .. n", "3 .. sub(n, 2)", "n .. 0", "sub(n, n) .. n", "0 .. 300", "c[0] .. n"]
)
def test_bounds(bounds: str) -> None:
    body = "let w: f64 = exp(x[i]) s[0] = add(mul(s[0], 0.5), w) c[0] = add(c[0], i)"
    assert is_parted(program(body, bounds))
    for length in (300, 301, 400):
        agree(program(body, bounds), 512, *arguments(length))


def test_few_iterations_are_left() -> None:
    body = "let w: f64 = exp(x[i]) s[0] = add(mul(s[0], 0.5), w)"
    assert not is_parted(program(body, f"0 .. {BLOCK - 1}"))


def test_numbers_that_are_none_come_in_their_order() -> None:
    text = program(PARTED["a sum in its order"])
    for value in (np.nan, np.inf, -np.inf, 1e300):
        x, k, n = arguments(200)
        x[150] = value
        agree(text, 512, x, k, n)


def test_a_check_ends_it_after_the_iterations_before() -> None:
    text = program("let w: f64 = exp(x[i]) let p: bool = lt(w, 20.0) check 0: p, i, n s[0] = add(s[0], w)")
    x, k, n = arguments(300)
    x[217] = 4.0
    fn = scheduled(text, vector_bits=512)
    for call in (
        lambda: run(fn, prepared(fn, (x, k, n))),
        lambda: compile_cpu(fn, config(1))(prepared(fn, (x, k, n))),
    ):
        with pytest.raises(IndexOutOfBounds, match="index 217 is outside of 300"):
            call()


def test_single_precision() -> None:
    text = program("let w: f32 = exp(x[i]) s[0] = add(mul(s[0], x[0]), w)", types="f32")
    assert is_parted(text)
    agree(text, 512, *arguments(1000, np.float32), rtol=2e-6)
