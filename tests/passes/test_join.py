"""Text in, text out: which loops are joined, and which must not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import pytest
from oracle import anonymous, becomes

from anadrome.array_ir.nodes import Let
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.passes import join as module
from anadrome.passes.join import join
from anadrome.passes.join_outlines import Outline

HEAD = "fn f(x: f64[n], y: f64[n, m], z: f64) -> f64, f64[n] {\n"

JOINED = {
    "what counts the iterations": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) while { c = lt p 9.0; return c } do { q = mul p 2.0; return q }\n"
        "b, k = loop (r = z, i = 0) while { c = lt r 9.0; return c } do "
        "{ w = mul r 2.0; j = add i 1; return w, j }\n"
        "s = to_f64 k\n t = update o[0] s",
        "o = full [n] 0.0\n"
        "a, k = loop (p = z, i = 0) while { c = lt p 9.0; return c } do "
        "{ q = mul p 2.0; j = add i 1; return q, j }\n"
        "s = to_f64 k\n t = update o[0] s",
    ),
    "nests in loops": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { q = loop (u = p) for j < m { v = y[i, j]; w = mul u v; return w }; "
        "return q }\n"
        "b, t = loop (r = z, s = o) for i < n { l = update s[i] r; "
        "q, e = loop (u = r, d = 0.0) for j < m { v = y[i, j]; c = add d u; w = mul u v; return w, c }; "
        "g = update l[i] e; return q, g }",
        "o = full [n] 0.0\n"
        "a, t = loop (p = z, s = o) for i < n { l = update s[i] p; "
        "q, e = loop (u = p, d = 0.0) for j < m { v = y[i, j]; c = add d u; w = mul u v; return w, c }; "
        "g = update l[i] e; return q, g }",
    ),
    "parfors and branches in loops": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { q = parfor j < m { v = y[i, j]; w = mul v p; yield reduce add w }; "
        "c = gt q 0.0; u = if c { e = exp q; return e } else { return q }; return u }\n"
        "b, t = loop (r = z, s = o) for i < n { "
        "q, k = parfor j < m { v = y[i, j]; w = mul v r; yield reduce add w; yield reduce max w }; "
        "c = gt q 0.0; u, l = if c { e = exp q; return e, k } else { return q, z }; "
        "g = update s[i] l; return u, g }",
        "o = full [n] 0.0\n"
        "a, t = loop (p = z, s = o) for i < n { "
        "q, k = parfor j < m { v = y[i, j]; w = mul v p; yield reduce add w; yield reduce max w }; "
        "c = gt q 0.0; u, l = if c { e = exp q; return e, k } else { return q, z }; "
        "g = update s[i] l; return u, g }",
    ),
    "what a yield of a parfor reads": (
        "a, t = parfor i < n { v = x[i]; "
        "p = loop (u = v) for j < m { k = y[i, j]; w = mul u k; return w }; "
        "q, l = loop (u = v, d = 0.0) for j < m { k = y[i, j]; c = add d u; w = mul u k; return w, c }; "
        "r = add p l; yield reduce add q; yield stack r }",
        "a, t = parfor i < n { v = x[i]; "
        "p, l = loop (u = v, d = 0.0) for j < m { k = y[i, j]; c = add d u; w = mul u k; return w, c }; "
        "r = add p l; yield reduce add p; yield stack r }",
    ),
    "values that start the same and are not": (
        "o = full [n] 0.0\n"
        "a, e = loop (p = z, q = z) for i < n { u = x[i]; v = mul p u; w = add q v; return v, w }\n"
        "b, d, t = loop (q = z, p = z, s = o) for i < n "
        "{ u = x[i]; v = mul q u; l = update s[i] p; w = add p v; return v, w, l }\n"
        "a = add a e",
        "o = full [n] 0.0\n"
        "a, e, t = loop (p = z, q = z, s = o) for i < n "
        "{ u = x[i]; v = mul p u; l = update s[i] q; w = add q v; return v, w, l }\n"
        "a = add a e",
    ),
}

APART = {
    "one needs the other": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { u = x[i]; q = mul p u; return q }\n"
        "k = mul a 2.0\n"
        "b, t = loop (p = z, s = o) for i < n { u = x[i]; q = mul p u; l = update s[i] k; return q, l }"
    ),
    "the second run of a checkpointed function": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { u = x[i]; q = mul p u; return q }\n"
        "k = optimization_barrier z\n"
        "b, t = loop (p = k, s = o) for i < n "
        "{ u = x[i]; q = mul p u; l = update s[i] p; return q, l }"
    ),
    "another number of iterations": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { u = x[0]; q = mul p u; return q }\n"
        "b, t = loop (p = z, s = o) for i < m { u = x[0]; q = mul p u; l = update s[0] p; return q, l }"
    ),
    "the second may fail where the first does not": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) for i < n { u = x[i]; q = mul p u; return q }\n"
        "b, t = loop (p = z, s = o) for i < n { u = x[i]; q = mul p u; k = mul i 2; l = update s[k]? p; "
        "return q, l }"
    ),
    "another condition": (
        "o = full [n] 0.0\n"
        "a = loop (p = z) while { c = lt p 9.0; return c } do { q = mul p 2.0; return q }\n"
        "b, k = loop (r = z, i = 0) while { c = lt r 8.0; return c } do "
        "{ w = mul r 2.0; j = add i 1; return w, j }\n"
        "s = to_f64 k\n t = update o[0] s"
    ),
    "little in common": (
        "o = full [n] 0.0\n"
        "a, k = loop (p = z, i = 0) for h < n { u = x[h]; v = exp u; w = sin v; q = mul p w; "
        "j = add i 1; return q, j }\n"
        "b, l, t = loop (p = z, i = 0, s = o) for h < n { u = y[h, 0]; v = mul u 3.0; w = cos v; "
        "q = add p w; g = update s[i] q; j = add i 1; return q, j, g }\n"
        "d = to_f64 k\n a = add a d"
    ),
}


def _text(body: str) -> str:
    return f"{HEAD}{body}\n return a, t\n}}"


@pytest.mark.parametrize("rule", JOINED)
def test_joined(rule: str) -> None:
    before, after = JOINED[rule]
    becomes(join, _text(before), _text(after))


@pytest.mark.parametrize("rule", APART)
def test_apart(rule: str) -> None:
    becomes(join, _text(APART[rule]), _text(APART[rule]))


def test_an_array_is_overwritten_where_it_was() -> None:
    """The second loop reads of its state what the first has overwritten by then: joined, each iteration would
    copy the state."""
    text = """
    fn f(x: f64[n]) -> f64[n], f64[n], f64 {
      a = full [n] 0.0
      b = loop (s = a) for i < n { v = x[i]; t = update s[i] v; w = cos v; u = update t[0] w; return u }
      c = full [n] 0.0
      d, e = loop (s = c, r = 0.0) for i < n {
        v = x[i]; w = cos v; g = s[0]; q = mul w g; p = add r q; t = update s[i] v; u = update t[0] w
        return u, p
      }
      return b, d, e
    }
    """
    becomes(join, text, text)


# ---------------------------------------------------------------------------- which are tried
COUNT = 20
MANY = {
    "another factor": "a{0} = loop (p = z) for i < n {{ u = x[i]; q = mul p {0}.5; r = mul q u; return r }}",
    "another factor of what is added up": (
        "a{0}, b{0} = loop (p = z, q = z) for i < n "
        "{{ u = x[i]; v = mul u u; r = add p q; s = mul q {0}.5; w = mul r v; return w, s }}"
    ),
    "another condition": (
        "a{0}, b{0} = loop (p = z, i = 0) while {{ c = lt p {0}.5; return c }} do "
        "{{ q = mul p 2.0; j = add i 1; return q, j }}"
    ),
}


class AllAlike(Outline):
    """An outline that tells no statement, and nothing that a loop carries, from another."""

    def carried(self, loop: Let) -> tuple[Hashable, ...]:
        return ("like",) * len(loop.targets)

    def results(self, let: Let) -> Hashable:
        return len(let.targets)

    def counts(self, nest: Let) -> Counter[Hashable]:
        return Counter()


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", MANY)
def test_loops_of_other_outlines_are_not_tried(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of loops that differ by a number no two are tried: two iterations tell them apart."""
    tried: list[object] = []
    monkeypatch.setattr(module, "_attempt", lambda *args: tried.append(args))
    loops = "\n".join(MANY[kind].format(number) for number in range(COUNT))
    fn = parse(_text(f"{loops}\n a = mul a1 a{COUNT - 1}\n t = full [n] a"))
    join(fn, Config())
    assert not tried
    monkeypatch.setattr(module, "Outline", AllAlike)
    join(fn, Config())
    assert len(tried) == COUNT * (COUNT - 1) // 2


@pytest.mark.parametrize("body", [before for before, _ in JOINED.values()] + list(APART.values()))
def test_outlines_refuse_nothing_that_can_be_joined(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fn = parse(_text(body))
    found = join(fn, Config())
    monkeypatch.setattr(module, "Outline", AllAlike)
    assert anonymous(join(fn, Config())) == anonymous(found)
