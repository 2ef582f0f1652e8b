"""Rows that are gathered: the same numbers and messages as NumPy's, however many are read; and which programs
compute all rows."""

# ruff: noqa: F821, UP037 (dimensions are named by strings)

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse
from anadrome.config import Config
from anadrome.errors import AnadromeError
from anadrome.passes.gathered import gathered

COUNTS = (0, 1, 2, 39, 40, 41, 150)
"""Rows that are read, of forty."""
ROWS = 40
ANY_SIZE = 39
"""From so many on an array has any size; one of few elements has that size."""


def heavy(x: np.ndarray) -> np.ndarray:
    """Rows that take much more than to find where they are."""
    return np.array([np.exp(np.sin(row)) + np.cos(row) * np.tanh(row) for row in x])


def rows(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    return heavy(x)[c]


def sums(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    made = heavy(x)
    return np.array([np.sum(made[k]) for k in c])


def corners(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Three reads in an iteration, one of them from behind."""
    made = heavy(x)
    return np.array([made[k] - 0.5 * made[-1 - k] + made[(k * k) % len(x)] for k in c])


def pairs(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Indices of two dimensions."""
    return heavy(x)[np.stack((c, c[::-1]), axis=1)]


def product(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """A matrix product, a reshape and a loop, one after the other."""
    blended = (x @ m).reshape(len(x), 2, 3)
    made = np.array([blended[i] @ blended[i].T + np.exp(x[i, 0]) for i in range(len(x))])
    return made[c]


def product_of_rows(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The left side of the product is made of rows as well."""
    return (heavy(x) @ m)[c]


def elements(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    made = np.array([np.sum(np.exp(row) * np.sin(row)) for row in x])
    return made[c] * 2.0


def parts_of_rows(x: np.ndarray, m: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The parts of an argument's own rows."""
    parts = np.reshape(x, (len(x), 2, 2))
    return np.array([sum(np.sum(np.exp(part) * np.sin(part)) for part in row) for row in parts])[c]


PROGRAMS = (rows, sums, corners, pairs, product, product_of_rows, elements, parts_of_rows)


def _arguments(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(count)
    return (
        random.normal(size=(ROWS, 4)),
        random.normal(size=(4, 6)),
        random.integers(0, ROWS, size=count),
    )


def _of_any_sizes(program: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The program for any number of rows, and of rows that are read."""

    def called(x: ad.f64["n", 4], m: ad.f64[4, 6], c: ad.i64["count"]) -> np.ndarray:
        return program(x, m, c)

    return called


def _loss(program: Callable[..., np.ndarray]) -> Callable[..., float]:
    def loss(x: ad.f64["n", 4], m: ad.f64[4, 6], c: ad.i64["count"]) -> float:
        return np.sum(np.sin(program(x, m, c)))

    return loss


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values(program: Callable[..., np.ndarray], count: int) -> None:
    args = _arguments(count)
    any_sizes = _of_any_sizes(program)
    if count >= ANY_SIZE:
        assert " = min " in ad.show(any_sizes, *args, stage="gathered")
    np.testing.assert_allclose(ad.jit(any_sizes)(*args), program(*args), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(ad.jit(program)(*args), program(*args), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("count", (2, 12, 40, 60))
@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[..., np.ndarray], count: int) -> None:
    ad.check_grads(_loss(program), _arguments(count))


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("count", (1, 30, 90))
def test_an_index_outside_is_refused(program: Callable[..., np.ndarray], count: int) -> None:
    x, m, c = _arguments(count)
    c[-1] = ROWS + 2
    with pytest.raises(IndexError):
        program(x, m, c)
    for compiled in (ad.jit(program), ad.jit(_of_any_sizes(program)), ad.grad(_loss(program))):
        with pytest.raises(IndexError, match="out of range for a dimension of size 40"):
            compiled(x, m, c)


def test_no_rows_at_all() -> None:
    x, m = np.zeros((0, 4)), np.zeros((4, 6))
    for program in (rows, sums, elements):
        compiled = ad.jit(_of_any_sizes(program))
        assert compiled(x, m, np.zeros(0, dtype=np.int64)).size == 0
        with pytest.raises(IndexError):
            compiled(x, m, np.zeros(2, dtype=np.int64))


def test_a_row_that_fails_is_computed_though_nobody_reads_it() -> None:
    def program(x: ad.f64["n", 4], at: ad.i64["n"], c: ad.i64["count"]) -> np.ndarray:
        made = np.array([np.exp(np.sin(x[i, at[i]] * x[i])) for i in range(len(x))])
        return made[c]

    x, _, _ = _arguments(1)
    at, c = np.arange(ROWS) % 4, np.array([2])
    np.testing.assert_allclose(ad.jit(program)(x, at, c), program(x, at, c), rtol=1e-14)
    at[5] = 4
    for run_it in (program, ad.jit(program)):
        with pytest.raises(IndexError):
            run_it(x, at, c)


HEAVY = "exp sin cos tanh exp".split()


def _program(extent: str, read: str, result: str, types: str = "") -> Function:
    lets = "\n".join(f"v{k + 1} = {name} v{k}" for k, name in enumerate(HEAVY))
    return parse(
        f"fn f(x: f64[n], c: i64[m], y: f64[4]{types}) -> {result[0]} {{\n"
        f"a = parfor i < {extent} {{\nv0 = x[i]\n{lets}\nyield stack v{len(HEAVY)}\n}}\n"
        f"{read}\nreturn {result[1]}\n}}"
    )


GATHER = "b = parfor k < m { p = c[k]; q = a[p]?; yield stack q }"

KEPT = {
    "an index that is no datum": _program(
        "n", "b = parfor k < m { q = a[k]?; yield stack q }", ("f64[m]", "b")
    ),
    "needed elsewhere": _program("n", GATHER + "\ns = a[0]?", ("f64[m], f64", "b, s")),
    "given back": _program("n", GATHER, ("f64[m], f64[n]", "b, a")),
    "read in two nests": _program(
        "n", GATHER + "\nd = parfor k < m { p = c[k]; q = a[p]?; yield stack q }", ("f64[m], f64[m]", "b, d")
    ),
    "as many reads as rows": _program(
        "n", "b = parfor k < n { p = c[k]?; q = a[p]?; yield stack q }", ("f64[n]", "b")
    ),
    "read in a branch": _program(
        "n",
        "b = parfor k < m { p = c[k]; t = lt p n; q = if t { u = a[p]?; return u } else { return 0.0 }; "
        "yield stack q }",
        ("f64[m]", "b"),
    ),
    "found by a loop": _program(
        "n",
        "b = parfor k < m { p = loop (u = 0) for j < k { w = c[j]; z = add u w; return z }; q = a[p]?; "
        "yield stack q }",
        ("f64[m]", "b"),
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    assert gathered(KEPT[name], Config()) is KEPT[name]


def test_rows_that_are_light_are_kept() -> None:
    light = parse(
        "fn f(x: f64[n], c: i64[m]) -> f64[m] {\na = parfor i < n { v = x[i]; u = exp v; yield stack u }\n"
        + GATHER
        + "\nreturn b\n}"
    )
    assert gathered(light, Config()) is light


def test_again_does_nothing_more() -> None:
    once = gathered(_program("n", GATHER, ("f64[m]", "b")), Config())
    assert gathered(once, Config()) is once


@pytest.mark.parametrize("count", COUNTS)
def test_work(count: int) -> None:
    """Never much more than all rows take, and no more than the rows that are read."""
    fn = _program("n", GATHER, ("f64[m]", "b"))
    random = np.random.default_rng(0)
    args = (random.normal(size=50), random.integers(0, 50, size=count), np.zeros(4))
    before, after = run(fn, args), run(gathered(fn, Config()), args)
    np.testing.assert_array_equal(before.results[0], after.results[0])
    assert after.work.total <= before.work.total * (count + 5) / 30


def test_constant_sizes() -> None:
    def few(x: ad.f64[ROWS, 4], c: ad.i64[3]) -> np.ndarray:
        return heavy(x)[c]

    def many(x: ad.f64[ROWS, 4], c: ad.i64[60]) -> np.ndarray:
        return heavy(x)[c]

    for program, count in ((few, 3), (many, 60)):
        x, _, c = _arguments(count)
        assert (f"parfor i < {ROWS}" in ad.show(program, x, c, stage="gathered")) == (count == 60)
        np.testing.assert_allclose(ad.jit(program)(x, c), program(x, c), rtol=1e-14)


@pytest.mark.parametrize("count", (12, 13, 14))
def test_constant_sizes_of_several_reads(count: int) -> None:
    """Three reads of each iteration are fewer than the rows, or as many: then all rows are computed."""
    x, m, c = _arguments(count)

    def program(x: ad.f64[ROWS, 4], m: ad.f64[4, 6], c: ad.i64[count]) -> np.ndarray:
        return corners(x, m, c)

    assert (f"parfor i < {ROWS}" in ad.show(program, x, m, c, stage="gathered")) == (3 * count >= ROWS)
    np.testing.assert_allclose(ad.jit(program)(x, m, c), corners(x, m, c), rtol=1e-13)


def test_errors_name_the_read() -> None:
    x, m, c = _arguments(2)
    c[1] = 77
    with pytest.raises(AnadromeError) as caught:
        ad.jit(_of_any_sizes(rows))(x, m, c)
    assert "heavy(x)[c]" in str(caught.value)
    assert "77" in str(caught.value)
