"""The compiled forms of the methods of random generators, NumPy's and Python's."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from anadrome.array_ir.nodes import Check
from anadrome.dtypes import F64, I64, DType
from anadrome.errors.frontend import ShapeMismatch, UnsupportedCall
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.drawing import GENERATORS, STATES, Seeded, known, raw, stand_in
from anadrome.frontend.library.common import optional_dtype
from anadrome.frontend.sizes import agree, show_shape, size_value
from anadrome.frontend.structures import has_staged
from anadrome.frontend.values import Array, Scalar, ScopeKind, Value, is_staged
from anadrome.prims.node import replace

MAKERS = (np.random.default_rng, np.random.RandomState, random.Random)

OLD_STATE = getattr(np.random.rand, "__self__", None)
"""What the functions of `np.random` draw from."""

UNBOUND = (np.random.seed, np.random.ranf, np.random.sample)
"""Functions of the old interface that are no methods of its state."""


# ---------------------------------------------------------------------------- which form
def is_random(function: Value) -> bool:
    """Whether a function draws from a generator, makes one, or belongs to one."""
    if isinstance(getattr(function, "__self__", None), (*GENERATORS, *STATES)):
        return True
    return any(function is one for one in (*MAKERS, *UNBOUND))


def form_of(context: Context, function: Any) -> StagedCall:
    """The compiled form of a function that `is_random`."""
    if function is np.random.default_rng:
        return default_rng
    if function is random.Random:
        return _python_generator
    if function is np.random.RandomState:
        return _old_generator
    owner, name = getattr(function, "__self__", None), str(function.__name__)
    if function in (np.random.ranf, np.random.sample):
        owner, name = OLD_STATE, "random_sample"
    if name == "seed":
        raise UnsupportedCall(
            name, context.span, "the numbers are drawn before the program runs", REFUSED["seed"]
        )
    table = next((table for kind, table in TABLES.items() if isinstance(owner, kind)), {})
    if name not in table:
        help = REFUSED.get(
            name, "draw the numbers outside the compiled function and pass them as an argument"
        )
        raise UnsupportedCall(f"rng.{name}", context.span, "this distribution is not compiled", help)
    return partial(_bound, table[name], owner)


def _bound(form: StagedCall, owner: object, context: Context, *args: Value, **kwargs: Value) -> Value:
    return form(context, owner, *args, **kwargs)


# ---------------------------------------------------------------------------- generators made inside
def default_rng(context: Context, seed: Value = None) -> Value:
    """`np.random.default_rng(seed)`"""
    if isinstance(seed, np.random.Generator):
        return seed
    return _seeded(context, np.random.default_rng, "np.random.default_rng", seed)


def _python_generator(context: Context, x: Value = None) -> Value:
    """`random.Random(seed)`"""
    return _seeded(context, random.Random, "random.Random", x)


def _old_generator(context: Context, seed: Value = None) -> Value:
    """`np.random.RandomState(seed)`"""
    return _seeded(context, np.random.RandomState, "np.random.RandomState", seed)


def _seeded(context: Context, make: Callable[..., object], name: str, seed: Value) -> Value:
    if context.scope.kind not in (ScopeKind.FUNCTION, ScopeKind.OPEN):
        help = "make the generator before it"
        raise UnsupportedCall(name, context.span, f"it is made in {context.scope.kind.value}", help)
    kind: Any = np.random.Generator if make is np.random.default_rng else make
    return stand_in(context, Seeded(make, (known(context, name, seed),)), kind)


# ---------------------------------------------------------------------------- distributions
def _plain(method: str, *names: str, dtype: DType = F64) -> StagedCall:
    """A distribution whose parameters are known before the program runs."""
    order = (*names, "size", "dtype")

    def form(context: Context, rng: object, *args: Value, **kwargs: Value) -> Value:
        if len(args) > len(order):
            raise UnsupportedCall(f"rng.{method}", context.span, "it has too many arguments")
        named = {**dict(zip(order, args, strict=False)), **kwargs}
        _refuse_options(context, method, named)
        size = named.pop("size", None)
        if size is None and not has_staged(list(named.values())):
            shapes = [np.asarray(named[one]).shape for one in names if one in named]
            size = np.broadcast_shapes(*shapes) or None
        found = optional_dtype(context, named.get("dtype")) or dtype
        if size is None and found.is_float:
            found = F64
        return raw(context, rng, method, (), size, found, named, is_weak=found is F64)

    return form


def _refuse_options(context: Context, method: str, named: Mapping[str, Value]) -> None:
    if named.get("out") is not None:
        raise UnsupportedCall(f"rng.{method}", context.span, "`out` is not supported", "assign: `x[...] = …`")


def _moved(method: str, standard: str, arguments: tuple[float, ...] = ()) -> StagedCall:
    """loc + scale * z, where z is of the standard distribution."""

    def form(
        context: Context, rng: object, loc: Value = 0.0, scale: Value = 1.0, size: Value = None
    ) -> Value:
        if not (has_staged(loc) or has_staged(scale)) and size is not None:
            return raw(context, rng, method, (loc, scale), size)
        _check_scale(context, scale)
        z = _standard(context, rng, method, standard, arguments, (loc, scale), size)
        return _fitted(context, method, context.call(np.add, loc, context.call(np.multiply, scale, z)), z)

    return form


def _stretched(method: str, standard: str, arguments: tuple[float, ...] = ()) -> StagedCall:
    """scale * z, where z is of the standard distribution."""

    def form(context: Context, rng: object, scale: Value = 1.0, size: Value = None) -> Value:
        _check_scale(context, scale)
        z = _standard(context, rng, method, standard, arguments, (scale,), size)
        return _fitted(context, method, context.call(np.multiply, scale, z), z)

    return form


def _uniform(context: Context, rng: object, low: Value = 0.0, high: Value = 1.0, size: Value = None) -> Value:
    """low + (high - low) * u"""
    width = context.call(np.subtract, high, low)
    u = _standard(context, rng, "uniform", "random", (), (low, high), size)
    return _fitted(context, "uniform", context.call(np.add, low, context.call(np.multiply, width, u)), u)


def _lognormal(
    context: Context, rng: object, mean: Value = 0.0, sigma: Value = 1.0, size: Value = None
) -> Value:
    """exp(mean + sigma * z)"""
    return context.call(np.exp, METHODS["normal"](context, rng, mean, sigma, size))


def _gamma(context: Context, rng: object, shape: Value, scale: Value = 1.0, size: Value = None) -> Value:
    """scale * z of a shape that is known before the program runs"""
    _check_scale(context, scale)
    z = _standard(context, rng, "gamma", "standard_gamma", (shape,), (shape, scale), size)
    return _fitted(context, "gamma", context.call(np.multiply, scale, z), z)


def _standard(
    context: Context,
    rng: object,
    method: str,
    standard: str,
    arguments: tuple[Value, ...],
    parameters: tuple[Value, ...],
    size: Value,
) -> Value:
    """The standard distribution, in as many numbers as `size` or else the parameters say; no Python number,
    so that what is computed of it are doubles."""
    if size is None:
        whole: Value = 0.0
        for one in parameters:
            whole = context.call(np.add, whole, one)
        if isinstance(whole, Array | Scalar):
            size = tuple(size_value(context, one) for one in whole.shape)
        else:
            size = np.asarray(whole).shape
    return raw(context, rng, standard, arguments, size or None, is_weak=False)


def _fitted(context: Context, method: str, found: Value, drawn: Value) -> Value:
    """The result, which has the shape of what was drawn: parameters are broadcast to it, never it to them."""
    shape, wanted = found.shape, drawn.shape  # type: ignore[attr-defined]
    if len(shape) != len(wanted):
        raise ShapeMismatch(f"rng.{method}", show_shape(shape), show_shape(wanted), context.span)
    for one, other in zip(shape, wanted, strict=True):
        agree(context, one, other, f"rng.{method}")
    return Scalar(found.atom, is_weak=True) if isinstance(found, Scalar) else found


def _check_scale(context: Context, scale: Value) -> None:
    """NumPy refuses a negative scale; so does the program, when it runs."""
    if not is_staged(scale):
        if np.any(np.asarray(scale) < 0):
            raise UnsupportedCall("a distribution with a negative scale", context.span, "scale < 0")
        return
    negative = context.call(operator.lt, scale, 0)
    found = context.call(np.any, negative) if isinstance(negative, Array) else negative
    if isinstance(found, Scalar):
        holds = context.builder.apply("not", found.atom)
        context.builder.let(Check(holds, "raise", "ValueError: scale < 0", ()))


# ---------------------------------------------------------------------------- places and orders
def _choice(
    context: Context,
    rng: object,
    a: Value,
    size: Value = None,
    replace: Value = True,
    p: Value = None,
    axis: Value = 0,
    shuffle: Value = True,
) -> Value:
    """`a[places]`, where the places are a choice of as many whole numbers"""
    named = {"replace": replace, "p": p, "shuffle": shuffle}
    count = _count(context, "choice", a, axis)
    places = raw(context, rng, "choice", (count,), size, I64, named, is_weak=False)
    return places if _is_number(a) else context.call(np.take, a, places, axis=axis)


def _old_choice(
    context: Context, rng: object, a: Value, size: Value = None, replace: Value = True, p: Value = None
) -> Value:
    """`choice` of the old interface, whose method takes no axis"""
    named = {"replace": replace, "p": p}
    places = raw(context, rng, "choice", (_count(context, "choice", a, 0),), size, I64, named, is_weak=False)
    return places if _is_number(a) else context.call(np.take, a, places)


def _of_sizes(method: str) -> StagedCall:
    """A method of the old interface that is given the sizes one by one."""

    def form(context: Context, rng: object, *sizes: Value) -> Value:
        return raw(context, rng, method, (), sizes or None)

    return form


def _permutation(context: Context, rng: object, x: Value, axis: Value = 0) -> Value:
    """`x[order]`"""
    count = _count(context, "permutation", x, axis)
    drawn = _order(context, rng, count)
    return drawn if _is_number(x) else context.call(np.take, x, drawn, axis=axis)


def _shuffle(context: Context, rng: object, x: Value, axis: Value = 0) -> Value:
    """`x[...] = x[order]`"""
    if not isinstance(x, Array):
        help = "write `order = rng.permutation(len(x))` and take `x[k]` for k in it"
        raise UnsupportedCall("rng.shuffle", context.span, f"this is {describe(x)}, no array", help)
    drawn = _order(context, rng, _count(context, "shuffle", x, axis))
    context.call(np.copyto, x, context.call(np.take, x, drawn, axis=axis))
    return None


def _order(context: Context, rng: object, count: Value) -> Value:
    """A permutation of whole numbers, of which NumPy's method takes the count and no `size`."""
    found = raw(context, rng, "permutation", (), (count,), I64, is_weak=False)
    last = context.draws[-1]
    context.draws[-1] = replace(last, arguments=last.named["size"], named={})
    return found


