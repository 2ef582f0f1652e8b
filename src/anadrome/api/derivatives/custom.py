"""Functions whose derivative the user gives, with JAX's spelling, and functions that are run again instead of
being kept.

Called outside compiled functions they are plain Python. Inside, where nothing is differentiated, they are
staged as any other function; where a transform is around, as the node `Custom` with its rules, each of which
is staged for the arguments of this call. A rule is differentiated one time less than its function is, so that
a rule may call its function.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from anadrome.api.closures import leaf_result
from anadrome.api.derivatives.custom_rules import Call, stage_ruled
from anadrome.api.pytree import flatten, unflatten
from anadrome.api.signature import parameter_names
from anadrome.api.statics import known_names, parameter_numbers
from anadrome.array_ir.nodes import Atom, Custom
from anadrome.errors.api import CallError, NotCallable, RuleMismatch, RuleMissing, SettingMismatch
from anadrome.errors.base import counted, indefinite
from anadrome.errors.tracebacks import door
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.values import ScopeKind, Value, is_staged
from anadrome.frontend.verbs import Verb

Function = Callable[..., Any]


class Wrapped:
    """A function that is itself outside compiled functions, and something of its own inside them."""

    def __init__(self, function: Function, decorator: str) -> None:
        if not callable(function):
            got = describe(function) if is_staged(function) else indefinite(type(function).__name__)
            raise NotCallable(decorator, got)
        self.function = function
        self.decorator = decorator
        self.__name__ = str(getattr(function, "__name__", "function"))
        functools.update_wrapper(self, function, updated=())

    @door
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself, run by Python."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self.decorator}({getattr(self.function, '__qualname__', self.function)!s})"

    def __anadrome_parts__(self) -> tuple[object, ...]:
        """What it is in every process; what else staging reads of it is recorded."""
        return self.decorator, self.function

    def __get__(self, instance: object, owner: type | None = None) -> object:
        """In a class body it is a method."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """It is pickled and copied as functions are, by its name."""
        module = sys.modules.get(str(getattr(self, "__module__", None)))
        name = str(getattr(self, "__qualname__", self.__name__))
        found: object = module
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else super().__reduce_ex__(2)


class CustomFunction(Wrapped):
    """A function with derivative rules: `defjvp` gives it one for forward mode, `defvjp` for reverse mode.

    One of them serves both modes where it is seen to be linear in tangents or cotangents; a function may also
    have both.
    """

    def __init__(
        self, function: Function, decorator: str, argnums: int | Sequence[int], argnames: str | Sequence[str]
    ) -> None:
        super().__init__(function, decorator)
        self.nondiff_argnums = parameter_numbers(decorator, "nondiff_argnums", function, argnums)
        self.nondiff_argnames = known_names(decorator, "nondiff_argnames", function, argnames)
        self.jvp_rule: Function | None = None
        self.forward_rule: Function | None = None
        self.backward_rule: Function | None = None

    # ------------------------------------------------------------------ rules
    def defjvp(self, rule: Function) -> Function:
        """`rule(primals, tangents)` gives `(result, tangent of the result)`; also used as a decorator.

        Arguments that are not differentiated come first, one by one.
        """
        self.jvp_rule = rule
        return rule

    def defjvps(self, *rules: Function | None) -> None:
        """One rule for each argument: `rule(tangent, result, *primals)` is its part of the result's tangent.

        None stands for a derivative of zero. The result is one number or array.
        """
        self.jvp_rule = _PartByPart(self, rules)

    def defvjp(self, forward: Function, backward: Function) -> None:
        """`forward(*args)` gives `(result, residuals)`, and `backward(residuals, cotangent)` a tuple with the
        cotangent of each argument, None for zero.

        `backward` gets the arguments that are not differentiated first, one by one.
        """
        self.forward_rule = forward
        self.backward_rule = backward

    # ------------------------------------------------------------------ inside a program
    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """This function as a part of a program being staged."""
        for name in SETTINGS:
            context.surroundings.attribute(self, name, getattr(self, name))
        span = context.span
        if not context.derivatives():
            return context.call(self.function, *args, **kwargs)
        try:
            if self.jvp_rule is None and (self.forward_rule is None or self.backward_rule is None):
                raise RuleMissing(self.__name__, self.decorator)
            values, keywords = _by_position(self.function, args, kwargs)
            call = Call(
                context,
                self.__name__,
                self.function,
                values,
                self._settings(len(values), keywords),
                keywords,
            )
            return stage_ruled(call, self.jvp_rule, self.forward_rule, self.backward_rule)
        except CallError as error:
            raise error.at(span) from None

    def _settings(self, count: int, keywords: Sequence[str]) -> frozenset[int]:
        """Which of the arguments of a call are not differentiated; those taken by name alone come last."""
        names = parameter_names(self.function)
        outside = [number for number in self.nondiff_argnums if not -count <= number < count]
        if outside:
            help = "positions count from 0, and from -1 backwards, among all arguments of the call"
            expected = f"positions among the {counted(count, 'argument')} of the call"
            raise SettingMismatch(self.decorator, "nondiff_argnums", expected, self.nondiff_argnums, help)
        found = [number % count for number in self.nondiff_argnums]
        for name in self.nondiff_argnames:
            if name in keywords:
                found.append(count - len(keywords) + keywords.index(name))
            elif name in names:
                found.append(names.index(name))
        return frozenset(found)


SETTINGS = (
    "function",
    "nondiff_argnums",
    "nondiff_argnames",
    "jvp_rule",
    "forward_rule",
    "backward_rule",
)
"""What a program reads of a function with rules."""


def _by_position(
    function: Function, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[list[Value], tuple[str, ...]]:
    """The arguments of a call by position, defaults included where the parameters are known; then the names
    of those that are only taken by name."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return [*args, *kwargs.values()], tuple(kwargs)
    bound.apply_defaults()
    return [*bound.args, *bound.kwargs.values()], tuple(bound.kwargs)


