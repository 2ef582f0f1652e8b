"""Lists, tuples, sets and dicts that are written out, item by item."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from anadrome.errors.frontend import StaticRequired, UnsupportedType
from anadrome.frontend.applying import operate, remember
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import known_items, unrolled, whole_of
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Frame, Value


def items_of(context: Context, frame: Frame, nodes: Sequence[ast.expr]) -> list[Value]:
    """The items of a tuple, or the arguments of a call: their number is known now."""
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            value = context.evaluate(frame, node.value)
            context.at(frame, node)
            items += unrolled(context, value)
        else:
            items.append(context.evaluate(frame, node))
    return items


def list_display(context: Context, frame: Frame, node: ast.List) -> Value:
    """`[a, *b]`; of run-time length where what stands behind a star is."""
    parts: list[Value] = []
    for item in node.elts:
        value = context.evaluate(frame, item.value if isinstance(item, ast.Starred) else item)
        context.at(frame, item)
        source = whole_of(context, value) if isinstance(item, ast.Starred) else None
        if isinstance(source, Iterated) and source.static_extent is None:
            parts += [context.call(list, source), []]
            continue
        last = parts.pop() if parts else []
        assert isinstance(last, list)
        parts.append([*last, *([value] if source is None else known_items(context, source))])
    context.at(frame, node)
    whole = remember(context, parts[0] if parts else [])
    return functools.reduce(functools.partial(operate, context, ast.Add), parts[1:], whole)


def dict_display(context: Context, frame: Frame, node: ast.Dict) -> Value:
    """`{a: b, **c}`"""
    result: dict[Value, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        found = context.evaluate(frame, value)
        if key is None:
            context.at(frame, value)
            result.update(mapping_behind(context, found))
            continue
        name = context.evaluate(frame, key)
        if has_staged(name) or context.identities.is_chosen(name):
            raise StaticRequired("the key of a dict", context.span)
        result[name] = found
    return remember(context, result)


def set_display(context: Context, frame: Frame, node: ast.Set) -> Value:
    """`{a, *b}`"""
    items = items_of(context, frame, node.elts)
    if has_staged(items) or context.identities.is_chosen(items):
        raise StaticRequired("an item of a set", context.span, "put it into a tuple or a list")
    return remember(context, set(items))


def mapping_behind(context: Context, value: Value) -> Mapping[Any, Value]:
    """What stands behind `**`."""
    if isinstance(value, Mapping):
        return value
    raise UnsupportedType("what stands behind `**`", describe(value), context.span, "give it a dict")