def _is_number(value: Value) -> bool:
    return isinstance(value, int | np.integer) or (isinstance(value, Scalar) and value.dtype.is_integer)


def _count(context: Context, method: str, value: Value, axis: Value) -> Value:
    """How many there are to choose from."""
    if _is_number(value):
        return value
    if not isinstance(value, Array | np.ndarray | list | tuple) or not isinstance(axis, int):
        help = "choose places, `k = rng.integers(len(x))`, and take `x[k]`"
        raise UnsupportedCall(f"rng.{method}", context.span, f"it is called with {describe(value)}", help)
    return context.call(np.shape, value)[axis]  # type: ignore[index]


METHODS: Mapping[str, StagedCall] = {
    "random": _plain("random"),
    "standard_normal": _plain("standard_normal"),
    "standard_exponential": _plain("standard_exponential"),
    "standard_cauchy": _plain("standard_cauchy"),
    "standard_gamma": _plain("standard_gamma", "shape"),
    "standard_t": _plain("standard_t", "df"),
    "beta": _plain("beta", "a", "b"),
    "chisquare": _plain("chisquare", "df"),
    "f": _plain("f", "dfnum", "dfden"),
    "pareto": _plain("pareto", "a"),
    "power": _plain("power", "a"),
    "triangular": _plain("triangular", "left", "mode", "right"),
    "vonmises": _plain("vonmises", "mu", "kappa"),
    "wald": _plain("wald", "mean", "scale"),
    "weibull": _plain("weibull", "a"),
    "binomial": _plain("binomial", "n", "p", dtype=I64),
    "geometric": _plain("geometric", "p", dtype=I64),
    "negative_binomial": _plain("negative_binomial", "n", "p", dtype=I64),
    "poisson": _plain("poisson", "lam", dtype=I64),
    "integers": _plain("integers", "low", "high", dtype=I64),
    "normal": _moved("normal", "standard_normal"),
    "laplace": _moved("laplace", "laplace"),
    "logistic": _moved("logistic", "logistic"),
    "gumbel": _moved("gumbel", "gumbel"),
    "exponential": _stretched("exponential", "standard_exponential"),
    "rayleigh": _stretched("rayleigh", "rayleigh"),
    "gamma": _gamma,
    "lognormal": _lognormal,
    "uniform": _uniform,
    "choice": _choice,
    "permutation": _permutation,
    "shuffle": _shuffle,
}
"""A method of NumPy's generators -> its compiled form: (context, generator, *args, **kwargs)."""


