"""Random calls of NumPy on arrays of any type and small shape: what is compiled gives what NumPy gives, sizes
known or symbolic, and what NumPy refuses is refused. Both modes and differences agree on derivatives."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.compile import prepare
from anadrome.errors.base import AnadromeError
from anadrome.errors.ir import IRError
from anadrome.frontend.stage import stage
from tests.frontend.library.numpy_calls import NUMBERS, SHAPES, Arguments, arguments, program
from tests.frontend.library.staging import CONFIG, assert_same, compiled, spec
from tests.test_python_programs import inner, loaded

BATCHES = 12
CALLS = 40


def outcome(function: Callable[..., Any], args: Arguments) -> Any:
    """What NumPy gives, or its error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*(np.copy(one) for one in args))
        except Exception as error:
            return error


def is_half(value: Any) -> bool:
    """Whether a float16 is in it, which compiled functions do not have."""
    if isinstance(value, tuple | list):
        return any(map(is_half, value))
    return np.asarray(value).dtype == np.float16


def is_odd(text: str, args: Arguments) -> bool:
    """Where NumPy differs from itself: BLAS takes 0·∞ for 0 in a product with a number, `cov` leaves out what
    is empty, `average` of nothing along an axis is a ZeroDivisionError."""
    if text.startswith("np.average") and not args[0].size:  # the sizes of the array and the mean are divided
        return True
    if text.startswith(("np.dot", "np.inner", "x.dot")):
        return not all(one.shape for one in args) or text.endswith(tuple(f", {one})" for one in NUMBERS))
    return text.startswith("np.cov") and not all(one.size for one in args)


def agree(seed: int) -> bool:
    """Whether a random call was compiled; what it gives then is what NumPy gives."""
    draw = random.Random(seed)
    text, args, is_symbolic = program(draw), arguments(draw, seed), draw.random() < 0.5
    function = loaded(f"def program(x, y):\n    return {text}\n")
    wanted = outcome(function, args)
    try:
        got = compiled(function, args, is_symbolic)
    except IRError:
        raise
    except AnadromeError:
        return False
    said = f"{seed}: {text} of {[f'{one.dtype}{one.shape}' for one in args]}"
    if is_half(wanted) or is_odd(text, args):
        return True
    assert not isinstance(wanted, Exception), f"{said}: {wanted!r}, compiled {got}"
    try:
        assert_same(got, wanted)
    except AssertionError as error:
        raise AssertionError(f"{said}: {error}") from None
    return True


@pytest.mark.parametrize("start", range(BATCHES))
def test_calls(start: int) -> None:
    compiled_ones = sum(agree(seed) for seed in range(start * CALLS, (start + 1) * CALLS))
    assert compiled_ones > CALLS / 4


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1000, 1300))
def test_many_calls(start: int) -> None:
    test_calls(start)


# ---------------------------------------------------------------------------- derivatives
def floats(value: Any) -> list[np.ndarray]:
    """The numbers of a result that have derivatives."""
    if isinstance(value, tuple | list):
        return [found for one in value for found in floats(one)]
    return [np.asarray(value)] if np.asarray(value).dtype.kind == "f" else []


def slopes(function: Callable[..., Any], at: Arguments, along: Arguments, step: float) -> list[np.ndarray]:
    """Differences of NumPy's results; none where they change their shapes."""
    ends = [
        floats(
            outcome(function, tuple(one + side * step * part for one, part in zip(at, along, strict=True)))
        )
        for side in (1.0, -1.0)
    ]
    if [one.shape for one in ends[0]] != [one.shape for one in ends[1]]:
        return []
    return [(ahead - behind) / (2.0 * step) for ahead, behind in zip(*ends, strict=True)]


@np.errstate(all="ignore")
def differentiate(seed: int) -> bool:
    """Whether a random call of normal numbers was differentiated; both modes agree then, and they agree with
    differences of two steps where these do."""
    draw, source = random.Random(seed), np.random.default_rng(seed)
    text, shape = program(draw), draw.choice(tuple(one for one in SHAPES if 0 not in one))
    shapes = (shape, draw.choice((shape, shape, shape[-1:], shape[::-1], ())))
    args = tuple(np.asarray(0.4 + 1.3 * source.normal(size=one))[()] for one in shapes)
    along = tuple(np.asarray(source.normal(size=one))[()] for one in shapes)
    function = loaded(f"def program(x, y):\n    return {text}\n")
    is_symbolic, wanted = draw.random() < 0.5, outcome(function, args)
    if isinstance(wanted, Exception) or any(one.dtype != np.float64 for one in floats(wanted)):
        return False
    try:
        staged = stage(function, [spec(one, is_symbolic) for one in args], {}, CONFIG)
        fn = prepare(staged.function, CONFIG)
        forward, backward = jvp(fn, (True, True)), vjp(fn, (True, True))
    except IRError:
        raise
    except AnadromeError:
        return False
    results = run(fn, [*args, *staged.captured]).results
    tangents = run(forward, [*args, *staged.captured, *along]).results[len(results) :]
    weights = [np.asarray(source.normal(size=one.shape))[()] for one in floats(results)]
    adjoints = run(backward, [*args, *staged.captured, *weights]).results[len(results) :]
    said = f"{seed}: {text} of {shapes}"
    if not all(np.all(np.isfinite(one)) for one in floats(results)):
        return False
    ahead, back = inner(weights, tangents), inner(adjoints, along)
    assert np.isclose(ahead, back, rtol=1e-9, atol=1e-9, equal_nan=True), (said, ahead, back)
    coarse, fine = (slopes(function, args, along, step) for step in (1e-5, 2.5e-6))
    for one, other, tangent in zip(coarse, fine, tangents, strict=bool(coarse and fine)):
        is_smooth = (np.abs(one - other) < 1e-5 * (1.0 + np.abs(other))) & (np.abs(other) < 1e4)
        assert np.all(~is_smooth | np.isclose(other, tangent, rtol=2e-5, atol=1e-5)), (said, other, tangent)
    return True


@pytest.mark.parametrize("start", range(BATCHES))
def test_derivatives(start: int) -> None:
    differentiated = sum(differentiate(seed) for seed in range(start * CALLS, (start + 1) * CALLS))
    assert differentiated > CALLS / 4


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1000, 1300))
def test_many_derivatives(start: int) -> None:
    test_derivatives(start)
