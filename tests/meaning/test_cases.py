"""Programs by hand, a module for each family: each means what Python means at every size, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.meaning.cases import (
    changed_items,
    changed_parts,
    classes,
    containers,
    control,
    everyday,
    exchanged,
    generators,
    growth,
    in_place,
    instances,
    iterators,
    keys,
    lazily,
    libraries,
    meeting,
    numbers,
    objects,
    optional,
    ordered,
    outside,
    printing,
    returns,
    rows,
    sizes,
    states,
    steppers,
    tables,
    trying,
    views,
    walrus,
)
from tests.meaning.judge import Case, Refused, arguments_of, by_us, judge
from tests.meaning.thresholds import configurations

FAMILIES = (
    *(in_place, iterators, generators, containers, views, rows, tables, control, objects, numbers, outside),
    *(everyday, libraries, printing, sizes, trying, walrus, optional, classes, steppers, growth),
    *(exchanged, instances, changed_items, changed_parts, returns, lazily, keys, states, meeting, ordered),
)
SIZES = (3, 5, 17, 70)
"""Below the first threshold, and above each."""

RIGHT = [function for family in FAMILIES for function in family.RIGHT]
EITHER = [function for family in FAMILIES for function in family.EITHER]
CONFIGURATIONS = configurations()

NOT_YET = frozenset(
    {
        "containers.dict_view_is_live",
        "iterators.counter",
        "rows.indexed_then_array_written",
        "rows.indexed_then_row_written",
        "rows.loop_over_rows_by_index",
        "rows.rows_through_a_callee",
        "views.ascontiguousarray_of_stepped",
        "views.ravel_of_column",
        "views.reshape_of_transpose",
    }
)
"""What is to be right and is still refused, at one size at least."""

Function = Callable[..., Any]


def case(function: Function, size: int) -> Case:
    return Case(function, (f"np.arange({size}.0) + 1.0", str(size)))


def name_of(function: Function) -> str:
    return case(function, 3).id


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", RIGHT, ids=name_of)
def test_is_right(function: Function, size: int) -> None:
    judgement = judge(case(function, size))
    if name_of(function) in NOT_YET:
        assert not judgement.is_failure, str(judgement)
        return
    assert judgement.verdict == "right", str(judgement)


def assert_machine_code_is_right(function: Function) -> None:
    for size in (3, 17):
        judgement = judge(case(function, size), is_compiled=True)
        assert not judgement.is_failure, str(judgement)


@pytest.mark.parametrize("function", [*RIGHT, *EITHER][::12], ids=name_of)
def test_machine_code(function: Function) -> None:
    assert_machine_code_is_right(function)


@pytest.mark.fuzz
@pytest.mark.parametrize("function", [*RIGHT, *EITHER], ids=name_of)
def test_machine_code_of_all(function: Function) -> None:
    assert_machine_code_is_right(function)


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_what_is_not_yet_right_is_refused(name: str) -> None:
    function = next(one for one in RIGHT if name_of(one) == name)
    assert "refused" in {judge(case(function, size)).verdict for size in SIZES}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", EITHER, ids=name_of)
def test_is_right_or_refused(function: Function, size: int) -> None:
    judgement = judge(case(function, size))
    assert not judgement.is_failure, str(judgement)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", outside.REFUSED, ids=name_of)
def test_writes_into_what_outlives_the_call_are_refused(function: Function, size: int) -> None:
    found = by_us(function, arguments_of(case(function, size)), CONFIGURATIONS["default"])
    assert isinstance(found, Refused), found


@pytest.mark.parametrize("name", ["all=0", "all=64"])
@pytest.mark.parametrize("function", [*RIGHT, *EITHER], ids=name_of)
def test_thresholds_change_no_meaning(function: Function, name: str) -> None:
    for size in SIZES:
        judgement = judge(case(function, size), CONFIGURATIONS[name])
        assert not judgement.is_failure, str(judgement)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__.rpartition(".")[2])
def test_every_function_of_a_family_is_judged(family: Any) -> None:
    those = (*family.RIGHT, *family.EITHER, *getattr(family, "REFUSED", ()))
    listed = {function.__name__ for function in those}
    written = {
        name
        for name, value in vars(family).items()
        if callable(value)
        and getattr(value, "__module__", None) == family.__name__
        and not isinstance(value, type)
        and value.__code__.co_varnames[:2] == ("x", "n")
    }
    assert listed == written
