"""The parallel operations: compiled as in plain Python on NumPy, in value, type and shape; derivatives."""

# ruff: noqa: B905 (programs are written as their users write them)

from __future__ import annotations

import dataclasses
import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors import parallel as errors
from anadrome.errors.runtime import EmptyReduction, IndexOutOfBounds, SizeMismatch
from tests.derivatives.agreement import agree, assert_same

RANDOM = np.random.default_rng(11)
X = RANDOM.uniform(0.4, 1.6, size=17) * RANDOM.choice([-1.0, 1.0], size=17)
SMALL = RANDOM.normal(size=3)

AT = np.array([0, 1, 2, 0, 1, 2, 0, -1, -1])
OUTSIDE = np.array([0, 1, 9, 0, -5, 2, 0, -1, -4])


class Moments(NamedTuple):
    count: Any
    mean: Any


@dataclasses.dataclass
class Line:
    slope: Any
    start: Any


def after(a, b):
    """The linear function a, then b."""
    return a[0] * b[0], a[1] * b[0] + b[1]


def joined(a, b):
    """Means of two groups together (Chan, Golub and LeVeque 1979)."""
    count = a.count + b.count
    return Moments(count, a.mean + (b.mean - a.mean) * (b.count / np.maximum(count, 1e-300)))


def fields(line):
    return line.slope, line.start


