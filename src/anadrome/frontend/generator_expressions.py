"""Generator expressions: their items are evaluated when they are asked for, one by one or all at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from anadrome.array_ir.nodes import Atom
from anadrome.errors.objects import AsksItems, ReadEarlier
from anadrome.frontend.comprehension import (
    Comprehension,
    bind_target,
    clause_frame,
    clause_items,
    enter,
    evaluate_list,
    list_of_items,
    static_filter,
)
from anadrome.frontend.context import Context
from anadrome.frontend.generators import all_items, is_filtered, over
from anadrome.frontend.growing import growing_list, iterated, without_growing
from anadrome.frontend.iterables import ItemAt, Iterated
from anadrome.frontend.iterators import (
    GeneratorCall,
    LazyGenerator,
    iterate,
    leave,
    made_iterator,
    unrolled,
)
from anadrome.frontend.merge import tried
from anadrome.frontend.reading import Watch
from anadrome.frontend.restarts import Restage, RunTimeFilter
from anadrome.frontend.run_time_lists import GrowingList
from anadrome.frontend.structures import RowList, flatten
from anadrome.frontend.values import Array, Frame, Scope, Value, is_staged


def generator(context: Context, frame: Frame, node: ast.GeneratorExp) -> LazyGenerator:
    """A generator expression: its first iterable is evaluated now."""
    found = LazyGenerator(over(node, context.evaluate(frame, node.generators[0].iter)), frame)
    context.made(found)
    return found


def spend(context: Context, values: LazyGenerator) -> ast.GeneratorExp | None:
    """The text of a generator that is gone over now, or None where it was gone over before."""
    values.check(context)
    if values.is_spent:
        return None
    context.change(values, "a generator")
    values.is_spent = True
    return values.node


def generated(context: Context, values: LazyGenerator, is_whole: bool = False) -> Value:
    """What a generator has left, to be gone over: each item is evaluated when asked for, if their number
    is known now or any of them can be reached; else all are evaluated now. `is_whole`: all are asked for now.
    """
    if isinstance(values, GeneratorCall):
        return all_items(context, values)
    node = spend(context, values)
    if node is None:
        return []
    if is_whole and is_filtered(node):
        return evaluate_list(context, values.frame, node)
    frame, clause = clause_frame(values.frame, node), node.generators[0]
    site = context.records[id(values)].site
    if site in context.grown:
        return at_once(context, lambda: evaluate_list(context, values.frame, node))
    items = clause_items(context, frame, clause)
    if not isinstance(items, Iterated):
        return made_iterator(
            context, None, _one_by_one(context, values, _generated(context, frame, node, 0, items))
        )
    leave(context, getattr(clause.iter, "value", None))
    if is_filtered(node):
        return at_once(context, lambda: list_of_items(context, frame, node, 0, items))
    sequence = items

    def item(inner: Context, index: Atom) -> Value:
        enter(inner, frame, node, clause.target, sequence.item(inner, index))
        return inner.evaluate(frame, node.elt)

    return Iterated(sequence.extent, item)


def _one_by_one(context: Context, values: LazyGenerator, items: Iterator[Value]) -> Iterator[Value]:
    """Items that are known now; where a filter asks what only the run knows, the generator is staged anew."""
    site = context.records[id(values)].site
    try:
        yield from items
    except RunTimeFilter as error:
        if site is None or site in context.grown:
            raise error.instead from None
        raise Restage(site, error.instead) from None


def at_once(context: Context, evaluate: Callable[[], Value]) -> Iterated:
    """The items that an evaluation gives now, of an iterator whose items Python evaluates when they are asked
    for: the same where the evaluation changes nothing, and as long as what it has read does not change."""
    span, prints = context.span, context.prints
    with context.reading.watched() as watch:
        found, scope, is_changing = tried(context, evaluate)
    if is_changing or context.prints > prints:
        raise AsksItems("a generator that is asked for single items", span)
    context.emit(scope.builder.lets)
    _move(context, found, scope)
    items = iterate(context, found)
    if not isinstance(items, Iterated):
        items = iterated(context, growing_list(context, items))
    return unless_changed(items, watch)


def unless_changed(items: Iterated, watch: Watch) -> Iterated:
    """Items that have read what was watched, each of which is asked for as long as that is as it was."""

    def checked(item: ItemAt) -> ItemAt:
        def when_asked(inner: Context, index: Atom) -> Value:
            if not watch.is_as_it_was():
                raise ReadEarlier("an item of a generator or iterator", inner.span)
            return item(inner, index)

        return when_asked

    return items.through(items.extent, checked)


def _move(context: Context, found: Value, scope: Scope) -> None:
    """Let objects and arrays that were made in a scope be those of the one around it."""
    for record in context.records.values():
        if record.home is scope:
            record.home = context.scope
    for array in found.columns if isinstance(found, RowList | GrowingList) else flatten(found, is_staged)[0]:
        if isinstance(array, Array) and array.cell.home is scope:
            array.cell.home = context.scope


def _generated(
    context: Context, frame: Frame, node: Comprehension, depth: int, items: Iterable[Value]
) -> Iterator[Value]:
    """The items of a generator over items that are known now, each when it is asked for."""
    clause = node.generators[depth]
    for item in items:
        bind_target(context, frame, clause.target, item)
        if not all(static_filter(context, frame, test) for test in clause.ifs):
            continue
        if depth + 1 == len(node.generators):
            yield context.evaluate(frame, node.elt)
            continue
        inner = clause_items(context, frame, node.generators[depth + 1])
        if isinstance(inner, Iterated):
            yield from unrolled(context, list_of_items(context, frame, node, depth + 1, inner))
        else:
            yield from _generated(context, frame, node, depth + 1, inner)


def made_list(context: Context, value: Value) -> Value:
    """A generator as the list of what it has left; any other value as it is."""
    if not isinstance(value, LazyGenerator):
        return without_growing(context, value)
    if isinstance(value, GeneratorCall):
        return without_growing(context, all_items(context, value))
    if value.begun is not None:
        return list(unrolled(context, value.begun))
    node = spend(context, value)
    if node is None:
        empty: list[Value] = []
        context.made(empty)
        return empty
    return evaluate_list(context, value.frame, node)
