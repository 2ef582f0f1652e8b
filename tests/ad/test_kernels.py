"""Derivatives of kernels, kernel IR to kernel IR: differences, forward against reverse, second order, races.

Every launch of a derived kernel is run by the interpreter with its judge, so that a race, a barrier that some
threads do not reach and memory that nobody wrote are found in derivatives as in what they are made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from anadrome.ad.kernels.derive import Derived, Reversed, forward_kernel, reverse_kernel
from anadrome.kernel_ir.check import check_kernel
from anadrome.kernel_ir.interp import run_kernel
from anadrome.kernel_ir.nodes import Buffer, Kernel
from anadrome.kernel_ir.walk import written
from tests.ad.kernel_cases import CASES
from tests.kernel_ir.kernels import RACE_FREE, Program, kernel


@dataclass
class Launched:
    """A kernel, how it is launched, and which of its parameters are inputs and outputs of a derivative."""

    kernel: Kernel
    program: Program
    inputs: list[int]
    outputs: list[int]
    seed: int | None = None

    @staticmethod
    def of(fn: Kernel, program: Program, seed: int | None = None) -> Launched:
        """All floats are inputs, all written floats outputs."""
        inputs = [position for position, param in enumerate(fn.params) if param.dtype.is_float]
        outputs = [position for position in inputs if fn.params[position] in written(fn)]
        return Launched(fn, program, inputs, outputs, seed)

    @property
    def ones(self) -> frozenset[Any]:
        """The extents of the launch that are 1."""
        where = self.kernel.geometry
        extents = zip((*where.grid, *where.block), (*self.program.grid, *self.program.block), strict=True)
        return frozenset(var for var, extent in extents if extent == 1)

    def run(self, fn: Kernel, args: list[Any]) -> dict[int, Any]:
        """The arrays of one launch after it, by the position of their parameter."""
        check_kernel(fn)
        arrays = iter(
            run_kernel(fn, self.program.grid, self.program.block, self.program.shared, args, self.seed)
        )
        return {k: next(arrays) for k, param in enumerate(fn.params) if isinstance(param, Buffer)}

    def value(self, args: list[Any]) -> dict[int, Any]:
        """The outputs."""
        after = self.run(self.kernel, args)
        return {k: after[k] for k in self.outputs}

    def derived(
        self, found: Derived, args: list[Any], shadows: dict[int, Any], rooms: Any, winners: Any = None
    ) -> dict[int, Any]:
        """The shadows after a launch of a derived kernel, or what else it makes."""
        given = {
            "original": args,
            "shadow": shadows,
            "room": rooms,
            "counts": [rooms],
            "winners": winners or {},
        }
        after = self.run(found.kernel, [given[source.kind][source.position] for source in found.sources])
        kinds = {"counts"} & {source.kind for source in found.sources}
        kinds = kinds or ({"shadow"} & {source.kind for source in found.sources}) or {"winners"}
        return {
            source.position: after[k]
            for k, source in enumerate(found.sources)
            if source.kind in kinds and k in after
        }

    def nobody(self, args: list[Any]) -> dict[int, Any]:
        """Nobody has won anything yet."""
        return {k: np.full(np.shape(arg), -1) for k, arg in enumerate(args)}

    def jvp(self, args: list[Any], tangents: dict[int, Any]) -> dict[int, Any]:
        """The tangents of the outputs."""
        found = forward_kernel(self.kernel, self.inputs, self.outputs)
        every = {k: tangents.get(k, np.zeros(np.shape(args[k]))) for k in {*self.inputs, *self.outputs}}
        after = self.derived(found, args, every, (), self.nobody(args))
        return {k: after.get(k, np.zeros(np.shape(args[k]))) for k in self.outputs}

    def before(self, found: Reversed, args: list[Any]) -> tuple[list[int], dict[int, Any]]:
        """What is found before the return sweep: counts of loops, and winners."""
        winners = self.nobody(args)
        if found.judge is not None:
            winners = self.derived(found.judge, args, {}, (), winners)
        rooms: Any = np.zeros(max(1, found.rooms), dtype=np.int64)
        if found.counter is not None:
            rooms = self.derived(found.counter, args, {}, rooms, winners)[0]
        return rooms.tolist(), winners

    def vjp(self, args: list[Any], cotangents: dict[int, Any]) -> dict[int, Any]:
        """The adjoints of the inputs."""
        found = reverse_kernel(self.kernel, self.inputs, self.outputs, self.ones)
        rooms, winners = self.before(found, args)
        every = {k: np.atleast_1d(cotangents.get(k, np.zeros(np.shape(args[k])))) for k in self.inputs}
        after = {**every, **self.derived(found.sweep, args, every, rooms, winners)}
        return {k: np.reshape(after[k], np.shape(args[k])) for k in self.inputs}


def dot(left: dict[int, Any], right: dict[int, Any]) -> float:
    """The inner product of two sets of arrays."""
    return float(sum(np.sum(np.reshape(left[k], -1) * np.reshape(right[k], -1)) for k in left))


def launched(name: str, seed: int | None = None) -> tuple[Launched, list[Any], np.random.Generator]:
    """A case on random floats."""
    program = CASES[name] if name in CASES else RACE_FREE[name]
    fn = kernel(program.params, program.body)
    random = np.random.default_rng(len(name))
    args = [
        np.asarray(random.uniform(0.3, 1.2, np.shape(arg))) if param.dtype.is_float else arg
        for param, arg in zip(fn.params, program.args, strict=True)
    ]
    typed = [np.asarray(arg, dtype=param.dtype.numpy) for param, arg in zip(fn.params, args, strict=True)]
    args = [arg if arg.shape else arg.item() for arg in typed]
    return Launched.of(fn, program, seed), args, random


def drawn(random: np.random.Generator, args: list[Any], positions: list[int]) -> dict[int, Any]:
    """A random direction."""
    return {k: np.asarray(random.standard_normal(np.shape(args[k]))) for k in positions}


REFUSED = {
    "atomics of floats that meet NaN": "of an element that is read before it or written after it",
    "a maximum by compare and swap": "no derivative rule for the atomic `compare` of a float",
}
FLOATS = [
    name
    for name, program in {**RACE_FREE, **CASES}.items()
    if name not in REFUSED and Launched.of(kernel(program.params, program.body), program).outputs
]


def _compare(case: Launched, args: list[Any], random: np.random.Generator) -> None:
    """Differences, forward and reverse mode of a launch agree in a random direction."""
    direction = drawn(random, args, case.inputs)
    weights = drawn(random, args, case.outputs)
    step = 1e-6

    def moved(sign: float) -> dict[int, Any]:
        return case.value(
            [arg + sign * step * direction[k] if k in direction else arg for k, arg in enumerate(args)]
        )

    difference = (dot(moved(1.0), weights) - dot(moved(-1.0), weights)) / (2 * step)
    forward = dot(case.jvp(args, direction), weights)
    backward = dot(case.vjp(args, weights), direction)
    assert forward == pytest.approx(difference, rel=1e-6, abs=1e-6)
    assert backward == pytest.approx(forward, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", FLOATS)
def test_both_modes_are_the_differences_of_the_kernel(name):
    case, args, random = launched(name)
    _compare(case, args, random)


@pytest.mark.parametrize("name", FLOATS)
def test_the_derivative_of_the_derivative(name):
    """The kernel of the return sweep is a kernel: both modes of it are its differences."""
    case, args, random = launched(name)
    found = reverse_kernel(case.kernel, case.inputs, case.outputs, case.ones)
    rooms, winners = case.before(found, args)
    shadows = {k: np.atleast_1d(one) for k, one in drawn(random, args, case.inputs).items()}
    given = {"original": args, "shadow": shadows, "room": rooms, "winners": winners}
    inner = [given[source.kind][source.position] for source in found.sweep.sources]
    again = Launched.of(found.sweep.kernel, case.program)
    _compare(again, inner, random)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", FLOATS)
def test_the_order_of_threads_changes_no_derivative(name, seed):
    case, args, random = launched(name, seed)
    calm, _, _ = launched(name)
    weights = drawn(random, args, case.outputs)
    mixed, plain = case.vjp(args, weights), calm.vjp(args, weights)
    for k in plain:
        np.testing.assert_allclose(mixed[k], plain[k], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    case, _, _ = launched(name)
    with pytest.raises(NotImplementedError, match=REFUSED[name]):
        reverse_kernel(case.kernel, case.inputs, case.outputs)


@pytest.mark.parametrize(
    "name", ["a choice in each run of a ragged loop", "an array of each run of a ragged loop"]
)
def test_what_a_body_writes_anew_is_not_kept(name):
    case, _, _ = launched(name)
    found = reverse_kernel(case.kernel, case.inputs, case.outputs, case.ones)
    assert {one.how for one in found.residuals} == {"recomputed", "rebuilt"}
    assert found.rooms == 0
