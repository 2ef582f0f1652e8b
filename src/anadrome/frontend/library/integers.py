"""The functions of `math` on whole numbers: factorials, binomial coefficients, divisors, roots.

Python's integers have any number of bits, those of a compiled program 64. A result that does not fit ends in
an `OverflowError` with the line; it never wraps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, Atom, Bounds, Const, Var, i64
from anadrome.dtypes import F64, I64
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.frontend.arrays import atom, describe, type_of
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library.common import require
from anadrome.frontend.values import Array, Complex, Scalar, Value

LARGEST, SMALLEST = int(np.iinfo(np.int64).max), int(np.iinfo(np.int64).min)
FACTORIALS = tuple(math.factorial(n) for n in range(21))
"""Those that 64 bits hold."""
LARGEST_ROOT = math.isqrt(LARGEST)


# ---------------------------------------------------------------------------- operands and checks
def _whole(context: Context, name: str, value: Value) -> Atom:
    """An operand as an i64; Python refuses floats and arrays."""
    is_number = not isinstance(value, Array | Complex | np.ndarray | list | tuple)
    if not is_number or type_of(context, value)[0].is_float:
        raise UnsupportedArgument(name, f"{describe(value)} where an integer is expected", context.span)
    return atom(context, value, I64)


def _require(context: Context, condition: Atom, words: str, *values: Atom) -> None:
    if condition != TRUE:
        require(context, condition, "raise", words, values)


def _require_natural(context: Context, name: str, value: Atom) -> None:
    is_natural = context.builder.apply("ge", value, i64(0))
    _require(context, is_natural, f"ValueError: {name}: {{0}} is negative", value)


def _require_fit(context: Context, name: str, fits: Atom, *values: Atom) -> None:
    shown = ", ".join(f"{{{k}}}" for k in range(len(values)))
    words = f"OverflowError: {name}({shown}) has more than 64 bits"
    _require(context, fits, words, *values)


def _result(found: Atom) -> Value:
    return Scalar(found, is_weak=True)


# ---------------------------------------------------------------------------- counting
def factorial(context: Context, x: Value) -> Value:
    """math.factorial, up to 20!"""
    name, n = "math.factorial", _whole(context, "math.factorial", x)
    builder = context.builder
    _require_natural(context, name, n)
    _require_fit(context, name, builder.apply("le", n, i64(len(FACTORIALS) - 1)), n)
    table = builder.literal([i64(value) for value in FACTORIALS])
    return _result(builder.index(table, (n,), Bounds.CHECKED))


def permutations(context: Context, n: Value, k: Value = None) -> Value:
    """math.perm: n·(n-1)·…·(n-k+1)"""
    if k is None:
        return factorial(context, n)
    name = "math.perm"
    count, taken = _whole(context, name, n), _whole(context, name, k)
    for one in (count, taken):
        _require_natural(context, name, one)

    def step(inner: Builder, total: Atom, index: Atom) -> tuple[Atom, Atom]:
        factor = inner.apply("sub", count, index)
        fits = inner.apply("le", total, inner.apply("floordiv", i64(LARGEST), _at_least_one(inner, factor)))
        return inner.apply("mul", total, factor), fits

    return _product(context, name, (count, taken), taken, step)


def combinations(context: Context, n: Value, k: Value) -> Value:
    """math.comb: c ← c·(n-k+i)/i, where c = q·i + r is multiplied as q·(n-k+i) + r·(n-k+i)/i, so that nothing
    larger than the result arises"""
    name, builder = "math.comb", context.builder
    count, taken = _whole(context, name, n), _whole(context, name, k)
    for one in (count, taken):
        _require_natural(context, name, one)
    fewer = builder.apply("min", taken, builder.apply("sub", count, taken))
    rest = builder.apply("sub", count, fewer)

    def step(inner: Builder, total: Atom, index: Atom) -> tuple[Atom, Atom]:
        divisor = inner.apply("add", index, i64(1))
        factor = inner.apply("add", rest, divisor)
        quotient, remainder = inner.apply("floordiv", total, divisor), inner.apply("mod", total, divisor)
        # (r·factor)/i with factor = a·i + b is r·a + r·b/i
        part = inner.apply("mul", remainder, inner.apply("floordiv", factor, divisor))
        low = inner.apply("mul", remainder, inner.apply("mod", factor, divisor))
        part = inner.apply("add", part, inner.apply("floordiv", low, divisor))
        room = inner.apply("floordiv", inner.apply("sub", i64(LARGEST), part), _at_least_one(inner, factor))
        fits = inner.apply("le", quotient, room)
        return inner.apply("add", inner.apply("mul", quotient, factor), part), fits

    return _product(context, name, (count, taken), fewer, step)


def _at_least_one(builder: Builder, value: Atom) -> Atom:
    return builder.apply("max", value, i64(1))


def _product(
    context: Context,
    name: str,
    given: tuple[Atom, Atom],
    steps: Atom,
    step: Callable[[Builder, Atom, Atom], tuple[Atom, Atom]],
) -> Value:
    """The product that `step` goes on with, 0 where there are more to be taken than there are; it ends at the
    first number that does not fit."""
    builder, (count, taken) = context.builder, given
    is_none = builder.apply("gt", taken, count)
    wanted = builder.select(is_none, i64(0), steps)

    def is_open(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        index, _, fits = carried
        return inner.apply("and", inner.apply("lt", index, wanted), fits)

    def body(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        index, total, _ = carried
        following, fits = step(inner, total, index)
        return inner.apply("add", index, i64(1)), following, fits

    _, total, fits = builder.while_loop((i64(0), i64(1), TRUE), is_open, body)
    _require_fit(context, name, fits, count, taken)
    return _result(builder.select(is_none, i64(0), total))


# ---------------------------------------------------------------------------- divisors
def greatest_divisor(context: Context, *integers: Value) -> Value:
    """math.gcd by Euclid's algorithm"""
    name = "math.gcd"
    found = [_whole(context, name, one) for one in integers]
    total: Atom = i64(0)
    for one in found:
        total = _gcd(context.builder, total, one)
    _require_fit(context, name, context.builder.apply("ne", total, i64(SMALLEST)), *found)
    return _result(context.builder.apply("abs", total))


