"""Sums that become arrays: which do, with the same numbers and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes, keeps

import anadrome as ad
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.kernel_ir.nodes import Fill, Load
from anadrome.kernel_ir.walk import expressions, statements, subexpressions
from anadrome.lower.function import lower
from anadrome.passes.stored_sums import stored_sums

LOOP = "c, d = loop (s = t, q = 1.0) for i < n {{ v = x[i]; p = mul q v; {adds}; return {result}, p }}"
STAYS = {
    "two terms": "u1 = add_to s[i] p; u = add_to u1[0] v",
    "a term in a branch": "g = gt v 0.0; u = if g { w = add_to s[i] p; return w } else { return s }",
    "a term in a loop inside": "u = parfor j < n { w = add_to s[j] p; yield carry s w }",
    "places that are data": "k = k0[i]; u = add_to s[k]~ p",
    "places that may be outside": "u = add_to s[i]~ p",
    "every second place": "k = mul i 2; u = add_to s[k]~ p",
    "places one further": "k = add i 1; u = add_to s[k]~ p",
    "one place": "u = add_to s[0] p",
}


def adding(adds: str, loop: str = LOOP) -> str:
    return loop.format(adds=adds, result="u")


def program(body: str, start: str = "full [n] 0.0", result: str = "c, d") -> str:
    return (
        f"fn f(x: f64[n], k0: i64[n], y: f64[n]) -> f64[n], f64 {{\n z = {start}\n"
        f" a, b = with_sum (t = z) {{ {body}; return {result} }}\n return a, b\n}}"
    )


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    text = program(adding(STAYS[rule]))
    becomes(stored_sums, text, text)


def test_stays_where_it_starts_from_something() -> None:
    for start in ("full [n] 1.0", "update y[0] 0.0"):
        text = program(adding("u = add_to s[i] p"), start)
        becomes(stored_sums, text, text)


def test_stays_where_the_loop_may_be_shorter() -> None:
    text = program("m = min n 3; " + adding("u = add_to s[i]~ p", LOOP.replace("i < n", "i < m")))
    becomes(stored_sums, text, text)


def test_stays_where_two_loops_add() -> None:
    second = LOOP.replace("c, d", "g, h").replace("s = t", "s = c")
    loops = adding("u = add_to s[i] p") + "; " + adding("u = add_to s[i] p", second)
    text = program(loops, result="g, h")
    becomes(stored_sums, text, text)


@pytest.mark.parametrize("place", ["k = sub n i; l = sub k 1; u = add_to s[l] p", "u = add_to s[i] p"])
def test_is_stored_and_nothing_is_read_back(place: str) -> None:
    """The rest of the sums stays; lowering writes no zeros and reads nothing of the array."""
    kernel = lower(stored_sums(parse(program(adding(place))), Config()), Config(threads=1))
    stmts = list(statements(kernel.body))
    assert not any(isinstance(stmt, Fill) for stmt in stmts)
    (written,) = [output.value for output in kernel.outputs if output.shape]
    parts = [part for stmt in stmts for expr in expressions(stmt) for part in subexpressions(expr)]
    assert not any(isinstance(part, Load) and part.buffer is written for part in parts)


def filtered(x: np.ndarray, w: np.ndarray) -> float:
    """A state that goes over two arrays, one of them from its end, and one row of a matrix for each."""
    state, loss = 0.3, 0.0
    for i in range(len(x)):
        state = np.tanh(x[i] * state + w[len(x) - 1 - i, 0] * w[i, 1])
        loss += state * w[i, 2]
    return loss


@pytest.mark.parametrize("n", [0, 1, 2, 37])
def test_gradients(n: int) -> None:
    random = np.random.default_rng(n)
    x, w = random.normal(size=n), random.normal(size=(n, 3))
    if n:
        ad.check_grads(filtered, (x, w))
    by_x, by_w = ad.jit(ad.grad(filtered, argnums=(0, 1)))(x, w)
    assert by_x.shape == (n,) and by_w.shape == (n, 3)
    again = ad.jit(ad.grad(filtered, argnums=(0, 1)))(x, w)
    np.testing.assert_array_equal(by_x, again[0])


def test_the_rest_of_the_sums_stays() -> None:
    """A sum whose places are data stays one, beside one that becomes an array; so do other results."""
    for order in ("s, h", "h, s"):
        adds = "u = add_to s[i] p; k = k0[i]; g = add_to h[k]~ v"
        after = order.replace("s", "u").replace("h", "g")
        loop = f"c, d, q = loop ({order.replace('s', 's = t').replace('h', 'h = r')}, o = 1.0) for i < n {{ "
        text = (
            "fn f(x: f64[n], k0: i64[n]) -> f64[n], f64[n], f64 {\n z = full [n] 0.0\n y = full [n] 0.0\n"
            f" a, b, e = with_sum (t = z, r = y) {{ {loop} v = x[i]; p = mul o v; {adds}; "
            f"return {after}, p }}; "
            f"return {'c, d' if order == 's, h' else 'd, c'}, q }}\n return a, b, e\n}}"
        )
        x, places = np.arange(1.0, 6.0), np.array([0, 3, 3, 1, 4])
        made = keeps("stored_sums", parse(text), (x, places))
        assert show(made).count("with_sum") == 1 and show(made).count("update") == 1
