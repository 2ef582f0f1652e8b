"""Items of dicts whose keys are known, by a key that only the run knows: it is compared with each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anadrome.array_ir.nodes import Atom
from anadrome.errors.frontend import StaticRequired
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.library import python_program
from anadrome.frontend.library.common import require
from anadrome.frontend.structures import has_staged, may_be_number
from anadrome.frontend.text_states import options_of
from anadrome.frontend.values import Array, Complex, RunText, Scalar, Value, is_staged

MOST_KEYS = 64
"""A key is compared with so many others."""


def item_at(context: Context, owner: dict[Any, Value], key: Value) -> Value:
    """`owner[key]`"""
    keys = _candidates(context, owner, key, "the index of a dict")
    _refuse_others(context, keys, key)
    context.may_raise("this index", KeyError)
    found = context.call(python_program.item_of, owner, keys[-1])
    return _chosen(context, owner, keys[:-1], key, found)


def item_or(context: Context, owner: dict[Any, Value], key: Value, default: Value = None) -> Value:
    """`owner.get(key, default)`"""
    keys = _candidates(context, owner, key, "the key that `.get` is given")
    return _chosen(context, owner, keys, key, default)


def put_at(context: Context, owner: dict[Any, Value], key: Value, value: Value) -> None:
    """`owner[key] = value`, of a key that is there."""
    keys = _candidates(context, owner, key, "the index of a dict")
    _refuse_others(context, keys, key)
    context.call(python_program.put_at, owner, tuple(keys), key, value)


NO_KEY = "KeyError: a key that is not in the dict"

_HELP = "keys are strings and whole numbers, of dicts of at most 64 items; or use a list and an index"


def _candidates(context: Context, owner: dict[Any, Value], key: Value, what: str) -> list[Any]:
    """The keys that may be equal to this one."""
    if len(owner) > MOST_KEYS or not _is_key(key):
        raise StaticRequired(what, context.span, _HELP)
    context.surroundings.whole(owner)
    return [own for own in owner if _may_equal(key, own)]


def _is_key(key: Value) -> bool:
    """Whether a value of the run may be compared with keys."""
    if isinstance(key, tuple):
        return all(map(_is_key, key))
    if isinstance(key, RunText):
        return options_of(key) is not None
    return not isinstance(key, Array | Complex) and (isinstance(key, Scalar) or not has_staged(key))


def _may_equal(key: Value, own: Value) -> bool:
    if isinstance(key, tuple):
        if not isinstance(own, tuple) or len(own) != len(key):
            return False
        return all(_may_equal(one, two) for one, two in zip(key, own, strict=True))
    if isinstance(key, RunText):
        return own in (options_of(key) or ())
    if is_staged(key):
        return may_be_number(own)
    return bool(key == own)


def _refuse_others(context: Context, keys: Sequence[Any], key: Value) -> None:
    """Of strings that are known all must be keys; of numbers the run checks that one is."""
    options = options_of(key)
    missing = [option for option in options or () if option not in keys]
    if missing:
        help = f'put the key there first: `d["{missing[0]}"] = …`'
        raise StaticRequired("whether this key is in the dict", context.span, help)
    if not keys:
        raise StaticRequired("whether this key is in the dict", context.span, "put every key there first")
    if options is None:
        require(context, _is_any(context, keys, key), "raise", NO_KEY)


def _is_any(context: Context, keys: Sequence[Any], key: Value) -> Atom:
    found: Value = False
    for known in keys:
        found = context.call(python_program.is_any, found, key, known)
    return atom(context, found)


def _chosen(
    context: Context, owner: dict[Any, Value], keys: Sequence[Any], key: Value, found: Value
) -> Value:
    """The item at that of the keys to which the key is equal; another value where it is none of them."""
    for known in reversed(keys):
        found = context.call(python_program.item_if, key, owner, known, found)
    return found
