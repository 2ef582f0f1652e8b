"""Launches as parts of programs: their extents, the kernel that is compiled for them, and what they write."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from anadrome.api.signature import parameter_names
from anadrome.array_ir.check import check as check_array
from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import Atom, Check, Const, Launch, Var, i64
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.errors.base import counted
from anadrome.errors.frontend import UnsupportedType, WritesArgument
from anadrome.errors.kernels_launch import (
    KernelRefused,
    SameArrayTwice,
    SharedTooLarge,
    UnsuitableLaunch,
)
from anadrome.errors.runtime import ContestedWrite, LaunchSize
from anadrome.frontend.arrays import atom, describe, type_of, unboxed
from anadrome.frontend.context import Context
from anadrome.frontend.kernels.thread import Argument, StagedThread, stage_thread
from anadrome.frontend.sharing import may_share
from anadrome.frontend.structures import is_number
from anadrome.frontend.values import Array, Fixed, Scalar, Value
from anadrome.frontend.writing import put
from anadrome.kernel_ir.check import check_kernel
from anadrome.kernel_ir.contested import contested_writes, unwritten_reads
from anadrome.kernel_ir.nodes import Alloc, Buffer, Kernel, Space
from anadrome.kernel_ir.nodes import Const as KernelConst
from anadrome.kernel_ir.walk import statements
from anadrome.lower.kernel import lower_kernel
from anadrome.passes.eliminate_bounds_checks import prove_thread
from anadrome.passes.inline import inline
from anadrome.passes.simplify import simplify_thread
from anadrome.prims.node import replace


class Extents(NamedTuple):
    """How many threads run a kernel: blocks and threads of a block in three directions, and the bytes of
    dynamic shared memory."""

    grid: tuple[Value, Value, Value]
    block: tuple[Value, Value, Value]
    shared: Value


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user has said of a kernel beside its text."""

    checks: bool
    shared_limit: int
    out: tuple[str, ...] | None


class Launched(Protocol):
    """What is asked of a kernel."""

    @property
    def __name__(self) -> str: ...
    @property
    def python(self) -> Callable[..., None]: ...
    @property
    def wishes(self) -> Wishes: ...


# ---------------------------------------------------------------------------- extents
def plain_extents(kernel: str, configuration: object) -> Extents:
    """The extents that stand in the brackets of a launch from plain Python; refuses what is too large."""

    def integer(value: object) -> int:
        if isinstance(value, bool | float) or not hasattr(value, "__index__"):
            raise UnsuitableLaunch(kernel, f"{value!r} is no integer")
        return operator.index(value)

    found = _extents(kernel, configuration, integer)
    for is_fine, message, values in _limits(found, _Plain()):
        if not is_fine:
            raise LaunchSize.of(message, values, None)
    return found


def extents_of(context: Context, kernel: str, configuration: Value) -> Extents:
    """The extents in a program that is being staged; those known at run time are checked there."""

    def integer(value: Value) -> Value:
        found = unboxed(context, value)
        kind = type_of(context, found)[0] if isinstance(found, Scalar) or is_number(found) else None
        if kind is None or not kind.is_integer:
            raise UnsuitableLaunch(kernel, f"{describe(value)} is no integer").at(context.span)
        return Scalar(atom(context, found, I64))

    try:
        return _extents(kernel, configuration, integer)
    except UnsuitableLaunch as error:
        raise error.at(context.span) from None


def _extents(kernel: str, configuration: Any, integer: Callable[[Any], Value]) -> Extents:
    parts = configuration if isinstance(configuration, tuple) else (configuration,)
    if not 2 <= len(parts) <= 4:
        raise UnsuitableLaunch(kernel, f"{counted(len(parts), 'part')} instead of 2 to 4")

    def triple(given: Any) -> tuple[Value, Value, Value]:
        sizes = given if isinstance(given, tuple | list) else (given,)
        if not 1 <= len(sizes) <= 3:
            raise UnsuitableLaunch(kernel, f"{counted(len(sizes), 'direction')} instead of 1 to 3")
        x, y, z = (*map(integer, sizes), *(integer(1) for _ in range(3 - len(sizes))))
        return x, y, z

    return Extents(triple(parts[0]), triple(parts[1]), integer(parts[3] if len(parts) == 4 else 0))


