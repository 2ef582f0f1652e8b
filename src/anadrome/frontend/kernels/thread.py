"""Staging what one thread does: its geometry and the launch's arguments in, the memory it has written out.

Memory that threads share is a value that is threaded through the function: an array of the launch and a
shared array are cells as any other array is, and what threads do together gives them anew (`together`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from anadrome.array_ir.launch import GEOMETRY
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Function, Var
from anadrome.array_ir.walk import free_variables
from anadrome.dtypes import I64
from anadrome.errors.kernels_launch import KernelOnly, KernelRefused, KernelReturns
from anadrome.frontend.arrays import as_array, atom, describe, unboxed
from anadrome.frontend.context import Context
from anadrome.frontend.iterators import GeneratorCall
from anadrome.frontend.kernels.waiting import refuse_waiting
from anadrome.frontend.structures import flatten, is_number
from anadrome.frontend.values import Array, Cell, Scalar, Scope, ScopeKind, Value, is_staged


@dataclass(slots=True, eq=False)
class Thread:
    """The thread being staged: its scope, where it is, and the memory it shares with others."""

    name: str
    scope: Scope
    where: dict[str, Var]
    cells: list[Cell] = field(default_factory=list)
    has_dynamic: bool = False

    def triple(self, name: str) -> tuple[Var, Var, Var]:
        """The three numbers of `threadIdx` or its kin."""
        return self.where[f"{name}_x"], self.where[f"{name}_y"], self.where[f"{name}_z"]

    def holds(self, cell: Cell) -> bool:
        """Whether an array is memory that threads share."""
        return any(found is cell for found in self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """What a parameter of a thread stands for outside: the atom, and the array of the launch if it is one."""

    name: str
    param: Var
    outside: Atom
    array: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StagedThread:
    """What one thread does; its parameters are the geometry, then those of the arguments. Results are the
    arrays it has changed."""

    function: Function
    arguments: tuple[Argument, ...]


def thread_of(context: Context, name: str) -> Thread:
    """The thread that is being staged; refuses a name of kernels outside of them."""
    if not isinstance(context.thread, Thread):
        raise KernelOnly(name).at(context.span)
    return context.thread


def stage_thread(
    context: Context,
    name: str,
    function: object,
    args: Sequence[tuple[str, Value]],
    kwargs: Mapping[str, Value],
) -> StagedThread:
    """Stage what one thread does of a kernel that is launched on these arguments, each with its name.

    Numbers and arrays become parameters; anything else is known while compiling. What the kernel reads of the
    program around it becomes a parameter too.
    """
    if context.thread is not None:
        help = "launch one kernel after the other, from the function around"
        raise KernelRefused("a launch", context.span, help)
    with context.nested(ScopeKind.KERNEL) as scope:
        where = {one: Var(one, ArrayType(I64)) for one in GEOMETRY}
        thread, geometry = Thread(name, scope, where), tuple(where.values())
        scope.builder.bind(*geometry)
        context.nonnegative.update(geometry)
        found: list[Argument] = []
        with _staging(context, thread):
            given = [_entered(context, thread, found, key, value) for key, value in args]
            named = {key: _entered(context, thread, found, key, value) for key, value in kwargs.items()}
            _run(context, name, function, given, named)
        arrays = [one for one in found if one.array is not None]
        pairs = zip(thread.cells, arrays, strict=False)
        body = scope.builder.body([cell.var for cell, one in pairs if cell.var is not one.param])
    refuse_waiting(body)
    found += _around(body, {*geometry, *(one.param for one in found)})
    params = (*geometry, *(one.param for one in found))
    return StagedThread(Function(name, params, body), tuple(found))


@contextmanager
def _staging(context: Context, thread: Thread) -> Iterator[None]:
    reason = "the threads of a kernel run in any order"
    context.thread = thread
    try:
        with context.unprinted(reason):
            yield
    finally:
        context.thread = None


def _entered(context: Context, thread: Thread, found: list[Argument], name: str, value: Value) -> Value:
    """An argument as it is in the thread: its numbers and arrays are parameters."""

    def parameter(leaf: Value) -> Value:
        value = as_array(context, unboxed(context, leaf))
        outside = atom(context, value)
        param = Var(name, outside.type)
        thread.scope.builder.bind(param)
        if isinstance(value, Scalar):
            found.append(Argument(name, param, outside))
            return Scalar(param, value.is_weak or isinstance(leaf, int | float))
        assert isinstance(value, Array)
        found.append(Argument(name, param, outside, value))
        thread.cells.append(Cell(param, thread.scope))
        return Array(thread.cells[-1], None, value.list_depth)

    leaves, rebuild = flatten(value, lambda leaf: is_staged(leaf) or is_number(leaf))
    return rebuild(iter([parameter(leaf) for leaf in leaves]))


def _run(
    context: Context, name: str, function: object, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    """Evaluate the text of the kernel; it returns nothing."""
    span = context.span
    result = context.evaluators.call(context, function, args, kwargs)
    if isinstance(result, GeneratorCall):
        help = "a thread returns nothing and yields nothing: write into an array that is an argument"
        raise KernelRefused("`yield`", context.last_span or span, help)
    if result is not None:
        raise KernelReturns(name, describe(result), context.last_span or span)


def _around(body: Body, known: set[Var]) -> list[Argument]:
    """What a kernel reads of the program around it, apart from sizes that its arrays bring."""
    sizes = {size for param in known for size in param.type.shape}
    free = [var for var in free_variables(body) if var not in known and var not in sizes]
    return [Argument(var.name, var, var) for var in free]