OLD_METHODS: Mapping[str, StagedCall] = {
    **{name: form for name, form in METHODS.items() if hasattr(np.random.RandomState, name)},
    "rand": _of_sizes("random_sample"),
    "randn": _of_sizes("standard_normal"),
    "random": _plain("random_sample"),
    "random_sample": _plain("random_sample"),
    "randint": _plain("randint", "low", "high", dtype=I64),
    "choice": _old_choice,
    "permutation": lambda context, rng, x: _permutation(context, rng, x),
    "shuffle": lambda context, rng, x: _shuffle(context, rng, x),
}
"""A method of the old generators, and a function of `np.random` -> its compiled form."""


# ---------------------------------------------------------------------------- Python's own
def _python(method: str, dtype: DType = F64) -> StagedCall:
    """A method of `random.Random` whose parameters are known before the program runs."""

    def form(context: Context, rng: object, *args: Value) -> Value:
        return raw(context, rng, method, args, None, dtype)

    return form


def _python_uniform(context: Context, rng: object, a: Value, b: Value) -> Value:
    """a + (b - a) * u"""
    u = raw(context, rng, "random", (), None)
    width = context.call(np.subtract, b, a)
    return _weak(context.call(np.add, a, context.call(np.multiply, width, u)))


def _python_normal(method: str) -> StagedCall:
    """mu + z * sigma"""

    def form(context: Context, rng: object, mu: Value = 0.0, sigma: Value = 1.0) -> Value:
        z = raw(context, rng, method, (0.0, 1.0), None)
        return _weak(context.call(np.add, mu, context.call(np.multiply, z, sigma)))

    return form


