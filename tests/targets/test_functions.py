"""exp and tanh of lanes, beside the same functions of numbers with more digits."""

import functools
import operator
import re

import numpy as np
import pytest

import anadrome as ad
from anadrome.config import Config

FUNCTIONS = {"exp": (np.exp, 1.1), "tanh": (np.tanh, 2.6)}
"""Each with the most units in the last place that it may be off."""

CORNERS = (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-300, 1e308, -1e308)
EDGES = (709.782, 709.79, -708.4, -745.1, -745.2, 88.72, 88.73, -87.3, -103.9, -104.1, 9.9, 22.1)
"""Where a result becomes infinite, denormal, zero or one."""

needs_more_digits = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double has no more digits than double here"
)


def arguments(name, dtype):
    """Many numbers of each size, tiny, denormal results and corners among them."""
    rng = np.random.default_rng(3)
    most = 745.2 if dtype is np.float64 else 104.0
    spans = (1e-3, 0.4, 1.0, 20.0, most)
    drawn = [rng.uniform(-span, span, 40_000) for span in spans]
    drawn += [
        np.array(CORNERS),
        np.array(EDGES),
        np.geomspace(1e-320, 1.0, 2000),
        -np.geomspace(1e-320, 1.0, 2000),
    ]
    with np.errstate(all="ignore"):
        return np.concatenate(drawn).astype(dtype)


@needs_more_digits
@pytest.mark.parametrize("lanes", [0, 2, 4, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_lanes_are_as_exact_as_they_say(name, dtype, lanes):
    function, bound = FUNCTIONS[name]
    x = arguments(name, dtype)
    compiled = ad.jit(lambda x: getattr(np, name)(x), config=Config(lanes=lanes, cache=False))
    got = compiled(x)
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.longdouble))
        nearest = exact.astype(dtype)
        off = np.abs(got.astype(np.longdouble) - exact) / np.spacing(np.abs(nearest)).astype(np.longdouble)
    same = (got == nearest) | (np.isnan(got) & np.isnan(nearest))
    off = np.where(same, 0.0, np.where(np.isfinite(nearest), off, np.inf)).astype(float)
    worst = int(np.argmax(off))
    assert off[worst] <= bound, (x[worst], got[worst], nearest[worst])
    assert np.array_equal(np.signbit(got[x == 0]), np.signbit(nearest[x == 0]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_functions_of_the_library_are_taken_on_request(name):
    function = FUNCTIONS[name][0]
    x = np.linspace(-3.0, 3.0, 1001)
    exact = ad.jit(lambda x: getattr(np, name)(x), config=Config(functions="library", cache=False))
    one_by_one = ad.jit(lambda x: getattr(np, name)(x), config=Config(lanes=1, cache=False))
    assert np.array_equal(exact(x), one_by_one(x))
    assert np.allclose(exact(x), function(x), rtol=1e-15, atol=0)


def test_the_setting_decides_what_is_called():
    def functions_called(text):
        return set(re.findall(r"@((?:anadrome\.|_ZGV)?[\w.]*exp\w*[\w.]*)\(", text))

    x = np.ones(100)
    ours = ad.jit(lambda x: np.exp(x))
    library = ad.jit(lambda x: np.exp(x), config=Config(functions="library"))
    assert any(name.startswith("anadrome.exp") for name in functions_called(ad.show(ours, x, stage="llvm")))
    assert functions_called(ad.show(library, x, stage="llvm")) == {"exp"}


def test_products_are_rounded_by_themselves_on_request():
    x, y = 1.0 + 2.0**-30, -(1.0 + 2.0**-29)
    separate = ad.jit(lambda x, y: x * x + y, config=Config(fused=False, cache=False))
    assert separate(x, y) == x * x + y == 0.0
    many = separate(np.full(100, x), np.full(100, y))
    assert np.array_equal(many, np.zeros(100))


@pytest.mark.parametrize("count", [1, 7, 8, 100, 1003, 100_003])
def test_sums_are_taken_in_order_on_request(count):
    """The same last digits at every width, on any number of threads, as a loop of Python has."""
    x = np.random.default_rng(count).normal(size=count) * np.geomspace(1.0, 1e6, count)
    table = x[: count // 3 * 3].reshape(-1, 3)
    where = np.arange(len(table)) % 2

    def total(x, table, where):
        bins = np.zeros(2)
        np.add.at(bins, where, table[:, 0])
        return np.sum(x), np.sum(table, axis=0), np.prod(1.0 + 1e-9 * x), bins, np.cumsum(x)

    in_order, product = [0.0], 1.0
    for value in x:
        in_order.append(in_order[-1] + value)
        product *= 1.0 + 1e-9 * value
    columns = [float(functools.reduce(operator.add, column, 0.0)) for column in table.T]
    bins = [float(functools.reduce(operator.add, table[where == k, 0], 0.0)) for k in (0, 1)]
    for threads, lanes in ((1, 1), (1, 0), (2, 0)):
        config = Config(reordered=False, fused=False, threads=threads, lanes=lanes, cache=False)
        got = ad.jit(total, config=config)(x, table, where)
        assert got[0] == in_order[-1] and got[2] == product
        assert got[1].tolist() == columns and got[3].tolist() == bins
        assert got[4].tolist() == in_order[1:]
