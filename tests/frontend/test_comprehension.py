"""Comprehensions and reductions of generators."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.frontend.oracle import agree

rng = np.random.default_rng(3)
VECTOR = rng.normal(size=9)
OTHER = rng.normal(size=9)
MATRIX = rng.normal(size=(7, 7))


def stack(x):
    return np.array([v * 2 for v in x])


def stack_of_rows(a):
    return np.array([row * i for i, row in enumerate(a)])


def stack_of_stacks(x):
    return np.array([[x[i] * x[j] for j in range(len(x))] for i in range(len(x))])


def flat_nest(x, y):
    return np.array([a * b for a in x for b in y])


def rows_of_literals(x):
    return np.array([[v, v * v, 1.0] for v in x])


def list_then_index(x):
    rows = [v * 2 for v in x]
    return rows[0] + rows[-1], len(rows), sum(rows), max(rows), rows[2]


def tuples(x):
    pairs = [(v, v > 0) for v in x]
    total = 0.0
    for v, positive in pairs:
        if positive:
            total += v
    first, flag = pairs[0]
    return total, first, flag, len(pairs)


def filtered(x):
    kept = np.array([v * 2 for v in x if v > 0.3])
    return kept, len(kept), np.sum(kept)


def filtered_twice(x):
    return np.array([v for i, v in enumerate(x) if i > 1 if v > -0.5])


def guarded(x):
    return sum(x[i + 1] - x[i] for i in range(len(x)) if i + 1 < len(x))


def sums(x, y):
    return (
        sum(a * b for a, b in zip(x, y, strict=True)),
        sum(x),
        sum(v > 0 for v in x),
        sum((v for v in x), 10.0),
        sum(x[i] for i in range(2, len(x), 3)),
        sum([v for v in x]),
        sum(i for i in range(len(x))),
    )


def extremes(x):
    return (
        max(x),
        min(x),
        max(v * v for v in x),
        min(abs(v) for v in x if v < 0),
        max(i for i in range(len(x))),
    )


def few(a, b, c):
    return min(a, b, c), max(a, b), max([a, b, c]), min(a, 0.25), max(0, a)


def products(x):
    return math.prod(x), math.prod(v + 1 for v in x), math.prod(range(1, 6))


def questions(x):
    return any(v > 1 for v in x), all(v > -9 for v in x), any(x > 5), all(v for v in x > -9)


def nested(a):
    return sum(a[i, j] * a[j, i] for i in range(len(a)) for j in range(i + 1))


def nested_with_filters(a):
    return sum(v for i, row in enumerate(a) if i % 2 == 0 for j, v in enumerate(row) if j > i)


def nearest(points, centers):
    return sum(min(sum((p - c) ** 2) for c in centers) for p in points)


def row_sums(a):
    return sum(row for row in a), sum(a)


def static_items(x):
    scales = [1.0, 2.0, 3.0]
    return sum(s * x for s in scales), [s * x for s in scales], max(s * x for s in scales)


def static_filter(x):
    return np.array([k * x for k in range(6) if k % 2 == 0])


def list_of_static(x):
    names = ["a" for _ in range(6)]
    return x * len(names)


def dictionary(x):
    values = {"a": x, "b": 2 * x}
    values["c"] = x**2
    return sum(v for v in values.values()), values["a"] + values["c"], [k for k in values]


def conditional_elements(x):
    return np.array([math.sqrt(v) if v > 0 else -v for v in x])


def guarded_read(x):
    return np.array([x[i + 1] if i + 1 < len(x) else 0.0 for i in range(len(x))])


def closure_in_comprehension(x):
    scale = x[0]
    return np.array([(lambda v: v * scale + i)(v) for i, v in enumerate(x)])


def loop_in_comprehension(x):
    def power(v, n):
        r = 1.0
        for _ in range(n):
            r = r * v
        return r

    return sum(power(v, i) for i, v in enumerate(x))


def array_written_in_comprehension_body(x):
    def prefix(n):
        y = np.zeros(4)
        for k in range(n):
            y[k % 4] += x[k]
        return y

    return np.array([prefix(i) for i in range(len(x))])


def reversed_list(x):
    return np.array([v for v in reversed(x)]), np.array(list(x))


def mapped(x):
    return sum(map(lambda v: v * v, x)), np.array(list(map(math.exp, x)))


@pytest.mark.parametrize("small", [2, 16])
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (stack, (VECTOR,)),
        (stack_of_rows, (MATRIX,)),
        (stack_of_stacks, (VECTOR,)),
        (flat_nest, (VECTOR, OTHER)),
        (rows_of_literals, (VECTOR,)),
        (list_then_index, (VECTOR,)),
        (tuples, (VECTOR,)),
        (filtered, (VECTOR,)),
        (filtered_twice, (VECTOR,)),
        (guarded, (VECTOR,)),
        (sums, (VECTOR, OTHER)),
        (extremes, (VECTOR,)),
        (few, (0.3, 0.1, 0.7)),
        (products, (VECTOR,)),
        (questions, (VECTOR,)),
        (nested, (MATRIX,)),
        (nested_with_filters, (MATRIX,)),
        (nearest, (MATRIX, MATRIX[:3] + 1)),
        (row_sums, (MATRIX,)),
        (static_items, (1.5,)),
        (static_filter, (1.5,)),
        (list_of_static, (1.5,)),
        (dictionary, (1.5,)),
        (conditional_elements, (VECTOR,)),
        (guarded_read, (VECTOR,)),
        (closure_in_comprehension, (VECTOR,)),
        (loop_in_comprehension, (VECTOR,)),
        (array_written_in_comprehension_body, (VECTOR,)),
        (reversed_list, (VECTOR,)),
        (mapped, (VECTOR,)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_agrees_with_python(function, args, small):
    agree(function, *args, small=small)
