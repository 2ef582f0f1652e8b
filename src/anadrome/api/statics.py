"""Positions and names of parameters that a setting declares static, donated, or not differentiated."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from typing import Any

from anadrome.errors.api import SettingMismatch

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def parameter_numbers(
    transform: str, setting: str, function: Callable[..., Any], given: int | Sequence[int]
) -> tuple[int, ...]:
    """Positions of parameters as a tuple; from 0 on, where the parameters are known."""
    numbers: tuple[Any, ...] = _as_tuple(given)
    parameters = _parameters(function)
    count = None
    if parameters is not None and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        count = sum(one.kind in POSITIONAL for one in parameters)
    for number in numbers:
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or (count is not None and not -count <= number < count):
            expected = "the position of a parameter, or several of them"
            raise SettingMismatch(transform, setting, expected, given, _help(parameters))
    return numbers if count is None else tuple([number % count for number in numbers])


def known_names(
    transform: str, setting: str, function: Callable[..., Any], given: str | Sequence[str]
) -> tuple[str, ...]:
    """Names of parameters as a tuple."""
    names: tuple[Any, ...] = _as_tuple(given)
    parameters = _parameters(function)
    known = None
    if parameters is not None and not any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        known = {one.name for one in parameters}
    for name in names:
        if not isinstance(name, str) or (known is not None and name not in known):
            expected = "the name of a parameter, or several of them"
            raise SettingMismatch(transform, setting, expected, given, _help(parameters))
    return names


def meant_arguments(
    numbers: Sequence[int], names: Sequence[str], parameters: Sequence[str], count: int
) -> tuple[set[int], set[str]]:
    """The arguments of a call that are meant by positions and names of parameters, of which `count` are given
    by position: their places, and the names of those that are given by name. Either way means both."""
    places = {number + count if number < 0 else number for number in numbers}
    places |= {parameters.index(name) for name in names if name in parameters}
    return places, {parameters[place] for place in places if 0 <= place < len(parameters)} | set(names)


def _help(parameters: Sequence[Parameter] | None) -> str:
    help = "positions count from 0, and from -1 backwards; names are those of the parameters"
    names = ", ".join(f"`{one.name}`" for one in parameters or ())
    return f"{help}: {names}" if names else help


def _as_tuple(given: object) -> tuple[object, ...]:
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _parameters(function: Callable[..., Any]) -> list[Parameter] | None:
    """The parameters of a function; None where they are not known."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
