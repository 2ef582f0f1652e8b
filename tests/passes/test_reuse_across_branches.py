"""Values that an earlier branch hands on: which, with the same numbers and gradients."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes

import anadrome as ad
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.reuse_across_branches import reuse_across_branches

FIRST = "a = if c { e = sin x; return e } else { return x };"
STAYS = {
    "another condition": f"{FIRST} b = if d {{ h = sin x; return h }} else {{ return 1.0 }}",
    "the other side": f"{FIRST} b = if c {{ return 1.0 }} else {{ h = sin x; return h }}",
    "of something else": f"{FIRST} b = if c {{ h = sin y; return h }} else {{ return 1.0 }}",
    "cheap operations": "a = if c { e = mul x y; return e } else { return x }; "
    "b = if c { h = mul x y; return h } else { return 1.0 }",
    "before it": f"b = if c {{ h = cos x; return h }} else {{ return 1.0 }}; {FIRST}",
    "in a loop before": "a = parfor i < 3 { v = if c { e = sin x; return e } else { return x }; "
    "yield reduce add v }; b = if c { h = sin x; return h } else { return 1.0 }",
    "of what a loop carries": f"{FIRST} b = loop (s = x) for i < 3 {{ v = if c {{ h = sin s; return h }} "
    "else { return 1.0 }; return v }",
    "in a branch of another": "a = if d { w = if c { e = sin x; return e } else { return x }; return w } "
    "else { return x }; b = if c { h = sin x; return h } else { return 1.0 }",
}


def program(body: str) -> str:
    return f"fn f(x: f64, y: f64, c: bool, d: bool) -> f64, f64 {{ {body}; return a, b }}"


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    becomes(reuse_across_branches, program(STAYS[rule]), program(STAYS[rule]))


HANDED_ON = {
    "in a loop behind": f"{FIRST} b = parfor i < 3 {{ v = if c {{ h = sin x; return h }} "
    "else { return 1.0 }; yield reduce add v }",
    "on the other side": "a = if c { return x } else { e = sin x; return e }; "
    "b = if c { return 1.0 } else { h = sin x; return h }",
    "of what both compute": "a = if c { p = mul x y; e = sin p; return e } else { return x }; "
    "b = if c { q = mul x y; h = sin q; g = mul h 2.0; return g } else { return 1.0 }",
    "three times": f"{FIRST} z = if c {{ h = sin x; return h }} else {{ return 3.0 }}; "
    "b = if c { h = sin x; g = add h z; return g } else { return 1.0 }",
    "in a branch inside": f"{FIRST} b = if c {{ v = if d {{ h = sin x; return h }} "
    "else { return y }; return v } else { return 1.0 }",
}


@pytest.mark.parametrize("rule", HANDED_ON)
def test_is_handed_on(rule: str) -> None:
    made = show(reuse_across_branches(parse(program(HANDED_ON[rule])), Config()))
    assert made.count("sin ") == 1


def rotated(r: np.ndarray, p: np.ndarray) -> float:
    """A branch whose return sweep needs what it has computed, in a loop."""
    total = 0.0
    for i in range(len(p)):
        angle = np.sqrt(r[0] * r[0] + p[i] * p[i])
        if angle > 1.0:
            total += np.cos(angle) * p[i] + np.sin(angle) / angle
        elif angle > 0.5:
            total += np.exp(-angle) * r[1]
        else:
            total += angle * r[1] ** 2
    return total


def test_gradients() -> None:
    random = np.random.default_rng(2)
    r, p = np.array([0.3, -1.2]), random.uniform(-2.0, 2.0, 60)
    ad.check_grads(rotated, (r, p))
    both = ad.jit(ad.value_and_grad(rotated, argnums=(0, 1)))
    value, (by_r, by_p) = both(r, p)
    assert value == pytest.approx(rotated(r, p), rel=1e-13)
    assert by_r.shape == (2,) and by_p.shape == (60,)
