"""Strings of which a value is one, and only the run knows which: states of a program, and their numbers."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir.nodes import i64
from anadrome.dtypes import I64
from anadrome.errors.frontend import ChangesType
from anadrome.frontend.arrays import atom, describe
from anadrome.frontend.context import Context
from anadrome.frontend.loop_plan import label_of
from anadrome.frontend.restarts import RestartTexts
from anadrome.frontend.values import Place, RunText, Scalar, Scope, TextChoice, Value

MOST_STATES = 64
"""A loop exchanges a string for one of so many."""


def options_of(text: Value) -> list[str] | None:
    """The strings of which a text is one, where they are known; None where it holds numbers."""
    if isinstance(text, str):
        return [text]
    if not isinstance(text, RunText) or len(text.parts) != 1 or not isinstance(text.parts[0], TextChoice):
        return None
    found: list[str] = []
    for option in text.parts[0].options:
        inner = options_of(option)
        if inner is None:
            return None
        found += [one for one in inner if one not in found]
    return found


def number_of(context: Context, text: Value, options: Sequence[str]) -> int | Scalar:
    """Which of the options a text is, all of whose own are among them.

    k(choice of t_0, t_1, … by s) = k(t_0) if s = 0 else k(t_1) if s = 1 else …
    """
    if isinstance(text, str):
        return options.index(text)
    assert isinstance(text, RunText)
    (choice,) = text.parts
    assert isinstance(choice, TextChoice)
    *others, last = choice.options
    found = number_of(context, last, options)
    for position, option in reversed(list(enumerate(others))):
        builder, number = context.builder, number_of(context, option, options)
        is_it = builder.apply("eq", choice.selector.atom, i64(position))
        chosen = builder.select(is_it, atom(context, number, I64), atom(context, found, I64))
        found = Scalar(chosen, is_weak=True)
    return found


def text_of(context: Context, number: Value, options: Sequence[str]) -> Value:
    """The text of a number."""
    if isinstance(number, int):
        return options[number]
    assert isinstance(number, Scalar)
    return RunText((TextChoice(number, tuple(options)),))


def exchange_texts(scope: Scope, place: Place, before: Value, after: Value) -> None:
    """Where an iteration of a loop puts another string in a place: stage it with the strings that it holds
    there carried, if they are known."""
    mine, theirs = options_of(before), options_of(after)
    if mine is None or theirs is None or (mine == theirs and isinstance(before, str)):
        return
    raise RestartTexts(scope, place, list(dict.fromkeys((*mine, *theirs))))


def carried_number(
    context: Context, scope: Scope, place: Place, value: Value, known: Sequence[str]
) -> int | Scalar:
    """Which of its strings a place holds that a loop carries; one that is new is carried as well."""
    options = options_of(value) or ()
    found = list(dict.fromkeys((*known, *options)))
    if not options or len(found) > MOST_STATES:
        help = "let it be one of a few strings that the text says"
        raise ChangesType(label_of(place), "a string", describe(value), context.span, help)
    if len(found) > len(known):
        raise RestartTexts(scope, place, found)
    return number_of(context, value, known)
