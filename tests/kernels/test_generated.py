"""Random kernels: plain Python = interpreter = compiled code; reverse = forward mode = differences; no races.

A kernel is differentiated, or refused with the line of what has no derivative; anything else is a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.compile import optimise
from anadrome.errors.ad import NotDifferentiable
from anadrome.kernel_ir import interp as kernel_interp
from anadrome.lower.function import lower
from tests.corpus.harness import flat
from tests.kernels.answers import ONE, Answers, assert_near, check_second_order, difference, tolerances
from tests.kernels.generated import Generated, random_kernel, seeds
from tests.kernels.launching import leaves_of, program_of, with_sizes

SAMPLE, MANY, CHUNK = 40, 1000, 20
"""Kernels of `make test`, of `make fuzz`, and of one test."""
LEAST_DIFFERENTIATED = 0.8
SECOND_ORDER = 5
"""Every so many kernels second derivatives are taken."""
Counts = Counter[str]


def checked(kernel: Generated) -> str:
    """Compare all answers; "differentiated", or "refused"."""
    answers = Answers(kernel.case())
    tangents, weights = answers.directions(1)
    value = ad.jit(answers.case.function, config=ONE)
    assert_near(value(*answers.args), answers.wanted, "compiled, plain Python")
    interpreted(answers.case.function, answers.args)
    try:
        out, adjoints = answers.pulled(answers.args, weights)
        again, tangent = ad.jit(answers.derived.pushed, config=ONE)(answers.args, tangents)
    except NotDifferentiable as error:
        assert error.span is not None and "<kernel" in str(error), error
        return "refused"
    assert_near((out, again), (answers.wanted, answers.wanted), "values beside derivatives")
    compare(answers, tangents, weights, tangent, adjoints)
    interpreted(answers.derived.pulled, (answers.args, weights))
    if kernel.seed % SECOND_ORDER == 0:
        check_second_order(answers, with_reverse=kernel.seed % (2 * SECOND_ORDER) == 0)
    return "differentiated"


def compare(answers: Answers, tangents: Any, weights: Any, tangent: Any, adjoints: Any) -> None:
    """Reverse mode, forward mode and differences agree."""
    near, rough = tolerances((tangents, weights))
    terms = flat(weights) * flat(tangent)
    forward, reverse = float(np.sum(terms)), float(np.sum(flat(tangents) * flat(adjoints)))
    size = 1.0 + float(np.sum(np.abs(terms))) + float(np.sum(np.abs(flat(tangents) * flat(adjoints))))
    np.testing.assert_allclose(reverse, forward, rtol=0, atol=near * size, err_msg="reverse, forward")
    value = ad.jit(answers.case.function, config=ONE)

    def moved(step: float) -> float:
        return float(np.sum(flat(weights) * flat(value(*answers.moved(tangents, step)))))

    quotients = [difference(moved, near > 1e-9, finer) for finer in (1.0, 0.1, 0.01)]
    numeric = min(quotients, key=lambda quotient: abs(quotient - forward))
    np.testing.assert_allclose(forward, numeric, rtol=0, atol=rough * size, err_msg="forward, numeric")


def interpreted(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """The interpreter finds no race, and gives in any order of threads what compiled code gives."""
    program, around = program_of(ad.jit(function, config=ONE), *args)
    given = with_sizes(program, [*leaves_of(args), *around])
    lowered = lower(optimise(program, ONE), ONE)
    wanted = leaves_of(ad.jit(function, config=ONE)(*args))
    for seed in (None, 5):
        found = kernel_interp.run(lowered, given, workers=1, seed=seed)
        assert_near(list(found), wanted, f"interpreted, order {seed}")


def assert_right(kernels: list[Generated]) -> Counts:
    """Check kernels; how many have what, and how many were differentiated."""
    counts: Counts = Counter()
    for kernel in kernels:
        try:
            verdict = checked(kernel)
        except Exception as error:
            error.add_note(
                f"seed {kernel.seed}, launched as {kernel.extents} on {kernel.length}\n{kernel.text}"
            )
            raise
        counts.update([verdict, "kernels", *kernel.features()])
    assert counts["differentiated"] >= LEAST_DIFFERENTIATED * counts["kernels"], counts
    return counts


@pytest.mark.parametrize("start", range(0, SAMPLE, CHUNK))
def test_kernels(start: int, record_property: Callable[[str, object], None]) -> None:
    record_property("kernels", dict(assert_right(seeds(start, CHUNK))))


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(SAMPLE, MANY, CHUNK))
def test_many_kernels(start: int, record_property: Callable[[str, object], None]) -> None:
    record_property("kernels", dict(assert_right(seeds(start, CHUNK))))


def test_the_same_seed_gives_the_same_kernel() -> None:
    assert random_kernel(7) == random_kernel(7)
    assert random_kernel(7).text != random_kernel(8).text
