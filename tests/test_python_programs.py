"""Random Python programs: the value is Python's, both modes agree, and so do differences and second order.

The derivative is taken of the staged program and run by the interpreter, which is quick to start; some
programs are compiled as well.
"""

from __future__ import annotations

import linecache
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

import anadrome as ad
from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from anadrome.dtypes import F64, I64
from anadrome.frontend.stage import ArgumentSpec, stage
from tests.python_programs import python_programs

CONFIG = Config(verify=True)
QUICK = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],  # shrinking such programs takes minutes
}
Args = tuple[Any, ...]


def loaded(source: str) -> Callable[..., Any]:
    """The function of a program's source, with its text where the front end looks for it."""
    name = f"<program {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, name, "exec"), space)
    return space["program"]  # type: ignore[no-any-return]


def arguments(seed: int, size: int) -> Args:
    random = np.random.default_rng(seed)
    return random.normal(size=size), random.normal(size=size), random.normal(), random.integers(0, size, size)


def staged(program: Callable[..., Any]) -> Function:
    vector = ArgumentSpec(F64, ("n",))
    spec = (vector, vector, ArgumentSpec(F64), ArgumentSpec(I64, ("n",)))
    return prepare(stage(program, spec, {}, CONFIG).function, CONFIG)


def with_tangents(fn: Function) -> Function:
    return jvp(fn, (True, True, True, False))


def value_of(fn: Function, args: Args) -> list[Any]:
    return run(fn, list(args)).results


def moved(args: Args, along: Args, step: float) -> Args:
    return (*(arg + step * part for arg, part in zip(args[:3], along, strict=True)), args[3])


def slope(function: Callable[[Args], Any], args: Args, along: Args) -> tuple[Any, bool]:
    """A difference, and whether two steps agree: if not, a kink lies between."""
    found = []
    for step in (1e-5, 2.5e-6):
        ahead, behind = function(moved(args, along, step)), function(moved(args, along, -step))
        found.append((np.asarray(ahead) - np.asarray(behind)) / (2 * step))
    scale = 1.0 + np.max(np.abs(found[1]))
    return found[1], bool(np.max(np.abs(found[0] - found[1])) < 1e-5 * scale)


def inner(left: Any, right: Any) -> float:
    return float(sum(np.sum(np.asarray(a) * np.asarray(b)) for a, b in zip(left, right, strict=True)))


def check(source: str, size: int = 5) -> None:
    """Value, first and second derivative in random directions."""
    note(source)
    program = loaded(source)
    args = arguments(len(source), size)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        check_derivatives(program, args)


def check_derivatives(program: Callable[..., Any], args: Args) -> None:
    random = np.random.default_rng(3)
    along, across = ((random.normal(size=5), random.normal(size=5), random.normal()) for _ in range(2))
    wanted = program(*args)
    fn = staged(program)
    (value,) = value_of(fn, args)
    np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-11)
    forward, backward = with_tangents(fn), vjp(fn, (True, True, True, False))
    tangent = value_of(optimise(forward, CONFIG), (*args, *along))[-1]
    optimised = optimise(backward, CONFIG)
    adjoints = value_of(optimised, (*args, 1.0))[1:]
    scale = 1.0 + abs(tangent)
    assert abs(inner(adjoints, along) - tangent) <= 1e-10 * scale * 10, (adjoints, tangent)
    difference, is_smooth = slope(lambda given: program(*given), args, along)
    if is_smooth:
        assert abs(difference - tangent) <= 1e-4 * scale, (difference, tangent)
    prepared = prepare(backward, CONFIG)
    second = value_of(jvp(prepared, (True, True, True, False, False)), (*args, 1.0, *along))[5:]
    again = value_of(vjp(prepared, (True, True, True, False, False)), (*args, 1.0, 0.0, *across))[4:]
    scale = 1.0 + float(max(np.max(np.abs(part)) for part in second))
    assert abs(inner(second, across) - inner(again, along)) <= 1e-8 * scale * 10, (second, again)
    curvature, is_smooth = slope(
        lambda given: inner(value_of(optimised, (*given, 1.0))[1:], across), args, along
    )
    if is_smooth:
        assert abs(curvature - inner(second, across)) <= 1e-3 * scale * 10, (curvature, second)


@settings(max_examples=25, **QUICK)
@given(source=python_programs())
def test_derivatives_of_programs(source: str) -> None:
    check(source)


@settings(max_examples=4, **QUICK)
@given(source=python_programs())
def test_compiled_gradients_of_programs(source: str) -> None:
    note(source)
    program = loaded(source)
    args = arguments(len(source), 20)
    compiled = ad.grad(program, argnums=(0, 1, 2))(*args)
    interpreted = value_of(vjp(staged(program), (True, True, True, False)), (*args, 1.0))[1:]
    for got, wanted in zip(compiled, interpreted, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.fuzz
@settings(max_examples=1000, **QUICK)
@given(source=python_programs(statements=7, depth=3))
def test_derivatives_of_many_programs(source: str) -> None:
    check(source)
