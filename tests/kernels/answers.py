"""Every answer of a kernel, compared: values, races, both modes, differences, array programs, second order.

With x the floats among the arguments, v a random direction, w random weights of the results, φ = ⟨w, f⟩:

    value:   NumPy = the launch from plain Python, with one and two workers = the launch in compiled code
             = the interpreters of the array program, of the optimised one and of the lowered one
    first:   ⟨w, J v⟩ = ⟨Jᵀw, v⟩ = the central difference of NumPy; Jᵀw = that of the array program
    second:  D_v ∇φ = ∇ D_v φ = the central difference of ∇φ; ∇ ⟨u, ∇φ⟩ by reverse mode over reverse mode
    races:   the interpreters of the kernels that compute values and derivatives find none, threads being run
             in order and in a random one
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

import anadrome as ad
from anadrome.api.call import Options
from anadrome.api.kernels.kernel import Kernel
from anadrome.compile import optimise
from anadrome.kernel_ir import interp as kernel_interp
from anadrome.lower.function import lower
from tests.corpus.derived import Derived
from tests.corpus.harness import direction, flat, inner, moved, quiet
from tests.derivatives.agreement import floats
from tests.kernels.case import Case, in_tuple
from tests.kernels.launching import leaves_of, of_program, program_of, with_sizes

ONE, TWO = ad.Config(threads=1), ad.Config(threads=2)


def tolerances(found: Any) -> tuple[float, float]:
    """How near two ways of computing the same are, and how near a difference comes: by the least precise
    type among the floats."""
    is_single = any(np.asarray(leaf).dtype == np.float32 for leaf in floats(found))
    return (2e-5, 5e-3) if is_single else (1e-10, 1e-6)


def assert_near(found: Any, wanted: Any, what: str, factor: float = 1.0) -> None:
    """Equal types and shapes; floats near one another, everything else equal."""
    one, two = leaves_of(found), leaves_of(wanted)
    assert len(one) == len(two), what
    near = factor * tolerances((found, wanted))[0]
    for left, right in zip(one, two, strict=True):
        assert np.shape(left) == np.shape(right), what
        assert np.asarray(left).dtype == np.asarray(right).dtype, what
        is_float = np.asarray(right).dtype.kind in "fc"
        size = np.max(np.abs(right), initial=0.0) if is_float else 0.0
        tolerance = near * (1.0 + size) if is_float else 0.0
        np.testing.assert_allclose(left, right, rtol=0, atol=tolerance, err_msg=what)


def assert_bits(found: Any, wanted: Any, what: str) -> None:
    """The same bits."""
    for left, right in zip(leaves_of(found), leaves_of(wanted), strict=True):
        np.testing.assert_array_equal(left, right, err_msg=what)


class Answers:
    """What is found of one case, each answer once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.args = case.draw()
        places = tuple(place for place, arg in enumerate(self.args) if floats(arg))
        self.derived = Derived(case.function, places)
        self.oracle = Derived(case.reference, places)

    @cached_property
    def wanted(self) -> tuple[Any, ...]:
        """What NumPy gives."""
        with quiet():
            return self.case.wanted(*copy.deepcopy(self.args))

    def directions(self, seed: int) -> tuple[list[Any], tuple[Any, ...]]:
        """Random tangents of the arguments, random weights of the results."""
        random = np.random.default_rng(seed)
        return direction(self.derived.primals(self.args), random), direction(self.wanted, random)

    def moved(self, tangents: Any, step: float) -> tuple[Any, ...]:
        """The arguments a step along the tangents."""
        given = list(copy.deepcopy(self.args))
        primals = moved(self.derived.primals(self.args), tangents, step)
        for place, value in zip(self.derived.places, primals, strict=True):
            given[place] = value
        return tuple(given)

    @cached_property
    def pulled(self) -> Callable[..., Any]:
        """(args, weights) to the value and the adjoints, compiled."""
        return ad.jit(self.derived.pulled, config=ONE)


# ---------------------------------------------------------------------------- values
def plainly(case: Case, config: ad.Config) -> Callable[..., Any]:
    """What a launch from plain Python leaves in the arrays that it writes, of the arguments."""
    assert case.kernel is not None
    kernel = Kernel(case.kernel.python, case.kernel.wishes, Options(config))

    def run(*args: Any) -> tuple[Any, ...]:
        given = copy.deepcopy(args)
        kernel[case.extents](*given)
        return tuple(given[place] for place in case.writes)

    return run


def check_values(answers: Answers) -> None:
    """Every way to the value gives the same; with the same workers the same bits in every run."""
    case, args = answers.case, answers.args
    near = partial(assert_near, wanted=answers.wanted)
    near(tuple(of_program(case.function, *args)), what="interpreters, NumPy")
    if case.is_program:
        near(in_tuple(ad.jit(case.reference)(*args)), what="array program, NumPy")
    for config in (ONE, TWO):
        ways: list[Callable[..., Any]] = [ad.jit(case.function, config=config)]
        if case.kernel is not None:
            ways.append(plainly(case, config))
        for way in ways:
            first = way(*args)
            near(first, what=f"compiled for {config.threads} workers, NumPy")
            for _ in range(3):
                assert_bits(way(*args), first, f"again with {config.threads} workers")


