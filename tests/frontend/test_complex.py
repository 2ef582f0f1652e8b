"""Complex numbers in compiled functions: values, scalar types and shapes are NumPy's and Python's."""

from __future__ import annotations

import cmath
import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import (
    AmbiguousTruth,
    BranchesDiffer,
    ChangesType,
    ComplexRefused,
    FrontendError,
    StaticCallFailed,
    UnsupportedType,
    WritesArgument,
)
from anadrome.frontend.complex_numbers import formulas

CONFIG = ad.Config(verify=True)
RANDOM = np.random.default_rng(7)
SINGLE = dict(rtol=3e-5, atol=3e-5)
DOUBLE = dict(rtol=2e-13, atol=2e-13)


def drawn(*shape: int, scale: float = 1.0) -> Any:
    """Complex numbers of this shape."""
    return scale * (RANDOM.normal(size=shape) + 1j * RANDOM.normal(size=shape))


def agree(function: Callable[..., Any], *args: Any) -> None:
    """The compiled function gives what Python gives: values, scalar types, shapes, Python numbers."""
    wanted = function(*copy.deepcopy(args))
    found = ad.jit(function, config=CONFIG)(*copy.deepcopy(args))
    _same(found, wanted)


def _same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, two in zip(found, wanted, strict=True):
            _same(one, two)
        return
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    assert np.shape(found) == np.shape(wanted)
    assert (type(found) is complex) == (type(wanted) is complex)
    is_single = np.asarray(wanted).dtype in (np.complex64, np.float32)
    np.testing.assert_allclose(found, wanted, **(SINGLE if is_single else DOUBLE))


# ---------------------------------------------------------------------------- elementwise functions
POINTS = np.array(
    [
        *(0.3 - 0.2j, -1.7 + 0.4j, 2.5 + 3.1j, -0.6 - 2.2j, 1e-9 + 1e-9j, 1.0 + 1e-10j, -3e-5j + 1e-3),
        *(12 + 9j, -20 + 3j, 0.999 + 0.001j, 1e-12 - 0.4j),
    ]
)


@pytest.mark.parametrize("ufunc", formulas.UNARY, ids=lambda ufunc: ufunc.__name__)
def test_functions_of_one_number(ufunc: np.ufunc) -> None:
    agree(lambda z: ufunc(z), POINTS)
    agree(lambda z: ufunc(z), drawn(30))
    agree(lambda z: ufunc(z), drawn(4, 25).astype(np.complex64))
    agree(lambda z: ufunc(z), np.complex128(0.4 - 1.3j))


@pytest.mark.parametrize("ufunc", (*formulas.REAL, np.angle, np.real, np.imag), ids=lambda f: f.__name__)
def test_real_functions_of_one_number(ufunc: Callable[..., Any]) -> None:
    agree(lambda z: ufunc(z), POINTS)
    agree(lambda z: ufunc(z), drawn(4, 25).astype(np.complex64))
    agree(lambda z: ufunc(z), np.array([np.inf + 1j, complex(1, np.nan), 0j, -1 + 0j, 3 - 4j]))


CUTS = (np.sqrt, np.log, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arctanh, np.arccosh)


