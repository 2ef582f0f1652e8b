"""One program, every answer: its value, both modes, differences, second order, and the work of its gradient.

With x the floats among the arguments (of a complex number both parts), v a random direction, w a random
weight of the results and φ = ⟨w, f⟩:

    value:     the compiled function gives what the Python function gives on NumPy
    first:     ⟨w, J v⟩ = ⟨Jᵀw, v⟩ to 1e-10, both = the central difference of the Python function (Richardson)
    second:    D_v ∇φ = ∇ D_v φ (forward over reverse, reverse over forward) to 1e-9, and = the central
               difference of ∇φ
    work:      work(x ↦ (f(x), Jᵀw)) ≤ 6 work(f) at growing sizes, and the ratio does not grow

Forward mode is checked with small dimensions as constants, as users meet them, the rest with symbolic sizes.
The work is counted on the optimised programs by the interpreter of the array IR, which must give what the
compiled programs give.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import anadrome as ad
from anadrome.api.pytree import flatten
from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.interp_work import Outcome
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.text import parse, show
from anadrome.compile import PIPELINE
from tests.corpus.derived import Derived
from tests.corpus.draw import Make
from tests.derivatives.agreement import assert_same, conjugated, floats, inner, leaves, mapped
from tests.frontend.oracle import is_parameter

STEP = 2e-4
LIMIT = 6.0
CONSTANT = 3
"""Dimensions up to this are constants in the programs that are symbolic otherwise."""
SYMBOLIC = ad.Config(small_dimension=CONSTANT, verify=True)
"""For the value and the gradient: the verifier runs after each pass."""
SECOND = ad.Config(small_dimension=CONSTANT, verify=False)
"""For second derivatives, which are long programs: they are verified after the last pass."""
FORWARD = ad.Config(verify=False)
"""For forward mode: small dimensions are constants, as users meet them."""


@dataclass(frozen=True, slots=True)
class Program:
    """A Python function with the arguments it is tried on.

    `sizes` are those at which the work is counted, `at` the one at which the derivatives are compared.
    `argnums` are the arguments it is differentiated by: those with floats, where nothing is said. `kink` says
    why finite differences mean nothing at the point; `slopes` is then the derivative by hand: the adjoints
    for weights of one. `policy` says where the program asks for more work than that, for
    less memory: its work is counted, but not bounded.
    """

    function: Callable[..., Any]
    arguments: tuple[Make, ...]
    name: str = ""
    at: int = 5
    sizes: tuple[int, ...] = (8, 16, 32)
    argnums: tuple[int, ...] = ()
    kink: str = ""
    policy: str = ""
    slopes: Callable[..., Any] | None = None
    seed: int = 0
    rtol: float = 1e-6

    def __str__(self) -> str:
        return self.name or self.function.__name__

    def draw(self, size: int) -> tuple[Any, ...]:
        """Arguments of this size."""
        random = np.random.default_rng(self.seed)
        return tuple(make(random, size) for make in self.arguments)

    def places(self, args: Sequence[Any]) -> tuple[int, ...]:
        """The arguments it is differentiated by."""
        return self.argnums or tuple(place for place, arg in enumerate(args) if floats(arg))


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that must end in this error, which names a line of the file that the function stands in."""

    name: str
    call: Callable[[], Any]
    error: type[Exception]
    words: str = ""
    spanless: bool = False

    def __str__(self) -> str:
        return self.name


