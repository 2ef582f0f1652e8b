"""What numbers do at their edges, as docs/python.md says."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend


def agree(function, *args) -> None:
    """The compiled function gives what Python gives, of the same types."""
    with np.errstate(over="ignore"):
        expected = function(*args)
    found = ad.jit(function)(*args)
    expected, found = (leaf if isinstance(leaf, tuple | list) else (leaf,) for leaf in (expected, found))
    assert type(found) is type(expected)
    assert [type(leaf) for leaf in found] == [type(leaf) for leaf in expected]
    assert [getattr(leaf, "dtype", None) for leaf in found] == [
        getattr(leaf, "dtype", None) for leaf in expected
    ]
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [
        (lambda x, y: x / y, (1.0, 0.0), np.inf),
        (lambda x, y: x / y, (-1.0, 0.0), -np.inf),
        (lambda x, y: x / y, (0.0, 0.0), np.nan),
        (lambda x, y: x / y, (5, 0), np.inf),
        (lambda x, y: x // y, (5, 0), 0),
        (lambda x, y: x % y, (5, 0), 0),
        (lambda k: k * k, (2**40,), 0),
        (lambda k: k + 1, (2**63 - 1,), -(2**63)),
        (lambda x: x * 2.0**70, (1,), 2.0**70),
        (lambda x: math.log(x), (-1.0,), np.nan),
        (lambda x: math.log(x), (0.0,), -np.inf),
        (lambda x: math.sqrt(x), (-1.0,), np.nan),
        (lambda x: math.asin(x), (2.0,), np.nan),
        (lambda x: math.exp(x), (1000.0,), np.inf),
    ],
)
def test_runs_on_as_numpy_does(function, args, expected) -> None:
    np.testing.assert_equal(ad.jit(function)(*args), expected)


def test_a_constant_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(frontend.NumberTooLarge):
        ad.jit(lambda x: x + 2**70)(1)


@pytest.mark.parametrize("places", range(8))
def test_rounding_is_that_of_python(places: int) -> None:
    compiled = ad.jit(lambda x: round(x, places))
    source = random.Random(places)
    halves = 5 * 10.0 ** -(places + 1)
    for _ in range(200):
        for x in (
            source.uniform(-10, 10),
            source.randrange(-(10**6), 10**6) / 10 ** source.randrange(1, 7) + halves,
            source.uniform(-1e9, 1e9),
            source.uniform(1e15, 9e15) / 10**places,
            source.randrange(-9999, 9999) + 0.5,
        ):
            assert compiled(x) == round(x, places), x


def vote(a, b):
    return ((a > 1) + (b > 1)) * a


def count(x):
    return sum((v > 0) + (v > 1) for v in x)


def counted(a):
    found = 0
    while a > 1:
        found += (a > 2) + (a > 3)
        a = a * 0.5
    return found


OF_PYTHON = [
    vote,
    lambda a, b: ((a > 0) * (a > 1), (a > 0) * True, (a > 0) - (a < 0), True + (a > 0), (a > 0) + 0.5),
    lambda a, b: (~(a > 0), -(a > 0), +(a > 0), abs(a > 0), round(a > 0), (a > 0).real, (a > 0).imag),
    lambda a, b: ((a > 0) // True, (a > 0) % True, (a > 0) / True, *divmod(a > 0, True)),
    lambda a, b: ((a > 0) ** 2, 2 ** (a > 0), (a > 0) ** (b > 0), pow(a > 0, b > 0), a ** (b > 0)),
    lambda a, b: (
        (a > 0) << (b > 0),
        (a > 0) >> (b > 0),
        (a > 0) & (b > 0),
        (a > 0) | (b > 0),
        (a > 0) ^ (b > 0),
    ),
    lambda a, b: (max(a > 0, a > 1) + max(a > 0, a > 1), min(a > 0, b > 0), max([a > 0, b > 0])),
    lambda a, b: (sum([(a > 0) + (a > 1), 1]), sum([a > 1, b > 1]), math.prod([a > 1, b > 1], start=True)),
    lambda a, b: (2 ** ((a > 0) + (a > 1)), float((a > 0) + (a > 1)), [10, 20][a > 1], (a, b)[b > 1]),
    lambda a, b: ((0 < a < 5) + (0 < b < 5), (a in (1.0, 2.0)) + (b in (2.0, 3.0)), (not a) + (not b)),
    lambda a, b: ((a > 1 and b > 1) + (a > 1 or b > 1), any([a > 1]) + all([b > 1]), bool(a) + bool(b)),
    lambda a, b: (math.isnan(a) + math.isfinite(b), np.allclose(a, b) + True, np.array_equal(a, b) + True),
    lambda a, b: (
        isinstance(a > 1, bool),
        isinstance(a > 1, np.bool_),
        ((a > 0) if b > 0 else (a > 1)) + True,
    ),
]
"""What is done with bools of Python's, which are integers."""