@pytest.mark.parametrize("ufunc", CUTS, ids=lambda ufunc: ufunc.__name__)
def test_the_sign_of_a_zero_is_the_side_of_a_cut(ufunc: np.ufunc) -> None:
    found = [complex(x, y) for x in (-2.5, 2.5, -0.3, 0.3) for y in (0.0, -0.0)]
    found += [complex(x, y) for y in (-2.5, 2.5, 0.3) for x in (0.0, -0.0)]
    z = np.array(found)
    np.testing.assert_allclose(ad.jit(lambda z: ufunc(z))(z), ufunc(z), **DOUBLE)


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1.0, 1e150, 1e200])
def test_nothing_overflows_that_has_a_result(scale: float) -> None:
    z, w = drawn(30, scale=scale), drawn(30, scale=scale)
    for function in (abs, np.sqrt, np.log, np.arctan, np.tanh, np.angle, np.sign):
        found = ad.jit(lambda z, function=function: function(z))(z)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(found, function(z), rtol=1e-13)
    np.testing.assert_allclose(ad.jit(lambda z, w: z / w)(z, w), z / w, rtol=1e-13)
    np.testing.assert_allclose(ad.jit(lambda z, w: w / (z * 1.5))(z, w), w / (z * 1.5), rtol=1e-13)
    large = np.array([1400 + 3.0j, 710 + 1.5j, -1000 + 0.3j, 700 + 0.1j])
    with np.errstate(all="ignore"):
        for function in (np.exp, np.tanh):
            found, wanted = ad.jit(lambda z, function=function: function(z))(large), function(large)
            np.testing.assert_allclose(found.real, wanted.real, rtol=1e-12)
            np.testing.assert_allclose(found.imag, wanted.imag, rtol=1e-12)


def test_division_by_zero() -> None:
    with np.errstate(all="ignore"):
        found = ad.jit(lambda z, w: z / w)(np.array([1 + 2j]), np.array([0j]))
        assert np.isinf(found.real).all() and np.isinf(found.imag).all()


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "log10", "sin", "cos", "tan", "asin", "acos", "atan"])
def test_cmath(name: str) -> None:
    function = getattr(cmath, name)
    agree(lambda z: function(z), 0.4 - 1.3j)
    agree(lambda x: function(1j * x) + x, 0.7)


def test_more_of_cmath() -> None:
    agree(lambda z: cmath.polar(z), 0.4 - 1.3j)
    agree(lambda z: cmath.rect(abs(z), cmath.phase(z)), 0.4 - 1.3j)
    agree(lambda z: cmath.log(z, 2.0), 0.4 - 1.3j)
    agree(lambda z: (cmath.isnan(z), cmath.isinf(z), cmath.isfinite(z)), 0.4 - 1.3j)
    agree(lambda z: cmath.sinh(z) + cmath.cosh(z) + cmath.tanh(z) * cmath.asinh(z), 0.4 - 1.3j)
    agree(lambda z: cmath.acosh(z) + cmath.atanh(z), 0.4 - 1.3j)


