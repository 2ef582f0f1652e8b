"""Launches of kernels, and what threads do together: what they take and result in."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Collective, Launch, Type
from anadrome.dtypes import BOOL, I64
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import (
    Alloc,
    Buffer,
    Compute,
    Copy,
    Expr,
    Function,
    Kernel,
    Output,
    Stmt,
    Var,
)
from anadrome.kernel_ir.nodes import Launch as KernelLaunch
from anadrome.kernel_ir.walk import written
from anadrome.prims.table import PRIMS

Size = TypeVar("Size")


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


def run_launch(kernel: Kernel, extents: Sequence[object], args: Sequence[Any]) -> list[np.ndarray]:
    """What a kernel leaves in copies of the arrays that it writes; `extents` are the grid, the block, and the
    bytes of shared memory."""
    shapes = [np.shape(arg) for arg in args]
    places = written_places(kernel, len(args))
    given = (*extents, *sizes_of(kernel, shapes), *args)
    found = run(host_program(kernel, len(args)), given)
    return [np.reshape(array, shapes[place]) for place, array in zip(places, found, strict=True)]


def host_program(kernel: Kernel, count: int) -> Function:
    """A host program that copies the arrays a kernel writes, launches it, and gives the copies."""
    extents = [Var(name, I64) for name in ("gx", "gy", "gz", "bx", "by", "bz", "bytes")]
    places = {place + len(kernel.params) - count for place in written_places(kernel, count)}
    params: list[Var | Buffer] = []
    args: list[Var | Buffer] = []
    body: list[Stmt] = []
    outputs: list[Output] = []
    for place, param in enumerate(kernel.params):
        if isinstance(param, Var):
            params.append(Var(param.name, param.dtype))
            args.append(params[-1])
            continue
        given = Buffer(param.name, param.dtype)
        params.append(given)
        args.append(given)
        if place in places:
            shape = tuple(_value_of(size, kernel, params) for size in param.shape)
            size = functools.reduce(lambda one, two: Compute(PRIMS["mul"], (one, two)), shape)
            copy = args[-1] = Buffer(param.name, param.dtype)
            body += [Alloc(copy, size), Copy(copy, given, size)]
            outputs.append(Output(copy, param.dtype, shape))
    gx, gy, gz, bx, by, bz, shared = extents
    launch = KernelLaunch(kernel, (gx, gy, gz), (bx, by, bz), shared, tuple(args))
    return Function(kernel.name, (*extents, *params), (*body, launch), tuple(outputs))


def _value_of(size: Expr, kernel: Kernel, params: Sequence[Var | Buffer]) -> Expr:
    """A size of a kernel's buffers, by the parameters of the host program."""
    found = params[kernel.params.index(size)] if isinstance(size, Var) else size
    assert not isinstance(found, Buffer)
    return found


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
    for place in places:
        _hold(args.count(args[place]) == 1, f"an array that {kernel.name} writes is given twice")
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
