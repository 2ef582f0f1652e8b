"""Random programs: the verifier accepts them, text round-trips, dropping dead code keeps the results."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from anadrome.array_ir.check import check
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.interp import run
from anadrome.array_ir.rewrite import copy_function
from anadrome.array_ir.text import parse, show
from tests.programs import programs


@given(programs())
def test_round_trip(case):
    fn, _ = case
    check(fn)
    text = show(fn)
    again = parse(text)
    check(again)
    assert show(again) == text
    assert show(copy_function(fn)) == text


@given(programs())
def test_dead_code_does_not_change_results(case):
    fn, args = case
    lean = remove_dead(fn)
    check(lean)
    assert remove_dead(lean) is lean
    before, after = run(fn, args), run(lean, args)
    for expected, got in zip(before.results, after.results, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert after.work.total <= before.work.total


@given(programs())
def test_parsed_program_runs_alike_and_arguments_stay(case):
    fn, args = case
    copies = [np.copy(arg) for arg in args]
    first, second = run(fn, args), run(parse(show(fn)), args)
    for expected, got in zip(first.results, second.results, strict=True):
        np.testing.assert_array_equal(got, expected)
        assert np.all(np.isfinite(got))
    assert first.work == second.work
    for before, after in zip(copies, args, strict=True):
        np.testing.assert_array_equal(after, before)
