"""Random programs: forward and reverse agree to rounding, both with central differences away from kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import show
from tests.ad.oracles import direction, inner, is_float, shifted
from tests.programs import programs

FAST = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def derivatives(fn: Function, args: list[Any]) -> tuple[float, float, list[float]]:
    """⟨w, jvp⟩, ⟨vjp, v⟩ and two central differences of ⟨w, f⟩ in one random direction."""
    rng = np.random.default_rng(11)
    active = tuple(is_float(arg) for arg in args)
    tangents = direction(rng, [arg for arg in args if is_float(arg)])
    results = run(fn, args).results
    cotangents = direction(rng, [value for value in results if is_float(value)])
    forward, backward = jvp(fn, active), vjp(fn, active)
    check(forward)
    check(backward)
    pushed = run(forward, [*args, *tangents]).results[len(results) :]
    pulled = run(backward, [*args, *cotangents]).results[len(results) :]

    def difference(step: float) -> float:
        sides = [run(fn, shifted(args, active, tangents, sign * step)).results for sign in (1, -1)]
        ahead, behind = ([v for v in side if is_float(v)] for side in sides)
        return (inner(cotangents, ahead) - inner(cotangents, behind)) / (2 * step)

    return inner(cotangents, pushed), inner(pulled, tangents), [difference(1e-5), difference(1e-6)]


def assert_agree(fn: Function, args: list[Any]) -> None:
    """Both modes agree, and agree with differences where these agree with one another: else a kink lies
    within the step, or the program is so sensitive that its derivative is beyond them, or beyond floats."""
    tangent, adjoint, (wide, narrow) = derivatives(fn, args)
    note(show(fn))
    scale = max(1.0, abs(tangent))
    is_smooth = abs(wide - narrow) <= 1e-5 * max(1.0, abs(narrow))
    if np.isnan(tangent) and np.isnan(adjoint) and not is_smooth:
        return
    assert abs(adjoint - tangent) <= 1e-9 * scale, (adjoint, tangent)
    if is_smooth:
        assert abs(tangent - narrow) <= 1e-4 * scale, (tangent, wide, narrow)


@FAST
@given(case=programs(statements=5, depth=2))
def test_derivatives_of_programs_agree(case):
    assert_agree(*case)


@pytest.mark.fuzz
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=8, depth=3))
def test_derivatives_of_many_programs_agree(case):
    assert_agree(*case)
