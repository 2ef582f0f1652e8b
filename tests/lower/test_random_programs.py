"""Random programs give the same interpreted, lowered and interpreted, lowered and compiled."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.lower import oracle
from tests.programs import programs

FAST = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@FAST
@given(case=programs(statements=6, depth=2))
def test_lowered_programs_agree(case):
    fn, args = case
    oracle.agree(fn, *args)


@FAST
@given(case=programs(statements=6, depth=2))
def test_programs_agree_that_are_given_their_arguments(case):
    fn, args = case
    oracle.agree_donated(fn, *args)


@pytest.mark.fuzz
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(case=programs(statements=9, depth=3))
def test_many_lowered_programs_agree(case):
    fn, args = case
    oracle.agree(fn, *args)
    oracle.agree_donated(fn, *args)
