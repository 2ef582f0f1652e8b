"""Refusals: each bad program and the exact message, caret included."""

from __future__ import annotations

import asyncio
import math
import re

import numpy as np
import pytest

import anadrome as ad
from anadrome import AnadromeError
from anadrome.config import Config
from anadrome.dtypes import F64
from anadrome.errors import frontend, runtime
from anadrome.frontend.annotations import f64
from anadrome.frontend.stage import ArgumentSpec, stage
from tests.frontend.oracle import compiled, specs

rng = np.random.default_rng(5)
VECTOR = rng.normal(size=9)
OUTSIDE = []


def changes_type(xs):
    k = 0
    for x in xs:
        k = k + xs[k]
    return k


def changes_shape(xs):
    y = np.zeros(2)
    print("from", xs[0])
    for x in xs:
        y = np.concatenate((y, y))
    return y


def none_before_loop(xs):
    best = None
    for x in xs:
        best = x
    return best + 1.0


def undefined_after_loop(xs, n):
    for i in range(n):
        y = xs[i]
    return y


def undefined_after_branch(x):
    if x > 0:
        y = x
    return y


def different_shapes(x):
    return np.zeros(4) if np.sum(x) > 0 else np.zeros((2, 2))


def different_kinds(x):
    y = "a" if x > 0 else 1.0
    return y


def writes_argument(x):
    x[0] = 1.0
    return x


def writes_argument_view(x):
    row = x[1:]
    row[0] = 1.0
    return x


def augments_argument(x):
    x += 1.0
    return x


def writes_diagonal(x):
    y = np.diag(x.copy().reshape(3, 3))
    y[0] = 1.0
    return y


def alias_of_argument(x, flag):
    if flag > 0:
        x = x * 2
    x[0] = 1.0
    return x


def walrus_in_comprehension(x):
    y = 0.0
    z = [(y := v) for v in x]
    return y, z


def walrus_in_branch(x):
    z = (y := x) if x > 0 else x
    return y, z


def append_in_loop(x, n):
    values = {}
    for i in range(n):
        values[n] = x * i
    return values


def append_to_global(x):
    OUTSIDE.append(x)
    return x


def staged_key_of_what_is_taken_out(x, n):
    values = {0: 1.0, 1: 2.0, 2: 3.0}
    for i in range(n):
        x = x * values.pop(i)
    return x


def uses_try(x):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return -x


def uses_with(x):
    with open("f"):
        return x


def uses_import(x):
    import os  # noqa: PLC0415

    return x * os.cpu_count()


def uses_class(x):
    class A:
        a = x

    return A.a


def uses_global(x):
    global OUTSIDE  # noqa: PLW0603
    OUTSIDE = x
    return x


async def uses_async(x):
    return x


def uses_nonlocal(x):
    def inner():
        nonlocal x
        if x > 1.5:
            x = 2.0

    inner()
    return x


def uses_match(x):
    match [x]:
        case [first, *_]:
            return first
    return -x


def looks_into_a_string(x):
    return len(f"{x}")


def unknown_function(x):
    return asyncio.sleep(x)


def unknown_method(x):
    return x.frobnicate()


def recursion(x):
    return x if x < 0 else recursion(x - 1)


def bad_arguments(x):
    return math_of_two(x)


def math_of_two(x, y):
    return x + y


def static_failure(x):
    return x + [1, 2][5]


def sizes_differ(x):
    return np.zeros(3) + np.zeros(4)


def index_outside(x):
    return np.zeros(3)[3]


def too_many_indices(x):
    return x[0, 0]


def list_arithmetic(x):
    return [v for v in x] * 2


def dict_comprehension(x):
    return {v * x: 1 for v in range(3)}


def boolean_index(x):
    return x[[x[0] > 0, x[1] > 0]]


def truth_of_array(x):
    return 1.0 if x else 2.0


