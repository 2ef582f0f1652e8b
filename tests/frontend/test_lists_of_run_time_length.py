"""Lists and ranges of run-time length, as Python has them: what is true, parts, sums; and what is refused."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.base import AnadromeError
from tests.test_python_programs import loaded


@dataclass
class Pair:
    one: float
    two: float


def pairs(x, t):
    chosen = [(v, 2.0 * v) for v in x if v < t]
    if not chosen:
        return -1.0
    return sum(a * b for a, b in chosen) / len(chosen)


def objects(x, t):
    chosen = [Pair(v, 2.0) for v in x if v < t]
    return sum(pair.one * pair.two for pair in chosen) if chosen else -1.0


def zipped(x, t):
    chosen = list(zip(x[x < t], x[x < t], strict=True))
    return chosen[0][1] if chosen and t > 2.0 else 7.0


def counted(x, t):
    chosen = list(enumerate(x[x < t]))
    return float(bool(chosen)) + sum(i * v for i, v in chosen)


def ordered(x, t):
    chosen = sorted([(v, -v) for v in x if v < t], key=lambda pair: -pair[0])
    while chosen:
        return chosen[0][0]
    return 5.0


def numbers(x, t):
    chosen = [v * v for v in x if v < t]
    return np.mean(chosen) if chosen else 0.5


def numbers_or(x, t):
    return 1.0 if [v for v in x if v < t] or t > 100.0 else 2.0


def complex_numbers(x, t):
    return 1.0 if [v * 1j for v in x if v < t] else 2.0


def range_is_true(x, t):
    r = range(int(t))
    return np.sum(x[: int(t)]) if r else -1.0


def range_backwards(x, t):
    s = 1.0
    for i in range(int(t) + 2)[::-1]:
        s = s * 0.9 + i
    return s


def parts_of_ranges(x, t):
    r = range(2, 20 + int(t), 3)
    return r[1] + 10 * r[-1] + 100 * sum(r[2:]) + 1000 * sum(r[1:-1:2]) + len(r[::-2])


def first_pairs(x, t):
    chosen = [(v, 2.0 * v) for v in x if v < t]
    return sum(a * b for a, b in chosen[:3]) + sum(a for a, b in chosen[::-1][:2])


def beam(x, t):
    chosen = sorted([(v * np.cos(v), v) for v in x if v < t], key=lambda pair: pair[0])[:2]
    return sum(a + b for a, b in chosen)


def chained(x, t):
    one = [2.0 * v for v in x if v < t]
    return sum(sum([one, one], [1.0])) + len(sum([one, [3.0]], []))  # noqa: RUF017


def is_a_list(x, t):
    chosen = [(v, v) for v in x if v < t]
    return float(isinstance(chosen, list)) + 2.0 * float(type(chosen) is list)


def in_a_range(x, t):
    return 1.0 if 3 in range(int(t)) else 2.0


def put_together(x, t):
    return len([(v, v) for v in x if v < t] + [(v, v) for v in x if v > t])


def appended_pairs(x, t):
    chosen = [(v, 2.0 * v) for v in x if v < t]
    chosen.append((1.0, 3.0))
    last = chosen.pop()
    chosen.append((last[1], 2.0))
    return sum(a * b for a, b in chosen) + len(chosen)


def rows_of_an_array(x, t):
    rows = np.array([(i, v) for i, v in enumerate(x) if v < t])
    return np.sum(rows * rows) + len(rows) if len(rows) else 1.0


def index_pairs(x, t):
    apart = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
    return sum(abs(x[i] - t * x[j]) for i, j in apart)


def products_below(x, t):
    return sum([x[i] * v for i in range(len(x)) for v in x[:i]]) + len([i for i in x for j in x if i < j < t])


def close_pairs(x, t):
    close = [(i, j, x[i] * x[j]) for i in range(len(x)) for j in range(i) if abs(x[i] - x[j]) < t]
    return sum(i * v - j for i, j, v in close)


def extreme_pairs(x, t):
    chosen = [(round(v / 3.0), -v) for v in x if v < t]
    return max(chosen)[1] - 2.0 * min(chosen)[1] if chosen else 0.5


def sorted_pairs(x, t):
    chosen = [(v > 2.0, -v) for v in x if v < t]
    chosen.sort()
    turned = sorted(chosen, reverse=True)
    zipped = sorted(zip(x > t, -x, strict=True))
    return zipped[1][1] + (chosen[0][1] - turned[0][1] if chosen else 0.0)


def keys_of_pairs(x, t):
    first = sorted(range(len(x)), key=lambda i: (x[i] > t, -x[i]))[:3]
    return (
        sum(first) + min(range(len(x)), key=lambda i: (x[i] < t, -x[i])) + max(x, key=lambda v: (v < t, -v))
    )


def least_pair(x, t):
    best = (1e9, -1)
    for i, v in enumerate(x):
        if (abs(v - t), i) < best:
            best = (abs(v - t), i)
    return best[0] + best[1]


def windows(x, t):
    last = deque([0.1, 0.25, t], maxlen=3)
    total = 0.0
    for v in x:
        last.append(v)
        total += sum(last) / len(last) + max(last) * sorted(last)[1]
    return total


RIGHT = (
    *(in_a_range, put_together, appended_pairs, rows_of_an_array, index_pairs, products_below, close_pairs),
    *(extreme_pairs, sorted_pairs, keys_of_pairs, least_pair, windows),
    pairs,
    objects,
    zipped,
    counted,
    ordered,
    numbers,
    numbers_or,
    complex_numbers,
    range_is_true,
    range_backwards,
    parts_of_ranges,
    first_pairs,
    beam,
    chained,
    is_a_list,
)


@pytest.mark.parametrize("length", [9, 40])
@pytest.mark.parametrize("function", RIGHT)
def test_is_right(function: Callable[..., Any], length: int) -> None:
    x, compiled = np.arange(float(length)), ad.jit(function)
    for t in (5.0, 0.0, 1.0, 3.5, 9.0):
        np.testing.assert_allclose(compiled(x, t), function(x, t), rtol=1e-13)


def equal_to_nothing(x, t):
    return 1.0 if [(v, v) for v in x if v < t] == [] else 2.0


def equal_numbers(x, t):
    return 1.0 if [v for v in x if v < t] == [] else 2.0


def equal_ranges(x, t):
    return 1.0 if range(int(t)) == range(int(t)) else 2.0


def before_none(x, t):
    return 1.0 if [v for v in x if v < t] < None else 2.0


def two_of_pairs(x, t):
    return sum(a for a, b in [(v, v) for v in x if v < t][np.array([0, 1])])


def one_of_two_lists(x, t):
    a, b = [x[0]], [x[1]]
    c = a if t > 2.0 else b
    return 1.0 if c is a else 2.0


def perhaps_changed(x, t):
    best = x
    for _ in range(int(t)):
        best = best + 1.0
    return 1.0 if best is x else 2.0


def perhaps_one(x, t):
    best = x
    if t > 2.0:
        best = x + 1.0
    return 1.0 if best is x else 2.0


def one_of_two(x, t):
    a, b = x + 1.0, x + 2.0
    c = a if t > 2.0 else b
    return 1.0 if c is a else 2.0


def sum_of_lists(x, t):
    return sum([[v for v in x], [v for v in x]])[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (equal_to_nothing, "comparison of lists"),
        (equal_numbers, "comparison of lists"),
        (equal_ranges, "comparison of lists or ranges"),
        (perhaps_one, "`is` of values"),
        (one_of_two, "`is` of values"),
        (before_none, "cannot be None"),
        (two_of_pairs, "the index of a list"),
        (one_of_two_lists, "`is` of values"),
        (perhaps_changed, "`is` of values"),
        (sum_of_lists, "'int' and 'list'"),
    ],
)
def test_is_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(AnadromeError, match=words) as caught:
        ad.jit(function)(np.arange(20.0), 3.0)
    assert caught.value.span is not None


def test_an_index_outside_of_a_range() -> None:
    compiled = ad.jit(lambda n: range(n)[-1])
    assert compiled(7) == 6
    with pytest.raises(IndexError, match="index -1"):
        compiled(0)


def beyond_zeros(x, m):
    y, s = np.zeros(m), 0.0
    for k in range(len(x)):
        if k < m - 3:
            s += range(m)[k]
        s += y[k]
    return s


def beyond_a_part(x, m):
    y, s = x[:m], 0.0
    for k in range(len(x)):
        if k < m - 3:
            s += range(len(y))[k]
        s += y[k]
    return s


@pytest.mark.parametrize("function", [beyond_zeros, beyond_a_part])
def test_what_a_range_says_of_an_index_holds_for_its_own_number_alone(function: Callable[..., Any]) -> None:
    compiled = ad.jit(function)
    assert compiled(np.arange(12.0), 12) == function(np.arange(12.0), 12)
    with pytest.raises(IndexError, match="index 12 is out of range"):
        compiled(np.arange(30.0), 12)


def test_the_hint_for_flat_is_right() -> None:
    def set_first(m):
        m = m.copy()
        m.flat[0] = 3.0
        return m

    with pytest.raises(AnadromeError, match=r"a\.ravel") as caught:
        ad.jit(set_first)(np.ones((3, 4)))
    assert "flatten" not in str(caught.value)


@pytest.mark.parametrize("function", [index_pairs, products_below, close_pairs, windows, appended_pairs])
def test_derivatives(function: Callable[..., Any]) -> None:
    ad.check_grads(function, (np.sin(np.arange(9.0)), 0.7))


def compared(a, b, c, d):
    one, two = (a, b), (c, d)
    found = [one < two, one <= two, one > two, one >= two, one == two, one != two]
    found += [[a, b] < [c], [a] < [c, d], (a,) == (c, d), (a, b) != (c,), (1, a) < (1, c), (1, a) < (2, c)]
    found += [(math.nan, a) < (math.nan, c), (math.nan, a) == (math.nan, a)]
    return [*found, (a, (b, c)) < (a, (b, d)), (a, 1) < (a, 2), one == (a, b), (a, b)[:1] >= two[:1]]


def test_tuples_are_compared_item_by_item() -> None:
    compiled = ad.jit(compared)
    for numbers_ in itertools.product((0.0, -0.0, 1.0, 2.5), repeat=4):
        assert [bool(one) for one in compiled(*numbers_)] == compared(*numbers_)
    for left, right in itertools.product((0.0, 1.0), repeat=2):
        for place in range(4):
            given = [left, right, left, right]
            given[place] = float("nan")
            assert [bool(one) for one in compiled(*given)] == compared(*given)


def test_the_greatest_of_no_pairs() -> None:
    with pytest.raises(ValueError, match="empty sequence"):
        ad.jit(lambda x: max([(v, v) for v in x if v > 100.0]))(np.arange(20.0))


def keys_known_now(x):
    first = x[min((0, 1, 2), key=lambda i: (i % 2, -i))] + x[max(range(3), key=lambda i: (0, 0))]
    order = [x[i] for i in sorted([3, 1, 2, 0], key=lambda i: (i % 2, i), reverse=True)]
    texts = sorted(["b", "a"], key=lambda text: (len(text), text))
    return first + order[0] + 2.0 * order[1] + (1.0 if texts[0] == "a" else 2.0)


@pytest.mark.parametrize("length", [5, 20])
def test_keys_that_are_known_while_compiling(length: int) -> None:
    x = np.sin(np.arange(1, length + 1) * 2.1)
    np.testing.assert_allclose(ad.jit(keys_known_now)(x), keys_known_now(x), rtol=1e-13)


@pytest.mark.parametrize("length", [5, 20])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[min(range(len(x)), key=lambda i: ((x[i] > 0, 1.0), (-x[i], 2.0)))],
        lambda x: x[sorted(range(len(x)), key=lambda i: ((x[i] > 0, 1.0), (-x[i], 2.0)))[0]],
        lambda x: x[sorted(range(len(x)), key=lambda i: [x[i] > 0, -x[i]])[0]],
        lambda x: max([x[:2], x[2:4]], key=lambda v: v)[1],
    ],
)
def test_keys_of_other_kinds_are_refused(function: Callable[..., Any], length: int) -> None:
    with pytest.raises(AnadromeError, match="a number or a tuple of numbers"):
        ad.jit(function)(np.sin(np.arange(1, length + 1) * 2.1))


# ---------------------------------------------------------------------------- a list is no array
LIST_PLACES = {
    "an ellipsis": "...",
    "a tuple": "0,",
    "a new axis": "None",
    "places": "np.array([1, 2])",
    "a list of places": "[1, 2]",
    "a mask": "x > 2.0",
}


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("length", [3, 50])
@pytest.mark.parametrize("source", LIST_PLACES.values(), ids=LIST_PLACES)
def test_places_that_only_arrays_have_are_refused_of_lists(source, length, is_written):
    write = f"y[{source}] = 7.0\n    return y" if is_written else f"return y[{source}]"
    f = loaded(f"def program(x):\n    y = [v * i for i, v in enumerate(x)]\n    {write}\n")
    x = np.arange(float(length))
    with pytest.raises(TypeError):
        f(x)
    with pytest.raises(TypeError, match=r"TypeError: (list indices must|only integer)|list index"):
        ad.jit(f)(x)


def test_a_number_is_no_part_of_a_list():
    def f(x):
        y = [v * 2.0 for v in x]
        y[1:3] = 7.0
        return y

    with pytest.raises(TypeError, match="can only assign an iterable"):
        ad.jit(f)(np.arange(50.0))
