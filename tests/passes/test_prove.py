"""Which checks are proved, and which are not."""

from __future__ import annotations

import pytest
from oracle import becomes

from anadrome.passes.prove import prove

PROVED = {
    "own loop": "s = parfor i < n { v = x[i]?; yield reduce add v }",
    "own loop, first element": "s = parfor i < n { v = x[0]?; yield reduce add v }",
    "reversed": "e = sub n 1\n s = parfor i < n { k = sub e i; v = x[k]?; yield reduce add v }",
    "neighbour": "e = sub n 1\n s = parfor i < e { k = add i 1; v = x[k]?; yield reduce add v }",
    "inner loop": "s = parfor i < n { t = parfor j < i { v = x[j]?; yield reduce add v }; "
    "yield reduce add t }",
    "guard": "c = ge k 0\n d = lt k n\n e = and c d\n s = if e { v = x[k]?; return v } else { return 0.0 }",
    "check": 'c = eq n m\n check c size "sizes"\n s = parfor i < n { v = y[i]?; yield reduce add v }',
    "remainder": "s = parfor i < n { k = mod i n; v = x[k]?; yield reduce add v }",
    "quotient": "s = parfor i < n { k = floordiv i 2; v = x[k]?; yield reduce add v }",
    "flat": (
        "l = mul n m\n a = parfor i < l { yield stack 1.0 }\n"
        "s = parfor i < n { b = mul i m; t = parfor j < m { k = add b j; v = a[k]?; yield reduce add v }\n"
        " yield reduce add t }"
    ),
    "counter": (
        "c, s = loop (i = 0, t = 0.0) while { c = lt i n; return c } do {"
        " v = x[i]?; w = add t v; j = add i 1; return j, w }"
    ),
    "least": "e = min n m\n s = parfor i < e { v = x[i]?; w = y[i]?; u = mul v w; yield reduce add u }",
}

NOT_PROVED = {
    "data": "s = x[k]?",
    "too far": "s = parfor i < n { k = add i 1; v = x[k]?; yield reduce add v }",
    "other size": "s = parfor i < n { v = y[i]?; yield reduce add v }",
    "below": "s = parfor i < n { k = sub i 1; v = x[k]?; yield reduce add v }",
    "check inside a loop": (
        's = parfor i < n { c = lt k n; d = ge k 0\n check c assert "no"\n check d assert "no"\n v = x[k]?\n'
        " yield reduce add v }"
    ),
    "no element": "s = x[0]?",
}

HEAD = "fn f(x: f64[n], y: f64[m], k: i64) -> f64 {\n"


@pytest.mark.parametrize("rule", PROVED)
def test_proved(rule: str) -> None:
    text = f"{HEAD}{PROVED[rule]}\n return s\n}}"
    becomes(prove, text, text.replace("]?", "]"))


@pytest.mark.parametrize("rule", NOT_PROVED)
def test_not_proved(rule: str) -> None:
    text = f"{HEAD}{NOT_PROVED[rule]}\n return s\n}}"
    becomes(prove, text, text)


def test_negative_indices() -> None:
    head = "fn f(x: f64[n]) -> f64 {\n s = parfor i < n {\n"
    before = (
        "k = sub i n\n c = lt k 0\n d = add k n\n e = select c d k\n v = x[e]?\n"
        " yield reduce add v }\n return s\n}"
    )
    after = "k = sub i n\n d = add k n\n v = x[d]\n yield reduce add v }\n return s\n}"
    becomes(prove, head + before, head + after)


def test_clamps() -> None:
    head = "fn f(x: f64[n]) -> f64 {\n h = sub n 1\n s = parfor i < n {\n"
    before = "a = min i h\n b = max a 0\n v = x[b]\n yield reduce add v }\n return s\n}"
    after = "v = x[i]\n yield reduce add v }\n return s\n}"
    becomes(prove, head + before, head + after)
