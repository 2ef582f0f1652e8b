"""Public faults of other systems, written anew: each is right here, or refused in words that say why.

`faults` holds the kernels whose gradients have been wrong elsewhere. Here are the launches that go wrong:
what `numba.cuda` refuses, and what it lets pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import CallMismatch, RecursionTooDeep, StaticRequired, UnsupportedType
from anadrome.errors.kernels_launch import (
    KernelReturns,
    LaunchNeeded,
    SameArrayTwice,
    SharedTooLarge,
    UnsuitableLaunch,
    UnsuitableOutput,
)
from anadrome.errors.runtime import BarrierDivergence, IndexOutOfBounds, LaunchSize
from tests.kernels.answers import (
    Answers,
    check_first_order,
    check_races,
    check_second_order,
    check_values,
)
from tests.kernels.case import Case
from tests.kernels.faults import CASES

pytestmark = pytest.mark.usefixtures("several_workers_pay")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_right(case: Case) -> None:
    answers = Answers(case)
    check_values(answers)
    check_first_order(answers)
    check_races(answers)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_right_in_second_order(case: Case) -> None:
    check_second_order(Answers(case), with_reverse=True)


# ---------------------------------------------------------------------------- numba.cuda: launches
@ad.kernel
def doubled(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = 2.0 * x[i]


@ad.kernel
def unguarded(x, y):
    i = ad.grid(1)
    y[i] = 2.0 * x[i]


@ad.kernel
def large_tile(x, y):
    tile = ad.shared.array((80, 80), np.float64)
    tile[0, ad.threadIdx.x] = x[0]
    ad.syncthreads()
    y[ad.threadIdx.x] = tile[0, ad.threadIdx.x]


@ad.kernel
def dynamic_tile(x, y):
    tile = ad.shared.array(0, np.float64)
    tile[ad.threadIdx.x] = x[ad.threadIdx.x]
    ad.syncthreads()
    y[ad.threadIdx.x] = tile[ad.threadIdx.x]


@ad.kernel
def return_before_a_barrier(x, y):
    tile = ad.shared.array(8, np.float64)
    t = ad.threadIdx.x
    if t >= len(x):
        return
    tile[t] = x[t]
    ad.syncthreads()
    y[t] = tile[len(x) - 1 - t]


@ad.kernel
def barrier_in_a_branch(x, y):
    t = ad.threadIdx.x
    if x[t] > 0.0:
        ad.syncthreads()
    y[t] = x[t]


@ad.kernel
def returns_a_value(x, y):
    return x[0]


def length(value: float) -> int:
    return length(value - 1.0) + 1 if value > 0.0 else 0


@ad.kernel
def recursive(x, y):
    y[0] = length(x[0])


@ad.kernel
def written_elsewhere(x, y):
    y[0] = ad.atomic.add(x, 0.5, 1.0)


X = np.ones(6)


def strided() -> np.ndarray:
    """An array whose elements do not follow one another."""
    return np.zeros(12)[::2]


def locked() -> np.ndarray:
    """An array that cannot be written."""
    y = np.zeros(6)
    y.setflags(write=False)
    return y


def same(kernel: Any) -> None:
    """A launch on one array twice."""
    y = np.zeros(6)
    kernel[1, 8](y, y)


Refusal = tuple[str, Callable[[], object], type[Exception], str]

REFUSED: tuple[Refusal, ...] = (
    ("too many threads", lambda: doubled[1, 2048](X, np.zeros(6)), LaunchSize, "2048 × 1 × 1 threads"),
    (
        "too many threads in three directions",
        lambda: doubled[1, (32, 32, 2)](X, np.zeros(6)),
        LaunchSize,
        "32 × 32 × 2 threads",
    ),
    ("no blocks", lambda: doubled[0, 8](X, np.zeros(6)), LaunchSize, "0 × 1 × 1 blocks"),
    ("no threads", lambda: doubled[1, 0](X, np.zeros(6)), LaunchSize, "0 × 1 × 1 threads"),
    ("negative blocks", lambda: doubled[-1, 8](X, np.zeros(6)), LaunchSize, "-1 × 1 × 1 blocks"),
    ("too many blocks", lambda: doubled[(1, 70000), 8](X, np.zeros(6)), LaunchSize, "70000"),
    ("threads deeper than 64", lambda: doubled[1, (1, 1, 65)](X, np.zeros(6)), LaunchSize, "65 threads"),
    ("half a block", lambda: doubled[1.5, 8](X, np.zeros(6)), UnsuitableLaunch, "1.5"),
    ("four directions", lambda: doubled[(1, 1, 1, 1), 8](X, np.zeros(6)), UnsuitableLaunch, "4 directions"),
    ("blocks alone", lambda: doubled[8](X, np.zeros(6)), UnsuitableLaunch, "1 part instead"),
    ("no configuration", lambda: doubled(X, np.zeros(6)), LaunchNeeded, "without a launch configuration"),
    ("an argument too few", lambda: doubled[1, 8](X), CallMismatch, "cannot call `doubled`"),
    ("an argument too many", lambda: doubled[1, 8](X, X, X), CallMismatch, "cannot call `doubled`"),
    ("a strided output", lambda: doubled[1, 8](X, strided()), UnsuitableOutput, "not contiguous"),
    (
        "an output by columns",
        lambda: doubled[1, 8](X, np.zeros((6, 2))[:, 0]),
        UnsuitableOutput,
        "contiguous",
    ),
    ("a locked output", lambda: doubled[1, 8](X, locked()), UnsuitableOutput, "read-only"),
    ("a list as output", lambda: doubled[1, 8](X, [0.0] * 6), StaticRequired, "a list"),
    ("one array twice", lambda: same(doubled), SameArrayTwice, "shares memory with"),
    ("an index outside", lambda: unguarded[1, 8](X, np.zeros(6)), IndexOutOfBounds, "index 6"),
    ("a large tile", lambda: large_tile[1, 8](X, np.zeros(8)), SharedTooLarge, "51200 bytes"),
    (
        "dynamic memory too large",
        lambda: dynamic_tile[1, 6, None, 50_000](X, np.zeros(6)),
        LaunchSize,
        "50000",
    ),
    ("dynamic memory missing", lambda: dynamic_tile[1, 6](X, np.zeros(6)), IndexOutOfBounds, "size 0"),
    (
        "a return before a barrier",
        lambda: return_before_a_barrier[1, 8](X, np.zeros(6)),
        BarrierDivergence,
        "barrier",
    ),
    (
        "a barrier in a divergent branch",
        lambda: barrier_in_a_branch[1, 6](np.arange(6.0), np.zeros(6)),
        BarrierDivergence,
        "barrier",
    ),
    ("a value returned", lambda: returns_a_value[1, 8](X, np.zeros(6)), KernelReturns, "returns float64"),
    ("recursion", lambda: recursive[1, 1](X, np.zeros(6)), RecursionTooDeep, "calls of `length`"),
    (
        "half an index",
        lambda: written_elsewhere[1, 1](X, np.zeros(6)),
        UnsupportedType,
        "an index cannot be float64",
    ),
)


@pytest.mark.parametrize(
    ("call", "error", "words"), [one[1:] for one in REFUSED], ids=[one[0] for one in REFUSED]
)
def test_refused(call: Callable[[], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as found:
        call()
    assert type(found.value).__module__.startswith("anadrome.errors")


@pytest.mark.parametrize("kernel", [return_before_a_barrier, barrier_in_a_branch], ids=str)
def test_divergence_is_refused_in_derivatives_too(kernel: Any) -> None:
    """Enzyme: threads that do not reach a barrier; the derivative of such a launch is no derivative."""

    def total(x: Any) -> Any:
        y = np.zeros(8)
        kernel[1, 8](x, y)
        return np.sum(y * y)

    x = np.arange(6.0) if kernel is return_before_a_barrier else np.arange(8.0)
    for derivative in (lambda x: ad.grad(total)(x), lambda x: ad.jvp(total, (x,), (x,))):
        with pytest.raises(BarrierDivergence, match="barrier"):
            derivative(x)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.float32])
def test_floats_into_other_types_are_converted_as_numpy_does(kind: Any) -> None:
    """numba.cuda compiles an output of another type anew, and may cut off without a word what NumPy keeps."""
    x, y, wanted = np.array([0.3, -1.6, 2.9]), np.zeros(3, kind), np.zeros(3, kind)
    doubled[1, 4](x, y)
    wanted[:] = 2.0 * x
    np.testing.assert_array_equal(y, wanted)


def test_outputs_of_integers_carry_no_derivative() -> None:
    def total(x: Any) -> Any:
        y = np.zeros(3, np.int64)
        doubled[1, 4](x, y)
        return np.sum(y * x)

    x = np.array([0.3, -1.6, 2.9])
    np.testing.assert_array_equal(ad.grad(total)(x), np.trunc(2.0 * x))


def test_the_next_launch_works() -> None:
    """A launch that failed leaves its arrays as they were, and the next one is as good as any."""
    y = np.full(6, 7.0)
    with pytest.raises(IndexOutOfBounds):
        unguarded[1, 8](X, y)
    np.testing.assert_array_equal(y, np.full(6, 7.0))
    unguarded[1, 6](X, y)
    np.testing.assert_array_equal(y, np.full(6, 2.0))