@pytest.mark.parametrize("function", OF_PYTHON)
@pytest.mark.parametrize("args", [(2.0, 3.0), (0.5, -1.0), (-2.0, 2.0)])
def test_bools_of_python_are_integers(function, args) -> None:
    agree(function, *args)


def test_bools_of_python_count_where_they_are_added_up() -> None:
    x = [2.0, 3.0, 0.5]
    for items in (x, x * 30):
        agree(count, items)
    agree(lambda x: [(v > 0) + (v > 1) for v in x], x)
    agree(lambda x, a, b: x[(a > 1) + (b > 1)], np.array(x), 2.0, 3.0)
    agree(lambda a, b: (np.array([(a > 0) + (a > 1)]), b), 2.0, 3.0)
    agree(counted, 30.0)
    for flag in (True, False, np.True_):
        agree(lambda flag, x: (flag + flag, (flag + flag) * x, True + flag, flag * 2), flag, 2.0)


def test_derivatives_count_bools_of_python() -> None:
    assert ad.grad(vote)(2.0, 3.0) == 2.0
    assert ad.value_and_grad(vote)(2.0, 0.5) == (2.0, 1.0)
    assert ad.grad(lambda a, x: a * sum((v > 0) + (v > 1) for v in x))(2.0, [2.0, 3.0, 0.5]) == 5.0
    assert ad.jvp(lambda a: a ** (a > 1), (3.0,), (1.0,))[1] == 1.0


def any_above(x):
    found = False
    for v in x:
        found = found | (v > 1)
    return ~found


OF_NUMPY = [
    lambda x, b: (x[0] > 1, (x[0] > 1) + (x[1] > 1), (x[0] > 1) * (x[1] > 1), (x[0] > 1) * 2, ~(x[0] > 1)),
    lambda x, b: (b[0] * 2, b[0] + b[1], b[0] + True, b[0] + 1.5, b.any() + b.all(), np.any(b) + True),
    lambda x, b: ((x[0] > 1 and x[1] > 1) + (x[2] > 1), (not x[0] > 1) + True, (x[0] in x) + True),
    lambda x, b: (isinstance(b[0], bool), isinstance(x[0] > 1, np.bool_), (x[0] > 1) / (x[1] > 1)),
    lambda x, b: (any_above(x[:3]), any_above(x[2:3])),
    lambda x, b: (b.item(0) + b.item(0), sum(b), math.prod(b), sum(b, True), sum(b, np.True_), sum(b, 0.5)),
    lambda x, b: (max(b), min(b), max(q for q in b), min(q for q in b), max(b.tolist()), min(b.tolist())),
]
"""What is done with bools of NumPy's."""


@pytest.mark.parametrize("function", OF_NUMPY)
@pytest.mark.parametrize("repeats", [1, 30])
def test_bools_of_numpy_are_no_integers(function, repeats) -> None:
    agree(function, np.array([2.0, 3.0, 0.5] * repeats), np.array([True, False] * repeats))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, a: (x[0] > 1) - (x[1] > 1),
        lambda x, a: -(x[0] > 1),
        lambda x, a: +(x[0] > 1),
        lambda x, a: [10, 20][x[0] > 1],
    ],
)
def test_what_numpy_does_not_do_with_bools_is_refused(function) -> None:
    with pytest.raises(TypeError):
        function(np.array([2.0, 3.0]), 1.0)
    with pytest.raises(ad.AnadromeError):
        ad.jit(function)(np.array([2.0, 3.0]), 1.0)


