"""Making IR values of what a program holds: numbers, NumPy arrays, nested lists of staged values."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np

from anadrome.array_ir.build import as_var
from anadrome.array_ir.nodes import FALSE, Apply, ArrayType, Atom, Const, Size, Var
from anadrome.dtypes import BOOL, F32, F64, I64, DType
from anadrome.errors.base import Span, indefinite
from anadrome.errors.frontend import (
    RUN_TEXT,
    BranchesDiffer,
    ComplexRefused,
    FrontendError,
    MayBeNone,
    ShapeMismatch,
    UnsupportedType,
)
from anadrome.frontend.context import Context, dtype_of
from anadrome.frontend.sizes import retype, show_shape
from anadrome.frontend.sparse_matrices import sparse_help
from anadrome.frontend.structures import can_refer, reference_of
from anadrome.frontend.values import (
    Array,
    Cell,
    Complex,
    Maybe,
    Missing,
    RunText,
    Scalar,
    Staged,
    Value,
    Weak,
    common_weak,
    python_name,
)
from anadrome.frontend.views import laid_out_like, layout_in_memory
from anadrome.prims.table import PRIMS


def type_of(context: Context, value: Value) -> tuple[DType, bool]:
    """The scalar type of a number or array, and whether it is a Python number that adapts (NEP 50)."""
    match value:
        case Maybe():
            raise undecided(value, context.span)
        case Scalar(is_weak=is_weak):
            return value.dtype, bool(is_weak) and value.dtype is not BOOL
        case Array():
            return value.dtype, False
        case Complex() | complex() | np.complexfloating():
            raise ComplexRefused("this operation", describe(value), context.span)
        case np.ndarray() | np.generic():
            return dtype_of(value.dtype, context.span), False
        case bool():
            return BOOL, False
        case int():
            return I64, True
        case float():
            return F64, True
        case list() | tuple():
            return as_array(context, value).dtype, False
        case _:
            raise UnsupportedType("a number or array", describe(value), context.span, sparse_help(value))


def weakness(value: Value) -> Weak:
    """Whether a number is Python's own: a bool too, which never adapts its type."""
    match value:
        case Scalar():
            return value.is_weak if value.dtype is BOOL else bool(value.is_weak)
        case Complex():
            return value.is_weak
        case _:
            return isinstance(value, int | float | complex) and not isinstance(value, np.generic)


def describe(value: Value) -> str:
    """What a value is, in a user's words."""
    match value:
        case Scalar():
            return value.dtype.numpy_name
        case Array():
            return f"{value.dtype.numpy_name}{show_shape(value.shape)}"
        case Complex():
            name = "complex64" if value.dtype is F32 else "complex128"
            return f"{name}{show_shape(value.shape)}" if value.shape else name
        case np.ndarray():
            return f"{value.dtype}{value.shape}"
        case complex() if type(value) is complex:
            return "complex128"
        case bool() | int() | float() | np.generic():
            return {"int": "int64", "float": "float64"}.get(type(value).__name__, type(value).__name__)
        case RunText():
            return RUN_TEXT
        case Maybe(value=one, other=Scalar() as two):
            return f"{describe(one)} or {describe(two)}"
        case Maybe():
            return "a value that may be None"
        case None:
            return "None"
        case Missing(differs=(str() as then, str() as other)):
            return f"{then} or {other if other != then else 'another one'}"
        case Missing():
            return "nothing on some of the ways"
        case str() if len(value) <= 30:
            return repr(value)
        case enum.Enum():
            return str(value)
        case _:
            return indefinite(python_name(value))


def undecided(value: Maybe, span: Span | None, what: str = "this value", help: str = "") -> FrontendError:
    """The error of a value that is used where only the run knows what it is."""
    if value.other is None:
        return MayBeNone(span, what, help)
    return BranchesDiffer(what, describe(value.value), describe(value.other), span)


def atom(context: Context, value: Value, dtype: DType | None = None) -> Atom:
    """A number or array as an atom; `dtype` converts scalars and gives static numbers their type."""
    match value:
        case Scalar(atom=found):
            return found if dtype is None else context.builder.convert(found, dtype)
        case Array():
            var = context.read(value)
            return var if dtype is None else convert(context, var, dtype)
        case bool() | int() | float() | np.generic():
            plain, own = (
                (value.item() if isinstance(value, np.generic) else value),
                type_of(context, value)[0],
            )
            if dtype is None or own.is_float or not dtype.is_integer:
                return _converted(context, plain, own, dtype)
            return context.constant(plain, dtype)
        case _:
            return atom(context, as_array(context, value, dtype))


def _converted(context: Context, plain: object, own: DType, dtype: DType | None) -> Atom:
    constant = context.constant(plain, own)
    return constant if dtype is None else context.builder.convert(constant, dtype)


def convert(context: Context, var: Atom, dtype: DType) -> Atom:
    """The value with its elements as another scalar type."""
    if var.type.dtype is dtype:
        return var
    if not isinstance(var, Var) or not var.type.shape:
        return context.builder.convert(var, dtype)
    source = var
    return context.builder.build(
        source.type.shape, lambda inner, indices: inner.convert(inner.index(source, indices), dtype)
    )


def as_array(context: Context, value: Value, dtype: DType | None = None) -> Staged:
    """What `np.asarray` makes of a value: staged values as they are, lists as arrays of their rows."""
    match value:
        case Maybe():
            raise undecided(value, context.span)
        case Scalar() | Array():
            if dtype is None or value.dtype is dtype:
                return value
            return context.wrap(atom(context, value, dtype))
        case np.ndarray():
            return _static_array(context, value, dtype)
        case Complex() | complex() | np.complexfloating():
            raise ComplexRefused("this operation", describe(value), context.span)
        case bool() | int() | float() | np.generic():
            return Scalar(atom(context, value, dtype))
        case list() | tuple():
            return _rows(context, value, dtype)
        case _:
            raise UnsupportedType("an array or number", describe(value), context.span, sparse_help(value))


