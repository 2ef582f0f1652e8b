"""Functions of the tables have the derivatives that `docs/compiled.md` shows, in both modes."""

from __future__ import annotations

import pytest

from tests.meaning.derivative_facts import NONE, REFUSED, ZERO
from tests.meaning.derivatives import derivative
from tests.meaning.page import page_name
from tests.meaning.recipes import Recipe
from tests.meaning.special_recipes import all_recipes

OTHER_BY_DESIGN = frozenset({"ad.stop_gradient"})
"""What differs from its differences on purpose."""

DISCRETE = "stats.rv_discrete."
"""Probabilities of whole numbers: differentiated by their parameters, which have tests of their own."""

SAMPLE = 16
"""Every so many functions are tried always; all of them in the long search."""


def by_name() -> dict[str, list[Recipe]]:
    found: dict[str, list[Recipe]] = {}
    for recipe in all_recipes():
        if recipe.name not in OTHER_BY_DESIGN and not recipe.name.startswith((DISCRETE, "type(")):
            found.setdefault(recipe.name, []).append(recipe)
    return found


RECIPES = by_name()
NAMES = sorted(RECIPES)


def expected(name: str) -> tuple[str, ...]:
    """What is found of a function; one without floats among its arguments is not tried."""
    page = page_name(name)
    if page in NONE:
        return "none", "untried"
    return ("zero",) if page in ZERO else ("refused",) if page in REFUSED else ("yes",)


def assert_as_told(name: str) -> None:
    found = derivative(name, RECIPES[name])
    assert found.partition(":")[0] in expected(name), f"{name}: {found}"


@pytest.mark.parametrize("name", NAMES[::SAMPLE])
def test_derivatives(name: str) -> None:
    assert_as_told(name)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", NAMES)
def test_all_derivatives(name: str) -> None:
    assert_as_told(name)


def test_facts_are_of_functions_that_there_are() -> None:
    pages = {page_name(name) for name in NAMES}
    assert ZERO | NONE | REFUSED <= pages and not (ZERO & NONE or ZERO & REFUSED or NONE & REFUSED)