def last_is_large(x, a):
    found = a > 1
    for v in x[x > 0]:
        found = v > 1
    return found + True


@pytest.mark.parametrize(
    "function",
    [
        lambda x, a: (x[0] > 1 if a > 0 else a > 1) + True,
        lambda x, a: -(x[0] > 1 if a > 0 else a > 1),
        lambda x, a: ~(x[0] > 1 if a > 0 else a > 1),
        lambda x, a: (0 < a < x[0]) * (a > 0),
        last_is_large,
    ],
)
def test_a_bool_that_may_be_numpys_is_refused_where_that_decides(function) -> None:
    with pytest.raises(frontend.PromotionError, match="may be Python's or NumPy's"):
        ad.jit(function)(np.array([2.0, 3.0, 0.5, 1.0, 2.0]), 1.0)


BYTES, WORDS = np.array([200, 1, 100], np.uint8), np.array([2**31 - 1, 5], np.int32)
SINGLES, MATRIX = np.array([0.1, 0.2, 3e7], np.float32), np.array([[200, 100], [100, 200]], np.uint8)


@pytest.mark.parametrize(
    ("values", "start"),
    [
        *((BYTES, start) for start in (0.5, 1, True, 1j, np.float32(1.0), np.int64(3))),
        *((WORDS, start) for start in (0.5, np.int64(2))),
        *((SINGLES, start) for start in (0.5, np.int64(7), 2j)),
        *((MATRIX, start) for start in (np.zeros(2), 0.5)),
        *(([2.0, 3.0], start) for start in (np.float32(1.0), 4)),
        ([2, 3], 0.5),
    ],
)
@pytest.mark.parametrize("repeats", [1, 30])
def test_a_sum_is_of_the_type_of_its_start_and_items(values, start, repeats) -> None:
    values = np.concatenate([values] * repeats) if isinstance(values, np.ndarray) else values * repeats
    agree(lambda values, start: (sum(values, start), sum((v for v in values), start)), values, start)


def test_a_sum_goes_on_in_the_type_that_it_has() -> None:
    agree(lambda a: (sum([v * 1 for v in a], 0.0), math.prod(a, start=0.5)), BYTES)
    agree(lambda a, b: sum(v for one in (a, b) for v in one), SINGLES.astype(np.float64), np.tile(BYTES, 30))
    for other in (2.5, np.array([1.0, 2.0]), np.array([True, True]), True, 2):
        agree(lambda b, s: (sum([b, s]), 0), np.array([True, False]), other)
    for values in (BYTES, np.tile(BYTES, 30)):
        value, slope = ad.value_and_grad(lambda u, s: sum(u, s), argnums=1)(values, 0.5)
        assert (value, slope) == (sum(values.tolist(), 0.5), 1.0)


def test_parts_of_numbers_are_of_the_numbers_kind() -> None:
    for z in (1 + 2j, np.complex128(1 + 2j), np.complex64(1 + 2j)):
        agree(lambda z: (z.conjugate(), z.real, z.imag, np.angle(z), abs(z)), z)
    for a in (1.5, 2, np.float64(2.0), np.float32(2.0), np.int32(2)):
        agree(lambda a: (a.imag, a.real, a.conjugate()), a)


def above(x):
    found = 0
    for v in x:
        found += v > 0
    return found


def steps(x):
    total, step = 0.0, 0.1
    while total < 1:
        total += step
        step *= np.exp(x)
    return total


def test_a_number_that_becomes_numpys_in_a_loop_is_numpys() -> None:
    agree(above, np.array([2.0, -3.0, 0.5]))
    agree(above, np.arange(-3.0, 30.0))
    agree(steps, 0.1)
    agree(steps, np.float64(0.1))
