"""Every program of the corpus, in every way that `harness` checks one; every bad program refused."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pytest

import anadrome as ad
from tests.corpus.draw import N, normal
from tests.corpus.exceptions import EXCEPTIONS
from tests.corpus.families import FAMILIES
from tests.corpus.harness import (
    LIMIT,
    Case,
    Program,
    Ratios,
    Refused,
    check_first_order,
    check_second_order,
    work_ratios,
)


def _family(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


PROGRAMS = {f"{_family(module)}.{program}": program for module in FAMILIES for program in module.PROGRAMS}
REFUSED = {f"{_family(module)}.{bad}": bad for module in FAMILIES for bad in module.REFUSED}


@pytest.fixture(scope="module", params=PROGRAMS)
def case(request: pytest.FixtureRequest) -> Case:
    """A program: the tests of one follow one another, and share what they compile."""
    return Case(PROGRAMS[request.param])


def test_first_order(case: Case) -> None:
    check_first_order(case)


def test_second_order(case: Case) -> None:
    check_second_order(case)


def test_work(case: Case, request: pytest.FixtureRequest) -> None:
    ratios = work_ratios(case)
    name = request.node.callspec.params["case"]
    limit = EXCEPTIONS[name].figure if name in EXCEPTIONS else LIMIT
    if case.program.policy:
        sizes = case.program.sizes
        by_logarithm = [ratio / math.log2(n) for ratio, n in zip(ratios.values, sizes, strict=True)]
        assert by_logarithm == sorted(by_logarithm, reverse=True), ratios.values
    else:
        assert ratios.largest <= limit, ratios.values
        assert not ratios.is_growing, ratios.values


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    bad: Refused = REFUSED[name]
    with pytest.raises(bad.error) as caught:
        bad.call()
    assert isinstance(caught.value, ad.AnadromeError)
    assert bad.words in str(caught.value)
    assert bad.spanless or f"/{name.partition('.')[0]}.py:" in str(caught.value)


def _with_a_wrong_slope(x):
    return np.sum(ad.stop_gradient(x) * x)


def test_the_harness_finds_a_wrong_slope() -> None:
    """A stopped gradient is a wrong one, to differences."""
    case = Case(Program(_with_a_wrong_slope, (normal(N),)))
    for check in (check_first_order, check_second_order):
        with pytest.raises(AssertionError, match="numeric"):
            check(case)


@pytest.mark.parametrize(
    ("ratios", "is_growing"),
    [
        ((2.0, 3.0, 5.0), True),  # with the size
        ((3.0, 3.5, 4.0), True),  # with its logarithm
        ((3.0, 3.5, 3.75), False),  # towards 4
        ((4.0, 4.1, 4.05), False),
        ((3.0,), False),
    ],
)
def test_the_harness_knows_growth(ratios: tuple[float, ...], is_growing: bool) -> None:
    assert Ratios(ratios).is_growing is is_growing


def test_corpus_is_whole() -> None:
    assert len(PROGRAMS) >= 250
    assert len(PROGRAMS) == sum(len(module.PROGRAMS) for module in FAMILIES), "two programs of one name"
    assert len(REFUSED) == sum(len(module.REFUSED) for module in FAMILIES)
    assert set(EXCEPTIONS) <= set(PROGRAMS)
