"""The compiled forms of library functions for complex values: literal tables, and which call takes which.

A function without a row here is refused where a complex value goes into it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy

from anadrome.errors.frontend import ComplexRefused
from anadrome.frontend.arrays import describe
from anadrome.frontend.complex_numbers import (
    cosine,
    decompositions,
    formulas,
    fourier,
    mathematics,
    operators,
)
from anadrome.frontend.complex_numbers.functions import (
    add_at,
    all_close,
    angle,
    appended,
    argsort,
    condition,
    conjugate,
    einsum,
    exponential,
    imaginary_part,
    inverse,
    is_close,
    norm,
    padded,
    real_part,
    solve,
    sort,
    sort_in_place,
    spread,
    where,
)
from anadrome.frontend.complex_numbers.making import (
    astype,
    contiguous,
    conversion,
    full,
    full_like,
    new_array,
    python_complex,
    same_array,
    typed,
    typed_like,
    typed_matrix,
)
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, is_complex, numpy_type, part_type
from anadrome.frontend.complex_numbers.products import cumulative_product, product
from anadrome.frontend.complex_numbers.rules import (
    by_parts,
    chosen,
    elementwise,
    elementwise_real,
    multilinear,
    of_nonzero,
    of_two,
)
from anadrome.frontend.complex_numbers.storing import write_complex
from anadrome.frontend.context import Context, StagedCall
from anadrome.frontend.library import ATTRIBUTES, CALLS, METHODS
from anadrome.frontend.library.attributes import byte_count
from anadrome.frontend.library.common import checked, table_name
from anadrome.frontend.library.in_place import copying, filling, into, method_into
from anadrome.frontend.tables import Late, Table
from anadrome.frontend.values import Complex, Value

_MOVES: tuple[Callable[..., object], ...] = (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze),
    *(np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.flip, np.flipud, np.fliplr),
    *(np.roll, np.repeat, np.tile, np.diag, np.diagonal, np.tril, np.triu, np.rot90, np.copy),
    *(np.take, np.take_along_axis, np.split, np.hsplit, np.vsplit, np.rollaxis, np.matrix_transpose),
    *(np.linalg.matrix_transpose, np.diagflat, np.resize, np.lib.stride_tricks.sliding_window_view),
    *(np.sum, np.mean, np.cumsum, np.diff, np.trace, np.ediff1d, np.gradient, np.average, np.trapezoid),
)
"""Functions of their first argument that move its elements, or are linear with real coefficients."""

_JOINS: tuple[Callable[..., object], ...] = (
    *(np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack),
)
"""Functions of a list of arrays."""

_COMPOSED: tuple[Callable[..., object], ...] = (
    *(np.isreal, np.iscomplex, np.linalg.matrix_norm, np.linalg.matrix_rank, np.linalg.trace),
    *(np.linalg.diagonal,),
)
"""Functions whose form calls functions that take complex numbers."""

_PRODUCTS: Mapping[Callable[..., object], tuple[int, ...]] = {
    np.dot: (),
    np.matmul: (),
    np.inner: (),
    np.outer: (),
    np.vdot: (0,),
    np.tensordot: (),
    np.kron: (),
    np.cross: (),
    np.vecdot: (0,),
    np.matvec: (),
    np.vecmat: (0,),
    np.linalg.vecdot: (0,),
    np.linalg.outer: (),
    np.linalg.matmul: (),
    np.linalg.tensordot: (),
    np.linalg.cross: (),
    np.convolve: (),
    np.correlate: (1,),
}
"""Products of two operands -> those that count as their conjugates."""


def method(name: str) -> StagedCall:
    """A method that moves elements, on either part."""
    return by_parts(METHODS[name], limit=99)


def as_function(function: Callable[..., object]) -> StagedCall:
    """A method that is a function of the table by another name."""
    return lambda context, *args, **kwargs: context.call(function, *args, **kwargs)


_ABOUT_PARTS: dict[Callable[..., Any], StagedCall] = {
    complex: python_complex,
    np.complex64: conversion(np.complex64),
    np.complex128: conversion(np.complex128),
    np.angle: angle,
    np.imag: imaginary_part,
    np.iscomplexobj: lambda context, x: is_complex(x),
    np.isrealobj: lambda context, x: not is_complex(x),
}

OWN_CALLS: Table[StagedCall] = Table(
    (_ABOUT_PARTS, mathematics.CALLS, fourier.CALLS, cosine.CALLS, decompositions.CALLS)
)
"""Functions about complex numbers, whatever they are given: used for real arguments as well."""

_COMPLEX_CALLS: Mapping[Callable[..., Any], StagedCall] = {
    **{ufunc: elementwise(ufunc, rule) for ufunc, rule in formulas.UNARY.items()},
    **{ufunc: elementwise_real(ufunc, rule) for ufunc, rule in formulas.REAL.items()},
    np.add: of_two(lambda context, a, b: operators.over_pairs(context, (a, b), formulas.add, "np.add")),
    np.subtract: of_two(
        lambda context, a, b: operators.over_pairs(context, (a, b), formulas.subtract, "np.subtract")
    ),
    np.multiply: of_two(operators.multiply),
    np.divide: of_two(operators.divide),
    np.power: of_two(operators.power),
    np.equal: lambda context, x1, x2: operators.compare(context, ast.Eq, x1, x2),
    np.not_equal: lambda context, x1, x2: operators.compare(context, ast.NotEq, x1, x2),
    np.less: lambda context, x1, x2: operators.compare(context, ast.Lt, x1, x2, True),
    np.less_equal: lambda context, x1, x2: operators.compare(context, ast.LtE, x1, x2, True),
    np.greater: lambda context, x1, x2: operators.compare(context, ast.Gt, x1, x2, True),
    np.greater_equal: lambda context, x1, x2: operators.compare(context, ast.GtE, x1, x2, True),
    np.sort: sort,
    np.argsort: argsort,
    np.add.at: add_at(np.add.at),
    np.subtract.at: add_at(np.subtract.at),
    np.logical_not: of_nonzero(CALLS[np.logical_not]),
    np.any: of_nonzero(CALLS[np.any]),
    np.all: of_nonzero(CALLS[np.all]),
    np.count_nonzero: of_nonzero(CALLS[np.count_nonzero]),
    np.nonzero: of_nonzero(CALLS[np.nonzero]),
    np.flatnonzero: of_nonzero(CALLS[np.flatnonzero]),
    np.real: real_part,
    np.where: where,
    np.isclose: is_close,
    np.allclose: all_close,
    **{function: by_parts(CALLS[function]) for function in _MOVES},
    **{function: CALLS[function] for function in _COMPOSED},
    **{function: by_parts(CALLS[function], is_list=True) for function in _JOINS},
    **{function: multilinear(CALLS[function], (0, 1), bars) for function, bars in _PRODUCTS.items()},
    np.einsum: einsum,
    np.linspace: by_parts(CALLS[np.linspace], (0, 1)),
    np.append: appended,
    np.pad: padded,
    np.compress: chosen(CALLS[np.compress]),
    np.extract: chosen(CALLS[np.extract]),
    np.prod: product,
    np.cumprod: cumulative_product,
    np.var: spread(is_root=False),
    np.std: spread(is_root=True),
    np.copyto: copying(write_complex),
    np.linalg.norm: norm,
    np.linalg.cond: condition,
    np.linalg.solve: solve,
    np.linalg.inv: inverse,
    **decompositions.COMPLEX_CALLS,
    np.zeros: typed(CALLS[np.zeros]),
    np.ones: typed(CALLS[np.ones]),
    np.empty: typed(CALLS[np.empty]),
    np.eye: typed_matrix(CALLS[np.eye]),
    np.identity: typed_matrix(CALLS[np.identity]),
    np.zeros_like: typed_like(CALLS[np.zeros_like]),
    np.ones_like: typed_like(CALLS[np.ones_like]),
    np.empty_like: typed_like(CALLS[np.empty_like]),
    np.full: full,
    np.full_like: full_like,
    np.array: new_array,
    np.asarray: same_array,
    np.asanyarray: same_array,
    np.ascontiguousarray: contiguous,
    np.shape: lambda context, a: CALLS[np.shape](context, complex_of(context, a).real),
    np.ndim: lambda context, a: CALLS[np.ndim](context, complex_of(context, a).real),
    np.size: lambda context, a: CALLS[np.size](context, complex_of(context, a).real),
    abs: lambda context, x: operators.over_real(context, x, formulas.absolute, "abs"),
    pow: lambda context, base, exp: operators.power(context, base, exp),
}

COMPLEX_CALLS: Table[StagedCall] = Table(
    (_COMPLEX_CALLS, Late("scipy.linalg", lambda: {scipy.linalg.expm: exponential}), OWN_CALLS),
    lambda function, form: into(function, checked(table_name(function), form), write_complex),
)
"""A callable -> its compiled form where a complex value, or a complex dtype, is among the arguments."""


def _of_real_part(attribute: Callable[..., Value], context: Context, value: Complex) -> Value:
    return attribute(context, value.real)


_COMPLEX_METHODS: Mapping[str, StagedCall] = {
    **{name: method(name) for name in ("reshape", "ravel", "flatten", "transpose", "swapaxes", "squeeze")},
    **{name: method(name) for name in ("repeat", "trace", "diagonal", "take", "copy", "item")},
    **{name: method(name) for name in ("sum", "mean", "cumsum")},
    "conj": as_function(np.conjugate),
    "conjugate": conjugate,
    "prod": as_function(np.prod),
    "cumprod": as_function(np.cumprod),
    "var": as_function(np.var),
    "std": as_function(np.std),
    "any": as_function(np.any),
    "all": as_function(np.all),
    "nonzero": as_function(np.nonzero),
    "dot": as_function(np.dot),
    "astype": astype,
    "argsort": as_function(np.argsort),
    "sort": sort_in_place,
    "fill": filling(write_complex),
}

COMPLEX_METHODS: dict[str, StagedCall] = {
    name: method_into(name, checked(name, form), write_complex) for name, form in _COMPLEX_METHODS.items()
}
"""The name of a method of a complex array -> its compiled form."""

COMPLEX_ATTRIBUTES: dict[str, Callable[[Context, Complex], Value]] = {
    **{name: partial(_of_real_part, ATTRIBUTES[name]) for name in ("shape", "size", "ndim")},
    "itemsize": lambda context, value: numpy_type(value.dtype).itemsize,
    "nbytes": lambda context, value: byte_count(context, value.real, parts=2),
    "dtype": lambda context, value: numpy_type(value.dtype),
    "real": lambda context, value: value.real,
    "imag": lambda context, value: value.imag,
    "T": lambda context, value: COMPLEX_METHODS["transpose"](context, value),
}
"""The name of an attribute of a complex value -> function(context, value) -> value."""


# ---------------------------------------------------------------------------- which call takes which
def complex_method(
    name: str, owner: Value, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> StagedCall | None:
    """The form of a method of a complex value, or of a real array that meets one, as `x.dot(z)` does."""
    if isinstance(owner, Complex):
        return COMPLEX_METHODS[name]
    if not asks_complex(args, kwargs):
        return None
    return COMPLEX_METHODS[name] if name in ("dot", "astype") else refusing(f"`.{name}`")


def complex_call(
    function: Callable[..., object], args: Sequence[Value], kwargs: Mapping[str, Value]
) -> StagedCall | None:
    """The form of a library function for complex arguments; None where nothing is complex."""
    if not asks_complex(args, kwargs) and function not in OWN_CALLS:
        return None
    return COMPLEX_CALLS.get(function) or refusing(f"`{table_name(function)}`")


def asks_complex(args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a complex value or a complex dtype is among the arguments."""
    given = (*args, *kwargs.values())
    return any(has_complex(value) or part_type(value) is not None for value in given)


def refusing(what: str) -> StagedCall:
    """The form of a function that has none for complex values."""

    def staged(context: Context, *args: Value, **kwargs: Value) -> Value:
        got = next((describe(one) for one in (*args, *kwargs.values()) if has_complex(one)), "complex")
        raise ComplexRefused(what, got, context.span)

    return staged
