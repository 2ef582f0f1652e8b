"""Going over things: what a `for` takes its items from, and the iterators that remember how far they got."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Generator, ItemsView, Iterable, KeysView, Mapping, Sequence, ValuesView
from collections.abc import Iterator as PythonIterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import Check, i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import StaticCallFailed, StaticRequired, UnsupportedCall, UnsupportedType
from anadrome.frontend.arrays import as_array, atom, describe
from anadrome.frontend.complex_numbers.parts import complex_of
from anadrome.frontend.context import Context
from anadrome.frontend.growing import iterated
from anadrome.frontend.heap import Stateful
from anadrome.frontend.iterables import (
    Iterated,
    Unrolled,
    complex_row,
    plain_number,
    row_item,
    rows,
    size_of,
    staged_range,
)
from anadrome.frontend.liveness import assigned_names
from anadrome.frontend.overloads import own_method
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.sizes import clamp_size
from anadrome.frontend.structures import RowList
from anadrome.frontend.values import Array, Complex, Frame, Key, Missing, Scalar, Value, is_staged


class Iterator(Stateful):
    """An iterator of the program: what it goes over, and how far it has got.

    Over a run-time sequence the position may itself be known at run time only, and any item can be reached.
    Items that are known now come from Python's own iterator, each when it is asked for; those that were given
    out are kept, so that a branch that is not taken can be taken back.
    """

    python_name = "iterator"

    __slots__ = ("_given", "_items", "parts", "position", "sequence")

    def __init__(
        self, sequence: Iterated | None, items: Iterable[Value] = (), parts: Sequence[Value] = ()
    ) -> None:
        self.sequence = sequence
        self.parts = parts
        """What it goes over: iterators have got as far as it has."""
        self.position: Value = 0
        self._items = iter(items)
        self._given: list[Value] = []

    def __repr__(self) -> str:
        return "an iterator"

    def contents(self) -> dict[Key, Value]:
        """How far it has got."""
        return {"position": self.position}

    def refill(self, contents: Mapping[Key, Value]) -> None:
        """Go to another position."""
        self.position = contents["position"]

    def advance(self, context: Context, position: Value) -> None:
        """Say how far it has got now."""
        context.change(self, "an iterator", "position")
        self.position = position
        self.hold(context)

    def hold(self, context: Context) -> None:
        """The iterators that it goes over cannot be read: those of items known now are as far as it is, of a
        run-time sequence they are said to have got to their end."""
        if self.sequence is not None:
            leave(context, *self.parts)

    def use_up(self, context: Context) -> None:
        """Say that it has got to its end, and so have the iterators that it goes over."""
        assert self.sequence is not None
        self.advance(context, size_of(self.sequence.extent))
        self.release(context)

    def release(self, context: Context) -> None:
        """The iterators that it goes over have got to where it has."""
        waiting = [*self.parts] if self.sequence is not None else []
        while waiting:
            part = waiting.pop()
            if isinstance(part, Iterator):
                context.records[id(part)].stale = None
                waiting += part.parts

    def rest(self, context: Context) -> Iterated:
        """What a run-time sequence has left."""
        assert self.sequence is not None
        whole, first = self.sequence, atom(context, self.position, I64)
        if self.position == 0 if isinstance(self.position, int) else False:
            return whole
        extent = clamp_size(context, context.builder.size("sub", whole.extent, first))
        return whole.through(
            extent, lambda item: lambda inner, index: item(inner, inner.builder.size("add", first, index))
        )

    def pull(self, context: Context) -> tuple[Value, ...]:
        """The next item that is known now, or nothing at the end."""
        position = self.position
        if not isinstance(position, int):
            raise StaticRequired(
                "how far an iterator has got", context.span, "go over the items by their index"
            )
        if position == len(self._given):
            self._given += first_of(context, self._items)
        if position == len(self._given):
            return ()
        self.advance(context, position + 1)
        return (self._given[position],)

    def pulled(self, context: Context) -> Pulled:
        """The items that are known now, each taken when it is asked for."""
        while True:
            found = self.pull(context)
            if not found:
                return
            yield found[0]


def by_position(
    context: Context, value: Value, items: Iterated | Iterable[Value]
) -> Callable[[int], tuple[Value, ...]]:
    """What gives the item at a position, or nothing behind the last one: items of lists and of sequences are
    taken anew where a position is asked for again, others are kept."""
    if isinstance(items, Iterated):
        extent = items.static_extent
        assert extent is not None
        sequence, count = items, extent
        return lambda position: (
            (plain_number(sequence.item(context, i64(position))),) if position < count else ()
        )
    if isinstance(value, list):
        own = value
        return lambda position: (context.seen(own[position]),) if position < len(own) else ()
    given, rest = list[Value](), iter(items)

    def kept(position: int) -> tuple[Value, ...]:
        if position == len(given):
            given.extend(first_of(context, rest))
        return tuple(given[position : position + 1])

    return kept


def first_of(context: Context, items: PythonIterator[Value]) -> tuple[Value, ...]:
    """The next item of items known now, or nothing at their end."""
    try:
        return (next(items),)
    except StopIteration:
        return ()
    except RuntimeError as error:  # a dict or set changed its size meanwhile
        raise StaticCallFailed("this loop", error, context.span) from None


class Progress(enum.Enum):
    """How far a generator was gone over."""

    NEW = "not gone over"
    SPENT = "gone over"
    LEFT = "left by a loop"

    def __str__(self) -> str:
        return self.value


@dataclass(slots=True, eq=False)
class LazyGenerator(Stateful):
    """A generator expression: its first iterable is evaluated when it is made, the rest when it is used.

    `begun` is the iterator that it becomes when its items are asked for one by one.
    """

    python_name = "generator"

    node: ast.GeneratorExp
    frame: Frame
    is_spent: bool = False
    begun: Iterator | None = None
    unknown: Missing | None = None
    """Where only the run knows whether it was gone over: why."""

    def __repr__(self) -> str:
        return "a generator"

    def contents(self) -> dict[Key, Value]:
        """Whether it was gone over, and the iterator it has become.

        The first is no number and no string, so that two ways that differ in it do not merge: its items are
        evaluated when it is gone over, which must be known now.
        """
        return {"state": self.unknown or self.progress, "begun": self.begun}

    @property
    def progress(self) -> Progress:
        """How far it was gone over."""
        return Progress.SPENT if self.is_spent else Progress.NEW

    def refill(self, contents: Mapping[Key, Value]) -> None:
        """Be as it was at another time."""
        self.is_spent = isinstance(contents["state"], Progress) and contents["state"] is not Progress.NEW
        begun = contents["begun"]
        self.begun = begun if isinstance(begun, Iterator) else None
        self.unknown = next((part for part in contents.values() if isinstance(part, Missing)), None)

    def check(self, context: Context) -> None:
        """Refuse to go over a generator of which only the run knows whether that was done before."""
        if self.unknown is not None:
            help = "make a list of it before the branch or loop, `list(…)`, and go over that"
            raise StaticRequired("whether this generator was gone over", context.span, help)


@dataclass(slots=True, eq=False)
class GeneratorCall(LazyGenerator):
    """The call of a generator function: its text, and the names that the call binds."""

    node: ast.FunctionDef  # type: ignore[assignment]
    is_left: bool = False

    @property
    def progress(self) -> Progress:
        """How far it was gone over."""
        return Progress.LEFT if self.is_left else super(GeneratorCall, self).progress

    def refill(self, contents: Mapping[Key, Value]) -> None:
        """Be as it was at another time."""
        super(GeneratorCall, self).refill(contents)
        self.is_left = contents["state"] is Progress.LEFT


Pulled = Generator[Value, None, None]
"""Items that are known now, each evaluated when it is asked for."""


def made_iterator(
    context: Context, sequence: Iterated | None, items: Iterable[Value] = (), parts: Sequence[Value] = ()
) -> Iterator:
    """A new iterator of the program. Of the iterators among the `parts` that it goes over, it takes an item
    when one of its own is asked for: they can be read again when it has been used up."""
    found = Iterator(sequence, items, parts)
    context.made(found)
    found.hold(context)
    return found


def leave(context: Context, *values: Value) -> None:
    """From here on only the run knows how far these iterators have got."""
    for value in values:
        if isinstance(value, Iterator | LazyGenerator) and context.is_made(value):
            context.make_stale([context.records[id(value)]])
            leave(context, *(value.parts if isinstance(value, Iterator) else ()))
        if isinstance(value, LazyGenerator) and isinstance(value.node, ast.GeneratorExp):
            leave(context, getattr(value.node.generators[0].iter, "value", None))


def iterator_of(context: Context, value: Value) -> Iterator:
    """`iter(value)`: an iterator is its own."""
    if isinstance(value, Iterator):
        return value
    if isinstance(value, LazyGenerator):
        return begun(context, value)
    found = source_of(context, value)
    return made_iterator(context, *((found,) if isinstance(found, Iterated) else (None, found)))


def begun(context: Context, generator: LazyGenerator) -> Iterator:
    """The iterator that a generator is when its items are asked for one by one."""
    if isinstance(generator, GeneratorCall):
        help = "go over it with one `for` and `break`; or, where it ends, make a list of it: `list(g(x))`"
        raise UnsupportedCall(
            "a generator function", context.span, "its items are asked for one by one", help
        )
    if generator.begun is None:
        span, found = context.span, context.evaluators.generator(context, generator)
        context.span = span
        context.change(generator, "a generator")
        generator.begun = iterator_of(context, found)
        generator.is_spent = True
    return generator.begun


def next_of(context: Context, value: Value, default: Sequence[Value]) -> Value:
    """`next(iterator)`, `next(iterator, default)`"""
    if not isinstance(value, Iterator | LazyGenerator):
        raise UnsupportedType(
            "the argument of `next`", describe(value), context.span, "make an iterator: `iter(x)`"
        )
    found = iterator_of(context, value)
    sequence, position = found.sequence, found.position
    if sequence is None:
        items = found.pull(context)
        if not items and not default:
            raise StaticCallFailed("`next`", StopIteration("no item is left"), context.span)
        return items[0] if items else default[0]
    extent = sequence.static_extent
    if extent is None or not isinstance(position, int):
        return _next_at_run_time(context, found, default)
    if position >= extent:
        if default:
            return default[0]
        raise StaticCallFailed("`next`", StopIteration("no item is left"), context.span)
    found.advance(context, position + 1)
    return plain_number(sequence.item(context, i64(position)))


def _next_at_run_time(context: Context, found: Iterator, default: Sequence[Value]) -> Value:
    context.refuse_stop("`next`")
    is_left = has_item(context, found)
    if default:
        raise StaticRequired(
            "whether an iterator has an item left, for the default of `next`,",
            context.span,
            "go over it with `for`",
        )
    context.builder.let(Check(atom(context, is_left), "raise", "StopIteration: no item is left"))
    return _take(context, found)


def _take(context: Context, found: Iterator) -> Value:
    """The next item of an iterator over a run-time sequence, which has one left."""
    assert found.sequence is not None
    position = atom(context, found.position, I64)
    found.advance(context, Scalar(context.builder.apply("add", position, i64(1)), is_weak=True))
    return found.sequence.item(context, position)


def has_item(context: Context, found: Iterator) -> Value:
    """Whether an iterator over a run-time sequence has an item left."""
    assert found.sequence is not None
    extent = found.sequence.static_extent
    if extent is not None and isinstance(found.position, int):
        return found.position < extent
    position = atom(context, found.position, I64)
    return Scalar(context.builder.apply("lt", position, found.sequence.extent))


def taken(context: Context, iterator: Iterator) -> Pulled:
    """The items of an iterator, each taken when it is asked for."""
    while has_item(context, iterator) is True:
        yield next_of(context, iterator, ())
    if is_staged(has_item(context, iterator)):
        raise StaticRequired("how far an iterator has got", context.span, "go over the items by index")


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A function of an iterator in the text of a program."""

    answer: Callable[[Context, Any], Value]

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        return self.answer(context, args[0])