DIFFERENTIABLE = {
    "reduce add": lambda x: ad.reduce("add", x),
    "reduce mul": lambda x: ad.reduce("mul", x),
    "reduce min": lambda x: ad.reduce("min", x),
    "reduce max": lambda x: ad.reduce("max", x),
    "reduce of a tuple": lambda x: ad.reduce("add", (x, x * x)),
    "reduce with an identity": lambda x: ad.reduce("max", x, identity=0.1),
    "reduce along an axis": lambda x: ad.reduce("mul", np.outer(x, x + 2), axis=1),
    "reduce by np.multiply": lambda x: ad.reduce(np.multiply, x),
    "reduce by operator.add": lambda x: ad.reduce(operator.add, x),
    "reduce by a function": lambda x: ad.reduce(lambda a, b: a + b + a * b, x, identity=0.0),
    "reduce by a closure": lambda x: ad.reduce(lambda a, b: a + b + x[0] * a * b, x[1:], identity=0.0),
    "reduce pairs": lambda x: ad.reduce(after, (x, x * 2), identity=(1.0, 0.0)),
    "reduce a zip": lambda x: ad.reduce(after, zip(x, x * 2), identity=(1.0, 0.0)),
    "reduce a generator": lambda x: ad.reduce(after, ((v, v * v) for v in x), identity=(1.0, 0.0)),
    "reduce a list": lambda x: ad.reduce(after, [(x[0], x[1]), (x[2], 1.5)], identity=(1.0, 0.0)),
    "reduce a named tuple": lambda x: (
        ad.reduce(joined, Moments(np.ones(len(x)), x), identity=Moments(0.0, 0.0)).mean
    ),
    "reduce a dict": lambda x: ad.reduce(
        lambda a, b: {"p": a["p"] + b["p"], "q": a["q"] * b["q"]}, {"p": x, "q": x}, {"p": 0.0, "q": 1.0}
    ),
    "reduce a dataclass": lambda x: fields(
        ad.reduce(
            lambda a, b: Line(a.slope * b.slope, a.start * b.slope + b.start), Line(x, x), Line(1.0, 0.0)
        )
    ),
    "reduce matrices": lambda x: ad.reduce(
        lambda a, b: a @ b, [np.array([[v, 1.0], [0.5, v]]) for v in x], identity=np.eye(2)
    ),
    "reduce rows": lambda x: ad.reduce(
        lambda a, b: a + b + a * b, np.outer(x, np.array([1.0, 0.5])), identity=0.0
    ),
    "argmax": lambda x: ad.reduce(
        lambda a, b: a if a[0] >= b[0] else b, (x, np.arange(len(x))), identity=(-1e30, 0)
    ),
    "reduce in a loop": lambda x: sum(ad.reduce("mul", row) for row in np.outer(x, x + 1)),
    "scan add": lambda x: ad.scan("add", x),
    "scan mul": lambda x: ad.scan("mul", x),
    "scan max": lambda x: ad.scan("max", x),
    "exclusive scan": lambda x: ad.scan("mul", x, exclusive=True),
    "exclusive scan from": lambda x: ad.scan("max", x, identity=-1.0, exclusive=True),
    "scan along an axis": lambda x: ad.scan("add", np.outer(x, x), axis=1),
    "scan by a function": lambda x: ad.scan(lambda a, b: a + b + a * b, x, identity=0.0),
    "exclusive scan by a function": lambda x: ad.scan(
        lambda a, b: a + b + a * b, x, identity=0.0, exclusive=True
    ),
    "linear recurrence": lambda x: ad.scan(after, (x, x * 2), identity=(1.0, 0.0)),
    "scan matrices": lambda x: ad.scan(
        lambda a, b: a @ b, [np.array([[v, 1.0], [0.5, v]]) for v in x], identity=np.eye(2)
    ),
    "by index add": lambda x: ad.reduce_by_index(4, "add", AT, np.tile(x, 3)[:9]),
    "by index mul": lambda x: ad.reduce_by_index(4, "mul", AT, np.tile(x, 3)[:9]),
    "by index max": lambda x: ad.reduce_by_index(np.zeros(4), "max", AT, np.tile(x, 3)[:9]),
    "by index of init": lambda x: ad.reduce_by_index(x, "mul", np.array([0, 0, 1, -1]), 1.5),
    "by index ignore": lambda x: ad.reduce_by_index(4, "add", OUTSIDE, np.tile(x, 3)[:9], bounds="ignore"),
    "by index function": lambda x: ad.reduce_by_index(
        4, lambda a, b: a + b + a * b, OUTSIDE, np.tile(x, 3)[:9], identity=0.0, bounds="ignore"
    ),
    "by index, reading around": lambda x: ad.reduce_by_index(
        np.ones(4), lambda a, b: a + b + x[0] * a * b, AT, np.linspace(0.2, 0.9, 9), identity=0.0
    ),
    "by index, reading around by its inverse": lambda x: ad.reduce_by_index(
        np.ones(4),
        lambda a, b: a + b + x[0] * a * b,
        AT,
        np.linspace(0.2, 0.9, 9),
        identity=0.0,
        inverse=lambda o, b: (o - b) / (1 + x[0] * b),
    ),
    "by index, an identity from around": lambda x: ad.reduce_by_index(
        np.ones(4), lambda a, b: a * b * x[0], AT, np.linspace(0.2, 0.9, 9), identity=1 / x[0]
    ),
    "by index, rows, reading around": lambda x: ad.reduce_by_index(
        np.ones((2, 3)),
        lambda a, b: a + b + x[0] * a * b,
        np.array([0, 1, 0]),
        np.eye(3),
        identity=np.zeros(3),
    ),
    "by index pairs": lambda x: ad.reduce_by_index(
        (np.ones(4), np.zeros(4)), after, AT, (np.tile(x, 3)[:9], np.tile(x, 3)[:9]), identity=(1.0, 0.0)
    ),
    "by index pairs ignore": lambda x: ad.reduce_by_index(
        4, after, OUTSIDE, (np.tile(x, 3)[:9],) * 2, identity=(1.0, 0.0), bounds="ignore"
    ),
    "by index matrix": lambda x: ad.reduce_by_index(
        (3, 2), "add", (np.array([0, 1, 2, 0]), np.array([0, 1, -1, 0])), np.tile(x, 2)[:4]
    ),
    "by index rows": lambda x: ad.reduce_by_index(2, "max", np.array([0, 1, 0]), np.outer(x[:3], x)),
    "by index grid": lambda x: ad.reduce_by_index(
        3, "add", np.array([[0, 1], [2, 0]]), np.outer(x, x)[:2, :2]
    ),
    "scatter": lambda x: ad.scatter(np.ones(12), np.array([0, 1, 0]), x[:3]),
    "scatter into": lambda x: ad.scatter(x, np.array([0, 1, 0]), x[:3] * 2),
    "scatter rows": lambda x: ad.scatter(np.outer(x, x), np.array([0, -1]), np.stack([x, x * 2])),
    "scatter ignore": lambda x: ad.scatter(x, np.array([0, 99, -99]), x[:3] * 2, bounds="ignore"),
    "segment_sum": lambda x: ad.segment_sum(np.tile(x, 3)[:9], AT, 4),
    "segment_prod": lambda x: ad.segment_prod(np.tile(x, 3)[:9], AT, 5),
    "segment_max": lambda x: ad.segment_max(np.tile(x, 3)[:9], AT, 4),
    "segment_min": lambda x: ad.segment_min(np.tile(x, 3)[:9], AT, 4),
    "sort": lambda x: ad.sort(x),
    "filter": lambda x: np.sum(ad.filter(lambda v: v > 0, x) ** 2),
    "filter by a mask": lambda x: np.prod(ad.filter(x > 0, (x, x * x))[1]),
    "filter nothing": lambda x: np.sum(ad.filter(lambda v: v > 99, x) ** 2),
    "map": lambda x: ad.map(lambda a, b: a * b, x, x * 2),
    "map to pairs": lambda x: ad.map(lambda a: (a * a, [a, 1.0]), x)[0],
    "map rows": lambda x: ad.map(lambda row: row * row[0], np.outer(x, x)),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
@pytest.mark.parametrize("x", [X, SMALL], ids=["symbolic", "small"])
def test_derivatives(name: str, x: np.ndarray) -> None:
    agree(DIFFERENTIABLE[name], x)


@pytest.mark.parametrize("name", list(DIFFERENTIABLE)[::3])
def test_second_derivatives(name: str) -> None:
    agree(DIFFERENTIABLE[name], SMALL, order=2)


VALUES = {
    "counts": lambda x: ad.reduce_by_index(4, "add", AT, 1),
    "filter": lambda x: ad.filter(lambda v: v > 0, x),
    "filter pairs": lambda x: ad.filter(x > 0, (x, x * x)),
    "filter range": lambda x: ad.filter(lambda i: i % 2 == 0, range(len(x))),
    "argsort": lambda x: ad.argsort(x),
    "range": lambda x: ad.reduce("add", range(len(x))),
    "scan range": lambda x: ad.scan("add", range(len(x)), exclusive=True),
    "range by a function": lambda x: ad.reduce(lambda a, b: a * b % 7, range(1, len(x)), identity=1),
    "weak": lambda x: ad.reduce(lambda a, b: a + b, [1.5, 2.5], identity=0) * x,
    "map range": lambda x: ad.map(lambda i: (i, 0.5 * i), range(len(x))),
    "any": lambda x: ad.reduce("or", x > 0),
    "all": lambda x: ad.reduce(np.logical_and, x > 0),
    "any of rows": lambda x: ad.reduce("or", np.outer(x, x) > 0, axis=1),
    "all so far": lambda x: ad.scan("and", x < 1),
    "or by index": lambda x: ad.reduce_by_index(3, "or", np.array([0, 0, 2]), x[:3] > 0),
    "inverse": lambda x: ad.reduce(lambda a, b: a + b, x, identity=0.0, inverse=lambda r, v: r - v),
    "np.add of bools": lambda x: ad.reduce(lambda a, b: a != b, x > 0, identity=False),
    "runtime size": lambda x: ad.segment_sum(x, np.arange(len(x)) // 2, len(x) // 2 + 1),
    "nested": lambda x: ad.map(lambda v: ad.reduce("max", x * v), x),
    "sort rows": lambda x: ad.sort(np.outer(x, x), axis=0),
    "static": lambda x: ad.reduce("add", np.arange(5)) + ad.scan("mul", [1, 2, 3])[-1] + x,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("x", [X, SMALL], ids=["symbolic", "small"])
def test_values(name: str, x: np.ndarray) -> None:
    assert_same(ad.jit(VALUES[name])(x), VALUES[name](x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint16])
@pytest.mark.parametrize("named", ["add", "mul", "min", "max"])
def test_types_stay(named: str, dtype: type) -> None:
    xs = np.array([1, 2, 3, 1, 2, 1], dtype)

    def program(xs):
        return (
            ad.reduce(named, xs),
            ad.scan(named, xs),
            ad.scan(named, xs, exclusive=True),
            ad.reduce_by_index(3, named, np.array([0, 1, 2, 0, 1, 0]), xs),
            ad.reduce(lambda a, b: a + b, xs, identity=0),
            ad.scan(lambda a, b: a if a > b else b, xs, identity=0),
        )

    assert_same(ad.jit(program)(xs), program(xs))


@pytest.mark.parametrize("shape", [(0,), (0, 2)])
def test_of_nothing(shape: tuple[int, ...]) -> None:
    xs = np.zeros(shape)

    def program(xs):
        return (
            ad.reduce("add", xs),
            ad.reduce("mul", xs),
            ad.reduce("max", xs, identity=0.0),
            ad.scan("mul", xs),
            ad.reduce_by_index(2, "add", np.zeros(len(xs), int), xs),
            ad.scatter(np.ones((2, *xs.shape[1:])), np.zeros(len(xs), int), xs),
            ad.filter(np.zeros(len(xs), bool), xs),
        )

    assert_same(ad.jit(program)(xs), program(xs))


def test_first_of_equals_gets_the_gradient() -> None:
    x = np.array([1.0, 2.0, 2.0])
    np.testing.assert_array_equal(ad.grad(lambda x: ad.reduce("max", x))(x), [0, 1, 0])
    np.testing.assert_array_equal(ad.grad(lambda x: ad.segment_max(x, np.zeros(3, int), 1)[0])(x), [0, 1, 0])


def test_last_writer_gets_the_gradient() -> None:
    gradient = ad.grad(lambda v: np.sum(ad.scatter(np.ones(3), np.array([1, 1, 0]), v)))(np.ones(3))
    np.testing.assert_array_equal(gradient, [0, 1, 1])


def test_products_at_zeros() -> None:
    product = ad.grad(lambda x: ad.reduce("mul", x))
    np.testing.assert_array_equal(product(np.array([2.0, 0.0, 3.0])), [0, 6, 0])
    np.testing.assert_array_equal(product(np.array([0.0, 0.0, 3.0])), [0, 0, 0])


def test_init_is_not_changed() -> None:
    init, at = np.zeros(3), np.array([0, 1])
    for program in (lambda a: ad.scatter(a, at, 1.0), lambda a: ad.reduce_by_index(a, "add", at, 1.0)):
        program(init)
        ad.jit(program)(init)
        np.testing.assert_array_equal(init, 0)


@pytest.mark.parametrize("bins", [1, 7, 1000])
def test_histogram_by_a_function_on_threads(bins: int) -> None:
    """Each worker has bins of its own, which begin at the identity; they are combined in order."""
    n = 300_001
    random = np.random.default_rng(0)
    at, x, start = (
        random.integers(-bins, bins + 1, n),
        random.uniform(-1e-3, 1e-3, n),
        random.uniform(size=bins),
    )

    def program(start: np.ndarray, at: np.ndarray, x: np.ndarray) -> np.ndarray:
        return ad.reduce_by_index(start, lambda a, b: a + b + a * b, at, x, 0.0, bounds="ignore")

    logs = np.zeros(bins)
    inside = at < bins
    np.add.at(logs, at[inside] % bins, np.log1p(x[inside]))
    for threads in (1, 3):
        found = ad.jit(program, config=ad.Config(threads=threads))(start, at, x)
        np.testing.assert_allclose(found, (1.0 + start) * np.exp(logs) - 1.0, rtol=1e-10)


def test_docstrings_name_the_verbs() -> None:
    assert repr(ad.reduce_by_index) == "anadrome.reduce_by_index"
    assert ad.scan.__name__ == "scan"


WRONG: dict[str, tuple[Any, type[Exception]]] = {
    "unknown operator": (lambda x: ad.reduce("plus", x), errors.UnknownOperator),
    "operator of no kind": (lambda x: ad.scan(3, x), errors.UnknownOperator),
    "bools": (lambda x: ad.reduce("add", x > 0), errors.OperatorUndefined),
    "numbers": (lambda x: ad.reduce("or", x), errors.OperatorUndefined),
    "no identity": (lambda x: ad.reduce(lambda a, b: a + b, x), errors.IdentityMissing),
    "no identity by index": (
        lambda x: ad.reduce_by_index(3, lambda a, b: a + b, np.array([0]), x[:1]),
        errors.IdentityMissing,
    ),
    "identity of another type": (
        lambda x: ad.reduce(lambda a, b: a + b, np.arange(5), identity=0.5),
        errors.IdentityDiffers,
    ),
    "identity of another structure": (
        lambda x: ad.reduce(lambda a, b: a, (x, x), identity=0.0),
        errors.IdentityDiffers,
    ),
    "identity of another shape": (
        lambda x: ad.reduce(lambda a, b: a + b, x, identity=np.zeros(2)),
        errors.IdentityDiffers,
    ),
    "operator of another type": (
        lambda x: ad.reduce(lambda a, b: a / b, np.arange(1, 6), identity=1),
        errors.OperatorDiffers,
    ),
    "operator of another structure": (
        lambda x: ad.scan(lambda a, b: (a, b), x, identity=0.0),
        errors.OperatorDiffers,
    ),
    "bounds": (lambda x: ad.scatter(x, np.array([0]), x[:1], bounds="clip"), errors.UnsuitableBounds),
    "float places": (lambda x: ad.scatter(x, x, x), errors.UnsuitableValues),
    "a size to scatter into": (lambda x: ad.scatter(3, np.array([0, 1]), x), errors.UnsuitableValues),
    "a number to go over": (lambda x: ad.reduce("add", x[0]), errors.UnsuitableValues),
    "values of another shape": (
        lambda x: ad.scatter(np.outer(x, x), np.array([0]), x[:1]),
        errors.UnsuitableValues,
    ),
    "floats into integers": (
        lambda x: ad.reduce_by_index(np.zeros(3, int), "add", np.array([0]), x[:1]),
        errors.CastRefused,
    ),
    "sizes of two dimensions": (
        lambda x: ad.reduce_by_index((2, 2), "add", np.array([0]), x[:1]),
        errors.UnsuitableValues,
    ),
    "the greatest of nothing": (lambda x: ad.reduce("max", x[:0]), EmptyReduction),
    "outside": (lambda x: ad.scatter(x, np.array([0, 99]), 1.0), IndexOutOfBounds),
    "far below": (lambda x: ad.segment_sum(x, np.zeros(len(x), int) - 3, 2), IndexOutOfBounds),
    "negative size": (
        lambda x: ad.segment_sum(x, np.zeros(len(x), int), len(x) - 99),
        (SizeMismatch, ValueError, TypeError),
    ),
    "a mask of another size": (lambda x: ad.filter(np.ones(5, bool), x), (SizeMismatch, ValueError)),
    "a mask of numbers": (lambda x: ad.filter(x, x), errors.UnsuitableValues),
}


@pytest.mark.parametrize("name", WRONG)
def test_refusals(name: str) -> None:
    program, kind = WRONG[name]
    with pytest.raises(kind):
        program(X)
    with pytest.raises(kind) as caught:
        ad.jit(program)(X)
    assert isinstance(caught.value, ad.AnadromeError)
    assert caught.value.diagnostic.span is not None
