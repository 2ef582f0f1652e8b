"""The transforms of functions, with JAX's names and signatures.

Each takes plain functions, lambdas, methods, closures, partials, compiled functions and what other transforms
give, and works both outside (the whole is compiled when it is called) and inside functions being compiled.
Arguments and results may be tuples, lists, dicts, named tuples and dataclasses of numbers and arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from anadrome.api.arguments import Argnums, selection
from anadrome.api.batching import Axes
from anadrome.api.call import Compiled, Options, Rule, options_of, plain_call, transformed
from anadrome.api.derivatives.gradients import outcome_words
from anadrome.api.derivatives.tangents import as_tuple, push_forward_values
from anadrome.api.linear import Pullback, Pushforward
from anadrome.api.rules import (
    EitherJacobian,
    ForwardJacobian,
    Gradient,
    OverRows,
    PushForward,
    ReverseJacobian,
    SecondDerivatives,
    ValueAndGradient,
    hessian_product_rule,
    stage_hvp,
    stage_linearize,
    stage_vjp,
)
from anadrome.api.signature import parameter_names
from anadrome.api.sparse.derivatives import SparseDerivative, Sparsity, sparse_hessian, sparse_jacobian
from anadrome.api.statics import known_names, meant_arguments, parameter_numbers
from anadrome.api.stopping import stop_values
from anadrome.config import Config
from anadrome.errors.api import AuxiliaryMissing, SettingMismatch, UnknownMode
from anadrome.errors.sparse import SparseAuxiliary
from anadrome.frontend.verbs import Verb, verb

Function = Callable[..., Any]


# ---------------------------------------------------------------------------- jit
@Verb
def jit(
    function: Function | None = None,
    *,
    config: Config | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
) -> Any:
    """Compile a function: `@ad.jit`, `ad.jit(f)` or `@ad.jit(config=…)`.

    Numbers and arrays are run-time values, so one program serves all their values and, above
    `config.small_dimension`, all sizes. Strings, functions and other hashable objects are static: a program
    is made for each. `static_argnums` and `static_argnames` declare further arguments static.

    The arrays in the arguments of `donate_argnums` and `donate_argnames` are given away: the call may write
    into them, and results may have their memory. Afterwards what they hold is undefined, they are read-only,
    and as arguments they are refused (`DonatedArray`). Results are the same with and without.

    Raises `ValueError` for a position or name that the function does not have, and for an argument that is
    both static and donated.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.jit
    ... def total(xs):
    ...     return sum(x * x for x in xs)
    >>> float(total(np.array([1.0, 2.0])))
    5.0
    >>> step = ad.jit(lambda x, rate: x - rate * x, donate_argnums=0)
    >>> x = np.ones(1000)
    >>> for _ in range(3):
    ...     x = step(x, 0.5)
    >>> float(x[0])
    0.125
    """
    if function is None:
        return functools.partial(
            jit,
            config=config,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
        )
    if config is not None and not isinstance(config, Config):
        help = "make one of the settings: `ad.Config(threads=1)`"
        raise SettingMismatch("jit", "config", "an `ad.Config`", config, help)
    options = Options(
        config or options_of(function).config,
        parameter_numbers("jit", "static_argnums", function, static_argnums),
        known_names("jit", "static_argnames", function, static_argnames),
        parameter_numbers("jit", "donate_argnums", function, donate_argnums),
        known_names("jit", "donate_argnames", function, donate_argnames),
    )
    _refuse_donated_statics(function, options)
    return Compiled("jit", function, plain_call, options)


def _refuse_donated_statics(function: Function, options: Options) -> None:
    """Refuse an argument that is declared static and donated."""
    names = parameter_names(function)
    static = _meant(options.static_argnums, options.static_argnames, names)
    settings: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
        "donate_argnums": (options.donate_argnums, ()),
        "donate_argnames": ((), options.donate_argnames),
    }
    for setting, (numbers, given) in settings.items():
        if not static.isdisjoint(_meant(numbers, given, names)):
            help = "a static argument is a value that the program is made for; donate arrays"
            raise SettingMismatch("jit", setting, "arguments that are not static", numbers or given, help)


def _meant(numbers: tuple[int, ...], given: tuple[str, ...], names: tuple[str, ...]) -> set[int | str]:
    places, keywords = meant_arguments(numbers, given, names, len(names))
    return {*places, *keywords}


# ---------------------------------------------------------------------------- reverse mode
@Verb
def grad(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Compiled:
    """The gradient of a scalar-valued function, by its first argument or those of `argnums`.

    `argnums` are positions and names of arguments, `argnames` names. The gradient has the form of the
    argument; for a tuple of `argnums` or `argnames` it is a tuple. With `has_aux` the function gives a pair
    and so does its gradient: the second part is passed through.

    Of a complex argument z = x + iy the gradient is ∂f/∂x - i·∂f/∂y; with `holomorphic` the result is complex
    too, and the gradient is f'(z).

    >>> import anadrome as ad
    >>> float(ad.grad(lambda x: x**3)(2.0))
    12.0
    >>> float(ad.grad(lambda x, *, scale: scale * x**3, argnames="scale")(2.0, scale=5.0))
    8.0
    >>> ad.grad(lambda z: abs(z) ** 2)(3 + 4j)
    (6-8j)
    >>> ad.grad(lambda z: z * z, holomorphic=True)(3 + 4j)
    (6+8j)
    """
    chosen = selection("grad", argnums, argnames)
    return transformed("grad", function, Gradient(chosen, has_aux, "grad", holomorphic))


@Verb
def value_and_grad(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Compiled:
    """The result of a function and its gradient, as `grad` gives it; with `has_aux`, `(pair, gradient)`.

    >>> import anadrome as ad
    >>> value, slope = ad.value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(slope)
    (9.0, 6.0)
    """
    chosen = selection("value_and_grad", argnums, argnames)
    return transformed("value_and_grad", function, ValueAndGradient(chosen, has_aux, holomorphic))


@verb(stage_vjp)
def vjp(function: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The result at the primals and a function from cotangents of the result to those of all arguments.

    With `has_aux` the function gives a pair, whose second part comes back as a third result.

    >>> import anadrome as ad
    >>> value, pullback = ad.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> tuple(float(part) for part in pullback(1.0))
    (3.0, 2.0)
    """
    outcome = transformed("jit", function, plain_call)(*primals)
    pullback = Pullback(function, primals, has_aux)
    if not has_aux:
        return outcome, pullback
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise AuxiliaryMissing("vjp", outcome_words(outcome))
    return outcome[0], pullback, outcome[1]


