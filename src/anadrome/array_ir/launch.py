"""Launches of kernels, and what threads do together: what they take and result in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Collective, Launch, Type
from anadrome.dtypes import BOOL, I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.interp import run_kernel
from anadrome.kernel_ir.nodes import Buffer, Kernel, Var
from anadrome.kernel_ir.walk import written

Size = TypeVar("Size")

DIRECTIONS = ("gridDim", "blockDim", "blockIdx", "threadIdx")
GEOMETRY = (*(f"{name}_{axis}" for name in DIRECTIONS for axis in "xyz"), "shared_bytes")
"""The first parameters of what one thread does, which tell it apart: the extents of the grid and of a block,
which block and which thread it is, and the bytes of dynamic shared memory."""


def written_places(kernel: Kernel, count: int) -> tuple[int, ...]:
    """Which of a launch's arguments, `count` of them, the kernel writes."""
    changed = set(written(kernel))
    return tuple(place for place, param in enumerate(own_params(kernel, count)) if param in changed)


def own_params(kernel: Kernel, count: int) -> tuple[Var | Buffer, ...]:
    """The parameters of a kernel that stand for a launch's arguments: those behind the sizes."""
    return kernel.params[len(kernel.params) - count :]


def sizes_of(kernel: Kernel, shapes: Sequence[tuple[Size, ...]]) -> list[Size]:
    """What the sizes before these parameters are, for arguments of these shapes (a scalar's is empty)."""
    found: dict[object, Size] = {}
    for param, shape in zip(own_params(kernel, len(shapes)), shapes, strict=True):
        if isinstance(param, Buffer):
            for size, given in zip(param.shape, shape, strict=True):
                found.setdefault(size, given)
    return [found[size] for size in kernel.params[: len(kernel.params) - len(shapes)]]


def run_launch(
    kernel: Kernel, extents: Sequence[int], args: Sequence[Any], seed: int | None = None
) -> list[np.ndarray]:
    """What a kernel leaves in copies of the arrays that it writes; `extents` are the grid, the block, and the
    bytes of shared memory. Races between its threads raise the classes of `errors.kernels`."""
    shapes = [np.shape(arg) for arg in args]
    gx, gy, gz, bx, by, bz, shared = extents
    given = (*sizes_of(kernel, shapes), *args)
    arrays = run_kernel(kernel, (gx, gy, gz), (bx, by, bz), shared, given, seed)
    params = [param for param in kernel.params if isinstance(param, Buffer)]
    return [arrays[params.index(param)] for param in written(kernel)]


def launch_types(expr: Launch) -> tuple[Type, ...]:
    """The types of a launch's results; raises `IRError` where it breaks a rule."""
    kernel, args = expr.kernel, expr.args
    for extent in (*expr.grid, *expr.block, expr.shared):
        _hold(extent.type == ArrayType(I64), "an extent of a launch is an i64")
    _hold(len(args) <= len(kernel.params), f"{kernel.name} has fewer parameters than {len(args)}")
    for param, arg in zip(own_params(kernel, len(args)), args, strict=True):
        rank = param.rank if isinstance(param, Buffer) else 0
        fits = isinstance(arg.type, ArrayType) and arg.type.dtype is param.dtype and arg.type.rank == rank
        _hold(fits, f"the argument {param} of {kernel.name} is of another type")
    places = written_places(kernel, len(args))
    return tuple(args[place].type for place in places)


def collective_types(expr: Collective) -> tuple[Type, ...]:
    """The types of the results of what threads do together."""
    arrays = tuple(array.type for array in expr.arrays)
    kind, _, operation = expr.operation.partition(" ")
    match kind:
        case "shared":
            _hold(expr.memory is not None and not arrays, "shared memory has a type, and takes no array")
            assert expr.memory is not None
            return (expr.memory,)
        case "atomic":
            _hold(len(arrays) == 1, "an atomic operation takes one array")
            count = len(arrays[0].shape) + (2 if operation == "compare" else 1)
            _hold(len(expr.args) == count, "an atomic operation takes an index for each dimension")
            return (ArrayType(arrays[0].dtype), *arrays)
        case "barrier":
            _hold(len(expr.args) == bool(operation), "a barrier with an operation takes a predicate")
            value = {"count": (ArrayType(I64),), "and": (ArrayType(BOOL),), "or": (ArrayType(BOOL),)}
            return (*value.get(operation, ()), *arrays)
        case "warp" if operation in ("sync", "ballot", "any", "all"):
            votes = {"sync": (), "ballot": (ArrayType(I64),)}
            return (*votes.get(operation, (ArrayType(BOOL),)), *arrays)
        case "warp":
            _hold(len(expr.args) == 3, "a shuffle takes a mask, a value and a lane")
            return (expr.args[1].type, *arrays)
        case "fence":
            return arrays
        case _:
            raise IRError(f"no operation of threads is called {expr.operation}")


def _hold(condition: bool, rule: str) -> None:
    if not condition:
        raise IRError(rule)
