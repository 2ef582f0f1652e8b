"""Random draws: numbers that NumPy or Python draws before the program runs, in the order of the program.

A draw is a hidden parameter of the program: its generator, the method, and what the method is called with,
which must follow from the arguments of the call. In a counted loop it has a row for each iteration.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import ArrayType, Atom, Check, Const, Size, Var
from anadrome.dtypes import F64, I64, DType
from anadrome.errors import Span
from anadrome.errors.frontend import UnsupportedCall
from anadrome.errors.parallel import DrawsInParallel
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.library.common import shape_argument
from anadrome.frontend.sizes import as_size, size_value
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Scalar, Scope, ScopeKind, Value, is_staged

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
"""What draws are made from; of one such type an argument is no static value."""

FIRST_ROOM, MORE_ROOM = 64, 4
"""The rows that are tried first, and how many times as many next."""

STATES = (np.random.BitGenerator, np.random.SeedSequence)
"""What holds random state that programs do not draw from."""


# ---------------------------------------------------------------------------- generators
@dataclass(frozen=True, slots=True)
class Passed:
    """A generator among the leaves of the arguments."""

    leaf: int


@dataclass(frozen=True, slots=True)
class Held:
    """A generator around the program."""

    generator: object


@dataclass(frozen=True, slots=True, eq=False)
class Seeded:
    """A generator that the program makes, anew in each call."""

    make: Callable[..., object]
    arguments: tuple[object, ...]


class TriedRoom:
    """How many rows there is room for in a list or array of which nothing says how many it gets. It is drawn
    from, and says what has sufficed so far."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows = FIRST_ROOM

    def rows(self) -> int:
        """Room for so many rows."""
        return self._rows

    def at_least(self, rows: int) -> int:
        """Room for so many rows, or those that there was room for."""
        self._rows = max(self._rows, rows)
        return self._rows


Source = Passed | Held | Seeded


@dataclass(frozen=True, slots=True)
class GeneratorSpec:
    """A generator that comes in, at this place among the leaves of the arguments."""

    leaf: int
    type: type


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """A hidden parameter: what is called to make it, in this shape. Variables in `arguments` and `named` are
    integers of the call; `loops` are those around it, each with how often it runs."""

    var: Var
    source: Source
    method: str
    shape: tuple[Size, ...]
    arguments: tuple[object, ...]
    named: Mapping[str, object]
    loops: tuple[tuple[Scope, Size], ...]
    span: Span | None
    is_numpy: bool


def stand_in(context: Context, source: Source, kind: Any) -> object:
    """An object that stands for a generator while the program is staged."""
    found: Any = np.random.default_rng(0) if issubclass(kind, np.random.Generator) else kind(0)
    context.generators[id(found)] = (found, source)
    return found


def refuse_state(context: Context, base: Value, name: str) -> None:
    """Refuse to read what a generator holds, which is another thing in each call."""
    if isinstance(base, (*GENERATORS, *STATES)) and not callable(getattr(type(base), name, None)):
        raise UnsupportedCall(
            f"the attribute `{name}` of a generator",
            context.span,
            "numbers are drawn before the program runs",
            "read it outside the compiled function",
        )


# ---------------------------------------------------------------------------- what the call knows
def known(context: Context, name: str, value: Value) -> object:
    """What a method is called with: a static value, or an integer that follows from the arguments."""
    if isinstance(value, Scalar) and value.dtype.is_integer:
        size = as_size(context, value)
        if isinstance(size, Const):
            return int(size.value)
        if follows(context, size):
            return size
    if isinstance(value, tuple | list) and has_staged(value):
        return tuple(known(context, name, part) for part in value)
    if is_staged(value) or has_staged(value):
        reason = f"it is called with {describe(value)}, which only the run knows"
        help = (
            "numbers are drawn before the program runs: sizes, seeds and parameters such as these must be "
            "known while compiling, or be integers that follow from the arguments; or draw outside"
        )
        raise UnsupportedCall(f"rng.{name}" if "." not in name else name, context.span, reason, help)
    return value


def follows(context: Context, atom: Atom) -> bool:
    """Whether an integer is computed from sizes and integers of the arguments alone."""
    if isinstance(atom, Const) or atom in context.inputs:
        return True
    found = context.builder.definition(atom)
    return found is not None and all(follows(context, one) for one in found.args)