# ---------------------------------------------------------------------------- derivatives
def check_first_order(answers: Answers) -> None:
    """Reverse mode, forward mode, differences of NumPy and the array program agree."""
    case, args = answers.case, answers.args
    tangents, weights = answers.directions(1)
    near, rough = tolerances((tangents, weights))
    out, adjoints = answers.pulled(args, weights)
    assert_near(out, answers.wanted, "value beside reverse mode")
    shared = ad.jit(answers.derived.pulled, config=TWO)
    first = shared(args, weights)
    assert_near(first, (out, adjoints), "reverse mode with two workers, with one")
    assert_bits(shared(args, weights), first, "reverse mode with two workers again")
    again, tangent = ad.jit(answers.derived.pushed, config=ONE)(args, tangents)
    assert_near(again, answers.wanted, "value beside forward mode")
    forward, reverse = inner(weights, tangent), inner(tangents, adjoints)
    size = float(np.sum(np.abs(flat(weights) * flat(tangent))))
    size += float(np.sum(np.abs(flat(tangents) * flat(adjoints))))
    np.testing.assert_allclose(
        reverse, forward, rtol=0, atol=near * (1e-2 + size), err_msg="reverse, forward"
    )
    if case.is_program:
        reference = _with_tuples(answers.oracle)
        oracle = ad.jit(reference.pulled)(args, weights)[1]
        assert_near(adjoints, oracle, "reverse mode of the kernel, of the array program", 10.0)
    if not case.kink:
        numeric = difference(
            lambda step: inner(weights, case.wanted(*answers.moved(tangents, step))), near > 1e-9
        )
        tolerance = max(rough, case.rtol) * size + 1e-8
        np.testing.assert_allclose(forward, numeric, rtol=0, atol=tolerance, err_msg="forward, numeric")


def difference(values: Callable[[float], Any], is_single: bool = False, finer: float = 1.0) -> Any:
    """The derivative at 0 by central differences of two steps: an error of the order of step⁴. `finer` is a
    factor of the step."""
    step = finer * (2e-2 if is_single else 2e-4)
    with quiet():
        one = values(step) - values(-step)
        two = values(2 * step) - values(-2 * step)
    return (8 * one - two) / (12 * step)


def _with_tuples(oracle: Derived) -> Derived:
    """The derivatives of a reference whose result is a tuple always."""

    def reference(*args: Any) -> Any:
        return in_tuple(oracle.function(*args))

    return Derived(reference, oracle.places)


def check_second_order(answers: Answers, *, with_reverse: bool) -> None:
    """Forward over reverse, reverse over forward, differences of the gradient, and, where asked, reverse over
    reverse agree."""
    args, derived = answers.args, answers.derived
    tangents, weights = answers.directions(2)
    near, _ = tolerances((tangents, weights))
    one = flat(ad.jit(derived.forward_over_reverse, config=ONE)(args, weights, tangents))
    two = flat(ad.jit(derived.reverse_over_forward, config=ONE)(args, weights, tangents))

    def gradient(step: float) -> np.ndarray:
        return flat(answers.pulled(answers.moved(tangents, step), weights)[1])

    size = 1.0 + float(np.max(np.abs(one), initial=0.0)) + float(np.max(np.abs(gradient(0.0)), initial=0.0))
    tolerance = 100 * near * size
    np.testing.assert_allclose(two, one, rtol=0, atol=tolerance, err_msg="reverse over forward")
    if with_reverse:
        three = flat(ad.jit(partial(reverse_over_reverse, derived), config=ONE)(args, weights, tangents))
        np.testing.assert_allclose(three, one, rtol=0, atol=tolerance, err_msg="reverse over reverse")
    if not answers.case.kink:
        quotients = [difference(gradient, near > 1e-9, finer) for finer in (1.0, 0.1)]
        numeric = min(quotients, key=lambda quotient: float(np.max(np.abs(quotient - one), initial=0.0)))
        rough = 10 * max(tolerances((tangents, weights))[1], answers.case.rtol)
        np.testing.assert_allclose(one, numeric, rtol=0, atol=rough * size, err_msg="second order, numeric")


def reverse_over_reverse(derived: Derived, args: Any, weights: Any, along: Any) -> Any:
    """∇ ⟨v, Jᵀw⟩, which is D_v (Jᵀw)."""

    def gradient(*values: Any) -> Any:
        return ad.vjp(partial(derived.filled, args), *values)[1](weights)

    return ad.vjp(gradient, *derived.primals(args))[1](tuple(along))


# ---------------------------------------------------------------------------- races
def check_races(answers: Answers, seeds: Sequence[int] = (1, 2)) -> None:
    """The interpreter, whose judge raises what it finds, gives what compiled code gives, in any order of
    threads."""
    args = answers.args
    tangents, weights = answers.directions(3)
    calls: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [(answers.case.function, args)]
    if answers.derived.places and not answers.case.refused:
        calls.append((answers.derived.pulled, (args, weights)))
        calls.append((answers.derived.pushed, (args, tangents)))
    for function, given in calls:
        program, around = program_of(ad.jit(function, config=ONE), *given)
        leaves = [*leaves_of(given), *around]
        lowered = lower(optimise(program, ONE), ONE)
        sized = with_sizes(program, leaves)
        wanted = leaves_of(ad.jit(function, config=ONE)(*given))
        for seed in (None, *seeds):
            found = kernel_interp.run(lowered, sized, workers=1, seed=seed)
            if not (seed is not None and answers.case.is_ordered):
                assert_near(list(found), wanted, f"interpreted in the order {seed}")