# ---------------------------------------------------------------------------- forward mode
@verb(push_forward_values)
def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """The result at the primals and its derivative along the tangents, which have the form of the primals.

    With `has_aux` the function gives a pair, whose second part comes back as a third result.

    >>> import anadrome as ad
    >>> value, tangent = ad.jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(value), float(tangent)
    (9.0, 6.0)
    """
    pair = (as_tuple("the primals", primals), as_tuple("the tangents", tangents))
    return transformed("jvp", function, PushForward(has_aux), has_own_arguments=True)(*pair)


@verb(stage_hvp)
def hvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The Hessian of a scalar-valued function, times a vector: forward over reverse.

    The product has the form of the argument; for several arguments it is a tuple.

    >>> import anadrome as ad
    >>> float(ad.hvp(lambda x: x**3, (2.0,), (1.0,)))
    12.0
    """
    pair = (as_tuple("the primals", primals), as_tuple("the tangents", tangents))
    return transformed("hvp", function, hessian_product_rule, has_own_arguments=True)(*pair)


@verb(stage_linearize)
def linearize(function: Function, *primals: Any) -> Any:
    """The result at the primals and the derivative there: a linear function of one tangent for each argument.

    The linear function is compiled once, for all primals and tangents; it runs the function again beside its
    tangents, on the primals as they were. For many tangents at once take `vmap` of it, or `jacobian`.

    >>> import anadrome as ad
    >>> value, push = ad.linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> float(value), float(push(1.0, 0.0)), float(push(0.0, 1.0))
    (6.0, 3.0, 2.0)
    >>> import numpy as np
    >>> ad.vmap(push)(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    array([3., 2.])
    """
    outcome = transformed("jit", function, plain_call)(*primals)
    return outcome, Pushforward(function, primals)


# ---------------------------------------------------------------------------- Jacobians
@Verb
def jacfwd(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Compiled:
    """The Jacobian by forward mode: one direction for each element of the arguments, so for few inputs.

    The derivative of a result of shape s by an argument of shape t has shape s + t. Results may be complex;
    complex arguments are for holomorphic functions, with `holomorphic`, whose derivative is f'(z).

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    chosen = selection("jacfwd", argnums, argnames)
    return transformed("jacfwd", function, ForwardJacobian(chosen, has_aux, holomorphic))


@Verb
def jacrev(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    holomorphic: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
) -> Compiled:
    """The Jacobian by reverse mode: one sweep for each element of the result, so for few outputs.

    Arguments may be complex, for which each row is as a gradient; complex results are for holomorphic
    functions, with `holomorphic`, whose derivative is f'(z).

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    chosen = selection("jacrev", argnums, argnames)
    return transformed("jacrev", function, ReverseJacobian(chosen, has_aux, holomorphic))


@Verb
def jacobian(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    mode: str = "auto",
    sparse: bool = False,
    holomorphic: bool = False,
) -> Compiled | SparseDerivative:
    """The Jacobian of a function: `jacfwd` (mode "forward"), `jacrev` ("reverse"), or the better ("auto").

    "auto" takes forward mode where the arguments hold no more numbers than the results. What counts is what
    is known when the program is compiled: sizes above `config.small_dimension` are taken to be equal.
    The derivative of a result of shape s by an argument of shape t has shape s + t.

    With `sparse` each of these is a `scipy.sparse.csr_array` of two dimensions instead: as many rows as the
    result has elements, as many columns as the argument has. Its pattern is found in the program, and columns
    (or rows) that never meet share one direction; see `sparsity`. `holomorphic` is as in `jacfwd`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    >>> ad.jacobian(lambda x: x * x, sparse=True)(np.array([1.0, 2.0])).data
    array([2., 4.])
    """
    chosen = selection("jacobian", argnums, argnames)
    if sparse:
        _refuse_auxiliary("jacobian", has_aux)
        return sparse_jacobian(function, chosen, mode)
    rules: dict[str, Callable[..., Rule]] = {
        "auto": EitherJacobian,
        "forward": ForwardJacobian,
        "reverse": ReverseJacobian,
    }
    if mode not in rules:
        raise UnknownMode(mode, tuple(rules))
    return transformed("jacobian", function, rules[mode](chosen, has_aux, holomorphic))


@Verb
def hessian(
    function: Function,
    argnums: Argnums | None = None,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    sparse: bool = False,
    holomorphic: bool = False,
) -> Compiled | SparseDerivative:
    """The matrix of second derivatives of a scalar-valued function: forward over reverse.

    With `has_aux` the function gives a pair and so does its Hessian: the second part is passed through.
    With `sparse` it is a `scipy.sparse.csr_array`, as in `jacobian`, computed along few directions.
    Complex arguments are for holomorphic functions, with `holomorphic`, whose Hessian is f''(z).

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    chosen = selection("hessian", argnums, argnames)
    if sparse:
        _refuse_auxiliary("hessian", has_aux)
        return sparse_hessian(function, chosen)
    return transformed("hessian", function, SecondDerivatives(chosen, has_aux, holomorphic))


@Verb
def sparsity(
    function: Function,
    argnums: Argnums | None = None,
    *,
    mode: str = "auto",
    argnames: str | Sequence[str] | None = None,
) -> Callable[..., Sparsity]:
    """Where the Jacobian of a function may be other than zero, and along how many directions it is computed.

    `sparsity(f)(*args)` runs nothing: it follows the program at the sizes and integers of the arguments. What
    it finds holds for all values of the arguments that `argnums` names. For a Hessian ask its derivative:
    `hessian(f, sparse=True).sparsity(*args)`. Raises `PatternSize` where a size depends on these values, and
    `PatternTooLarge` where the pattern could not be stored.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> found = ad.sparsity(lambda x: x[1:] - x[:-1])(np.zeros(4))
    >>> print(found)
    3 × 4, 6 elements, 2 forward directions
    >>> found.pattern.toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    chosen = selection("sparsity", argnums, argnames)
    return sparse_jacobian(function, chosen, mode).sparsity


def _refuse_auxiliary(transform: str, has_aux: bool) -> None:
    if has_aux:
        raise SparseAuxiliary(transform)


# ---------------------------------------------------------------------------- others
@Verb
def vmap(function: Function, in_axes: Axes = 0, out_axes: Axes = 0) -> Compiled:
    """The function of one row made a function of many: the axes of `in_axes` are gone over in parallel.

    An axis of None passes an argument to every row as it is. Loops and branches run for each row by itself.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> ad.vmap(lambda x, y: x * y, in_axes=(0, None))(np.array([1.0, 2.0]), 3.0)
    array([3., 6.])
    """
    return transformed("vmap", function, OverRows(in_axes, out_axes), has_own_arguments=True)


@verb(stop_values)
def stop_gradient(value: Any) -> Any:
    """The value, whose derivative is taken to be zero.

    >>> import anadrome as ad
    >>> float(ad.grad(lambda x: x * ad.stop_gradient(x))(3.0))
    3.0
    """
    return value
