"""Text in, text out: what leaves the sides of a branch, and what stays."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes

import anadrome as ad
from anadrome.config import Config
from anadrome.passes.both_sides import both_sides

NEST = (
    "fn f(x: f64[n], c: bool[n], p: i64[n]) -> f64[n] {{\n"
    "a = parfor i < n {{ v = x[i]; d = c[i]; g = gt v 2.0\n"
    "{body}\nyield stack b }}\nreturn a\n}}"
)

RULES = {
    "and what both make of it": (
        "b = if d { e = exp v; w = add e 1.0; r = div 1.0 w; return r } else "
        "{ e = exp v; w = add e 1.0; r = div 1.0 w; s = neg r; return s }",
        "e = exp v\nw = add e 1.0\nr = div 1.0 w\nb = if d { return r } else { s = neg r; return s }",
    ),
    "with what it is of": (
        "b = if d { m = neg v; e = exp m; return e } else { m = neg v; e = exp m; s = mul e m; return s }",
        "m = neg v\ne = exp m\nb = if d { return e } else { s = mul e m; return s }",
    ),
    "in whatever order its operands stand": (
        "b = if d { e = exp v; w = mul e v; return w } else { e = exp v; w = mul v e; s = neg w; return s }",
        "e = exp v\nw = mul e v\nb = if d { return w } else { s = neg w; return s }",
    ),
    "in a side of a side": (
        "b = if d { e = exp v; return e } else "
        "{ h = if g { return v } else { e = exp v; s = mul e v; return s }; return h }",
        "e = exp v\nb = if d { return e } else "
        "{ h = if g { return v } else { s = mul e v; return s }; return h }",
    ),
    "one after the other": (
        "b1 = if d { e = exp v; return e } else { e = exp v; s = neg e; return s }\n"
        "b = if g { e = exp b1; return e } else { e = exp b1; s = neg e; return s }",
        "e = exp v\nb1 = if d { return e } else { s = neg e; return s }\n"
        "e1 = exp b1\nb = if g { return e1 } else { s1 = neg e1; return s1 }",
    ),
}

STAYS = {
    "what is cheap": "b = if d { e = mul v v; return e } else { e = mul v v; s = neg e; return s }",
    "what one side has": "b = if d { e = exp v; return e } else { return v }",
    "of other arguments": "b = if d { e = exp v; return e } else { m = neg v; e = exp m; return e }",
    "of what a side reads": (
        "b = if d { k = p[i]; u = x[k]?; e = exp u; return e } else { k = p[i]; u = x[k]?; e = exp u\n"
        "s = neg e; return s }"
    ),
    "a nest with a loop inside": (
        "t = parfor j < n { yield reduce add 1.0 }\n"
        "b = if d { e = exp v; return e } else { e = exp v; s = mul e t; return s }"
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule):
    before, after = RULES[rule]
    becomes(both_sides, NEST.format(body=before), NEST.format(body=after))


@pytest.mark.parametrize("rule", STAYS)
def test_what_stays(rule):
    text = NEST.format(body=STAYS[rule])
    becomes(both_sides, text, text)


def test_a_cell_computes_each_function_once():
    def cell(c, i, g, z):
        def one(c, i, g, z):
            if z == 1.0:
                return np.tanh(g) / (1.0 + np.exp(-i))
            if z == 0.0:
                return c
            return c + np.tanh(g) / (1.0 + np.exp(-i))

        return np.array([one(*row) for row in zip(c, i, g, z, strict=True)])

    rng = np.random.default_rng(0)
    arguments = (*rng.normal(size=(3, 50)), rng.integers(0, 3, 50).astype(float))
    function = ad.jit(cell, config=Config(cache=False))
    text = ad.show(function, *arguments)
    assert (text.count("exp "), text.count("tanh ")) == (1, 1)
    np.testing.assert_allclose(function(*arguments), cell(*arguments), rtol=1e-14)
    ad.check_grads(lambda c, i, g: function(c, i, g, arguments[3]), arguments[:3])
