"""What later loops take from earlier ones: which do, with the same numbers, errors and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes

import anadrome as ad
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.kernel_ir.nodes import Alloc
from anadrome.passes.reuse_across_loops import reuse_across_loops
from tests.lower.oracle import lowered, statements_of
from tests.printing import quoted

CHECK = f"check c index {quoted('outside')} {{}} m"


def ask(i: str) -> str:
    """An index that is checked and given."""
    return f"k = bins[{i}]; c = lt k m; {CHECK.format('k')}; yield stack k"


def read(i: str, bins: str = "bins") -> str:
    """An element that is read at an index, clamped."""
    return f"k = {bins}[{i}]; c = lt k m; l = select c k 0; v = t[l]; yield stack v"


STAYS = {
    "behind a loop that may end early": (
        f"a = loop (q = 0) while {{ d = lt q n; return d }} do {{ k = bins[q]; c = lt k m; "
        f"{CHECK.format('k')}; w = add q 1; return w }}; "
        f"e = parfor j < n {{ {read('j')} }}"
    ),
    "behind a loop in a branch": (
        f"d = gt n 3; a = if d {{ b = parfor i < n {{ {ask('i')} }}; g = b[0]; return g }} "
        f"else {{ return 0 }}; e = parfor j < n {{ {read('j')} }}"
    ),
    "behind a check in a branch": (
        "a = parfor i < n { k = bins[i]; d = gt k 2; g = if d { c = lt k m; "
        f"{CHECK.format('k')}; return k }} else {{ return 0 }}; yield stack g }}; "
        f"e = parfor j < n {{ {read('j')} }}"
    ),
    "over another extent": (
        f"z = sub n 1; a = parfor i < z {{ {ask('i')} }}; e = parfor j < n {{ {read('j')} }}"
    ),
    "of another element": (
        f"a = parfor i < n {{ {ask('i')} }}; z = sub n 1; e = parfor j < n {{ h = sub z j; {read('h')} }}"
    ),
    "of another array": (f"a = parfor i < n {{ {ask('i')} }}; e = parfor j < n {{ {read('j', 'others')} }}"),
    "in front of the check": (f"e = parfor j < n {{ {read('j')} }}; a = parfor i < n {{ {ask('i')} }}"),
    "of two indices": (
        "a = parfor i < n { k = bins[i]; l = add k k; c = lt l m; "
        f"{CHECK.format('l')}; yield stack l }}; "
        "e = parfor j < n { s = parfor h < n { k = bins[j]; k1 = bins[h]; l = add k k1; c = lt l m; "
        "u = select c l 0; v = t[u]; yield reduce add v }; yield stack s }"
    ),
}


@pytest.mark.parametrize("rule", STAYS)
def test_stays(rule: str) -> None:
    text = "fn f(bins: i64[n], others: i64[n], t: f64[m]) -> f64[n] {\n " + STAYS[rule] + "\n return e\n}"
    if "parfor i <" in STAYS[rule] or "loop" in STAYS[rule]:
        text = text.replace("-> f64[n]", "-> f64[n], " + _kind(rule)).replace("return e\n", "return e, a\n")
    becomes(reuse_across_loops, text, text)


def _kind(rule: str) -> str:
    return {
        "behind a loop that may end early": "i64",
        "behind a loop in a branch": "i64",
        "over another extent": "i64[z]",
    }.get(rule, "i64[n]")


NO_ROOM = {
    "no result of the second": "s = parfor j < n { v = x[j]; p = exp v; q = mul p r; yield reduce add q }",
    "a result of other numbers": (
        "a = parfor j < n { v = x[j]; p = exp v; q = mul p r; w = to_f32 q; yield stack w }; s = a[0]"
    ),
    "a branch of the second": (
        "a = parfor j < n { v = x[j]; c = gt v 0.0; q = if c { p = exp v; return p } else { return r }; "
        "yield stack q }; s = a[0]"
    ),
}


@pytest.mark.parametrize("rule", NO_ROOM)
def test_is_computed_again(rule: str) -> None:
    text = (
        "fn f(x: f64[n]) -> f64, f64 {\n r = parfor i < n { v = x[i]; p = exp v; yield reduce add p }\n "
        f"{NO_ROOM[rule]}\n return r, s\n}}"
    ).replace("-> f64, f64", "-> f64, f32" if "f32" in rule or "other numbers" in rule else "-> f64, f64")
    becomes(reuse_across_loops, text, text)


@ad.jit
def read_twice(table: np.ndarray, places: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    total = 0.0
    for i in range(len(places)):
        total += table[places[i]]
    return total, np.array([weights[k] for k in places])


@pytest.mark.parametrize("n", [3, 100, 5_000])
def test_an_index_outside_is_found_as_before(n: int) -> None:
    random = np.random.default_rng(n)
    table, weights = random.normal(size=7), random.normal(size=7)
    places = random.integers(-7, 7, n)
    total, read = read_twice(table, places, weights)
    assert total == pytest.approx(sum(table[k] for k in places))
    np.testing.assert_array_equal(read, weights[places])
    for wrong in (7, -8, 2**62, -(2**63)):
        places[n // 2] = wrong
        with pytest.raises(IndexError):
            read_twice(table, places, weights)


def softmax_loss(x: np.ndarray, y: np.ndarray) -> float:
    greatest = np.max(x)
    powers = np.exp(x - greatest)
    return greatest + np.log(np.sum(powers)) - np.sum(x * y)


def test_the_gradient_of_a_soft_maximum_keeps_its_exponentials() -> None:
    random = np.random.default_rng(3)
    x, y = random.normal(size=1001), random.uniform(size=1001)
    gradient = ad.jit(ad.grad(softmax_loss))
    powers = np.exp(x - x.max())
    np.testing.assert_allclose(gradient(x, y), powers / powers.sum() - y, rtol=1e-12, atol=1e-15)
    assert ad.show(gradient, x, y, stage="optimised").count("exp ") == 1


def test_no_more_memory_is_needed() -> None:
    text = (
        "fn f(x: f64[n]) -> f64, f64[n] { r = parfor i < n { v = x[i]; p = exp v; yield reduce add p }; "
        "a = parfor j < n { v = x[j]; p = exp v; q = div p r; yield stack q }; return r, a }"
    )
    one_thread = Config(threads=1)
    made = reuse_across_loops(parse(text), one_thread)
    assert show(made).count("exp ") == 1
    assert len(statements_of(lowered(made, one_thread), Alloc)) == len(
        statements_of(lowered(text, one_thread), Alloc)
    )