ADVANCE = Step(lambda context, iterator: context.evaluators.advance(context, iterator))
"""`ADVANCE(iterator)`: the next item in a tuple of its own, None behind the last one."""

HAS_ITEM = Step(has_item)
"""`HAS_ITEM(iterator)`: whether an iterator over a run-time sequence has an item left."""

TAKE = Step(_take)
"""`TAKE(iterator)`: its next item, which it has."""


def while_items(frame: Frame, node: ast.For, iterator: Iterator) -> ast.While:
    """The text of a loop that takes the next item of an iterator while there is one."""
    taken = Step(lambda context, found: next_of(context, found, ()))
    asks, takes = (_call_of(node.iter, step, iterator) for step in (HAS_ITEM, taken))
    take = ast.copy_location(ast.Assign([node.target], takes), node.iter)
    loop = ast.copy_location(ast.While(asks, [take, *node.body], node.orelse), node)
    frame.live[loop] = frame.live[node]
    frame.live[take] = (
        frame.live[node] | assigned_names([node.target]) | frame.live_head.get(node, frozenset())
    )
    frame.live_head[loop] = frame.live_head.get(node, frozenset())
    return loop


def _call_of(place: ast.expr, step: Step, iterator: Iterator) -> ast.expr:
    made: Any = ast.Constant
    function, argument = (ast.copy_location(made(one), place) for one in (step, iterator))
    return ast.copy_location(ast.Call(function, [argument], []), place)