def boxed(context: Context, found: Atom) -> Array:
    """An array of no dimensions that holds a number: it can be written, and shared by several names."""
    return Array(Cell(variable_of(context, found), context.scope))


def variable_of(context: Context, found: Atom) -> Var:
    """A number as a variable."""
    if isinstance(found, Var):
        return found
    name, zero = ("or", FALSE) if found.type.dtype is BOOL else ("add", context.constant(0, found.type.dtype))
    return context.builder.let_one(Apply(PRIMS[name], (found, zero)))


def unboxed(context: Context, value: Value) -> Value:
    """An array of no dimensions as the number that it holds now; any other value as it is."""
    match value:
        case Array(shape=()):
            return Scalar(context.read(value), is_weak=False)
        case Complex(real=Array(shape=()) as real, imag=Array() as imag):
            return Complex(Scalar(context.read(real)), Scalar(context.read(imag)))
        case _:
            return value


def _static_array(context: Context, array: np.ndarray, dtype: DType | None) -> Staged:
    own = dtype_of(array.dtype, context.span)
    target = dtype or own
    if array.ndim == 0:
        context.surroundings.elements(array)
        return Scalar(atom(context, array[()], target))
    if array.size == 0:
        return context.wrap(context.builder.full(_constant_shape(array), context.constant(0, target)))
    if array.size > context.config.literal_limit:
        captured = context.captured_array(array)
        if target is own:
            return captured
        converted = context.wrap(convert(context, context.read(captured), target))
        return laid_out_like(context, converted, (captured,), is_elementwise=True)
    context.surroundings.elements(array)
    first = array.flat[0]
    if array.size > 4 and bool(np.all(array == first)) and not np.any(np.signbit(array) != np.signbit(first)):
        made = context.wrap(context.builder.full(_constant_shape(array), atom(context, first, target)))
    else:
        made = context.wrap(_literal(context, array, target))
    if isinstance(made, Array) and not array.flags.c_contiguous:
        made.cell.layout = layout_in_memory(array)
    return made


def _constant_shape(array: np.ndarray) -> tuple[Size, ...]:
    return tuple(Const(size, I64) for size in array.shape)


def _literal(context: Context, array: np.ndarray, dtype: DType) -> Atom:
    if array.ndim == 0:
        return atom(context, array[()], dtype)
    return context.builder.literal([_literal(context, np.asarray(row), dtype) for row in array])


def _rows(context: Context, rows: Sequence[Value], dtype: DType | None) -> Staged:
    """A literal of the rows, promoted to one type."""
    objects = [leaf for leaf in _leaves(rows) if reference_of(leaf) is not None or _is_made(context, leaf)]
    if objects:
        help = "make an array, or list, of its numbers"
        context.grows(rows, UnsupportedType("an item of an array", describe(objects[0]), context.span, help))
    if not any(isinstance(leaf, Scalar | Array | Complex | Maybe | RunText) for leaf in _leaves(rows)):
        try:
            context.surroundings.whole(rows)
            found = np.array(rows)
            context.surroundings.made(found)
            return _static_array(context, found, dtype)
        except ValueError:
            raise UnsupportedType("an array", "rows of different lengths", context.span) from None
    parts = [as_array(context, row, None) for row in rows]
    target = dtype or common_type(context, parts)
    atoms = [atom(context, part, target) for part in parts]
    first = atoms[0].type
    assert isinstance(first, ArrayType)
    fitted: list[Atom] = []
    for one in atoms:
        if len(one.type.shape) != first.rank:
            raise ShapeMismatch("rows", show_shape(first.shape), show_shape(one.type.shape), context.span)
        fitted.append(one if not first.shape else retype(context, as_var(one), first, "rows"))
    return context.wrap(context.builder.literal(fitted))


def _is_made(context: Context, value: Value) -> bool:
    """Whether a value is an instance that the program has made."""
    return context.is_made(value) and can_refer(value)


def common_type(context: Context, parts: Sequence[Staged]) -> DType:
    """The type of an array of these rows. In a list a Python number is of the type that NumPy has for it, and
    gives way to nothing: `np.array([np.float32(1), 2.0])` is of float64."""
    return dtype_of(np.result_type(*(part.dtype.numpy for part in parts)), context.span)


def _leaves(value: Value) -> list[Value]:
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def promote_one(context: Context, values: tuple[Value, Value], operation: str) -> tuple[DType, Weak]:
    """The common scalar type of two values of which one is taken, and whether that is a Python number."""
    dtype, is_weak = promote(context, values, operation)
    return dtype, common_weak(*map(weakness, values)) if dtype is BOOL else is_weak


def promote(context: Context, values: Sequence[Value], operation: str) -> tuple[DType, Weak]:
    """The common scalar type of operands (NEP 50), and whether the result is again a Python number."""
    strong: list[DType] = []
    weak: list[DType] = []
    for value in values:
        dtype, is_weak = type_of(context, value)
        (weak if is_weak else strong).append(dtype)
    examples: list[object] = [dtype.numpy for dtype in strong]
    examples += [0.0 if dtype.is_float else 0 for dtype in weak]
    if not strong:
        return (F64 if F64 in weak else I64), True
    found = np.result_type(*examples)  # type: ignore[arg-type]
    owners = [weakness(value) for value in values]
    return dtype_of(found, context.span), False if False in owners else None if None in owners else True
