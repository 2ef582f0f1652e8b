"""The transforms of functions, with JAX's names and signatures.

Each takes plain functions, lambdas, methods, closures, partials, compiled functions and what other transforms
give, and works both outside (the whole is compiled when it is called) and inside functions being compiled.
Arguments and results may be tuples, lists, dicts, named tuples and dataclasses of numbers and arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anadrome.api import pytree
from anadrome.api.arguments import Argnums
from anadrome.api.batching import Axes, map_rows
from anadrome.api.call import Compiled, Options, options_of, plain_call
from anadrome.api.gradients import outcome_words, pull_back_values, value_and_gradient
from anadrome.api.jacobians import jacobian_forward, jacobian_reverse
from anadrome.api.opened import like, staged_leaf
from anadrome.api.stopping import stop_values
from anadrome.api.tangents import as_tuple, push_forward_values
from anadrome.api.verbs import Verb, verb
from anadrome.config import Config
from anadrome.errors.api import AuxiliaryMissing, StagedOutside
from anadrome.frontend.arrays import atom
from anadrome.frontend.context import Context
from anadrome.frontend.values import Scope, Value

Function = Callable[..., Any]
Kwargs = Mapping[str, Value]


# ---------------------------------------------------------------------------- jit
def _jit(
    function: Function | None = None,
    *,
    config: Config | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Compile a function: `@ad.jit`, `ad.jit(f)` or `@ad.jit(config=…)`.

    Numbers and arrays are run-time values, so one program serves all their values and, above
    `config.small_dimension`, all sizes. Strings, functions and other hashable objects are static: a program
    is made for each. `static_argnums` and `static_argnames` declare further arguments static.

    >>> import anadrome as ad
    >>> @ad.jit
    ... def total(xs):
    ...     return sum(x * x for x in xs)
    >>> float(total(np.array([1.0, 2.0])))
    5.0
    """
    if function is None:
        return lambda inner: _jit(
            inner, config=config, static_argnums=static_argnums, static_argnames=static_argnames
        )
    inherited = options_of(function)
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    options = Options(config or inherited.config, numbers, names)
    return Compiled("jit", function, plain_call, options)


jit = Verb(_jit)


# ---------------------------------------------------------------------------- reverse mode
def _grad(function: Function, argnums: Argnums = 0, has_aux: bool = False) -> Compiled:
    """The gradient of a function whose result is one float, by the arguments that `argnums` names.

    The gradient has the form of the argument; for several `argnums` it is a tuple. With `has_aux` the
    function gives a pair and so does its gradient: the second part is passed through.

    >>> import anadrome as ad
    >>> float(ad.grad(lambda x: x**3)(2.0))
    12.0
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        value, gradient = value_and_gradient(context, "grad", inner, args, kwargs, argnums, has_aux)
        return (gradient, value[1]) if has_aux else gradient  # type: ignore[index]

    return Compiled("grad", function, rule)


def _value_and_grad(function: Function, argnums: Argnums = 0, has_aux: bool = False) -> Compiled:
    """The result of a function and its gradient, as `grad` gives it; with `has_aux`, `(pair, gradient)`.

    >>> import anadrome as ad
    >>> value, slope = ad.value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        return value_and_gradient(context, "value_and_grad", inner, args, kwargs, argnums, has_aux)

    return Compiled("value_and_grad", function, rule)


grad = Verb(_grad)
value_and_grad = Verb(_value_and_grad)


class Pullback:
    """What `vjp` gives inside a compiled function: a cotangent of the result to cotangents of the arguments.

    It holds the primals as they were, so it is called where they are known: in the body it was made in.
    """

    def __init__(self, context: Context, function: object, primals: Sequence[Value], has_aux: bool) -> None:
        leaves, self._structure = pytree.flatten(tuple(primals))
        self._leaves = [_frozen(context, leaf) for leaf in leaves]
        self._function = function
        self._has_aux = has_aux
        self._scope: Scope = context.scope

    def __call__(self, cotangent: object) -> object:
        """Outside compiled functions there is no such object."""
        raise StagedOutside("this pullback")

    def __anadrome_stage__(self, context: Context, args: Sequence[Value], kwargs: Kwargs) -> Value:
        """The cotangents of the primals."""
        if self._scope not in context.scopes():
            raise StagedOutside("a pullback made inside a loop or branch, outside of which it is called,")
        (cotangent,) = args
        primals = pytree.unflatten(self._structure, [thaw(context) for thaw in self._leaves])
        return pull_back_values(context, self._function, primals, cotangent, self._has_aux)[1]


def _frozen(context: Context, leaf: Value) -> Callable[[Context], Value]:
    """A leaf as it is now, whatever is written into its array later."""
    staged = staged_leaf(context, leaf)
    if staged is None:
        return lambda later: leaf
    found = atom(context, staged)
    return lambda later: like(later, found, staged)


def _stage_vjp(context: Context, function: object, *primals: Value, has_aux: bool = False) -> Value:
    outcome = context.call(function, *primals)
    pullback = Pullback(context, function, primals, has_aux)
    if not has_aux:
        return outcome, pullback
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise AuxiliaryMissing("vjp", outcome_words(outcome))
    return outcome[0], pullback, outcome[1]


