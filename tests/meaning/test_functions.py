"""Every function of the front end's tables, on arrays of every layout, in every context: written through one
name and read through the others, it means what NumPy means, or is refused."""

from __future__ import annotations

import bisect
import builtins
import cmath
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
import scipy.stats

import anadrome as ad
from anadrome.frontend.builtin_calls import BUILTINS
from anadrome.frontend.complex_numbers.forms import COMPLEX_ATTRIBUTES, COMPLEX_CALLS, COMPLEX_METHODS
from anadrome.frontend.library import ATTRIBUTES, CALLS, METHODS
from anadrome.frontend.library.python_program import PROGRAMS
from anadrome.frontend.parallel.ufuncs import UFUNC_METHODS
from tests.meaning.functions import CONTEXTS, LAYOUTS, function_program
from tests.meaning.judge import judge
from tests.meaning.recipes import Recipe
from tests.meaning.special_recipes import all_recipes
from tests.meaning.thresholds import configurations

RECIPES = all_recipes()
SAMPLE = 5
"""Every so many recipes go into the sample."""
MANY = 8
"""Programs of each recipe in the long search."""
CHUNK = 100
CONFIGURATIONS = configurations()

NAMES: dict[str, Any] = vars(builtins) | {
    "np": np,
    "math": math,
    "cmath": cmath,
    "collections": collections,
    "ad": ad,
    "dataclasses": dataclasses,
    "special": scipy.special,
    "linalg": scipy.linalg,
    "sparse": scipy.sparse,
    "fft": scipy.fft,
    "interpolate": scipy.interpolate,
    "stats": scipy.stats,
    "copy": copy,
    "functools": functools,
    "operator": operator,
    "heapq": heapq,
    "bisect": bisect,
    "itertools": itertools,
    "statistics": statistics,
}
"""What the name of a recipe is looked up in."""
SYNTAX = ("if", "and", "lambda")
"""Names of recipes that are words of Python."""


def named(recipes: Iterable[Recipe]) -> set[Any]:
    """The functions that recipes call; methods and attributes by name."""
    found: set[Any] = set()
    for name in {recipe.name for recipe in recipes}:
        if name.startswith("."):
            found.add(name[1:])
        elif name.startswith("type(") or name.replace(".", "").replace("_", "").isalnum():
            found.add(eval(name, dict(NAMES)) if name not in SYNTAX else None)
    return found


def missing(table: Iterable[Any], recipes: Iterable[Recipe]) -> list[str]:
    """Entries of a table that no recipe calls."""
    called = named(recipes)
    return sorted(str(getattr(one, "__qualname__", one)) for one in table if one not in called)


@pytest.mark.parametrize(
    "table",
    [CALLS, BUILTINS, PROGRAMS, UFUNC_METHODS, METHODS, ATTRIBUTES, COMPLEX_CALLS, COMPLEX_METHODS],
)
def test_every_function_of_a_table_has_a_recipe(table: dict[Any, Callable[..., Any]]) -> None:
    assert missing(table, RECIPES) == []


@pytest.mark.parametrize("table", [COMPLEX_CALLS, COMPLEX_METHODS, COMPLEX_ATTRIBUTES])
def test_every_function_of_complex_numbers_is_called_on_them(table: dict[Any, Callable[..., Any]]) -> None:
    of_complex = [one for one in RECIPES if one.kind in "ck" or "complex" in one.name or is_making(one)]
    assert missing(table, of_complex) == []


def is_making(recipe: Recipe) -> bool:
    """Whether a function makes complex numbers of real ones."""
    return recipe.name.startswith(("cmath.", "np.fft.", "fft.", "np.linalg.", "linalg."))


def assert_right(chosen: list[tuple[Recipe, int]], configuration: str = "default") -> None:
    config = CONFIGURATIONS[configuration]
    judged = [judge(function_program(recipe, number), config) for recipe, number in chosen]
    failures = [found for found in judged if found.is_failure]
    if failures:
        pytest.fail(f"{len(failures)} of {len(chosen)} programs fail, with {config}\n\n{failures[0]}")


@pytest.mark.parametrize("first", range(SAMPLE))
def test_functions(first: int) -> None:
    assert_right([(recipe, 0) for recipe in RECIPES[first :: SAMPLE * SAMPLE]])


@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(MANY))
@pytest.mark.parametrize("start", range(0, len(RECIPES), CHUNK))
def test_many_functions(start: int, number: int) -> None:
    assert_right([(recipe, number) for recipe in RECIPES[start : start + CHUNK]])


@pytest.mark.fuzz
@pytest.mark.parametrize("configuration", ["all=0", "all=64"])
@pytest.mark.parametrize("start", range(0, len(RECIPES), CHUNK))
def test_many_functions_at_other_thresholds(configuration: str, start: int) -> None:
    assert_right([(recipe, 0) for recipe in RECIPES[start : start + CHUNK]], configuration)


def test_every_layout_and_context_is_tried() -> None:
    tried = {axis for recipe in RECIPES for axis in function_program(recipe, 0).axes}
    assert {value for name, value in tried if name == "context"} == set(CONTEXTS)
    layouts = {f"{kind} {layout}" for kind in "vmckibzq" for layout in LAYOUTS[kind]}
    assert layouts <= {value for name, value in tried if name == "layout"}
    relations = {value for name, value in tried if name == "relation"}
    assert {"a view", "a copy", "the same", "no array"} <= relations