CASES = [
    (changes_type, (VECTOR,), frontend.ChangesType),
    (changes_shape, (VECTOR,), frontend.ChangesSize),
    (none_before_loop, (VECTOR,), frontend.MayBeNone),
    (undefined_after_loop, (VECTOR, 3), frontend.Undefined),
    (undefined_after_branch, (1.0,), frontend.Undefined),
    (different_shapes, (VECTOR,), frontend.BranchesDiffer),
    (different_kinds, (1.0,), frontend.BranchesDiffer),
    (writes_argument, (VECTOR,), frontend.WritesArgument),
    (writes_argument_view, (VECTOR,), frontend.WritesArgument),
    (augments_argument, (VECTOR,), frontend.WritesArgument),
    (writes_diagonal, (VECTOR,), frontend.ReadOnly),
    (alias_of_argument, (VECTOR, 3.0), frontend.WritesArgument),
    (walrus_in_comprehension, (VECTOR,), frontend.Undefined),
    (walrus_in_branch, (1.0,), frontend.Undefined),
    (append_in_loop, (1.0, 7), frontend.StaticRequired),
    (append_to_global, (1.0,), frontend.EscapingMutation),
    (staged_key_of_what_is_taken_out, (1.0, 3), frontend.StaticRequired),
    (uses_try, (1.0,), frontend.UnsupportedSyntax),
    (uses_with, (1.0,), frontend.UnsupportedCall),
    (uses_import, (1.0,), frontend.UnsupportedCall),
    (uses_class, (1.0,), frontend.StaticRequired),
    (uses_global, (1.0,), frontend.UnsupportedSyntax),
    (uses_async, (1.0,), frontend.UnsupportedSyntax),
    (uses_nonlocal, (1.0,), frontend.UnsupportedSyntax),
    (uses_match, (1.0,), frontend.UnsupportedSyntax),
    (looks_into_a_string, (1.0,), frontend.UnsupportedArgument),
    (unknown_function, (1.0,), frontend.UnsupportedCall),
    (unknown_method, (VECTOR,), frontend.NoAttribute),
    (recursion, (1.0,), frontend.RecursionTooDeep),
    (bad_arguments, (1.0,), frontend.CallMismatch),
    (static_failure, (1.0,), frontend.StaticCallFailed),
    (sizes_differ, (1.0,), frontend.ShapeMismatch),
    (index_outside, (1.0,), frontend.StaticIndexError),
    (too_many_indices, (VECTOR,), frontend.TooManyIndices),
    (list_arithmetic, (VECTOR,), frontend.UnsupportedType),
    (dict_comprehension, (1.0,), frontend.StaticRequired),
    (boolean_index, (VECTOR,), frontend.UnsupportedType),
    (truth_of_array, (VECTOR,), frontend.AmbiguousTruth),
]


@pytest.mark.parametrize(("function", "args", "error"), CASES, ids=[case[0].__name__ for case in CASES])
def test_is_refused_at_its_line(function, args, error):
    with pytest.raises(error) as caught:
        stage(function, specs(list(args)), {}, Config())
    span = caught.value.span
    assert span is not None
    assert span.file == __file__
    first = function.__code__.co_firstlineno
    assert first <= span.line
    text = str(caught.value)
    assert "^" in text
    assert text.startswith("error: ")


def test_words_of_a_changed_type():
    with pytest.raises(frontend.ChangesType) as caught:
        stage(changes_type, specs([VECTOR]), {}, Config())
    line = changes_type.__code__.co_firstlineno + 3
    margin = " " * len(str(line))
    assert str(caught.value) == "\n".join(
        [
            f"error: `k` changes its type inside the loop ({__file__}:{line}:9)",
            f"{margin} |",
            f"{line - 2} |     k = 0",
            f"{line - 1} |     for x in xs:",
            f"{line} |         k = k + xs[k]",
            f"{margin} |         ^ int64 before the loop, float64 after one iteration",
            f"{margin} |",
            "help: it is used as an integer: round it, `k = int(...)`, or take another name",
        ]
    )


def asserted(x):
    assert x > 0, f"x is {x}, not positive"
    return x


def raised(x):
    if x > 1:
        raise ValueError("too large")
    return x


def read_outside(x, i):
    return x[i]


def sizes_at_run_time(x, y):
    return x + y


def nothing_to_compare(x):
    return max(v for v in x if v > 100)


@pytest.mark.parametrize(
    ("function", "args", "error"),
    [
        (asserted, (-1.0,), runtime.AssertionFailed),
        (raised, (2.0,), runtime.RaisedError),
        (read_outside, (VECTOR, 9), runtime.IndexOutOfBounds),
        (read_outside, (VECTOR, -10), runtime.IndexOutOfBounds),
        (sizes_at_run_time, (VECTOR, VECTOR[:-1]), runtime.SizeMismatch),
        (nothing_to_compare, (VECTOR,), runtime.EmptyReduction),
    ],
)
def test_checks_at_run_time(function, args, error):
    with pytest.raises(error) as caught:
        compiled(function, *args)
    assert caught.value.span is not None


