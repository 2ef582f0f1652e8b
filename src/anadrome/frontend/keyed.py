"""Dict and set comprehensions: repeated now for every item, so that the keys are known now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from anadrome.errors.frontend import StaticCallFailed, StaticRequired
from anadrome.frontend.comprehension import Keyed, bind_target, clause_frame, clause_items, passes
from anadrome.frontend.context import Context
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.iterators import known_items
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Frame, Value


def evaluate_dict(context: Context, frame: Frame, node: ast.DictComp) -> Value:
    """A dict comprehension: repeated now for every item, so the keys must be known now."""
    result: dict[Value, Value] = {}
    for inner in _static_items(context, clause_frame(frame, node), node, 0):
        key = _key(context, inner, node.key, "the key of a dict")
        result[key] = context.evaluate(inner, node.value)
    context.made(result)
    return result


def evaluate_set(context: Context, frame: Frame, node: ast.SetComp) -> Value:
    """A set comprehension: repeated now for every item, so the items must be known now."""
    inner = clause_frame(frame, node)
    result = {
        _key(context, one, node.elt, "an item of a set") for one in _static_items(context, inner, node, 0)
    }
    context.made(result)
    return result


def _key(context: Context, frame: Frame, node: ast.expr, what: str) -> Value:
    value = context.evaluate(frame, node)
    context.at(frame, node)
    return hashable(context, value, what)


def hashable(context: Context, value: Value, what: str) -> Value:
    """A value that is to be a key: known now, and hashable."""
    if has_staged(value) or context.identities.is_chosen(value):
        raise StaticRequired(what, context.span, "put it into an array or a list")
    try:
        hash(value)
    except TypeError as error:
        raise StaticCallFailed(what, error, context.span) from error
    return value


def _static_items(context: Context, frame: Frame, node: Keyed, depth: int) -> Iterator[Frame]:
    """The scope of the comprehension with its targets bound, once for every item that passes the filters."""
    clause = node.generators[depth]
    items = clause_items(context, frame, clause)
    if isinstance(items, Iterated):
        if items.static_extent is None or items.static_extent > context.config.static_repeats:
            context.at(frame, clause.iter)
            what = f"the number of items of a {'dict' if isinstance(node, ast.DictComp) else 'set'}"
            raise StaticRequired(what, context.span, "make a list or an array of the values instead")
        items = known_items(context, items)
    for item in items:
        bind_target(context, frame, clause.target, item)
        if not passes(context, frame, clause.ifs):
            continue
        if depth + 1 == len(node.generators):
            yield frame
        else:
            yield from _static_items(context, frame, node, depth + 1)