class _PartByPart:
    """A forward-mode rule made of one for each argument."""

    def __init__(self, function: CustomFunction, rules: Sequence[Function | None]) -> None:
        self.function = function
        self.rules = tuple(rules)
        self.__wrapped__ = function  # its place in errors is the function's
        self.__name__ = f"{function.__name__}_jvp"

    def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """The result and its tangent, by Python."""
        self._check_count(len(primals))
        result = self.function(*primals)
        parts = [
            rule(tangent, result, *primals)
            for rule, tangent in zip(self.rules, tangents, strict=True)
            if rule is not None
        ]
        return result, sum(parts[1:], parts[0]) if parts else 0.0 * result

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """The same inside a program."""
        *settings, primals, tangents = args
        assert isinstance(primals, tuple) and isinstance(tangents, tuple)
        self._check_count(len(primals), len(settings))
        result = context.call(self.function, *primals)
        total = context.call(np.multiply, 0.0, result)
        for rule, tangent in zip(self.rules, tangents, strict=True):
            if rule is not None:
                total = context.call(np.add, total, context.call(rule, tangent, result, *primals))
        return result, total

    def _check_count(self, arguments: int, settings: int = 0) -> None:
        """Refuse another number of rules than of arguments, and arguments that are not differentiated."""
        name = self.function.__name__
        if settings:
            what = "with `defjvps` the number of `nondiff_argnums`"
            raise RuleMismatch("jvp", name, what, "0", str(settings), "give one rule with `defjvp`")
        if len(self.rules) != arguments:
            help = "`defjvps` takes a rule for each argument, in their order; None stands for zero"
            what = "the number of rules that `defjvps` gives"
            expected = f"{arguments}, that of the arguments"
            raise RuleMismatch("jvp", name, what, expected, str(len(self.rules)), help)


