"""Which arguments of a function are declared static: positions and names that it has."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from inspect import Parameter
from typing import Any

from anadrome.errors.api import SettingMismatch

HELP = "positions count from 0, and from -1 backwards; names are those of the parameters"


def static_numbers(function: Callable[..., Any], given: int | Sequence[int]) -> tuple[int, ...]:
    """`static_argnums` as a tuple, each of which is the position of a parameter."""
    numbers: tuple[Any, ...] = _as_tuple(given)
    parameters = _parameters(function)
    count = None
    if parameters is not None and not any(one.kind is Parameter.VAR_POSITIONAL for one in parameters):
        count = sum(
            one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for one in parameters
        )
    for number in numbers:
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if not is_number or (count is not None and not -count <= number < count):
            expected = "the position of a parameter, or several of them"
            raise SettingMismatch("jit", "static_argnums", expected, given, HELP)
    return numbers


def static_names(function: Callable[..., Any], given: str | Sequence[str]) -> tuple[str, ...]:
    """`static_argnames` as a tuple, each of which is the name of a parameter."""
    names: tuple[Any, ...] = _as_tuple(given)
    parameters = _parameters(function)
    known = None
    if parameters is not None and not any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        known = {one.name for one in parameters}
    for name in names:
        if not isinstance(name, str) or (known is not None and name not in known):
            expected = "the name of a parameter, or several of them"
            raise SettingMismatch("jit", "static_argnames", expected, given, HELP)
    return names


def _as_tuple(given: object) -> tuple[object, ...]:
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def _parameters(function: Callable[..., Any]) -> list[Parameter] | None:
    """The parameters of a function; None where they are not known."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