# ---------------------------------------------------------------------------- directions
@contextmanager
def quiet() -> Iterator[None]:
    """NumPy may divide by zero: that is part of some programs."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def direction(tree: Any, random: np.random.Generator) -> Any:
    """A random tangent of the floats of a container."""
    return mapped(lambda leaf: _drawn(leaf, random), tree)


def _drawn(leaf: Any, random: np.random.Generator) -> Any:
    drawn = random.normal(size=np.shape(leaf))
    return np.asarray(drawn, dtype=leaf.dtype)[()] if hasattr(leaf, "dtype") else float(drawn)


def moved(tree: Any, tangents: Any, step: float) -> Any:
    """x + step · v."""
    supply = iter(floats(tangents))
    return mapped(lambda leaf: leaf + step * next(supply), tree)


def flat(tree: Any) -> np.ndarray:
    """The floats of a container as one vector."""
    parts = [np.ravel(np.asarray(leaf, float)) for leaf in floats(tree)]
    return np.concatenate(parts) if parts else np.zeros(0)


def difference(values: Callable[[float], Any]) -> Any:
    """The derivative at 0 by central differences of two steps: an error of the order of step⁴."""
    one = values(STEP) - values(-STEP)
    two = values(2 * STEP) - values(-2 * STEP)
    return (8 * one - two) / (12 * STEP)


# ---------------------------------------------------------------------------- compiled programs
class Compiled:
    """A compiled function: the machine code, and the optimised program beside it."""

    def __init__(self, function: Callable[..., Any], config: ad.Config = SYMBOLIC) -> None:
        self.compiled = ad.jit(function, config=config)
        self._made: dict[Any, tuple[Any, Function]] = {}

    def _program(self, args: tuple[Any, ...]) -> tuple[Any, Function]:
        signature = self.compiled.signature(args, {})
        if signature not in self._made:
            stages: dict[str, Any] = {}
            program = self.compiled.make(signature, stages.__setitem__)
            optimised = stages[PIPELINE[-1][0]]
            check(optimised)
            assert show(parse(show(optimised))) == show(optimised)
            self._made[signature] = program, optimised
        return self._made[signature]

    def __call__(self, *args: Any) -> Any:
        """What the machine code gives."""
        program, _ = self._program(args)
        return program.run(flatten(args)[0], program.arrays_around())

    def interpreted(self, *args: Any) -> Outcome:
        """What the interpreter gives of the optimised program, and the work."""
        program, function = self._program(args)
        parameters = [copy.deepcopy(leaf) for leaf in leaves(args) if is_parameter(leaf)]
        if program.rooms:
            self(*args)  # which finds how much room suffices
        rooms = [np.int64(room.rows()) for room in program.rooms.values()]
        return run(function, [*parameters, *rooms, *program.arrays_around()])


@dataclass(frozen=True)
class Case:
    """A program with what is made of it, each made once."""

    program: Program
    args: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", self.program.draw(self.program.at))

    @cached_property
    def derived(self) -> Derived:
        """The programs made of it."""
        return Derived(self.program.function, self.program.places(self.args))

    @cached_property
    def wanted(self) -> Any:
        """What Python gives."""
        return self.program.function(*copy.deepcopy(self.args))

    @cached_property
    def value(self) -> Compiled:
        """The program, compiled."""
        return Compiled(self.program.function)

    @cached_property
    def reverse(self) -> Compiled:
        """(args, weights) to the value and the adjoints, compiled."""
        return Compiled(self.derived.pulled)

    def directions(self, seed: int) -> tuple[list[Any], Any]:
        """Random tangents of the arguments, random weights of the results."""
        random = np.random.default_rng(self.program.seed + seed)
        return direction(self.derived.primals(self.args), random), direction(self.wanted, random)

    def moved(self, tangents: Any, step: float) -> tuple[Any, ...]:
        """The arguments a step along the tangents."""
        given = list(copy.deepcopy(self.args))
        primals = moved(self.derived.primals(self.args), tangents, step)
        for place, value in zip(self.derived.places, primals, strict=True):
            given[place] = value
        return tuple(given)


# ---------------------------------------------------------------------------- derivatives
def check_first_order(case: Case) -> None:
    """Value, forward mode, reverse mode and differences of the Python function agree."""
    with quiet():
        program, args = case.program, case.args
        tangents, weights = case.directions(1)
        assert_same(case.value(*copy.deepcopy(args)), case.wanted)
        out, tangent = Compiled(case.derived.pushed, FORWARD)(args, tangents)
        assert_same(out, case.wanted)
        out, adjoints = case.reverse(args, conjugated(weights))
        adjoints = conjugated(adjoints)
        assert_same(out, case.wanted)

        forward, reverse = inner(weights, tangent), inner(tangents, adjoints)
        size = float(np.sum(np.abs(flat(weights) * flat(tangent))))
        size += float(np.sum(np.abs(flat(tangents) * flat(adjoints))))
        np.testing.assert_allclose(
            reverse, forward, rtol=1e-10, atol=1e-12 + 1e-10 * size, err_msg="reverse, forward"
        )
        if program.slopes is not None:
            ones = mapped(lambda leaf: np.ones_like(leaf)[()] if np.ndim(leaf) else 1.0, case.wanted)
            found = flat(conjugated(case.reverse(args, conjugated(ones))[1]))
            np.testing.assert_allclose(found, flat(program.slopes(*args)), rtol=1e-12, atol=1e-14)
        if program.kink:
            return
        numeric = difference(lambda step: inner(weights, program.function(*case.moved(tangents, step))))
        tolerance = 1e-8 + program.rtol * size
        np.testing.assert_allclose(
            forward, numeric, rtol=program.rtol, atol=tolerance, err_msg="forward, numeric"
        )


def check_second_order(case: Case) -> None:
    """Forward over reverse, reverse over forward and differences of the gradient agree, at symbolic sizes."""
    with quiet():
        program, args, derived = case.program, case.args, case.derived
        tangents, weights = case.directions(2)
        cotangents = conjugated(weights)
        one = flat(conjugated(Compiled(derived.forward_over_reverse, SECOND)(args, cotangents, tangents)))
        two = flat(conjugated(Compiled(derived.reverse_over_forward, SECOND)(args, cotangents, tangents)))
        size = float(np.max(np.abs(one), initial=0.0))
        np.testing.assert_allclose(
            two,
            one,
            rtol=1e-9,
            atol=1e-11 + 1e-9 * size,
            err_msg="reverse over forward, forward over reverse",
        )
        if program.kink:
            return

        def gradient(step: float) -> np.ndarray:
            return flat(conjugated(case.reverse(case.moved(tangents, step), cotangents)[1]))

        size = max(size, float(np.max(np.abs(gradient(0.0)), initial=0.0)))
        tolerance = 1e-8 + 10 * program.rtol * size
        np.testing.assert_allclose(
            one, difference(gradient), rtol=0, atol=tolerance, err_msg="second order, numeric"
        )


# ---------------------------------------------------------------------------- work
@dataclass(frozen=True, slots=True)
class Ratios:
    """work(gradient) / work(program) at each size."""

    values: tuple[float, ...]

    @property
    def largest(self) -> float:
        """The largest of them."""
        return max(self.values)

    @property
    def is_growing(self) -> bool:
        """Whether they go on growing with the size.

        Sizes double. Ratios that approach a limit as R - c/size make half a step from each size to the next,
        not much more while lower orders count; those that grow with the logarithm of the size make equal
        steps. 5 % is what random data does.
        """
        if len(self.values) < 3:
            return False
        first, second, third = self.values[-3:]
        return third - second > max(0.85 * (second - first), 0.05 * second)


def work_ratios(case: Case) -> Ratios:
    """The ratios at the program's sizes. A program is charged for touching its arguments and results at
    least once: a gradient must write a zero for what the program never read."""
    with quiet():
        ratios = [_work_ratio(case, case.program.draw(size)) for size in case.program.sizes]
    return Ratios(tuple(ratios))


def _work_ratio(case: Case, args: tuple[Any, ...]) -> float:
    weights = case.program.function(*copy.deepcopy(args))
    least = sum(np.size(leaf) for leaf in leaves((args, weights)))
    value = case.value.interpreted(*args)
    gradient = case.reverse.interpreted(args, weights)
    for outcome, compiled in ((value, case.value(*args)), (gradient, case.reverse(args, weights))):
        results = [np.ravel(result) for result in outcome.results]
        found = [np.ravel(leaf) for leaf in leaves(compiled) if is_parameter(leaf)]
        np.testing.assert_allclose(np.concatenate(found), np.concatenate(results), rtol=1e-9, atol=1e-11)
    return gradient.work.total / max(value.work.total, least)