def source_of(context: Context, value: Value) -> Iterated | Pulled:
    """What a `for` over a value goes over: a run-time sequence, or items known now, each when asked for.

    An iterator gives what it has left, and has nothing left afterwards.
    """
    match value:
        case Iterator():
            if value.sequence is None:
                return value.pulled(context)
            rest = value.rest(context)
            value.use_up(context)
            return rest
        case LazyGenerator():
            if value.begun is not None:
                return source_of(context, value.begun)
            return source_of(context, context.evaluators.generator(context, value))
        case GrowingList():
            return iterated(context, value)
        case list():
            return _live(context, value)
        case dict():
            return _of_dict(context, value, lambda key: key)
        case KeysView() | ValuesView() | ItemsView():
            return _of_view(context, value)
        case _:
            pass
    if own_method(context, value, "__iter__") is not None:
        return source_of(context, context.evaluators.stepped(context, value))
    found = iterate(context, value)
    return found if isinstance(found, Iterated) else (item for item in found)


def whole_of(context: Context, value: Value) -> Iterated | Pulled:
    """What goes over all of a value at once, whatever its items change, takes them from here."""
    if isinstance(value, LazyGenerator) and value.begun is None:
        return source_of(context, context.evaluators.generator(context, value, True))
    return source_of(context, value)


