"""Every kernel written by hand: values, races, first and second derivatives, each against other ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

import anadrome as ad
from anadrome.errors.ad import NotDifferentiable
from tests.kernels.answers import (
    Answers,
    check_first_order,
    check_races,
    check_second_order,
    check_values,
)
from tests.kernels.corpus import CASES, FAMILIES, KNOWN

pytestmark = pytest.mark.usefixtures("several_workers_pay")

LEAST = 60
"""There are at least so many kernels."""


def cases(test: str, names: Iterable[str]) -> pytest.MarkDecorator:
    """The cases of a test by name; those that are known to fail must."""
    params = []
    for name in names:
        reason = KNOWN.get((name, test))
        marks = () if reason is None else (pytest.mark.xfail(strict=True, reason=reason),)
        params.append(pytest.param(name, marks=marks))
    return pytest.mark.parametrize("name", params)


def differentiated() -> list[str]:
    """The cases that have derivatives."""
    return [name for name, case in CASES.items() if not case.refused and Answers(case).derived.places]


@cases("values", CASES)
def test_values(name: str) -> None:
    check_values(Answers(CASES[name]))


@cases("first order", differentiated())
def test_first_order(name: str) -> None:
    check_first_order(Answers(CASES[name]))


@cases("second order", differentiated())
def test_second_order(name: str) -> None:
    check_second_order(Answers(CASES[name]), with_reverse=True)


@cases("races", CASES)
def test_no_races(name: str) -> None:
    check_races(Answers(CASES[name]))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.refused])
def test_refused(name: str) -> None:
    """Derivatives of what has none are refused with the line, in both modes."""
    answers = Answers(CASES[name])
    tangents, weights = answers.directions(1)
    for function, given in ((answers.derived.pulled, weights), (answers.derived.pushed, tangents)):
        with pytest.raises(NotDifferentiable, match=answers.case.refused) as found:
            ad.jit(function)(answers.args, given)
        assert found.value.span is not None
        assert "tests/kernels/" in str(found.value)


def test_the_corpus_is_large() -> None:
    counted = Counter({family: len(members) for family, members in FAMILIES.items()})
    assert counted.total() == len(CASES) >= LEAST
    assert all(count >= 7 for count in counted.values())
