"""Machine code of second derivatives at sizes that are constants of the program, against the interpreter.

Where all sizes are known LLVM rewrites most: it unrolls short loops, folds conditions on indices, and
vectorises what is left with masks.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.api.derivatives.conjugation import has_complex
from anadrome.api.pytree import flatten
from tests.corpus.derived import Derived
from tests.corpus.harness import FORWARD, Compiled, Program, direction, quiet
from tests.corpus.test_corpus import PROGRAMS
from tests.derivatives.agreement import floats, leaves
from tests.frontend.oracle import is_parameter

SIZE = 8
EVERY = 25
"""One program of so many is looked at in each run of the tests."""
SAMPLE = [
    pytest.param(program, id=name, marks=() if place % EVERY == 0 else pytest.mark.slow)
    for place, (name, program) in enumerate(PROGRAMS.items())
]


@dataclass(frozen=True, slots=True)
class Second:
    """Second derivatives of a program, as functions of (arguments, weights)."""

    derived: Derived

    def reverse_over_reverse(self, args: Any, weights: Any) -> Any:
        """∇ ⟨1, Jᵀw⟩."""

        def gradient(*values: Any) -> Any:
            return ad.vjp(lambda *given: self.derived.filled(args, *given), *values)[1](weights)

        gradients, pull_back = ad.vjp(gradient, *self.derived.primals(args))
        return pull_back(gradients)

    def columns(self, args: Any, weights: Any) -> Any:
        """D (Jᵀw), whole."""

        def gradient(*values: Any) -> Any:
            return ad.vjp(lambda *given: self.derived.filled(args, *given), *values)[1](weights)

        primals = self.derived.primals(args)
        return ad.jacfwd(gradient, argnums=tuple(range(len(primals))))(*primals)


@pytest.mark.parametrize("program", SAMPLE)
def test_machine_code_gives_what_the_interpreter_gives(program: Program) -> None:
    with quiet():
        args = program.draw(SIZE if len(program.sizes) > 1 else program.at)
        weights = direction(program.function(*copy.deepcopy(args)), np.random.default_rng(1))
        second = Second(Derived(program.function, program.places(args)))
        _compare(second.reverse_over_reverse, args, weights)
        is_small = sum(np.size(leaf) for leaf in floats(args)) <= 4 * SIZE
        if is_small and not has_complex(flatten((args, weights))[1]):
            _compare(second.columns, args, weights)


def _compare(function: Any, args: Any, weights: Any) -> None:
    compiled = Compiled(function, FORWARD)
    found = [np.asarray(leaf) for leaf in leaves(compiled(args, weights)) if is_parameter(leaf)]
    wanted = compiled.interpreted(args, weights).results
    for left, right in zip(found, wanted, strict=True):
        scale = float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right)))
        np.testing.assert_allclose(left, right, rtol=1e-8, atol=1e-10 + 1e-10 * scale)