def test_no_source():
    namespace = {}
    exec("def f(x): return x", namespace)
    with pytest.raises(frontend.SourceUnavailable):
        stage(namespace["f"], [ArgumentSpec(F64)], {}, Config())


def test_annotations_bind_and_check():
    def f(x: f64["n", 3], y: f64["n"]):  # noqa: F821, UP037
        return y + x[:, 0]

    program = stage(f, [ArgumentSpec(F64, (None, None)), ArgumentSpec(F64, (None,))], {}, Config()).function
    x, y = program.params
    assert x.type.shape[0] is y.type.shape[0]
    assert x.type.shape[1].value == 3
    with pytest.raises(frontend.AnnotationMismatch):
        stage(f, [ArgumentSpec(F64, (None, 4)), ArgumentSpec(F64, (None,))], {}, Config())


def test_infinite_values_pass():
    assert compiled(lambda x: x * math.inf, 2.0) == math.inf


def misspelt(x):
    for i in range(len(x)):
        totl = total + x[i]  # noqa: F821
    return totl


def rebuilt(rate, n):
    for _ in range(40):
        found, s = [], 1.0
        for _ in range(n):
            s = (1 + rate) * s
            found += [s]
        rate = 0.1 / max(sum(found), 0.1)
    return found[-1]


def resized(a, n):
    found = [0.0]
    for _ in range(30):
        found = []
        for t in range(n):
            found.append(a * t)
        a = 0.1 * sum(found)
        if a > 1e9:
            break
    return found[-1]


def taken_at_once(x):
    def sums():
        total = 0.0
        for v in x:
            total += v
            yield total

    return tuple(sums())


def emptied_by_another(r, n):
    total, waiting = 0.0, []
    for k in range(n):
        waiting.append(r * k)
        if len(waiting) == 3:
            total += sum(waiting)
            waiting = []
    return total


def emptied(r, n):
    total, waiting = 0.0, []
    for k in range(n):
        waiting.append(r * k)
        if len(waiting) == 3:
            total += sum(waiting)
            waiting.clear()
    return total


def test_a_list_is_emptied_as_the_hint_says():
    with pytest.raises(frontend.ChangesType, match="a list or another one after one iteration") as refused:
        ad.jit(emptied_by_another)(1.3, 9)
    assert "`waiting.clear()` empties it" in str(refused.value)
    assert ad.jit(emptied)(1.3, 9) == pytest.approx(emptied_by_another(1.3, 9))


class Bare:
    def __init__(self, a):
        self.a = a


@pytest.mark.parametrize(
    ("function", "arguments", "words", "missing"),
    [
        (misspelt, (np.ones(20),), "define or import `total`", "did you mean"),
        (rebuilt, (0.05, 12), "`found = [0.0] * n`", None),
        (resized, (1.3, 4), "give it before the loop the size that it has after it", "stretched"),
        (taken_at_once, (np.ones(20),), "return tuple(sums())", None),
        (lambda x: Bare(x).b, (1.0,), "give it this attribute before it is read", "NumPy function"),
        (lambda x: [v for v in x.sum()], (np.ones(3),), "a number has no items", None),
        (lambda x: "a" + x, (1.0,), "write numbers into a text", "supported types"),
        (lambda x: np.frompyfunc(x, 1, 1), (np.ones(20),), "other functions of NumPy", "use a NumPy"),
    ],
)
def test_hints_are_of_what_was_written(function, arguments, words, missing):
    with pytest.raises(AnadromeError) as refused:
        ad.jit(function)(*arguments)
    assert words in str(refused.value)
    assert missing is None or missing not in str(refused.value).rpartition("help: ")[2]


def test_a_mask_of_another_size_is_an_index_error():
    x = np.sin(np.arange(20.0))
    with pytest.raises(IndexError):
        ad.jit(lambda x: np.array([1.0, 2.0, 3.0])[x > 0])(x)
    with pytest.raises(ValueError, match="mask: sizes 20 and 3 differ"):
        ad.jit(lambda x: np.array([1.0, 2.0, 3.0])[x > 0])(x)


class Hidden:
    def __init__(self, x):
        self.x = x


def calls_python(x):
    return hash((Hidden(x).x, 1.0))


def test_no_name_of_ours_is_in_a_message():
    for function in (calls_python, lambda x: [x].index("a"), lambda x: {"k": [x]} < {"k": [x]}):
        with pytest.raises(AnadromeError) as refused:
            ad.jit(function)(1.5)
        assert not re.search("Scalar|RowType|Missing|GrowingList|RowList|Iterated", str(refused.value))