def _weak(value: Value) -> Value:
    return Scalar(value.atom, is_weak=True) if isinstance(value, Scalar) else value


def _python_choice(context: Context, rng: object, seq: Value) -> Value:
    """`seq[place]`"""
    count = context.call(len, seq)
    return context.call(np.take, seq, raw(context, rng, "randrange", (count,), None, I64), axis=0)


PYTHON_METHODS: Mapping[str, StagedCall] = {
    "random": _python("random"),
    "uniform": _python_uniform,
    "gauss": _python_normal("gauss"),
    "normalvariate": _python_normal("normalvariate"),
    "expovariate": _python("expovariate"),
    "betavariate": _python("betavariate"),
    "gammavariate": _python("gammavariate"),
    "randint": _python("randint", I64),
    "randrange": _python("randrange", I64),
    "choice": _python_choice,
}
"""A method of `random.Random` -> its compiled form."""

TABLES: Mapping[type, Mapping[str, StagedCall]] = {
    np.random.Generator: METHODS,
    np.random.RandomState: OLD_METHODS,
    random.Random: PYTHON_METHODS,
}
"""A type of generators -> the compiled forms of its methods."""

REFUSED: Mapping[str, str] = {
    "seed": "seed it outside, before the call, or make a generator: `rng = np.random.default_rng(0)`",
    "multivariate_normal": "write `mean + np.linalg.cholesky(cov) @ rng.standard_normal(len(mean))`: it is "
    "differentiated by both; the numbers are others, for NumPy takes another root of the covariance",
    "dirichlet": "write `g = rng.standard_gamma(alpha, size=len(alpha))` outside, and pass `g / g.sum()`",
    "permuted": "write `rng.permutation(x)`, or draw the order outside",
    "sample": "draw places outside, `rng.sample(range(len(x)), k)`, and pass them as an array",
    "spawn": "make the generators outside, and pass them as arguments",
}
"""A method that has no compiled form -> what to write instead."""