class _Plain:
    """Comparisons of integers that are known."""

    def within(self, value: Any, limit: int, least: int = 1) -> Any:
        return least <= value <= limit

    def product(self, values: Sequence[Any]) -> Any:
        return values[0] * values[1] * values[2]

    def both(self, one: Any, two: Any) -> Any:
        return one and two


@dataclass(frozen=True, slots=True)
class _Staged:
    """The same of integers known at run time."""

    context: Context

    def within(self, value: Any, limit: int, least: int = 1) -> Any:
        builder = self.context.builder
        above = builder.apply("ge", value, i64(least))
        return self.both(above, builder.apply("le", value, i64(limit)))

    def product(self, values: Sequence[Any]) -> Any:
        builder = self.context.builder
        return builder.apply("mul", builder.apply("mul", values[0], values[1]), values[2])

    def both(self, one: Any, two: Any) -> Any:
        if one == Const(True, one.type.dtype):
            return two
        return self.context.builder.apply("and", one, two)


THREADS, DEEP = 1024, 64
"""The threads of a block, and those of them in z."""
BLOCKS = (2**31 - 1, 65535, 65535)
"""The blocks of a grid in each direction."""
BYTES = 2**31 - 1


def _limits(extents: Extents, how: Any) -> Iterator[tuple[Any, str, tuple[Any, ...]]]:
    """What must hold of the extents of a launch, what is said where it does not, and the values said."""
    (gx, gy, gz), (bx, by, bz) = extents.grid, extents.block
    blocks = [how.within(size, limit) for size, limit in zip((gx, gy, gz), BLOCKS, strict=True)]
    yield (
        how.both(how.both(blocks[0], blocks[1]), blocks[2]),
        "cannot launch a grid of {0} × {1} × {2} blocks",
        (gx, gy, gz),
    )
    sizes = [how.within(size, limit) for size, limit in ((bx, THREADS), (by, THREADS), (bz, DEEP))]
    whole = how.within(how.product((bx, by, bz)), THREADS)
    fits = how.both(how.both(how.both(sizes[0], sizes[1]), sizes[2]), whole)
    yield fits, "cannot launch blocks of {0} × {1} × {2} threads", (bx, by, bz)
    message = "cannot launch with {0} bytes of dynamic shared memory"
    yield how.within(extents.shared, BYTES, 0), message, (extents.shared,)


# ---------------------------------------------------------------------------- launches
@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """What a launch has written: the arrays outside, and what they are after it."""

    pairs: tuple[tuple[Array, Var], ...]

    def write(self, context: Context) -> None:
        """Let the arrays be what they are after the launch."""
        for array, var in self.pairs:
            if array.view is None:
                context.write(array.cell, var)
            else:
                put(context, array, Ellipsis, context.wrap(var))

    def results(self, context: Context) -> dict[int, Value]:
        """By the identity of the array, what it is after the launch."""
        return {id(array): context.wrap(var) for array, var in self.pairs}