def _live(context: Context, items: list[Value]) -> Pulled:
    """The items of a list as it is when each is asked for."""
    context.surroundings.items_of(items)
    position = 0
    while position < len(items):
        yield context.seen(items[position])
        position += 1


def _of_view(context: Context, value: Any) -> Pulled:
    """What `keys`, `values` or `items` of a dict give."""
    mapping = value.mapping
    match value:
        case KeysView():
            return _of_dict(context, mapping, lambda key: key)
        case ValuesView():
            return _of_dict(context, mapping, lambda key: mapping[key])
        case _:
            return _of_dict(context, mapping, lambda key: (key, mapping[key]))


def _of_dict(context: Context, items: Mapping[Any, Value], item: Callable[[Any], Value]) -> Pulled:
    """The keys of a dict, or what stands at them when each is asked for."""
    keys = list(items)
    for key in keys:
        yield context.seen(item(key))
        if list(items) != keys:
            raise RuntimeError("dictionary changed size during iteration")


def iterate(context: Context, value: Value) -> Iterated | list[Value]:
    """What a `for` over a value goes over. Static ranges are run-time sequences of a known extent."""
    match value:
        case Iterated():
            return value
        case GrowingList():
            return iterated(context, value)
        case RowList(extent=extent):
            return Iterated(extent, lambda inner, at: row_item(inner, value, at))
        case range():
            return staged_range(context, value.start, value.stop, value.step)
        case Array():
            return rows(value)
        case Complex() if value.shape:
            return Iterated(value.shape[0], lambda inner, index: complex_row(inner, value, index))
        case np.ndarray() if value.ndim and len(value) > context.config.static_repeats:
            if value.dtype.kind == "c":
                return iterate(context, complex_of(context, value))
            array = as_array(context, value)
            assert isinstance(array, Array)
            return rows(array)
        case Scalar() | Complex():
            help = "a number has no items: go over an array, a list or `range(n)`"
            raise UnsupportedType("the iterable of a loop", describe(value), context.span, help)
        case Unrolled(iterable=inner):
            return unrolled(context, inner)
        case Iterator() | LazyGenerator():
            found = whole_of(context, value)
            return found if isinstance(found, Iterated) else list(found)
        case PythonIterator():
            raise UnsupportedType(
                "the iterable of a loop",
                "an iterator of plain Python",
                context.span,
                "go over a list of its items, made outside: `list(...)`",
            )
        case _:
            context.surroundings.items_of(value)
            try:
                items: list[Value] = list(value)  # type: ignore[call-overload]
            except TypeError:
                raise UnsupportedType("the iterable of a loop", describe(value), context.span) from None
            return items


def unrolled(context: Context, value: Value) -> list[Value]:
    """The items of something whose extent is known now, all asked for at once."""
    return list(known_items(context, iterate(context, value)))


def known_items(context: Context, items: Iterated | Iterable[Value]) -> Iterable[Value]:
    """The items of something whose extent is known now, each when it is asked for."""
    if not isinstance(items, Iterated):
        return items
    if items.static_extent is None:
        help = "loop over it with a plain `for`, or take its parts by index: `x[0]`, `x[1:]`"
        raise StaticRequired("the length of what is unrolled", context.span, help)
    return _each(context, items)


def _each(context: Context, items: Iterated) -> Pulled:
    """The items of a sequence of known extent, each evaluated when it is asked for."""
    extent = items.static_extent
    assert extent is not None
    for position in range(extent):
        yield plain_number(items.item(context, i64(position)))
