"""Strings that are made on the ways of a run-time branch: which one it is, and the numbers in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anadrome.array_ir.nodes import ArrayType, Var
from anadrome.dtypes import I64
from anadrome.errors.frontend import RUN_TEXT, BranchesDiffer
from anadrome.frontend.arrays import describe
from anadrome.frontend.joining import Join, Joining
from anadrome.frontend.text_states import number_of, options_of
from anadrome.frontend.values import Complex, RunText, Scalar, TextChoice, TextField, Value
from anadrome.frontend.ways import Slot, Way

Text = str | RunText


def chosen_text(joining: Joining, what: str, one: Text, two: Text) -> Join:
    """Another string on either way: which one it is, and the numbers in it, are results of the branch. Of
    known strings it is one of all that either may be, so that a choice of choices is no longer than one."""
    mine, theirs = options_of(one), options_of(two)
    if mine is not None and theirs is not None:
        strings = tuple(dict.fromkeys((*mine, *theirs)))
        then = _number(joining, joining.first, one, strings)
        other = _number(joining, joining.second, two, strings)
        joining.slots.append(Slot(then, other, ArrayType(I64), False))
        return lambda results: RunText((TextChoice(_scalar(results), strings),))
    joining.slots.append(Slot(0, 1, ArrayType(I64), False))
    options = [left_text(joining, what, text) for text in (one, two)]
    return lambda results: RunText((TextChoice(_scalar(results), tuple(one(results) for one in options)),))  # type: ignore[misc]


def _number(joining: Joining, way: Way, text: Text, options: Sequence[str]) -> int | Scalar:
    with joining.context.reopened(way.scope):
        return number_of(joining.context, text, options)


def _scalar(results: Iterator[Value]) -> Scalar:
    found = next(results)
    assert isinstance(found, Scalar)
    return found


def left_text(joining: Joining, what: str, text: Text) -> Join:
    """A string that was made on one of the ways, with the numbers in it as they leave the branch."""
    if isinstance(text, str):
        return lambda _: text
    parts = [_left_part(joining, what, part) for part in text.parts]
    return lambda results: RunText(tuple(part(results) for part in parts))


def _left_part(
    joining: Joining, what: str, part: str | TextField | TextChoice
) -> Callable[[Iterator[Value]], Any]:
    match part:
        case TextField(how=how, value=value, spec=spec):
            inner = (
                left_text(joining, what, value)
                if isinstance(value, RunText)
                else _left_value(joining, what, value)
            )
            format_ = left_text(joining, what, spec)
            return lambda results: TextField(how, inner(results), format_(results))  # type: ignore[arg-type]
        case TextChoice(selector=selector, options=options):
            chosen = _left_value(joining, what, selector)
            those = [left_text(joining, what, option) for option in options]
            return lambda results: TextChoice(chosen(results), tuple(one(results) for one in those))  # type: ignore[arg-type,misc]
        case _:
            return lambda _: part


def _left_value(joining: Joining, what: str, value: Value) -> Join:
    if not joining.is_bound_inside(value):
        return lambda _: value
    if isinstance(value, Complex):
        parts = [_left_value(joining, what, one) for one in (value.real, value.imag)]
        return lambda results: Complex(*[part(results) for part in parts])  # type: ignore[arg-type]
    if not isinstance(value, Scalar):
        raise BranchesDiffer(what, RUN_TEXT, describe(value), joining.context.span)
    zero = Scalar(joining.context.constant(0, value.dtype), value.is_weak)
    is_first = isinstance(value.atom, Var) and joining.first.scope.builder.binds(value.atom)
    pair = (value, zero) if is_first else (zero, value)
    joining.slots.append(Slot(*pair, ArrayType(value.dtype), value.is_weak))
    return next
