"""On generated programs every pass keeps the rules, the results and the work."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import PASSES, PIPELINE, keeps

from tests.programs import programs

TOLERANCE = {"scalarize": 1e-12}
"""A chain of additions starts at its first value, not at zero; a product of small matrices is a chain."""


@pytest.mark.parametrize("name", PASSES)
@given(st.data())
def test_pass_keeps_the_program(name: str, data: st.DataObject) -> None:
    fn, args = data.draw(programs())
    keeps(name, fn, args, TOLERANCE.get(name, 0.0))


@given(st.data())
def test_pipeline_keeps_the_program(data: st.DataObject) -> None:
    fn, args = data.draw(programs(statements=8, depth=3))
    for name in PIPELINE:
        fn = keeps(name, fn, args, TOLERANCE.get(name, 0.0))


@pytest.mark.fuzz
@settings(max_examples=3000)
@given(st.data())
def test_pipeline_keeps_many_programs(data: st.DataObject) -> None:
    fn, args = data.draw(programs(statements=10, depth=3))
    for name in PIPELINE:
        fn = keeps(name, fn, args, TOLERANCE.get(name, 0.0))