# ---------------------------------------------------------------------------- a draw
def raw(
    context: Context,
    owner: object,
    method: str,
    arguments: tuple[Value, ...],
    size: Value,
    dtype: DType = F64,
    named: Mapping[str, Value] | None = None,
    is_weak: bool = True,
) -> Value:
    """What a method of a generator gives when it is called with these arguments before the program runs."""
    loops = _loops(context, method)
    shape = () if size is None else shape_argument(context, f"rng.{method}", size)
    for one in shape:
        known(context, method, size_value(context, one))
    given = tuple(known(context, method, one) for one in arguments)
    others = {key: known(context, method, one) for key, one in (named or {}).items()}
    if size is not None:
        others["size"] = tuple(int(one.value) if isinstance(one, Const) else one for one in shape)
    whole = (*(trip for _, trip in loops), *shape)
    var = Var("drawn", ArrayType(dtype, tuple(_input(context, one) for one in whole)))
    root = list(context.scopes())[-1]
    root.builder.bind(var, *(one for one in var.type.shape if isinstance(one, Var)))
    source = context.generators.get(id(owner), (owner, Held(owner)))[1]
    context.draws.append(
        Draw(
            var,
            source,
            method,
            shape,
            given,
            others,
            loops,
            context.span,
            isinstance(owner, np.random.Generator),
        )
    )
    indices = [scope.index for scope, _ in loops if scope.index is not None]
    found = context.builder.index(var, indices)
    if isinstance(found, Var) and shape:
        found = context.builder.reshape(found, shape)
    return context.wrap(found, is_weak and not shape)


def _input(context: Context, size: Size) -> Size:
    """A size that comes in with the arguments; one computed from these comes in once more, with the draw."""
    if isinstance(size, Const) or size in context.inputs:
        return size
    new = Var("n", ArrayType(I64))
    context.nonnegative.add(new)
    return new


def _loops(context: Context, method: str) -> tuple[tuple[Scope, Size], ...]:
    """The counted loops around a draw, outermost first; anything else around it is refused."""
    name = f"rng.{method}"
    found: list[tuple[Scope, Size]] = []
    for scope in context.scopes():
        is_counted = scope.trip is not None and not scope.is_counting and follows(context, scope.trip)
        if scope.kind is ScopeKind.LOOP and is_counted:
            assert scope.trip is not None
            found.append((scope, scope.trip))
            continue
        if scope.kind is ScopeKind.PARFOR and not context.unprintable:
            raise DrawsInParallel(name, context.span)
        if scope.kind not in (ScopeKind.FUNCTION, ScopeKind.OPEN):
            raise UnsupportedCall(name, context.span, *_why_not(context, scope))
    if context.is_silent:
        reason = "the function is run once more for its derivative, and would draw other numbers"
        help = "draw outside and pass the numbers, or use `value_and_grad` or `jvp`, which run it once"
        raise UnsupportedCall(name, context.span, reason, help)
    if context.unprintable:
        raise UnsupportedCall(
            name, context.span, context.unprintable, "draw outside of it and pass the numbers"
        )
    return tuple(reversed(found))


def _why_not(context: Context, scope: Scope) -> tuple[str, str]:
    """Why nothing is drawn in a scope, and what to write."""
    rows = "draw enough rows before it, `z = rng.standard_normal((n, 3))`, and take `z[i]`"
    if scope.kind is ScopeKind.BRANCH:
        return (
            "whether it draws is decided at run time, and numbers are drawn before the program runs",
            "draw before the `if`: either way advances the generator then",
        )
    if context.unprintable:
        return context.unprintable, "draw outside of it and pass the numbers"
    if scope.kind is ScopeKind.RULE:
        return "a function with a rule of its own may run more than once", "draw outside and pass the numbers"
    return "how often it draws is decided at run time, and numbers are drawn before the program runs", rows


def refuse_early_end(context: Context, scope: Scope) -> None:
    """Refuse a loop that draws and may end early: so many numbers would be drawn as if it did not."""
    for draw in context.draws:
        if any(loop is scope for loop, _ in draw.loops):
            reason = "the loop may end early, and numbers are drawn before the program runs"
            help = "draw enough rows before it, `z = rng.standard_normal((n, 3))`, and take `z[i]`"
            raise UnsupportedCall(f"rng.{draw.method}", draw.span, reason, help)


def tried_room(context: Context) -> tuple[int, Size]:
    """Room for a list or array of which nothing says how many rows it gets: as many as each call says, which
    begins with those of the call before and runs again with more where they do not do. Its place among the
    draws, and the hidden parameter."""
    room = Var("room", ArrayType(I64))
    list(context.scopes())[-1].builder.bind(room)
    context.nonnegative.add(room)
    context.inputs.add(room)
    draw = room_draw(room, context.span)
    for draws in (context.draws, context.tried):
        draws.append(draw)
    return len(context.draws) - 1, room


def room_draw(room: Var, span: Span | None = None) -> Draw:
    """The draw that is room, under this name."""
    return Draw(room, Held(TriedRoom()), "rows", (), (), {}, (), span, False)


def rooms_of(draws: Sequence[Draw]) -> dict[int, TriedRoom]:
    """Those of draws that are room, by their places."""
    sources = [draw.source for draw in draws]
    found = {place: one.generator for place, one in enumerate(sources) if isinstance(one, Held)}
    return {place: one for place, one in found.items() if isinstance(one, TriedRoom)}


def check_tried(context: Context, needed: Size, room: Size, number: int) -> None:
    """A call runs again where more rows are needed than there is room for."""
    fits = context.builder.apply("le", needed, room)
    context.builder.let(Check(fits, "room", f"there are more rows than there is room for: draw {number}"))
