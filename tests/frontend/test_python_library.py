"""Containers that Python's library makes of run-time values: `asdict`, `fromkeys`, `combinations`, `zip`."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import frontend

X = np.sin(np.arange(1.0, 21.0))
WEIGHTS = [1.5, 2.5, 3.5]


@dataclass
class Path:
    start: float
    steps: list = field(default_factory=list)


@dataclass
class Run:
    path: Path
    rest: object


class Two(NamedTuple):
    u: float
    v: float


def taken_apart(x):
    return dataclasses.asdict(Run(Path(x[0], [x[1]]), {"k": (x, Two(x[0], 1.0))}))


def in_tuples(x):
    return dataclasses.astuple(Run(Path(x[0], [x[1]]), {"k": x}))


def apart_is_a_copy(x):
    run = Run(x * 1.0, [x[0]])
    parts = dataclasses.asdict(run)
    parts["path"][0] = 7.0
    parts["rest"].append(2.0)
    return run.path, len(run.rest), parts["path"] * parts["rest"][0]


def from_keys(x):
    pairs = dict.fromkeys(("a", "b"), x)
    pairs["a"] = x * pairs["b"]
    return pairs, dict.fromkeys("ab"), Two(x[0], 2.0)._asdict()


def displayed(x):
    items = [0.5, *x[1:], *[2.0, x[0]], *(v * v for v in x)]
    items.append(x[3])
    return [np.array(one) for one in (items, [*x], [1.0, *x], [*x, 1.0])]


def chosen(x):
    total = sum(a * b for a, b in itertools.combinations([x[0], x[1], 2.0], 2))
    for a, b in itertools.permutations((x[0], x[1])):
        total += a / (3.0 + b)
    for a, b in itertools.zip_longest([x[0], x[1], x[2]], [x[0]], fillvalue=2.0):
        total += a * b
    return total + sum(a * b * c for a, b, c in itertools.combinations_with_replacement([x[0], x[1]], 3))


def places(x):
    total = 0.0
    for i, j in np.ndindex(2, 3):
        total += x[i] * x[j]
    for (i,), v in np.ndenumerate(x):
        total += v * x[i] * i
    return total + sum(v * k[0] * (k[1] + 1) for k, v in np.ndenumerate(np.outer(x, x)))


def beside_a_list(x):
    total = 0.0
    for weight, v in zip([2.0, 3.0, 5.0], x, strict=False):
        total += weight * v
    for i, (v, (a, b)) in enumerate(zip(x, [(1, 2.0), (3, x[1])], strict=False)):
        total += v * b + i * a
    return total, [w * v for w, v in zip(x, WEIGHTS, strict=False)], list(map(lambda a, b: a * b, (1, 2), x))


def beside_a_list_that_is_written(x):
    weights, total = [2.0, 3.0, 5.0], 0.0
    for weight, v in zip(weights, x, strict=False):
        weights[2] = weights[2] + v
        total += weight * v
    return total


def kept_by_a_dataclass(x):
    path = Path(x[0])
    for v in x:
        path.steps.append(v * path.start)
    return np.array(path.steps)


def made_by_list(x):
    found = list()
    for v in x:
        found.append(v * v)
    return np.array(found)


@functools.cache
def power(v, n):
    return 1.0 if n < 1 else power(v, n - 1) * v


def remembered(x):
    return power(x[0], 3) + power(x[1], 2)


FUNCTIONS = [
    *(taken_apart, in_tuples, apart_is_a_copy, from_keys, displayed, chosen, places, beside_a_list),
    *(beside_a_list_that_is_written, kept_by_a_dataclass, made_by_list, remembered),
]


def leaves_of(value):
    if isinstance(value, dict):
        return [list(value), *leaves_of(list(value.values()))]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *(leaf for part in value for leaf in leaves_of(part))]
    return [value]


@pytest.mark.parametrize(
    ("function", "size"), [*itertools.product(FUNCTIONS, (4, 20)), (beside_a_list_that_is_written, 2)]
)
def test_are_as_in_python(function, size):
    x = X[:size]
    for one, two in zip(leaves_of(function(x)), leaves_of(ad.jit(function)(x)), strict=True):
        if isinstance(one, list | str | None):
            assert one == two
        else:
            np.testing.assert_allclose(two, one, rtol=1e-13)


@pytest.mark.parametrize(
    "function", [f for f in FUNCTIONS if f not in (taken_apart, in_tuples, apart_is_a_copy, from_keys)]
)
def test_have_derivatives(function):
    ad.check_grads(function, (X,))


def test_words_beside_a_run_time_sequence_are_refused():
    with pytest.raises(frontend.UnsupportedType, match="an item of a run-time list cannot be 'a'"):
        ad.jit(lambda x: [v for _, v in zip(["a", "b"], x, strict=False)])(X)


def test_only_a_dataclass_is_taken_apart():
    with pytest.raises(frontend.UnsupportedType, match="use a dataclass"):
        ad.jit(lambda x: dataclasses.asdict({"a": x}))(X)


class Counter:
    def __init__(self) -> None:
        self.count = 0


class Named(dict[str, float]):
    pass


@pytest.mark.parametrize("make", [Counter, set, deque, Named])
@pytest.mark.parametrize("apart", [dataclasses.asdict, dataclasses.astuple])
def test_what_would_have_to_be_copied_is_refused(make, apart):
    """Python makes a copy of it, which a change of the other does not reach."""
    with pytest.raises(frontend.UnsupportedType, match=f"what `{apart.__name__}` copies"):
        ad.jit(lambda x: apart(Run(Path(x[0], []), {"k": make()})))(X)


def returned_unread(x, b):
    a = x.copy()
    best, c = a, b + 1.0
    for i in range(5):
        if x[i] > 0.0:
            best = best * 2.0
        best[i] = 100.0
    return a, best, c


def test_what_cannot_be_read_is_named():
    with pytest.raises(frontend.WritesThroughView) as refused:
        ad.jit(returned_unread)(X, X)
    lines = str(refused.value).splitlines()
    assert lines[2].index("a, best") == lines[3].index("^")


# ---------------------------------------------------------------------------- what cached functions give
@functools.cache
def cached_list(v):
    return [v]


@functools.lru_cache(maxsize=8)
def cached_product(v):
    return v * 2.0


def inner_and_cached(x):
    total = 1.0

    @functools.cache
    def scaled(k):
        return total * k

    first = scaled(2)
    total = x[0]
    return first + scaled(2)


def of_an_array(x):
    return np.sum(cached_product(x))


def a_list_each_time(x):
    cached_list(x[0])[0] += 5.0
    return cached_list(x[0])[0]


@pytest.mark.parametrize(
    ("function", "words"),
    [(inner_and_cached, "scaled"), (of_an_array, "unhashable"), (a_list_each_time, "can be changed")],
)
def test_cached_functions_whose_memory_would_be_seen_are_refused(function, words):
    with pytest.raises(frontend.FrontendError, match=words):
        ad.jit(function)(X)
