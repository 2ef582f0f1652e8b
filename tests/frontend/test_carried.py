"""A whole number that a run-time loop makes a float: the same number in Python, staged as a float."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import ChangesType
from tests.derivatives.agreement import agree, assert_same

X = np.random.default_rng(2).normal(size=20)


def total(xs):
    result = 0
    for x in xs:
        result = result + x * x
    return result


def nested(xs):
    result = 0
    for i in range(len(xs)):
        for j in range(len(xs)):
            result += xs[i] * xs[j]
    return result


def nested_starts(xs):
    result = 0
    for i in range(len(xs)):
        row = 1
        for x in xs:
            row *= x + i
        result += row
    return result


def while_loop(xs):
    reached, count = 0, 0
    while reached < 3.0:
        reached += xs[count % len(xs)] ** 2
        count += 1
    return reached * count


def halves(xs):
    n = 7
    for x in xs:
        n = n * 0.5 + x
    return n


def several(xs):
    low, high, count = 0, 0, 0
    for x in xs:
        if x < low:
            low = x
        elif x > high:
            high = x
        else:
            count += 1
    return low, high, count


def tuples(xs):
    state = (0, 1)
    for x in xs:
        state = (state[0] + x, state[1] * x)
    return state


def branches(xs):
    if xs[0] > 0.0:
        scale = 0
    else:
        scale = 1.5
    return scale * xs


@pytest.mark.parametrize(
    "program", [total, nested, nested_starts, while_loop, halves, several, tuples, branches]
)
def test_is_the_same_number(program) -> None:
    assert_same(ad.jit(program)(X), program(X))
    agree(program, X, order=2 if program in (total, nested, tuples) else 1)


def test_stays_a_python_number_beside_single_precision() -> None:
    def program(xs, n):
        scale = 0
        for _ in range(n):
            scale = scale + 0.5
        return scale * xs

    xs = X.astype(np.float32)
    assert_same(ad.jit(program)(xs, 20), program(xs, 20))
    single = ad.jit(total)(xs)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, total(xs), rtol=1e-5)


def test_zero_iterations_give_the_number() -> None:
    assert ad.jit(total)(np.zeros(0)) == 0


def test_integers_stay_integers() -> None:
    def program(xs):
        count = 0
        for x in xs:
            count += 1 if x > 0.0 else 2
        return count

    result = ad.jit(program)(X)
    assert result == program(X)
    assert np.asarray(result).dtype == np.int64


def used_as_index(xs):
    k = 0
    for x in xs:
        xs[k]
        k = k + x
    return k


def run_time_start(xs, n):
    for x in xs:
        n = n + x
    return n


def too_large(xs):
    n = 2**53 + 1
    for x in xs:
        n = n + x
    return n


@pytest.mark.parametrize(("program", "args"), [(run_time_start, (X, 3)), (too_large, (X,))])
def test_the_first_iteration_makes_a_float(program, args) -> None:
    assert ad.jit(program)(*args) == program(*args)


@pytest.mark.parametrize(("program", "args"), [(used_as_index, (X,))])
def test_what_is_no_float_is_refused(program, args) -> None:
    with pytest.raises(ChangesType) as caught:
        ad.jit(program)(*args)
    assert caught.value.diagnostic.span is not None
