"""The distributions of `scipy.stats`: their methods, of a distribution and of one with its parameters given.

Arguments, ends of the support, and what is NaN are SciPy's (`rv_continuous.logpdf` and its kin).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom
from anadrome.dtypes import F64, DType
from anadrome.errors.frontend import CallMismatch, UnsupportedCall
from anadrome.frontend.arrays import as_array
from anadrome.frontend.context import Context, StagedCall, dtype_of
from anadrome.frontend.library.densities import DISTRIBUTIONS, METHODS, Distribution, Formula, whole
from anadrome.frontend.library.elementwise import over_elements
from anadrome.frontend.library.terms import Term, row
from anadrome.frontend.tables import Key, Late
from anadrome.frontend.values import Value

QUANTILES = ("ppf", "isf")
OUTSIDE: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("logpdf", "logpmf"), (-math.inf, -math.inf)),
    **dict.fromkeys(("pdf", "pmf"), (0.0, 0.0)),
    "cdf": (0.0, 1.0),
    "logcdf": (-math.inf, 0.0),
    "sf": (1.0, 0.0),
    "logsf": (0.0, -math.inf),
}
"""Method -> what it is below the support, and above."""


# ---------------------------------------------------------------------------- calls
def evaluated(context: Context, method: str, kind: Value, x: Value, parameters: Sequence[Value]) -> Value:
    """A method of a distribution at x; `parameters` are its shapes, loc and scale."""
    name, own = _known(context, kind, method)
    formula = own.formula(method)
    if formula is None:
        help = "compiled forms are there for " + ", ".join(f"`{one}`" for one in own.methods())
        raise UnsupportedCall(name, context.span, "this method has no compiled form", help)
    *shapes, loc, scale = parameters
    if method in QUANTILES:
        types = (_common_type(context, (x, *shapes)), F64, F64, *(F64 for _ in shapes))
    else:
        types = (*(_common_type(context, (x, loc, scale)),) * 3, *(F64 for _ in shapes))

    def rule(builder: Builder, scalars: tuple[Atom, ...]) -> Atom:
        place, at, size, *rest = (Term(builder, one) for one in scalars)
        return _value(own, formula, method, (place, at, size), rest).atom

    return over_elements(context, (x, loc, scale, *shapes), types, rule, name)


def _known(context: Context, kind: Value, method: str) -> tuple[str, Distribution]:
    """What a user calls the method, and the row of the distribution; refused where there is none."""
    assert isinstance(kind, scipy.stats.rv_continuous | scipy.stats.rv_discrete)
    name = f"scipy.stats.{kind.name}.{method}"
    own = DISTRIBUTIONS.get(kind.name)
    if own is None or type(kind) is not type(getattr(scipy.stats, kind.name, None)):
        help = f"distributions with compiled forms are {', '.join(DISTRIBUTIONS)}"
        raise UnsupportedCall(name, context.span, "this distribution has no compiled form", help)
    return name, own


def _common_type(context: Context, values: Sequence[Value]) -> DType:
    """The type NumPy computes with, where numbers count as arrays do."""
    found = np.result_type(*(as_array(context, value).dtype.numpy for value in values))
    return dtype_of(found, context.span) if found.kind == "f" else F64


def parameters_of(
    context: Context, kind: Value, method: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> list[Value]:
    """The shapes, loc and scale of a call, by position or name; a discrete distribution has no scale."""
    name, own = _known(context, kind, method)
    names = [*own.shapes, "loc", *(() if own.is_discrete else ("scale",))]
    found: dict[str, Value] = {"loc": 0.0, "scale": 1.0}
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names):
        raise CallMismatch(name, f"{len(args)} parameters, and there are {len(names)}", context.span)
    for key, value in kwargs.items():
        if key not in names:
            raise CallMismatch(name, f"no parameter is named `{key}`", context.span)
        if key in given:
            raise CallMismatch(name, f"the parameter `{key}` is given twice", context.span)
        given[key] = value
    for shape in own.shapes:
        if shape not in given:
            raise CallMismatch(name, f"the parameter `{shape}` is missing", context.span)
    found |= given
    return [found[key] for key in (*own.shapes, "loc", "scale")]


# ---------------------------------------------------------------------------- values
def _value(
    own: Distribution, formula: Formula, method: str, place: tuple[Term, Term, Term], shapes: Sequence[Term]
) -> Term:
    x, loc, scale = place
    if method in QUANTILES:
        inside = (x >= 0.0) & (x <= 1.0) & _is_valid(own, scale, shapes)
        found = _in_double(formula(inside.select(x, 0.5), *shapes)) * scale + loc
        return inside.select(found, math.nan)
    standard, size = _in_double((x - loc) / scale), _in_double(scale)
    standard = whole(standard) if own.is_discrete else standard
    found = _inside_support(own, formula, method, standard, size, shapes)
    return _is_valid(own, scale, shapes).select(found, math.nan)


def _in_double(term: Term) -> Term:
    return Term(term.builder, term.builder.convert(term.atom, F64))


def _is_valid(own: Distribution, scale: Term, shapes: Sequence[Term]) -> Term:
    holds = scale > 0.0
    if own.is_valid is not None:
        return holds & own.is_valid(*shapes)
    for shape in shapes:
        holds = holds & (shape > 0.0)
    return holds


def _inside_support(
    own: Distribution, formula: Formula, method: str, x: Term, scale: Term, shapes: Sequence[Term]
) -> Term:
    """The formula inside the support, which a density has its ends in and a cumulative one has not; a whole
    number belongs to a discrete support as far as its upper end, where the cumulative probability is 1."""
    is_density = method in ("logpdf", "pdf", "logpmf", "pmf")
    is_below, is_above = _sides(own, x, shapes, is_density)
    inner = x
    for is_outside in (is_below, is_above):
        inner = inner if is_outside is None else is_outside.select(own.inner, inner)
    if own.is_discrete and is_density:
        is_part = _is_part(x)
        inner = is_part.select(own.inner, inner)
    found = formula(inner, *shapes)
    if method == "logpdf":
        found = found - row("log")(scale)
    elif method == "pdf":
        found = found / scale
    below, above = OUTSIDE[method]
    if is_below is not None:
        found = is_below.select(below, found)
    if is_above is not None:
        found = is_above.select(above, found)
    if own.is_discrete and is_density:
        found = is_part.select(below, found)
    return row("isnan")(x).select(x, found)


def _sides(
    own: Distribution, x: Term, shapes: Sequence[Term], is_density: bool
) -> tuple[Term | None, Term | None]:
    """Whether x is below the support, and above it; None where the support has no such end."""
    upper = own.upper(*shapes) if callable(own.upper) else own.upper
    if is_density and not own.is_open:
        is_below, is_above = x < own.lower, x > upper
    else:
        is_below = x < own.lower if own.is_discrete else x <= own.lower
        is_above = x >= upper
    has_upper = isinstance(upper, Term) or upper != math.inf or own.is_open or own.is_discrete
    return (is_below if own.lower != -math.inf else None), (is_above if has_upper else None)


def _is_part(x: Term) -> Term:
    """Whether a number is not whole."""
    return row("ne")(row("floor")(x), x)


# ---------------------------------------------------------------------------- with given parameters
class Frozen:
    """A distribution with its parameters, made in a compiled program: `scipy.stats.norm(loc, scale)`."""

    def __init__(
        self, kind: Any, methods: Sequence[str], args: Sequence[Value], kwds: Mapping[str, Value]
    ) -> None:
        self.kind, self.methods, self.args, self.kwds = kind, tuple(methods), tuple(args), dict(kwds)
        self.__name__ = f"scipy.stats.{getattr(kind, 'name', type(kind).__name__.removesuffix('_gen'))}(…)"

    def __dir__(self) -> tuple[str, ...]:
        return self.methods

    def __getattr__(self, name: str) -> FrozenMethod:
        if name not in self.methods:
            raise AttributeError(name)
        return FrozenMethod(self, name)


class FrozenMethod:
    """A method of such a distribution, looked up and not yet called."""

    def __init__(self, owner: Frozen, name: str) -> None:
        self.owner, self.name = owner, name

    def __anadrome_stage__(
        self, context: Context, args: tuple[Value, ...], kwargs: Mapping[str, Value]
    ) -> Value:
        owner = self.owner
        function = getattr(type(owner.kind), self.name)
        return context.call(function, owner.kind, *args, *owner.args, **{**owner.kwds, **kwargs})


def made(
    context: Context, kind: Value, methods: Sequence[str], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """A distribution with its parameters, as an object of the program."""
    found = Frozen(kind, methods, args, kwargs)
    context.made(found)
    return found


def frozen(context: Context, kind: Value, *args: Value, **kwargs: Value) -> Value:
    """scipy.stats.norm(loc, scale)"""
    assert isinstance(kind, scipy.stats.rv_continuous | scipy.stats.rv_discrete)
    methods = METHODS[isinstance(kind, scipy.stats.rv_discrete)]
    parameters_of(context, kind, methods[0], args, kwargs)
    return made(context, kind, methods, args, kwargs)


# ---------------------------------------------------------------------------- the table
def _of_kind(method: str) -> StagedCall:
    """The method of a distribution whose parameters come with the call."""

    def at(context: Context, kind: Value, x: Value, *args: Value, **kwargs: Value) -> Value:
        found = parameters_of(context, kind, method, args, kwargs)
        return evaluated(context, method, kind, x, found)

    return _by_name(method, at)


def _of_frozen(method: str) -> StagedCall:
    """The method of a distribution that SciPy holds with its parameters."""

    def at(context: Context, owner: Any, x: Value) -> Value:
        kind, args, kwargs = (context.attribute_of(owner, name) for name in ("dist", "args", "kwds"))
        assert isinstance(args, tuple) and isinstance(kwargs, dict)
        return context.call(getattr(type(kind), method), kind, x, *args, **kwargs)

    return _by_name(method, at)


def _by_name(method: str, at: StagedCall) -> StagedCall:
    """The form with SciPy's name for the place: q of quantiles, k of masses, else x."""
    first = "q" if method in QUANTILES else "k" if method.endswith("pmf") else "x"

    def staged(context: Context, kind: Value, *args: Value, **kwargs: Value) -> Value:
        if first in kwargs:
            args = (kwargs.pop(first), *args)
        if not args:
            raise CallMismatch(method, f"the argument `{first}` is missing", context.span)
        return at(context, kind, *args, **kwargs)

    return staged


def _calls() -> dict[Key, StagedCall]:
    """The methods as SciPy's classes hold them."""
    rows: dict[Key, StagedCall] = {scipy.stats.rv_continuous.__call__: frozen}
    bases = (scipy.stats.rv_continuous, scipy.stats.rv_discrete)
    examples = (scipy.stats.norm(), scipy.stats.poisson(1.0))
    for methods, base, example in zip(METHODS, bases, examples, strict=True):
        for method in methods:
            rows[getattr(base, method)] = _of_kind(method)
            rows[getattr(type(example), method)] = _of_frozen(method)
    return rows


CALLS = Late("scipy.stats", _calls)
