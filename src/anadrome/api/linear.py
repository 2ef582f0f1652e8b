"""What `linearize` and `vjp` give outside compiled functions: derivatives at primals kept as they were."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from anadrome.api import pytree
from anadrome.api.call import documented, transformed
from anadrome.api.derivatives.gradients import pull_back_values
from anadrome.api.derivatives.tangents import push_forward_values
from anadrome.api.rules import Kwargs, PullBack, PushForward, refuse_keywords, the_cotangent
from anadrome.errors.tracebacks import door
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value

Function = Callable[..., Any]


class _AtPrimals:
    """A derivative of a function at given primals. Its parameters are its own, its place in errors is the
    function's."""

    def __init__(self, function: Function, primals: Sequence[Any]) -> None:
        self.__wrapped__ = function
        self.__signature__ = inspect.signature(self.__call__)  # type: ignore[operator]
        self.__doc__ = documented(type(self).__name__.lower(), function)
        self._function = function
        self._primals = pytree.map_leaves(_kept, tuple(primals))

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}({getattr(self._function, '__qualname__', self._function)!s})"


def _kept(leaf: Any) -> Any:
    """A leaf as it is now, whatever is written into its array later."""
    return leaf.copy() if hasattr(leaf, "__array__") else leaf


class Pushforward(_AtPrimals):
    """The linear function of `linearize`: tangents of the arguments to the tangent of the result.

    Inside a compiled function, so under `vmap` and `jit`, it is the derivative at the same primals.
    """

    def __init__(self, function: Function, primals: Sequence[Any]) -> None:
        super().__init__(function, primals)
        self._compiled = transformed("linearize", function, PushForward(False, True), has_own_arguments=True)

    @door
    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the result along one tangent for each argument."""
        return self._compiled(self._primals, tangents)[1]

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The same inside a program."""
        refuse_keywords(context, "this linear function", kwargs)
        with context.silent():
            return push_forward_values(context, self._function, self._primals, tuple(args))[1]


class Pullback(_AtPrimals):
    """The pullback of `vjp`: a cotangent of the result to the cotangents of all arguments.

    Inside a compiled function, so under `vmap` and `jit`, it is the derivative at the same primals.
    """

    def __init__(self, function: Function, primals: Sequence[Any], has_aux: bool) -> None:
        super().__init__(function, primals)
        self._has_aux = has_aux
        self._compiled = transformed("vjp", function, PullBack(has_aux), has_own_arguments=True)

    @door
    def __call__(self, cotangent: Any) -> Any:
        """The cotangents of the primals."""
        return self._compiled(*self._primals, cotangent)

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The same inside a program."""
        refuse_keywords(context, "this pullback", kwargs)
        cotangent = the_cotangent(context, args)
        return pull_back_values(context, self._function, self._primals, cotangent, self._has_aux)[1]
