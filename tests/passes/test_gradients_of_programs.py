"""Gradients of generated programs through the pipeline: well formed after every pass, the same elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle import same

from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import show
from anadrome.compile import optimise, prepare
from anadrome.config import Config
from tests.ad.oracles import direction, is_float
from tests.programs import programs

CONFIG = Config(verify=True)


def keeps_the_gradient(fn: Function, args: list[Any], order: int) -> None:
    """The optimised gradient gives what the gradient as it was differentiated gives."""
    for _ in range(order):
        results = run(fn, args).results
        active = tuple(is_float(arg) for arg in args)
        fn = vjp(prepare(fn, CONFIG), active)
        args = [*args, *direction(np.random.default_rng(5), [value for value in results if is_float(value)])]
    note(show(fn))
    made = optimise(fn, CONFIG)
    same(run(fn, args).results, run(made, args).results, 1e-9)


@given(st.data())
def test_pipeline_keeps_gradients(data: st.DataObject) -> None:
    keeps_the_gradient(*data.draw(programs()), order=1)


@pytest.mark.fuzz
@settings(max_examples=1000)
@given(st.data())
def test_pipeline_keeps_many_gradients(data: st.DataObject) -> None:
    keeps_the_gradient(*data.draw(programs(statements=7, depth=3)), order=data.draw(st.integers(1, 2)))