# ---------------------------------------------------------------------------- decorators
@Verb
def custom_jvp(
    function: Function | None = None,
    *,
    nondiff_argnums: int | Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> Any:
    """A function whose derivative is given by a rule for tangents: `@ad.custom_jvp`, then `@f.defjvp`.

    Arguments at the positions `nondiff_argnums`, or of the names `nondiff_argnames`, are not differentiated:
    functions, settings. The rule serves reverse mode too where it is seen to be linear in the tangents.
    Raises `RuleMismatch` where the rule does not give a result and tangent of the right form, `ClosedOver`
    where the function reads a differentiated value that is not an argument.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.custom_jvp
    ... def log1pexp(x):
    ...     return np.log(1.0 + np.exp(x))
    >>> @log1pexp.defjvp
    ... def log1pexp_jvp(primals, tangents):
    ...     (x,), (x_tan,) = primals, tangents
    ...     return log1pexp(x), x_tan * (1.0 - 1.0 / (1.0 + np.exp(x)))
    >>> float(ad.grad(log1pexp)(100.0))
    1.0
    """
    if function is None:
        return functools.partial(
            custom_jvp, nondiff_argnums=nondiff_argnums, nondiff_argnames=nondiff_argnames
        )
    return CustomFunction(function, "custom_jvp", nondiff_argnums, nondiff_argnames)


@Verb
def custom_vjp(
    function: Function | None = None,
    *,
    nondiff_argnums: int | Sequence[int] = (),
    nondiff_argnames: str | Sequence[str] = (),
) -> Any:
    """A function whose derivative is given by a rule for cotangents: `@ad.custom_vjp`, then `f.defvjp`.

    `f.defvjp(forward, backward)`: `forward` takes the arguments and gives the result and residuals, which
    `backward` takes with the cotangent of the result. The rule serves forward mode too where `backward` is
    seen to be linear in the cotangent. Raises what `custom_jvp` raises.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.custom_vjp
    ... def clipped(x, limit):
    ...     return x
    >>> def forward(x, limit):
    ...     return x, limit
    >>> def backward(limit, cotangent):
    ...     return np.clip(cotangent, -limit, limit), None
    >>> clipped.defvjp(forward, backward)
    >>> float(ad.grad(lambda x: clipped(x, 1.0) ** 2)(3.0))
    1.0
    """
    if function is None:
        return functools.partial(
            custom_vjp, nondiff_argnums=nondiff_argnums, nondiff_argnames=nondiff_argnames
        )
    return CustomFunction(function, "custom_vjp", nondiff_argnums, nondiff_argnames)


# ---------------------------------------------------------------------------- checkpoints
class Checkpointed(Wrapped):
    """A function whose intermediate values are not kept for the return sweep, which runs it again."""

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """This function as a part of a program being staged."""
        context.surroundings.attribute(self, "function", self.function)
        if not context.derivatives():
            return context.call(self.function, *args, **kwargs)
        with context.nested(ScopeKind.RULE) as scope:
            outcome = context.call(self.function, *args, **kwargs)
            outcome = made_list(context, outcome)
            leaves, structure = flatten(outcome)
            atoms: list[Atom] = []
            results = [leaf_result(context, leaf, atoms) for leaf in leaves]
            body = scope.builder.body(atoms)
        is_own_size = any(scope.builder.owns(size) for found in atoms for size in found.type.shape)
        if not atoms or is_own_size:  # a size that only the function knows is known around it then
            return context.call(self.function, *args, **kwargs)
        found = context.builder.let(Custom((), (), body))
        return unflatten(structure, [result.value(context, found) for result in results])


@Verb
def checkpoint(function: Function) -> Any:
    """The function, whose inner values reverse mode does not keep: the return sweep runs it again.

    So memory is what its arguments and results take, at the price of one more run. Values and derivatives are
    those of the function. Nested checkpoints save more and run more often.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.checkpoint
    ... def layer(x):
    ...     return np.sin(np.sin(x))
    >>> float(ad.grad(lambda x: layer(layer(x)))(0.0))
    1.0
    """
    return Checkpointed(function, "checkpoint")
