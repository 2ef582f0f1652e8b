"""Random programs whose loops have random policies: the adjoints of a program without, number for number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from anadrome.ad.reverse import vjp
from anadrome.array_ir.check import check
from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Body, Function, Let, Loop
from anadrome.array_ir.text import show
from anadrome.array_ir.walk import all_lets, map_bodies
from anadrome.prims.node import replace
from tests.ad.oracles import direction, is_float
from tests.programs import programs

WISHES = (
    None,
    Checkpoint("sqrt"),
    Checkpoint("log"),
    Checkpoint("repeats", 1),
    Checkpoint("repeats", 3),
    Checkpoint("budget", memory=1000),
    Checkpoint("all", memory=10**6),
)
FAST = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def with_wishes(draw: st.DataObject, body: Body) -> Body:
    """The body with a policy drawn for each of its loops."""
    lets = []
    for let in body.lets:
        expr = map_bodies(let.expr, lambda inner: with_wishes(draw, inner))
        if isinstance(expr, Loop):
            expr = replace(expr, checkpoint=draw.draw(st.sampled_from(WISHES)))
        lets.append(Let(let.targets, expr, let.span))
    return Body(tuple(lets), body.results)


def assert_same_adjoints(fn: Function, args: list[Any], data: st.DataObject) -> None:
    assume(any(isinstance(let.expr, Loop) for let in all_lets(fn.body)))
    kept = Function(fn.name, fn.params, with_wishes(data, fn.body))
    note(show(kept))
    active = tuple(is_float(arg) for arg in args)
    cotangents = direction(
        np.random.default_rng(3), [value for value in run(fn, args).results if is_float(value)]
    )
    backward = vjp(kept, active)
    check(backward)
    got = run(backward, [*args, *cotangents]).results
    wanted = run(vjp(fn, active), [*args, *cotangents]).results
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


@FAST
@given(case=programs(statements=5, depth=2), data=st.data())
def test_policies_change_no_adjoint(case, data):
    assert_same_adjoints(*case, data)


@pytest.mark.fuzz
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=10, depth=3), data=st.data())
def test_policies_change_no_adjoint_of_many(case, data):
    assert_same_adjoints(*case, data)
