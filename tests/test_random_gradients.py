"""Random programs, differentiated, optimised, compiled: machine code gives what the interpreter gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import show
from anadrome.compile import compile_function, prepare
from anadrome.config import Config
from tests.ad.oracles import direction, is_float
from tests.lanes_everywhere import lanes_everywhere
from tests.lower.oracle import kernel_arguments
from tests.programs import at_constant_sizes, programs

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
VERIFIED = replace(Config(), verify=True, cache=False, threads=1)


def assert_compiled_agrees(fn: Function, args: list[Any]) -> None:
    note(show(fn))
    expected = run(fn, args).results
    got = compile_function(fn, VERIFIED)(kernel_arguments(fn, args))
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def assert_derivatives_compile(fn: Function, args: list[Any]) -> None:
    rng = np.random.default_rng(5)
    active = tuple(is_float(arg) for arg in args)
    tangents = direction(rng, [arg for arg in args if is_float(arg)])
    cotangents = direction(rng, [value for value in run(fn, args).results if is_float(value)])
    ready = prepare(fn, VERIFIED)
    assert_compiled_agrees(vjp(ready, active), [*args, *cotangents])
    assert_compiled_agrees(jvp(ready, active), [*args, *tangents])


@QUICK
@given(case=programs(statements=5, depth=2))
def test_compiled_derivatives_agree(case):
    assert_derivatives_compile(*case)


def assert_derivatives_compile_at_constant_sizes(fn: Function, args: list[Any]) -> None:
    """The gradient, and its derivative along a direction: LLVM unrolls them, and folds what asks indices."""
    rng = np.random.default_rng(5)
    active = tuple(is_float(arg) for arg in args)
    cotangents = direction(rng, [value for value in run(fn, args).results if is_float(value)])
    gradient = prepare(vjp(prepare(at_constant_sizes(fn, args), VERIFIED), active), VERIFIED)
    given_ = [*args, *cotangents]
    tangents = direction(rng, [arg for arg in given_ if is_float(arg)])
    assert_compiled_agrees(gradient, given_)
    second = jvp(gradient, tuple(is_float(arg) for arg in given_))
    assert_compiled_agrees(second, [*given_, *tangents])


@QUICK
@given(case=programs(statements=5, depth=2, largest=13))
def test_compiled_derivatives_agree_at_constant_sizes(case):
    assert_derivatives_compile_at_constant_sizes(*case)


@QUICK
@given(case=programs(statements=5, depth=3))
def test_compiled_derivatives_agree_in_lanes(case):
    with lanes_everywhere():
        assert_derivatives_compile(*case)


@pytest.mark.fuzz
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=7, depth=4))
def test_many_compiled_derivatives_agree_in_lanes(case):
    with lanes_everywhere():
        assert_derivatives_compile(*case)


@pytest.mark.fuzz
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=7, depth=3, largest=13))
def test_many_compiled_derivatives_agree_at_constant_sizes(case):
    assert_derivatives_compile_at_constant_sizes(*case)


@pytest.mark.fuzz
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=7, depth=3))
def test_many_compiled_derivatives_agree(case):
    assert_derivatives_compile(*case)