def stage_launch(
    context: Context, kernel: Launched, extents: Extents, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Written:
    """A launch as a statement of the program; the arrays it writes are still as they were."""
    span = context.span
    names = parameter_names(kernel.python)
    named = [(names[at] if at < len(names) else f"x{at}", value) for at, value in enumerate(args)]
    thread = stage_thread(context, kernel.__name__, kernel.python, named, kwargs)
    context.span = span
    node = compiled(thread, kernel.wishes, context.config)
    arguments = thread.arguments
    places = written_places(node, len(arguments))
    for place in places:
        _check_written(context, kernel, arguments, place, args)
    sizes = [atom(context, one) for one in (*extents.grid, *extents.block, extents.shared)]
    _check_extents(context, kernel, node, sizes)
    _refuse_races(context, node, sizes)
    outside = tuple(one.outside for one in arguments)
    gx, gy, gz, bx, by, bz, shared = sizes
    results = context.builder.let(Launch(node, (gx, gy, gz), (bx, by, bz), shared, outside))
    pairs = zip((arguments[place].array for place in places), results, strict=True)
    return Written(tuple((array, var) for array, var in pairs if array is not None))


def compiled(thread: StagedThread, wishes: Wishes, config: Config) -> Kernel:
    """The kernel of what one thread does."""
    config = replace(config, checks=config.checks and wishes.checks)
    fn = thread.function
    for run in THREAD_PIPELINE:
        fn = run(fn, config)
        if config.verify:
            check_array(fn)
    node = lower_kernel(fn, config)
    if config.verify:
        check_kernel(node)
    return node


THREAD_PIPELINE = (inline, simplify_thread, prove_thread, simplify_thread)
"""The passes over what one thread does, in order: those that move nothing past what threads do together."""


def _check_written(
    context: Context, kernel: Launched, arguments: Sequence[Argument], place: int, args: Sequence[Value]
) -> None:
    """Refuse an array that the kernel writes and may not."""
    own = arguments[place]
    if own.array is None or own.array.cell.is_argument:
        raise WritesArgument(context.span)
    if own.array.list_depth:
        help = "make it an array before the launch: `x = np.array(x)`"
        raise UnsupportedType("what a kernel writes", "a list", context.span, help)
    if kernel.wishes.out is not None and own.name not in kernel.wishes.out:
        help = f"name it: `out=({', '.join(map(repr, (*kernel.wishes.out, own.name)))})`"
        raise KernelRefused(f"writing `{own.name}`, which `out` does not name,", context.span, help)
    for other in arguments:
        if other is own or not may_share(own.array, other.array):
            continue
        if other.array is not None and not _are_apart(own.array, other.array):
            raise SameArrayTwice(kernel.__name__, own.name, other.name).at(context.span)


def _are_apart(one: Array, two: Array) -> bool:
    """Whether two parts of one array have no element in common, as far as constant indices say."""
    if one.cell is not two.cell or one.view is None or two.view is None:
        return False
    pairs = zip(one.view.place or (), two.view.place or (), strict=False)
    return any(
        isinstance(left, Fixed)
        and isinstance(right, Fixed)
        and isinstance(left.atom, Const)
        and isinstance(right.atom, Const)
        and left.atom.value != right.atom.value
        for left, right in pairs
    )


def _check_extents(context: Context, kernel: Launched, node: Kernel, sizes: Sequence[Atom]) -> None:
    """Refuse extents that are too small or too large: now where they are known, else when it runs."""
    gx, gy, gz, bx, by, bz, shared = sizes
    limits = list(_limits(Extents((gx, gy, gz), (bx, by, bz), shared), _Staged(context)))
    static, limit = _static_bytes(node), kernel.wishes.shared_limit
    if static > limit:
        raise SharedTooLarge(kernel.__name__, static, limit).at(context.span)
    fits = context.builder.apply("le", shared, i64(limit - static))
    message = f"cannot launch with {{0}} bytes of dynamic shared memory: {limit - static} of {limit} are left"
    limits.append((fits, message, (shared,)))
    for condition, message, values in limits:
        if not isinstance(condition, Const):
            context.builder.let(Check(condition, "launch", message, values))
        elif not condition.value:
            shown = [value.value if isinstance(value, Const) else "?" for value in values]
            raise LaunchSize.of(message, shown, context.span)


def _refuse_races(context: Context, node: Kernel, sizes: Sequence[Atom]) -> None:
    """Refuse what is wrong with several threads, as the text of the kernel shows: shared memory that nobody
    writes, elements that all threads write."""
    for stmt, buffer in unwritten_reads(node):
        help = "write it before, and put `ad.syncthreads()` between the two"
        what = f"reading `{buffer.name}`, shared memory that the kernel never writes,"
        raise KernelRefused(what, getattr(stmt, "span", None) or context.span, help)
    how = _Staged(context)
    grid, block = how.product(sizes[:3]), how.product(sizes[3:6])
    for found in contested_writes(node):
        span, context.span = context.span, found.store.span or context.span
        one = how.within(block, 1)
        one = how.both(one, how.within(grid, 1)) if found.by_grid else one
        element = f"one element of `{found.store.buffer.name}`"
        message = f"threads of `{node.name}` write {element} in no order: a data race"
        if not isinstance(one, Const):
            context.builder.let(Check(one, "contested", message))
        elif not one.value:
            raise ContestedWrite(message, context.span)
        context.span = span


def _static_bytes(kernel: Kernel) -> int:
    """The bytes of shared memory whose size the text says."""
    total = 0
    for stmt in statements(kernel.body):
        match stmt:
            case Alloc(buffer=Buffer(space=Space.SHARED, dtype=dtype), size=KernelConst(value=count)):
                total += int(count) * dtype.bytes
            case _:
                pass
    return total
