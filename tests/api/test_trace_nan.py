"""`trace_nan`: the line, the operation and the iteration in which the first NaN or infinity arose."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anadrome as ad
from anadrome.tools.trace_nan import Fault


def entropy(p):
    total = 0.0
    for x in p:
        total = total - x * np.log(x)
    return total


def masked_root(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def grows(x):
    steps = 0
    while steps < 400:
        x = x * x
        steps += 1
    return x


def nested(a):
    return sum(sum(1.0 / (v - 3.0) for v in row) for row in a)


def overflowing_sum(x):
    return np.sum(x * 1e308)


def singular_values(a):
    return np.sum(np.linalg.eigh(a)[1] * np.arange(9.0).reshape(3, 3))


def line_of(fault: Fault | None) -> str:
    assert fault is not None and fault.span is not None
    with open(fault.span.file, encoding="utf-8") as source:
        return source.read().splitlines()[fault.span.line - 1].strip()


def test_a_finite_call_has_no_fault() -> None:
    assert ad.trace_nan(ad.grad(entropy))(np.array([0.5, 0.5])) is None


def test_the_value_of_an_iteration() -> None:
    fault = ad.trace_nan(entropy)(np.array([0.5, 0.25, 0.0, 0.25]))
    assert line_of(fault) == "total = total - x * np.log(x)"
    assert fault is not None
    assert fault.message == "log(0.0) is -inf, in iteration i = 2"
    assert "test_trace_nan.py" in str(fault) and "^" in str(fault)


def test_the_derivative_of_a_number_that_is_finite() -> None:
    """sqrt(0) = 0, but its slope there is infinite."""
    slope = ad.trace_nan(ad.grad(lambda x: math.sqrt(x)))(0.0)
    assert slope is not None and slope.sweep == "`grad` of it" and "math.sqrt" in line_of(slope)


def test_a_side_that_is_not_chosen_does_not_spoil_the_gradient() -> None:
    point = np.array([1.0, -1.0])
    np.testing.assert_allclose(ad.grad(masked_root)(point), [0.5, 0.0])
    assert ad.trace_nan(masked_root)(point) is None
    assert ad.trace_nan(ad.grad(masked_root))(point) is None


AROUND = np.array([1.0, np.nan] + [2.0] * 5000)
SMALL = np.array([1.0, np.nan])


def test_what_stands_around_the_function() -> None:
    large = ad.trace_nan(ad.grad(lambda x: np.sum(x * AROUND)))(np.ones(5002))
    assert large is not None and large.sweep == "the surroundings"
    assert large.message == "an array of shape (5002,) around the function is nan at [1]"
    small = ad.trace_nan(lambda x: np.sum(x * SMALL))(np.ones(2))
    assert small is not None and small.sweep == "the surroundings"


def test_a_constant_of_the_program() -> None:
    fault = ad.trace_nan(lambda x: x * float("nan"))(1.0)
    assert fault is not None and fault.message == "1.0 * nan is nan"


def test_a_while_loop_counts_its_steps() -> None:
    fault = ad.trace_nan(grows)(10.0)
    assert fault is not None
    assert fault.message.endswith("is inf, in iteration step = 8")
    assert line_of(fault) == "x = x * x"


def test_every_loop_around_is_named() -> None:
    fault = ad.trace_nan(nested)(np.array([[1.0, 2.0], [4.0, 3.0]]))
    assert fault is not None
    assert fault.message.startswith("1.0 / 0.0 is inf, in iteration ")
    assert fault.message.count(" = 1") == 2


def test_a_sum_of_finite_numbers() -> None:
    fault = ad.trace_nan(overflowing_sum)(np.ones(3))
    assert fault is not None and fault.message == "a sum of finite numbers is inf"


def test_a_library_call_in_the_return_sweep() -> None:
    fault = ad.trace_nan(ad.grad(singular_values))(np.diag([1.0, 2.0, 2.0]))
    assert fault is not None and fault.sweep == "`grad` of it"


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_an_argument_is_named(wrong: float) -> None:
    fault = ad.trace_nan(ad.grad(entropy))(np.array([0.5, wrong]))
    assert fault is not None
    assert fault.message == f"the argument `p[1]` is {wrong}"
    assert fault.sweep == "the arguments"


def test_second_derivatives() -> None:
    fault = ad.trace_nan(ad.hessian(lambda x: x**1.5))(0.0)
    assert fault is not None and fault.sweep == "`hessian` of it"


def test_threads_do_not_change_the_answer() -> None:
    values = np.linspace(1.0, 2.0, 40_000)
    values[[12_345, 30_000]] = 0.0
    compiled = ad.jit(lambda x: np.sum(np.log(x)), config=ad.Config(threads=2))
    fault = ad.trace_nan(compiled)(values)
    assert fault is not None and fault.message == "log(0.0) is -inf, in iteration i = 12345"
