"""The oracle: a staged function run by the interpreter gives what Python gives on NumPy."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.dtypes import F64, I64, from_numpy
from anadrome.frontend.stage import ArgumentSpec, Staged, stage
from anadrome.frontend.structures import flatten


def spec(value: object, small: int = 4) -> object:
    """The type of an argument: dimensions of at most `small` are constants, as in the public interface."""
    if isinstance(value, np.ndarray):
        shape = tuple(size if size <= small else None for size in value.shape)
        return ArgumentSpec(from_numpy(value.dtype), shape)
    if isinstance(value, np.generic):
        return ArgumentSpec(from_numpy(value.dtype))
    if isinstance(value, int) and not isinstance(value, bool):
        return ArgumentSpec(I64, (), is_weak=True)
    if isinstance(value, float):
        return ArgumentSpec(F64, (), is_weak=True)
    return value


def is_parameter(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray | np.generic | int | float) and not isinstance(leaf, bool)


def specs(args: object, small: int = 4) -> object:
    leaves, rebuild = flatten(args, is_parameter)
    return rebuild(iter([spec(leaf, small) for leaf in leaves]))


def staged(function: Callable[..., object], *args: object, small: int = 4) -> Staged:
    result = stage(function, specs(list(args), small), {}, Config(), least_size=small + 1 if small else 0)
    check(result.function)
    text = show(result.function)
    assert show(parse(text)) == text
    return result


def compiled(function: Callable[..., object], *args: object, small: int = 4) -> object:
    """What the staged function gives on these arguments."""
    program = staged(function, *args, small=small)
    leaves, _ = flatten(list(args), is_parameter)
    rooms = [np.int64(1000) for _ in program.rooms]
    outcome = run(program.function, [*copy.deepcopy(leaves), *rooms, *program.captured])
    return program.rebuild(iter(outcome.results))


def agree(function: Callable[..., object], *args: object, small: int = 4) -> None:
    """The program and Python agree on these arguments, types included."""
    expected = function(*copy.deepcopy(args))
    got = compiled(function, *args, small=small)
    expected_leaves, _ = flatten(
        expected, lambda leaf: isinstance(leaf, np.ndarray | np.generic | int | float)
    )
    got_leaves, _ = flatten(got, lambda leaf: isinstance(leaf, np.ndarray | np.generic | int | float))
    assert len(expected_leaves) == len(got_leaves), (expected, got)
    for one, two in zip(expected_leaves, got_leaves, strict=True):
        assert np.shape(one) == np.shape(two), (one, two)
        assert np.asarray(one).dtype == np.asarray(two).dtype, (one, two)
        np.testing.assert_allclose(np.asarray(two, float), np.asarray(one, float), rtol=1e-12, atol=1e-12)
