"""Operators of reductions and scans: the named ones, and a user's function as a lambda of the IR."""

from __future__ import annotations

import operator as python_operators
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import NAMED_OPERATORS, ArrayType, Atom, Body, Lambda, Var
from anadrome.array_ir.operators import identity as neutral
from anadrome.dtypes import BOOL, DType
from anadrome.errors.frontend import FrontendError
from anadrome.errors.parallel import (
    IdentityDiffers,
    IdentityMissing,
    OperatorDiffers,
    OperatorUndefined,
    UnknownOperator,
    UnsuitableValues,
)
from anadrome.frontend.arrays import as_array, atom, describe, type_of
from anadrome.frontend.complex_numbers.parts import has_complex
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.operators import element
from anadrome.frontend.parallel.items import Row, matching, words
from anadrome.frontend.sizes import retype
from anadrome.frontend.values import Array, Cell, Scalar, Value, Weak

SYNONYMS: Mapping[Callable[..., object], str] = {
    python_operators.add: "add",
    python_operators.mul: "mul",
    python_operators.and_: "and",
    python_operators.or_: "or",
    np.add: "add",
    np.multiply: "mul",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "and",
    np.logical_or: "or",
}
"""Functions that are a named operator where that is defined on the values."""


def named(name: str, operator: object) -> str | None:
    """The name of the operator, None for a function; anything else is refused."""
    if isinstance(operator, str):
        if operator in NAMED_OPERATORS:
            return operator
        raise UnknownOperator(name, repr(operator), NAMED_OPERATORS)
    if not callable(operator):
        raise UnknownOperator(name, describe(operator), NAMED_OPERATORS)
    return None


def check_inverse(name: str, inverse: Value) -> None:
    """Refuse what is no function of two values as an operator's inverse."""
    if inverse is not None and not callable(inverse):
        raise UnsuitableValues(name, "inverse", "a function of two values", describe(inverse))


def is_defined(operator: str, dtype: DType) -> bool:
    """Whether a named operator works on a scalar type: logic on bools, the others on numbers."""
    return (operator in ("and", "or")) == (dtype is BOOL)


def named_for(name: str, operator: object, dtypes: Sequence[DType], value: Value = None) -> str | None:
    """The named operator to use on values of these types; None where the operator is a function.

    `value` holds what is combined: of complex numbers, whose parts come one by one, only sums are found so.
    """
    found = named(name, operator)
    if has_complex(value) and found is not None and found != "add":
        raise OperatorUndefined(name, found, "complex128")
    if found is not None:
        for dtype in dtypes:
            if not is_defined(found, dtype):
                raise OperatorUndefined(name, found, dtype.numpy_name)
        return found
    try:
        synonym = SYNONYMS.get(operator)  # type: ignore[call-overload]
    except TypeError:  # a callable object that cannot be hashed
        return None
    if has_complex(value) and synonym != "add":
        return None
    return synonym if synonym is not None and all(is_defined(synonym, one) for one in dtypes) else None


# ---------------------------------------------------------------------------- lambdas
def lambda_of(
    context: Context, name: str, operator: Value, row: Row, identity: Value, inverse: Value = None
) -> Lambda:
    """A user's function of two values as an operator: its body is evaluated once, on variables; so is that of
    its inverse, on the same ones."""
    if identity is None:
        raise IdentityMissing(name)
    start = identity_atoms(context, name, row, identity)
    left, right = (tuple(Var(side, type_) for type_ in row.types) for side in ("left", "right"))
    body = _body_of(context, name, "operator", operator, row, (left, right))
    taken = None if inverse is None else _body_of(context, name, "inverse", inverse, row, (left, right))
    return Lambda(left, right, body, start, taken)


def _body_of(
    context: Context, name: str, role: str, function: Value, row: Row, sides: Sequence[tuple[Var, ...]]
) -> Body:
    """A function of two values, whose result is like them, as a body over these variables."""
    builder = context.builder.child()
    for side in sides:
        builder.bind(*side)
    reason = f"the {role} of `{name}` is called in any order"
    with context.filling(builder) as scope, context.unprinted(reason):
        left, right = (
            row.rebuild(
                iter([_operand(scope, var, is_weak) for var, is_weak in zip(side, row.weak, strict=True)])
            )
            for side in sides
        )
        result = context.call(function, left, right)
        result = made_list(context, result)
        ends = _fitted(context, name, role, row, result)
    return builder.body(ends)


def _operand(scope: object, var: Var, is_weak: Weak) -> Value:
    """A side of the operator: an array belongs to the sequence and is not written into."""
    if not var.type.shape:
        return Scalar(var, is_weak)
    return Array(Cell(var, scope, is_argument=True))  # type: ignore[arg-type]


def _fitted(context: Context, name: str, role: str, row: Row, result: Value) -> list[Atom]:
    """The operator's, or the inverse's, result under the types of its operands."""
    leaves = matching(row.value, result)
    if leaves is None:
        raise OperatorDiffers(name, words(result), words(row.value), role)
    ends: list[Atom] = []
    for leaf, type_ in zip(leaves, row.types, strict=True):
        dtype, is_weak = type_of(context, leaf)
        if not _adapts(dtype, is_weak, type_.dtype):
            raise OperatorDiffers(name, words(result), words(row.value), role)
        found = atom(context, as_array(context, leaf, type_.dtype))
        fitted = found if found.type.shape == type_.shape else _as_row(context, found, type_)
        if fitted is None:
            raise OperatorDiffers(name, words(result), words(row.value), role)
        ends.append(fitted)
    return ends


def _adapts(dtype: DType, is_weak: bool, target: DType) -> bool:
    """Whether a value of one type may stand for another: a Python number for any it fits into."""
    if dtype is target:
        return True
    return is_weak and target is not BOOL and (target.is_float or not dtype.is_float)


def _as_row(context: Context, found: Atom, type_: ArrayType) -> Atom | None:
    """An array of the same sizes under other names; None where they are not known to be the same."""
    if not isinstance(found, Var) or len(found.type.shape) != type_.rank:
        return None
    try:
        return retype(context, found, type_, "the operator")
    except FrontendError:
        return None


def identity_atoms(context: Context, name: str, row: Row, identity: Value) -> tuple[Atom, ...]:
    """The identity with the types of one item; a number stands for a row full of it."""
    identity = made_list(context, identity)
    leaves = matching(row.value, identity)
    if leaves is None:
        raise IdentityDiffers(name, words(identity), words(row.value))
    found: list[Atom] = []
    for leaf, type_ in zip(leaves, row.types, strict=True):
        dtype, is_weak = type_of(context, leaf)
        if not _adapts(dtype, is_weak, type_.dtype):
            raise IdentityDiffers(name, words(identity), words(row.value))
        value = atom(context, as_array(context, leaf, type_.dtype))
        if not value.type.shape:
            found.append(context.builder.full(type_.shape, value))
            continue
        fitted = _as_row(context, value, type_)
        if fitted is None:
            raise IdentityDiffers(name, words(identity), words(row.value))
        found.append(fitted)
    return tuple(found)


def neutral_of(builder: Builder, operator: str, type_: ArrayType) -> Atom:
    """The identity of a named operator, as a row of a type."""
    return builder.full(type_.shape, neutral(operator, type_.dtype))


def combined(builder: Builder, operator: str, left: Atom, right: Atom) -> Atom:
    """left ⊕ right by a named operator, elementwise; both have one type."""
    shape = left.type.shape or right.type.shape
    return builder.build(
        shape,
        lambda inner, at: inner.apply(
            operator, element(inner, left, shape, at), element(inner, right, shape, at)
        ),
    )
