"""The rules by which library functions take complex values: what the rows of `forms` name.

* elementwise: a formula of the parts at every place;
* by parts: a function that is linear with real coefficients, or moves elements, on either part by itself;
* multilinear: a product, as the sum of the products of the parts, each with a power of i.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from anadrome.errors.frontend import ComplexRefused
from anadrome.frontend.arrays import as_array, describe
from anadrome.frontend.complex_numbers import operators
from anadrome.frontend.complex_numbers.formulas import RealRule, Rule
from anadrome.frontend.complex_numbers.parts import complex_of, from_parts, has_complex, split
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import table_name
from anadrome.frontend.operators import apply_prim
from anadrome.frontend.values import Complex, Scalar, Value


# ---------------------------------------------------------------------------- results
def strong(value: Complex) -> Complex:
    """A number as NumPy gives it, which keeps its type (NEP 50)."""
    if not value.is_weak:
        return value
    return Complex(*(Scalar(part.atom) for part in (value.real, value.imag) if isinstance(part, Scalar)))


def together(context: Context, real: Value, imag: Value) -> Value:
    """Two results of a function, one of each part, as its complex result; lists and tuples item by item."""
    if isinstance(real, list | tuple) and isinstance(imag, list | tuple):
        return type(real)(together(context, a, b) for a, b in zip(real, imag, strict=True))
    return from_parts(context, as_array(context, real), as_array(context, imag))


def _sides(context: Context, value: Value, is_list: bool) -> tuple[Value, Value]:
    """Both parts of an argument; of a list of arrays to be joined, of every array in it."""
    if is_list and isinstance(value, list | tuple):
        items = [complex_of(context, item) for item in value]
        return [item.real for item in items], [item.imag for item in items]
    found = complex_of(context, value)
    return found.real, found.imag


# ---------------------------------------------------------------------------- at every element
def elementwise(ufunc: Callable[..., object], rule: Rule) -> StagedCall:
    """A function of one complex number at every place."""

    def staged(context: Context, x: Value) -> Value:
        return strong(operators.over_pairs(context, (x,), rule, table_name(ufunc)))

    return staged


def elementwise_real(ufunc: Callable[..., object], rule: RealRule) -> StagedCall:
    """A function of one complex number with a real result, at every place."""

    def staged(context: Context, x: Value) -> Value:
        found = operators.over_real(context, x, rule, table_name(ufunc))
        return Scalar(found.atom) if isinstance(found, Scalar) else found

    return staged


def of_two(rule: Callable[[Context, Value, Value], Complex]) -> StagedCall:
    """A function of two operands, as an operator has it."""

    def staged(context: Context, x1: Value, x2: Value) -> Value:
        return strong(rule(context, x1, x2))

    return staged


def of_nonzero(form: StagedCall) -> StagedCall:
    """A function that asks of every element whether it is 0."""

    def staged(context: Context, a: Value, *args: Value, **kwargs: Value) -> Value:
        return form(context, operators.nonzero(context, a), *args, **kwargs)

    return staged


# ---------------------------------------------------------------------------- part by part
def by_parts(
    form: StagedCall, positions: Sequence[int] = (0,), is_list: bool = False, limit: int = 3
) -> StagedCall:
    """The real form on either part of the arguments at `positions`.

    The other arguments say where elements go: at most `limit` by position, and the names in `PLACES`.
    """

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        known = PLACES | ELEMENTS
        _refuse_values(context, [*args[limit:], *(v for k, v in kwargs.items() if k not in known)])
        halves: list[list[Value]] = [[], []]
        named: list[dict[str, Value]] = [{}, {}]
        for name, value in kwargs.items():
            is_element = name in ELEMENTS and value is not None
            sides = _sides(context, value, False) if is_element else (value, value)
            for given, side in zip(named, sides, strict=True):
                given[name] = side
        for position, value in enumerate(args):
            sides = (value, value)
            if position in positions:
                sides = _sides(context, value, is_list)
            elif has_complex(value) or isinstance(value, type | np.dtype):
                raise ComplexRefused("this argument", describe(value), context.span)
            for half, side in zip(halves, sides, strict=True):
                half.append(side)
        results = [form(context, *half, **given) for half, given in zip(halves, named, strict=True)]
        return together(context, *results)

    return staged


def _refuse_values(context: Context, values: Sequence[Value]) -> None:
    """Arguments that are neither places nor neutral would mean something else for either part."""
    for value in values:
        if value is not None and value is not True:
            help = "do without it, or do the same to `z.real` and `z.imag`"
            raise ComplexRefused(f"a call with {describe(value)} here", "complex", context.span, help)


PLACES = frozenset(
    {"axis", "axes", "shape", "newshape", "keepdims"}
    | {"k", "offset", "axis1", "axis2", "shift", "repeats", "reps", "indices_or_sections", "indices", "order"}
    | {"n", "source", "destination", "num", "endpoint", "mode", "edge_order", "copy", "weights", "x", "dx"}
    | {"where"}
)
"""Arguments that say where elements are, whatever the elements."""

ELEMENTS = frozenset({"initial", "prepend", "append"})
"""Arguments that are elements themselves: each part gets theirs."""


def _refuse(context: Context, value: Value) -> None:
    if has_complex(value):
        raise ComplexRefused("this argument", describe(value), context.span)


def chosen(form: StagedCall) -> StagedCall:
    """np.compress and np.extract: the elements where a condition holds"""

    def staged(context: Context, condition: Value, a: Value, axis: Value = None) -> Value:
        extra = {} if axis is None else {"axis": axis}
        _refuse(context, condition)
        found = complex_of(context, a)
        return together(
            context, *(form(context, condition, part, **extra) for part in (found.real, found.imag))
        )

    return staged


# ---------------------------------------------------------------------------- products
def multilinear(form: StagedCall, positions: Sequence[int], conjugated: Sequence[int] = ()) -> StagedCall:
    """Σ over the choices of a part of each complex operand: i^(imaginary parts chosen) · form(parts).

    The operand at a position in `conjugated` counts as its conjugate.
    """

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        for value in kwargs.values():
            _refuse(context, value)
        chosen = [place for place in positions if place < len(args) and has_complex(args[place])]
        parts = {place: split(context, args[place]) for place in chosen}
        total: list[Value] = [None, None]
        for choice in itertools.product((0, 1), repeat=len(chosen)):
            given = list(args)
            for place, side in zip(chosen, choice, strict=True):
                given[place] = parts[place][side]
            turns = sum(
                3 if place in conjugated else 1 for place, side in zip(chosen, choice, strict=True) if side
            )
            found = form(context, *given, **kwargs)
            total[turns % 2] = _added(context, total[turns % 2], found, is_negative=turns % 4 >= 2)
        return together(context, total[0], total[1])

    return staged


def _added(context: Context, total: Value, found: Value, is_negative: bool) -> Value:
    if total is None:
        return context.call(np.negative, found) if is_negative else found
    return apply_prim(context, "sub" if is_negative else "add", total, found)
