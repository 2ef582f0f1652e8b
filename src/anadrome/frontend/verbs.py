"""Functions of the package that may be called both outside and inside compiled functions.

Outside, a verb is a Python function. Inside, it is staged by a rule of its own, because its arguments may
then be values of the program being compiled.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, ParamSpec, Self, TypeVar

from anadrome.errors.api import CallError
from anadrome.errors.frontend import CallMismatch
from anadrome.errors.tracebacks import end_at_call
from anadrome.frontend.context import Context
from anadrome.frontend.pools import detached
from anadrome.frontend.values import Value

P = ParamSpec("P")
R = TypeVar("R")

Inside = Callable[..., Value]
"""(context, *args, **kwargs) -> value: the verb as a part of a program."""


class Verb(Generic[P, R]):
    """A Python function with a staged form; without one, its arguments are static and Python runs it."""

    def __init__(self, outside: Callable[P, R], inside: Inside | None = None) -> None:
        self._outside = outside
        self._inside = inside
        self.__name__ = outside.__name__
        functools.update_wrapper(self, outside)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The verb outside compiled functions."""
        try:
            return self._outside(*args, **kwargs)
        except BaseException as error:
            end_at_call(error)
            raise

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        """In a class body it is itself, as a function of a built-in module is. `help` takes what can be
        looked up so for a function, and shows its parameters."""
        return self

    def __repr__(self) -> str:
        return f"anadrome.{self.__name__}"

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """The verb inside a compiled function."""
        span = context.span
        try:
            inspect.signature(self._outside).bind(*args, **kwargs)
        except TypeError as error:
            raise CallMismatch(f"ad.{self.__name__}", str(error), span) from None
        args = [detached(context, value) for value in args]
        kwargs = {name: detached(context, value) for name, value in kwargs.items()}
        try:
            if self._inside is None:
                return self._outside(*args, **kwargs)  # type: ignore[arg-type]
            return self._inside(context, *args, **kwargs)
        except CallError as error:
            raise error.at(span) from None


def verb(inside: Inside) -> Callable[[Callable[P, R]], Verb[P, R]]:
    """Give a Python function its staged form."""

    def attach(outside: Callable[P, R]) -> Verb[P, R]:
        return Verb(outside, inside)

    return attach