def _gcd(builder: Builder, left: Atom, right: Atom) -> Atom:
    """The greatest common divisor, with some sign."""

    def is_open(inner: Builder, carried: tuple[Var, ...]) -> Atom:
        return inner.apply("ne", carried[1], i64(0))

    def body(inner: Builder, carried: tuple[Var, ...]) -> Sequence[Atom]:
        return carried[1], inner.apply("mod", carried[0], carried[1])

    if isinstance(left, Const) and not left.value:
        return right
    return builder.while_loop((left, right), is_open, body)[0]


def least_multiple(context: Context, *integers: Value) -> Value:
    """math.lcm: a/gcd(a, b)·b, 0 where one of them is"""
    name, builder = "math.lcm", context.builder
    found = [_whole(context, name, one) for one in integers]
    total: Atom = i64(1)
    fits: Atom = TRUE
    for one in found:
        size = builder.apply("abs", one)
        divisor = _at_least_one(builder, builder.apply("abs", _gcd(builder, total, one)))
        factor = builder.apply("floordiv", total, divisor)
        room = builder.apply("floordiv", i64(LARGEST), _at_least_one(builder, size))
        fits = builder.apply("and", fits, builder.apply("le", factor, room))
        fits = builder.apply("and", fits, builder.apply("ne", one, i64(SMALLEST)))
        total = builder.apply("mul", factor, size)
    is_none: Atom = FALSE
    for one in found:
        is_none = builder.apply("or", is_none, builder.apply("eq", one, i64(0)))
    _require_fit(context, name, builder.apply("or", fits, is_none), *found)
    return _result(builder.select(is_none, i64(0), total))


def whole_root(context: Context, n: Value) -> Value:
    """math.isqrt: the root of the float, and one less or more where its square is too large or small"""
    name, value = "math.isqrt", _whole(context, "math.isqrt", n)
    builder = context.builder
    _require_natural(context, name, value)
    root = builder.convert(builder.apply("sqrt", builder.convert(value, F64)), I64)
    root = builder.apply("min", builder.apply("max", root, i64(0)), i64(LARGEST_ROOT))
    is_large = builder.apply("gt", builder.apply("mul", root, root), value)
    root = builder.apply("sub", root, builder.convert(is_large, I64))
    above = builder.apply("min", builder.apply("add", root, i64(1)), i64(LARGEST_ROOT))
    has_room = builder.apply("le", builder.apply("mul", above, above), value)
    return _result(builder.select(has_room, above, root))


CALLS: dict[Callable[..., object], StagedCall] = {
    math.factorial: factorial,
    math.perm: permutations,
    math.comb: combinations,
    math.gcd: greatest_divisor,
    math.lcm: least_multiple,
    math.isqrt: whole_root,
}
