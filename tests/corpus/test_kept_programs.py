"""Programs of the corpus, and their pullbacks, are found on disk again, most of them before they are staged,
and give the same to the bit."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome import compile as compiler
from anadrome.api import program as programs
from anadrome.api.pytree import flatten
from anadrome.errors import AnadromeError
from tests.corpus.harness import CONSTANT, Program
from tests.corpus.test_corpus import PROGRAMS

EVERY = 12
"""One program of so many is tried by `make test`, all of them by `make fuzz`."""


STAGED = frozenset(
    [
        *("structures.functions_in_a_list", "densities.logistic_regression", "editing.repeated"),
        *("editing.at_every_place", "python_library.averages_so_far", "python_library.chained"),
        "fourier.scipy_transforms",
    ]
)
"""Programs that are staged in each process: plain Python makes objects there while they are staged, or the
objects are not understood (docs/decisions/0041-programs-found-before-staging.md)."""


def refused(*_: Any, **__: Any) -> Any:
    """What stands in the place of the compiler, or the front end, when a program should be on disk."""
    raise AssertionError("it is compiled again")


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(program, id=name, marks=() if place % EVERY == 0 else pytest.mark.slow)
        for place, (name, program) in enumerate(PROGRAMS.items())
    ],
)
def test_found_again(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    args = program.draw(max(program.at, CONSTANT + 1))
    config = ad.Config(small_dimension=CONSTANT, cache_dir=str(tmp_path), verify=False)

    def pulled_back(*args):
        result, pullback = ad.vjp(program.function, *args)
        return result, pullback(result)

    for function in (program.function, pulled_back):
        try:
            expected = ad.jit(function, config=config)(*copy.deepcopy(args))
        except AnadromeError:  # no floats, or a derivative that there is not
            assert function is pulled_back
            continue
        with monkeypatch.context() as patch:
            patch.setattr(compiler, "lower_function", refused)
            if request.node.callspec.id not in STAGED:
                patch.setattr(programs, "staged_program", refused)
            found = ad.jit(function, config=config)(*copy.deepcopy(args))
        for one, other in zip(flatten(found)[0], flatten(expected)[0], strict=True):
            np.testing.assert_array_equal(one, other)
            assert type(one) is type(other) and np.asarray(one).dtype == np.asarray(other).dtype