# ---------------------------------------------------------------------------- operators and types
OPERATIONS = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
}
OPERANDS = {
    "complex128": drawn(5),
    "complex64": drawn(5).astype(np.complex64),
    "float64": np.linspace(0.5, 2.0, 5),
    "float32": np.linspace(0.5, 2.0, 5, dtype=np.float32),
    "int64": np.arange(1, 6),
    "int8": np.arange(1, 6, dtype=np.int8),
    "one_complex128": np.complex128(0.3 + 0.7j),
    "one_complex64": np.complex64(0.3 + 0.7j),
    "complex": 0.3 + 0.7j,
    "float": 1.3,
    "int": 2,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("left", OPERANDS)
def test_operators_promote_as_numpys(operation: str, left: str) -> None:
    for right, value in OPERANDS.items():
        if "complex" in left or "complex" in right:
            agree(OPERATIONS[operation], OPERANDS[left], value)


def test_static_numbers_meet_run_time_ones() -> None:
    agree(lambda x: x * 1j, np.arange(20, dtype=np.float32))
    agree(lambda x: 2j - x, np.arange(100))
    agree(lambda x: (1 + 2j) / x, 0.5)
    agree(lambda x: x * np.complex64(1j), 0.5)
    agree(lambda x: x * np.array([1j, 2.0]), 0.5)
    agree(lambda z: 2**z + z**2 + z**-3 + z**0 + z**0.5 + z**64 * 0, drawn(20))
    agree(lambda z: -z + (+z) * 2, drawn(20))
    with np.errstate(invalid="ignore"):
        agree(lambda z, w: z**w, np.zeros(6, complex), np.array([1.5 - 1.6j, 0, 2, -1, 1j, -0.5 + 2j]))


def test_comparisons_and_truth() -> None:
    z = np.array([1 + 2j, 3.0, 1j, 0.0])
    agree(lambda z: z == 3, z)
    agree(lambda z, w: z != w, z, z[::-1].copy())
    agree(lambda z: 1.0 if z else 2.0, 0j)
    agree(lambda z: not z, 1e-300j)
    agree(lambda z: z in (1j, 2.0), 2 + 0j)
    agree(lambda z: z == None, 2 + 0j)  # noqa: E711
    agree(lambda z: (np.any(z), np.all(z), np.count_nonzero(z)), z)


PARTS = (0.0, 1.0, -2.0, np.nan)
PAIRS = np.array([complex(x, y) for x in PARTS for y in PARTS])


def test_numbers_of_numpy_have_an_order() -> None:
    others = np.roll(PAIRS, 5)
    with np.errstate(invalid="ignore"):
        agree(lambda z, w: (z < w, z <= w, z > w, z >= w), PAIRS, others)
        agree(lambda z, w: (np.less(z, w), np.greater_equal(z, 1.0), z[3] < 2), PAIRS, others)
    agree(lambda z: (np.sort(z), np.sort(z[::-1]), np.sort(z.reshape(4, 4), axis=0)), PAIRS)
    agree(lambda z: (np.sort(z.reshape(2, 8), axis=None), np.argsort(z * (1 + 2j))), drawn(16))


def sorted_in_place(z):
    w = z.copy()
    w[::2].sort()
    np.add.at(w, np.array([0, 0, 1]), 2j)
    np.subtract.at(w, np.array([1]), z[0])
    return w


def test_places_are_changed() -> None:
    agree(sorted_in_place, drawn(20))
    agree(lambda z: (z.reshape(4, 5, order="F"), z.reshape(4, 5).ravel(order="F")), drawn(20))


def kept_in_an_array_of_no_dimensions(z):
    one = np.array(z[0])
    same = one
    one *= 2
    same -= z[1]
    return one, same, np.array(z[2]).astype(np.complex64)


def test_arrays_of_no_dimensions_are_written_in_place() -> None:
    agree(kept_in_an_array_of_no_dimensions, drawn(4))


def test_python_numbers_and_questions() -> None:
    agree(lambda x, y: complex(x, y), 1.5, -2)
    agree(lambda z: complex(z).imag + z.real, 1 + 2j)
    agree(lambda x: complex(x) * 2, 3)
    agree(lambda z: isinstance(z, complex), 1j)
    agree(lambda z: isinstance(z, np.ndarray) and z.dtype == np.complex128, drawn(4))
    agree(lambda z: (len(z), z.shape[0], z.ndim, z.size, z.itemsize, z.nbytes), drawn(20, 3))
    agree(lambda z: abs(z) + pow(z, 2), 3 + 4j)
    agree(lambda z: np.iscomplexobj(z) and np.isrealobj(z.real), drawn(4))
    agree(lambda x: x.real + x.imag, np.arange(20.0))


# ---------------------------------------------------------------------------- arrays
def test_arrays_are_made() -> None:
    agree(lambda x: np.zeros(len(x), dtype=complex) + x, np.arange(20.0))
    agree(lambda x: np.ones((len(x), 2), dtype=np.complex64), np.arange(20.0))
    agree(lambda x: np.full(len(x), 1 + 2j) * x, np.arange(20.0))
    agree(lambda x: np.eye(len(x), dtype=complex) * 1j, np.arange(20.0))
    agree(lambda z: (np.zeros_like(z), np.ones_like(z), np.full_like(z, 2.0)), drawn(20))
    agree(lambda x: np.zeros_like(x, dtype=complex), np.arange(20.0))
    agree(lambda x: np.array([x, 1j * x, 2, 3j]), 1.5)
    agree(lambda x: np.array([[x, 1j], [2.0, x * x]]), np.float64(1.5))
    agree(lambda x: x.astype(complex), np.arange(20, dtype=np.float32))
    agree(lambda z: z.astype(np.complex64), drawn(20))
    agree(lambda x: np.asarray(x, dtype=np.complex128), np.arange(20.0))
    agree(lambda n: np.linspace(0, 1 + 2j, n), 9)
    agree(lambda z: z.copy() * 1, drawn(20))


def test_elements_are_moved() -> None:
    z, w = drawn(6, 4), drawn(6, 4)
    agree(lambda z: (z.T, z.reshape(-1), z.ravel(), z[1], z[1:3, ::2], z[-1, -1], z[:, None]), z)
    agree(lambda z: (z[[0, 2]], z[z.real > 0], np.flip(z), np.roll(z, 1, 0), np.tile(z, 2)), z)
    agree(lambda z, w: (np.concatenate((z, w)), np.stack((z, w), 1), np.hstack((z, w.real))), z, w)
    agree(lambda z, w: np.where(z.real > w.real, z, 0), z, w)
    agree(lambda z, w: np.where(z, w, 1j), z, w)
    agree(lambda z: (np.diag(z[:4, :4]), np.trace(z), np.tril(z), np.repeat(z, 2, 1)), z)
    agree(lambda z: (np.pad(z, 1), np.pad(z[0], 2, constant_values=1 + 1j), np.pad(z[0], 2, mode="edge")), z)
    agree(lambda z: np.split(z, 2), z)
    agree(lambda z: np.append(z[0], 1.0), z)
    agree(lambda z, w: np.squeeze(z[None]) + np.swapaxes(w, 0, 1).T + np.broadcast_to(z[0], (6, 4)), z, w)


def test_elements_are_put_together() -> None:
    z = drawn(7, 5)
    agree(lambda z: (np.sum(z), z.sum(axis=0), np.mean(z, axis=1), np.cumsum(z), np.diff(z, axis=0)), z)
    agree(lambda z: (np.prod(z), np.prod(z, axis=0), np.prod(z, axis=1), np.cumprod(z)), z)
    agree(lambda z: (np.var(z), np.std(z, axis=0), z.std(), np.var(z, ddof=1)), z)
    agree(lambda z: (np.linalg.norm(z), np.linalg.norm(z, axis=1), np.linalg.norm(z[0], 1)), z)
    agree(lambda z: (np.average(z[0], weights=abs(z[1])), np.trapezoid(z[0], dx=0.1)), z)
    agree(lambda z: (np.isclose(z, z + 1e-9), np.allclose(z, z * 1.1)), z)


def test_products() -> None:
    a, b, x = drawn(6, 7), drawn(7, 5), np.linspace(0, 1, 7)
    agree(lambda a, b, x: (a @ b, a @ x, np.dot(a, b), x @ b, np.outer(x, a[0])), a, b, x)
    agree(lambda a, b: (np.vdot(a[0], b[:, 0]), np.inner(a[0], b[:, 0]), np.tensordot(a, b, 1)), a, b)
    agree(lambda a, b: np.einsum("ij,jk,i->k", a, b, a[:, 0].conj()), a, b)
    agree(lambda a: (np.kron(a[0], a[1]), np.convolve(a[0], a[1]), np.correlate(a[0], a[1], "full")), a)
    agree(lambda a: (a.conj().T @ a, np.cross(a[0, :3], a[1, :3])), a)


def test_linear_systems() -> None:
    a, b = drawn(20, 20) + 6 * np.eye(20), drawn(20)
    agree(lambda a, b: np.linalg.solve(a, b), a, b)
    agree(lambda a, b: np.linalg.solve(a, np.stack((b, b * 1j), 1)), a, b)
    agree(lambda a: np.linalg.inv(a) @ a, a)
    agree(lambda a: np.linalg.inv(a), a[:3, :3].copy())


# ---------------------------------------------------------------------------- control flow and writing
def _loop(z):
    total = 0
    for w in z:
        total = total * 0.5 + w
        if abs(total) > 3:
            break
    return total


def _late(z):
    for w in z:
        found = w * 1j
    return found


def _written(z):
    w = z.copy()
    v = w
    w[0] = 1.0
    w[1:] *= 2j
    v.imag[2] = 7.0
    w.real += 1
    row = w[3:6]
    row[0] = 5j
    return w, v


def _seen_through_views(z):
    w = z.copy()
    flat, turned, part, row, back = w.reshape(-1), w.T, w.imag, w[1], w[::-1]
    w[0, 0] = 5j
    w[1] *= 2 - 1j
    w.real[2, 1] = 9.0
    part[0, 1] = -3.0
    return flat, turned, part, row, back


def _half(z):
    if z.real > 0:
        w, k = z * 2, 1j
    else:
        w, k = 3.0, 2
    return w * k


def _until(z):
    steps = 0
    while abs(z) < 50:
        z = z * (1 + 1j)
        steps += 1
    else:
        z = z + 1
    return z, steps


def _nested(z):
    total = 0j
    for i in range(len(z)):
        inner = 0
        for j in range(i):
            inner += z[j] * 1j
        total += inner * z[i]
    return total


def _carried_with_others(z):
    state = {"z": z[0], "n": 0, "row": z * 0}
    for w in z:
        state = {"z": state["z"] * w, "n": state["n"] + 1, "row": state["row"] + w}
    return state["z"], state["n"], state["row"]


def _constants(z):
    state = (z[0], 0j)
    for w in z:
        last = 1j
        state = (state[0] + w, 2j) if w.real > 0 else (1j, state[1] + w)
    return state[0] + z[0], state[1] + z[0], last


def _returned(z):
    for w in z:
        if w.real > 100:
            return 1j
    return z[0]


@pytest.mark.parametrize(
    "function", [_loop, _late, _written, _nested, _carried_with_others, _constants, _returned]
)
def test_loops_and_writes(function: Callable[..., Any]) -> None:
    agree(function, drawn(20))
    agree(function, drawn(20).astype(np.complex64))


def test_views_see_what_is_written() -> None:
    agree(_seen_through_views, drawn(20, 30))
    agree(_seen_through_views, drawn(4, 3))


def test_branches() -> None:
    for z in (1 + 2j, -1 + 2j):
        found, wanted = ad.jit(_half)(z), _half(z)
        assert found == wanted
    agree(_until, 0.3 + 0.1j)
    agree(_until, np.complex64(0.3 + 0.1j))
    agree(lambda z: z if z.real > 0 else 1j, -1 + 1j)


def test_comprehensions() -> None:
    z = drawn(20)
    agree(lambda z: np.array([w * w for w in z]), z)
    agree(lambda z: np.array([[w * v for w in z] for v in z.real]), z)
    agree(lambda z: np.array([w for w in z if w.real > 0]), z)
    agree(lambda z: [(w, abs(w)) for w in z][3][0], z)
    agree(lambda z: (sum(z), sum(w for w in z if w.imag > 0), sum((w * 2 for w in z), 1j)), z)
    agree(lambda z: math.prod(w for w in z), z)
    agree(lambda z: sum([z[0], z[1] * 1j, 3]), z)
    agree(lambda z, x: sum(a * b for a, b in zip(z, x, strict=True)), z, np.arange(20.0))
    agree(lambda z: sum(i * w for i, w in enumerate(z)), z)


def _appended(z):
    out = []
    for w in z:
        out.append(w * 1j)
    return np.array(out)


def test_lists_that_grow() -> None:
    agree(_appended, drawn(20))


# ---------------------------------------------------------------------------- surroundings
SMALL = drawn(3)
LARGE = drawn(200)
HELD = [2 - 1j]


def test_surroundings_are_read_again() -> None:
    function = ad.jit(lambda x: x * SMALL[0] + np.sum(LARGE) * HELD[0])

    def wanted() -> complex:
        return complex(2.0 * SMALL[0] + np.sum(LARGE) * HELD[0])

    np.testing.assert_allclose(function(2.0), wanted())
    for change in range(3):
        SMALL[0] += change + 1j
        LARGE[7] *= 3
        HELD[0] = complex(HELD[0].real, -0.5 * change)
        np.testing.assert_allclose(function(2.0), wanted())


def test_a_large_array_is_passed_and_another_kind_of_array_is_noticed() -> None:
    held = {"z": drawn(200)}
    function = ad.jit(lambda x: x * np.sum(held["z"]))
    np.testing.assert_allclose(function(2.0), 2 * np.sum(held["z"]))
    held["z"][3] = 7j
    np.testing.assert_allclose(function(2.0), 2 * np.sum(held["z"]))
    held["z"] = np.ones(200)
    assert function(2.0) == 400.0


# ---------------------------------------------------------------------------- refusals
def _real_store(z):
    out = np.zeros(4)
    out[1] = z
    return out


def _real_sum(x, z):
    x = x.copy()
    x += z
    return x


def _argument(z):
    z[0] = 1
    return z


def _alias(z, x):
    w = x if z.real > 0 else x * 1j
    return w


def _becomes(x, z):
    k = 0
    while k < len(x):
        x = x * z
        k += 1
    return x


Z, X = drawn(20), np.ones(20)
BAD: dict[str, tuple[Callable[..., Any], tuple[Any, ...], type[Exception]]] = {
    "order": (lambda z: z < 1, (1j,), ComplexRefused),
    "floor division": (lambda z: z // 2, (1j,), ComplexRefused),
    "remainder": (lambda z: 2 % z, (1j,), ComplexRefused),
    "invert": (lambda z: ~z, (1j,), ComplexRefused),
    "max": (lambda z: max(z, 1), (1j,), ComplexRefused),
    "min of an array": (lambda z: min(z), (Z,), (ComplexRefused, UnsupportedType)),
    "np.max": (lambda z: np.max(z), (Z,), ComplexRefused),
    "np.maximum": (lambda z: np.maximum(z, 0), (Z,), ComplexRefused),
    "np.add.reduce": (lambda z: np.add.reduce(z), (Z,), ComplexRefused),
    "np.floor": (lambda z: np.floor(z), (Z,), ComplexRefused),
    "np.interp": (lambda z, x: np.interp(z, x, x), (Z, X), ComplexRefused),
    "np.linalg.det": (lambda z: np.linalg.det(z), (drawn(4, 4),), ComplexRefused),
    "math.sin": (lambda z: math.sin(z), (1j,), ComplexRefused),
    "float": (lambda z: float(z), (1j,), ComplexRefused),
    "int": (lambda z: int(z), (1j,), ComplexRefused),
    "round": (lambda z: round(z), (1j,), ComplexRefused),
    "index": (lambda z, x: x[z], (1j, X), FrontendError),
    "range": (lambda z: sum(range(z)), (1j,), FrontendError),
    "as a float array": (lambda z: z.astype(float), (Z,), ComplexRefused),
    "into a real array": (_real_store, (1j,), ComplexRefused),
    "added to a real array": (_real_sum, (X, Z), ComplexRefused),
    "an extremum where": (lambda z: np.max(z, where=abs(z) > 1, initial=0.0), (Z,), ComplexRefused),
    "into real numbers": (lambda z: np.multiply(z, z, out=np.zeros(20)), (Z,), ComplexRefused),
    "a sum of another type": (lambda z: np.sum(z, dtype=np.float64), (Z,), ComplexRefused),
    "truth of an array": (lambda z: 1 if z else 2, (Z,), AmbiguousTruth),
    "an argument": (_argument, (Z,), WritesArgument),
    "an array on one way": (_alias, (1j, X), BranchesDiffer),
    "an array that becomes complex": (_becomes, (X, Z), ChangesType),
    "a method": (lambda z: z.sort(), (Z,), FrontendError),
    "a string": (lambda z: f"{z}", (1j,), FrontendError),
    "a number by index": (lambda z: z[0], (1j,), UnsupportedType),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused(name: str) -> None:
    function, args, error = BAD[name]
    with pytest.raises(error) as caught:
        ad.jit(function)(*args)
    assert "test_complex.py" in str(caught.value)
    assert not isinstance(caught.value, StaticCallFailed)