@verb(_stage_vjp)
def vjp(function: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result at the primals and a function from cotangents of the result to those of all arguments.

    With `has_aux` the function gives a pair, whose second part comes back as a third result.

    >>> import anadrome as ad
    >>> value, pullback = ad.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> tuple(float(part) for part in pullback(1.0))
    (3.0, 2.0)
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        return pull_back_values(context, inner, args[:-1], args[-1], has_aux)[1]

    outcome = Compiled("jit", function, plain_call)(*primals)
    pull_back = Compiled("vjp", function, rule, has_own_arguments=True)
    kept = pytree.map_leaves(lambda leaf: leaf.copy() if hasattr(leaf, "__array__") else leaf, tuple(primals))

    def pullback(cotangent: Any) -> Any:
        return pull_back(*kept, cotangent)

    if not has_aux:
        return outcome, pullback
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise AuxiliaryMissing("vjp", outcome_words(outcome))
    return outcome[0], pullback, outcome[1]


# ---------------------------------------------------------------------------- forward mode
def _stage_jvp(context: Context, function: object, primals: Value, tangents: Value) -> Value:
    return push_forward_values(context, function, primals, tangents)


def _jvp_rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
    primals, tangents = args
    return push_forward_values(context, inner, primals, tangents)


@verb(_stage_jvp)
def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The result at the primals and its derivative along the tangents, which have the form of the primals.

    >>> import anadrome as ad
    >>> value, tangent = ad.jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(value), float(tangent)
    (9.0, 6.0)
    """
    return Compiled("jvp", function, _jvp_rule, has_own_arguments=True)(tuple(primals), tuple(tangents))


def _hvp_rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
    primals, tangents = (
        as_tuple(what, arg) for what, arg in zip(("the primals", "the tangents"), args, strict=True)
    )
    gradient = grad(inner, argnums=tuple(range(len(primals))))  # type: ignore[arg-type]
    product = push_forward_values(context, gradient, primals, tangents)[1]
    assert isinstance(product, tuple)
    return product[0] if len(product) == 1 else product


def _stage_hvp(context: Context, function: object, primals: Value, tangents: Value) -> Value:
    return _hvp_rule(context, function, (primals, tangents), {})


@verb(_stage_hvp)
def hvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a function whose result is one float, times a vector: forward over reverse.

    The product has the form of the argument; for several arguments it is a tuple.

    >>> import anadrome as ad
    >>> float(ad.hvp(lambda x: x**3, (2.0,), (1.0,)))
    12.0
    """
    return Compiled("hvp", function, _hvp_rule, has_own_arguments=True)(tuple(primals), tuple(tangents))


# ---------------------------------------------------------------------------- Jacobians
def _jacfwd(function: Function, argnums: Argnums = 0, has_aux: bool = False) -> Compiled:
    """The Jacobian by forward mode: one direction for each element of the arguments, so for few inputs.

    The derivative of a result of shape s by an argument of shape t has shape s + t.

    >>> import anadrome as ad
    >>> ad.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        return jacobian_forward(context, inner, args, kwargs, argnums, has_aux)

    return Compiled("jacfwd", function, rule)


def _jacrev(function: Function, argnums: Argnums = 0, has_aux: bool = False) -> Compiled:
    """The Jacobian by reverse mode: one sweep for each element of the result, so for few outputs.

    >>> import anadrome as ad
    >>> ad.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        return jacobian_reverse(context, inner, args, kwargs, argnums, has_aux)

    return Compiled("jacrev", function, rule)


def _hessian(function: Function, argnums: Argnums = 0) -> Compiled:
    """The matrix of second derivatives of a function whose result is one float: forward over reverse.

    >>> import anadrome as ad
    >>> ad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        gradient = grad(inner, argnums=argnums)  # type: ignore[arg-type]
        return jacobian_forward(context, gradient, args, kwargs, argnums, False)

    return Compiled("hessian", function, rule)


jacfwd = Verb(_jacfwd)
jacrev = Verb(_jacrev)
hessian = Verb(_hessian)


# ---------------------------------------------------------------------------- others
def _vmap(function: Function, in_axes: Axes = 0, out_axes: Axes = 0) -> Compiled:
    """The function of one row made a function of many: the axes of `in_axes` are gone over in parallel.

    An axis of None passes an argument to every row as it is. Loops and branches run for each row by itself.

    >>> import anadrome as ad
    >>> ad.vmap(lambda x, y: x * y, in_axes=(0, None))(np.array([1.0, 2.0]), 3.0)
    array([3., 6.])
    """

    def rule(context: Context, inner: object, args: Sequence[Value], kwargs: Kwargs) -> Value:
        return map_rows(context, inner, args, kwargs, in_axes, out_axes)

    return Compiled("vmap", function, rule, has_own_arguments=True)


vmap = Verb(_vmap)


@verb(stop_values)
def stop_gradient(value: Any) -> Any:
    """The value, whose derivative is taken to be zero.

    >>> import anadrome as ad
    >>> float(ad.grad(lambda x: x * ad.stop_gradient(x))(3.0))
    3.0
    """
    return value
