"""The table of scalar operations, row by row: types, meaning, partials, expansions, facts, corners."""

from __future__ import annotations

import ctypes
import ctypes.util
import doctest
import itertools
import math
import warnings

import numpy as np
import pytest

from anadrome.dtypes import ALL, BOOL, BY_NAME, F32, F64, I8, U8, DType
from anadrome.prims import numbers
from anadrome.prims.numbers import NumberAlgebra
from anadrome.prims.record import Prim
from anadrome.prims.table import PRIMS

ALGEBRA = NumberAlgebra()
ROWS = [pytest.param(row, id=name) for name, row in PRIMS.items()]

GIVEN_PARTIALS = {"linked"}
"""Rows whose partials are an argument: they are what the program says, not what the value does."""
WITHOUT_PARTIALS: set[str] = set()
"""Float rows whose differentiation is refused."""

ULPS = {
    **dict.fromkeys(("sigmoid", "log_expit", "logit", "xlogy", "xlog1py", "entr", "ndtr"), 4),
    "trigamma": 16,
    "digamma": 64,
}
"""How far an expansion may be from NumPy, in units of the last place of at least 0.1; others are exact."""


def draw(row: Prim, position: int, dtype: DType, count: int, generator: np.random.Generator) -> np.ndarray:
    """Samples of one argument of a row."""
    low, high = row.interval(position)
    if dtype is BOOL:
        return generator.random(count) < 0.5
    values = generator.uniform(max(low, 0.0) if dtype.kind == "uint" else low, high, count)
    return values.astype(dtype.numpy)


def overloads(row: Prim) -> list[tuple[tuple[DType, ...], DType]]:
    """Every admitted tuple of argument types with its result type."""
    found = []
    for types in itertools.product(ALL, repeat=row.arity):
        result = row.types(types)
        if result is not None:
            found.append((types, result))
    return found


def partials_at(name: str, *args: float) -> list[float | None]:
    """The partials of a row at float64 numbers."""
    numbers = tuple(value if isinstance(value, bool) else np.float64(value) for value in args)
    row = PRIMS[name]
    assert row.partials is not None
    out = ALGEBRA.apply(name, *numbers)
    return [None if partial is None else float(partial) for partial in row.partials(ALGEBRA, numbers, out)]


# ---------------------------------------------------------------------------- every row
@pytest.mark.parametrize("row", ROWS)
def test_result_type_is_that_of_numpy(row: Prim) -> None:
    generator = np.random.default_rng(0)
    admitted = overloads(row)
    assert admitted
    for types, result in admitted:
        args = [draw(row, position, dtype, 5, generator) for position, dtype in enumerate(types)]
        assert ALGEBRA.apply(row.name, *args).dtype == result.numpy, (types, result)
        scalar = ALGEBRA.apply(row.name, *(arg[0] for arg in args))
        assert isinstance(scalar, np.generic)
        assert scalar.dtype == result.numpy, (types, result)


@pytest.mark.parametrize("row", ROWS)
def test_partials_agree_with_differences(row: Prim) -> None:
    """Central differences at h and h/2, extrapolated (Richardson): error O(h⁴)."""
    if row.partials is None or row.converts_to is F32 or row.name in GIVEN_PARTIALS:
        return
    generator = np.random.default_rng(1)
    types = next(types for types, result in overloads(row) if result is F64 and types[-1] is F64)
    args = tuple(draw(row, position, dtype, 40, generator) for position, dtype in enumerate(types))
    partials = row.partials(ALGEBRA, args, ALGEBRA.apply(row.name, *args))
    assert len(partials) == row.arity

    def slope(position: int, step: float) -> np.ndarray:
        above, below = list(args), list(args)
        above[position], below[position] = args[position] + step, args[position] - step
        return (ALGEBRA.apply(row.name, *above) - ALGEBRA.apply(row.name, *below)) / (2 * step)

    for position, partial in enumerate(partials):
        if types[position] is not F64 or position in row.without_derivative:
            assert partial is None
            continue
        step = 2.0**-10
        expected = (4 * slope(position, step / 2) - slope(position, step)) / 3
        got = np.zeros(40) if partial is None else np.broadcast_to(partial, 40)
        np.testing.assert_allclose(got, expected, rtol=2e-8, atol=1e-9)


@pytest.mark.parametrize("row", ROWS)
def test_partials_have_the_type_of_the_result(row: Prim) -> None:
    if row.partials is None:
        return
    result = row.converts_to or F32
    types = next(types for types, given in overloads(row) if given is result and types[-1] is F32)
    generator = np.random.default_rng(2)
    args = tuple(draw(row, position, dtype, 3, generator) for position, dtype in enumerate(types))
    for partial in row.partials(ALGEBRA, args, ALGEBRA.apply(row.name, *args)):
        assert partial is None or partial.dtype == result.numpy


def test_every_row_says_how_it_is_differentiated() -> None:
    silent = {
        name
        for name, row in PRIMS.items()
        if row.partials is None
        and not row.zero_derivative
        and any(result.is_float for _, result in overloads(row))
    }
    assert silent == WITHOUT_PARTIALS
    for row in PRIMS.values():
        assert row.partials is None or not row.zero_derivative, row
        assert row.zero_derivative or any(result.is_float for _, result in overloads(row)), row


def test_every_row_can_be_written_by_a_target() -> None:
    """A row without expansion, intrinsic or C function is an instruction that each target knows by name."""
    instructions = set("add sub mul div neg truncdiv bitand bitor bitxor bitnot shl shr".split())
    instructions |= set("eq ne lt le gt ge and or not xor select".split())
    conversions = {name for name, row in PRIMS.items() if row.converts_to is not None}
    assert conversions == {f"to_{name}" for name in BY_NAME}
    for row in PRIMS.values():
        for types, _ in overloads(row):
            dtype = types[-1]
            by_name = row.name in instructions | conversions
            is_called = bool(row.intrinsic or row.libm or row.special)
            written = bool(row.expansion_for(dtype)) or (dtype.is_float and is_called)
            assert by_name != written, (row, dtype)


@pytest.mark.parametrize("row", [row for row in ROWS if row.values[0].expansion is not None])
@pytest.mark.parametrize("dtype", [F32, F64], ids=repr)
def test_expansion_is_the_meaning_on_floats(row: Prim, dtype: DType) -> None:
    generator = np.random.default_rng(3)
    args = tuple(draw(row, position, dtype, 2000, generator) for position in range(row.arity))
    assert row.expansion is not None
    got, expected = row.expansion(ALGEBRA, args), ALGEBRA.apply(row.name, *args)
    assert got.dtype == expected.dtype
    if expected.dtype == np.bool_:
        np.testing.assert_array_equal(got, expected)
        return
    # Where digamma passes zero its ulps shrink; beside the root they are counted at one tenth.
    unit = np.spacing(np.maximum(np.abs(expected), dtype.numpy.type(0.1)))
    assert np.max(np.abs(got - expected) / unit) <= ULPS.get(row.name, 0)


@pytest.mark.parametrize("row", [row for row in ROWS if row.values[0].libm])
@pytest.mark.parametrize("dtype", [F32, F64], ids=repr)
def test_c_function_is_the_meaning(row: Prim, dtype: DType) -> None:
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = getattr(library, row.libm + ("f" if dtype is F32 else ""))
    c_type = ctypes.c_float if dtype is F32 else ctypes.c_double
    function.restype, function.argtypes = c_type, [c_type] * row.arity
    generator = np.random.default_rng(5)
    args = tuple(draw(row, position, dtype, 200, generator) for position in range(row.arity))
    got = np.array([function(*values) for values in zip(*args, strict=True)], dtype.numpy)
    expected = ALGEBRA.apply(row.name, *args)
    unit = np.spacing(np.maximum(np.abs(expected), dtype.numpy.type(0.1)))
    assert np.max(np.abs(got - expected) / unit) <= 16


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize(
    "name",
    [
        *("mod", "floordiv", "sign", "isnan", "isinf", "isfinite", "sigmoid", "digamma"),
        *("ndtr", "log_expit", "logit", "xlogy", "xlog1py", "entr"),
    ],
)
def test_expansion_at_special_values(name: str) -> None:
    row = PRIMS[name]
    grid = np.array(list(itertools.product(SPECIAL, repeat=row.arity))).T
    with np.errstate(all="ignore"):
        expected = row.numpy(*grid)
    assert row.expansion is not None
    got = row.expansion(ALGEBRA, tuple(grid))
    np.testing.assert_allclose(got, expected, rtol=1e-14)
    if name in ("mod", "floordiv"):
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("row", [row for row in ROWS if row.values[0].integer_expansion is not None])
@pytest.mark.parametrize("dtype", [I8, U8], ids=repr)
def test_integer_expansion_is_the_meaning_on_all_bytes(row: Prim, dtype: DType) -> None:
    """Every byte and pair of bytes, division by zero and -128 // -1 among them."""
    limits = np.iinfo(dtype.numpy)
    bytes_ = np.arange(limits.min, limits.max + 1).astype(dtype.numpy)
    args = tuple(axis.ravel() for axis in np.meshgrid(*[bytes_] * row.arity))
    expansion = row.expansion_for(dtype)
    assert expansion is not None
    got = expansion(ALGEBRA, args)
    assert got.dtype == dtype.numpy
    np.testing.assert_array_equal(got, ALGEBRA.apply(row.name, *args))


@pytest.mark.parametrize("row", ROWS)
def test_facts_hold(row: Prim) -> None:
    generator = np.random.default_rng(4)
    for types, result in overloads(row):
        dtype = types[-1]
        x, y, z = (draw(row, 0, dtype, 200, generator) for _ in range(3))

        def f(*args: np.ndarray) -> np.ndarray:
            return ALGEBRA.apply(row.name, *args)

        def same(left: np.ndarray, right: np.ndarray, row: Prim = row, dtype: DType = dtype) -> None:
            if left.dtype.kind == "f":
                np.testing.assert_allclose(left, right, rtol=1e-4 if dtype is F32 else 1e-12, atol=1e-6)
            else:
                np.testing.assert_array_equal(left, right)

        for fact in row.facts:
            match fact:
                case "commutative":
                    same(f(x, y), f(y, x))
                case "associative":
                    same(f(f(x, y), z), f(x, f(y, z)))
                case "idempotent":
                    same(f(x, x), x)
                case "involution":
                    same(f(f(x)), x)
                case "projection":
                    same(f(f(x)), f(x))
                case "odd" if dtype.kind != "uint":
                    same(f(-x), -f(x))
                case "even" if dtype.kind != "uint":
                    same(f(-x), f(x))
                case "odd" | "even":
                    pass
                case "comparison":
                    assert result is BOOL
                case "pole":
                    pass  # both ways by test_poles_are_marked
                case _:
                    pytest.fail(f"{fact} is no word of facts.py")


@pytest.mark.parametrize("row", [row for row in PRIMS.values() if row.partials is not None], ids=str)
def test_poles_are_marked(row: Prim) -> None:
    """A row has the fact exactly when a partial is infinite or NaN at some finite arguments and value."""
    points = [np.float64(x) for x in (0.0, 1.0, -1.0, -2.0, 0.5, 1e-310, -800.0, 800.0, 2000.0)]
    assert row.partials is not None
    found = False
    for args in itertools.product(points, repeat=row.arity):
        if row.types((F64,) * row.arity) is not F64:
            continue
        partials = row.partials(ALGEBRA, args, ALGEBRA.apply(row.name, *args))
        found = found or any(one is not None and not np.isfinite(one) for one in partials)
    assert found == ("pole" in row.facts)


# ---------------------------------------------------------------------------- meanings of our own
def test_fma_keeps_the_error_of_the_product() -> None:
    x = 1.0 + 2.0**-30
    assert ALGEBRA.apply("fma", np.float64(x), np.float64(x), np.float64(-(x * x))) == 2.0**-60
    assert ALGEBRA.apply("fma", np.float64(1e300), np.float64(1e-300), np.float64(1.0)) == 2.0
    assert ALGEBRA.apply("fma", np.float64(1e200), np.float64(1e200), np.float64(1.0)) == math.inf


def test_integer_division_has_the_meaning_of_python() -> None:
    for x, y in itertools.product(range(-7, 8), [-3, -2, -1, 1, 2, 3]):
        left, right = np.int64(x), np.int64(y)
        assert ALGEBRA.apply("floordiv", left, right) == x // y
        assert ALGEBRA.apply("mod", left, right) == x % y
        assert ALGEBRA.apply("truncdiv", left, right) == int(x / y)
    for name in ("floordiv", "mod", "fmod", "truncdiv"):
        assert ALGEBRA.apply(name, np.int64(5), np.int64(0)) == 0


def test_rounding_is_half_to_even() -> None:
    np.testing.assert_array_equal(
        ALGEBRA.apply("round", np.array([0.5, 1.5, 2.5, -0.5, -1.5])), [0, 2, 2, 0, -2]
    )


def test_integer_to_a_negative_power_is_zero() -> None:
    assert ALGEBRA.apply("pow", np.int64(1), np.int64(-1)) == 0


def test_digamma_beside_its_root_and_the_poles() -> None:
    """ψ has its positive root between two neighbouring doubles; reference values to 17 digits."""
    expansion = PRIMS["digamma"].expansion
    assert expansion is not None
    for x, expected in [
        (1.4616321449683622, -9.2412655217294275e-17),
        (1.5, 0.036489973978576520559),
        (1.0, -0.57721566490153286061),
        (0.25, -4.2274535333762654081),
        (-0.75, -2.8941202000429320748),
        (1e10, 23.025850929890456840),
    ]:
        assert float(expansion(ALGEBRA, (np.float64(x),))) == pytest.approx(expected, rel=2e-14, abs=0), x
    assert float(expansion(ALGEBRA, (np.float64(0.0),))) == -math.inf
    assert math.isnan(float(expansion(ALGEBRA, (np.float64(-3.0),))))


@pytest.mark.interpreted
def test_the_example_of_the_number_algebra_runs() -> None:
    result = doctest.testmod(numbers)
    assert result.attempted
    assert not result.failed


def test_number_algebra_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert math.isnan(ALGEBRA.apply("log", np.float64(-1.0)))
        assert ALGEBRA.constant(2.0, np.float32(1.0)).dtype == np.float32
        assert ALGEBRA.constant(2.0, np.int8(1)).dtype == np.int8


# ---------------------------------------------------------------------------- corners
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("abs", (0.0,), [0.0]),
        ("abs", (-0.0,), [0.0]),
        ("min", (2.0, 2.0), [1.0, 0.0]),
        ("max", (2.0, 2.0), [1.0, 0.0]),
        ("max", (0.0, -0.0), [1.0, 0.0]),
        ("min", (NAN, 2.0), [1.0, 0.0]),
        ("min", (2.0, NAN), [0.0, 1.0]),
        ("max", (NAN, NAN), [1.0, 0.0]),
        ("sqrt", (0.0,), [INF]),
        ("cbrt", (0.0,), [INF]),
        ("log", (0.0,), [INF]),
        ("log1p", (-1.0,), [INF]),
        ("asin", (1.0,), [INF]),
        ("acos", (-1.0,), [-INF]),
        ("acosh", (1.0,), [INF]),
        ("atanh", (-1.0,), [INF]),
        ("pow", (0.0, 0.0), [0.0, 0.0]),
        ("pow", (0.0, 1.0), [1.0, 0.0]),
        ("pow", (INF, 0.0), [0.0, INF]),
        ("pow", (0.0, 2.0), [0.0, 0.0]),
        ("pow", (0.0, 0.5), [INF, 0.0]),
        ("pow", (0.0, -1.0), [-INF, -INF]),
        ("pow", (-2.0, 3.0), [12.0, NAN]),
        ("pow", (-2.0, 0.0), [0.0, NAN]),
        ("pow", (-2.0, 0.5), [NAN, NAN]),
        ("pow", (INF, 0.0), [0.0, INF]),
        ("hypot", (0.0, 0.0), [0.0, 0.0]),
        ("hypot", (0.0, -2.0), [0.0, -1.0]),
        ("hypot", (3e200, 4e200), [0.6, 0.8]),
        ("atan2", (0.0, 0.0), [0.0, 0.0]),
        ("atan2", (0.0, -2.0), [-0.5, 0.0]),
        ("atan2", (2.0, 0.0), [0.0, -0.5]),
        ("atan2", (2.0, 2.0), [0.25, -0.25]),
        ("atan2", (1e200, 1e200), [0.5e-200, -0.5e-200]),
        ("atan2", (3e-200, 4e-200), [1.6e199, -1.2e199]),
        ("copysign", (0.0, -1.0), [0.0, None]),
        ("copysign", (3.0, -0.0), [-1.0, None]),
        ("mod", (-7.0, 3.0), [1.0, 3.0]),
        ("mod", (6.0, 3.0), [1.0, -2.0]),
        ("fmod", (-7.0, 3.0), [1.0, 2.0]),
        ("tanh", (1000.0,), [0.0]),
        ("sigmoid", (-1000.0,), [0.0]),
        ("sigmoid", (1000.0,), [0.0]),
        ("sigmoid", (30.0,), [math.exp(-30.0) / (1.0 + math.exp(-30.0)) ** 2]),
        ("sigmoid", (-30.0,), [math.exp(-30.0) / (1.0 + math.exp(-30.0)) ** 2]),
        ("expm1", (-50.0,), [math.exp(-50.0)]),
        ("gamma", (0.0,), [-INF]),
        ("gamma", (-2.0,), [NAN]),
        ("y0", (0.0,), [INF]),
        ("y1", (0.0,), [INF]),
        ("k1", (0.0,), [-INF]),
        ("k0e", (0.0,), [-INF]),
        ("kve", (2.5, 0.0), [None, -INF]),
        ("yv", (2.5, 0.0), [None, INF]),
        ("jv", (1.0, 0.0), [None, 0.5]),
        ("ive", (2.0, -3.0), [None, -0.01052247113570393]),
        ("i0e", (0.0,), [0.0]),
        ("i1e", (0.0,), [0.5]),
        ("xlogy", (0.0, 0.0), [-INF, 0.0]),
        ("xlogy", (2.0, 0.0), [-INF, INF]),
        ("xlogy", (0.0, NAN), [NAN, NAN]),
        ("xlog1py", (0.0, -1.0), [-INF, 0.0]),
        ("entr", (0.0,), [INF]),
        ("entr", (-1.0,), [NAN]),
        ("rel_entr", (0.0, 2.0), [-INF, 0.0]),
        ("rel_entr", (0.0, 0.0), [INF, 0.0]),
        ("rel_entr", (1.0, 1e-310), [1.0 + 310 * math.log(10.0), -INF]),
        ("kl_div", (0.0, 2.0), [-INF, 1.0]),
        ("logit", (1.0,), [INF]),
        ("ndtri", (0.0,), [INF]),
        ("erfinv", (-1.0,), [INF]),
        ("erfcinv", (2.0,), [-INF]),
        ("log_ndtr", (-INF,), [INF]),
        ("log_ndtr", (INF,), [0.0]),
        ("gammainc", (0.5, 0.0), [None, INF]),
        ("gammainc", (1.0, 0.0), [None, 1.0]),
        ("gammainc", (2.0, 0.0), [None, 0.0]),
        ("gammainc", (20.0, 0.0), [None, 0.0]),
        ("gammainc", (2.0, INF), [None, 0.0]),
        ("gammainc", (20.0, INF), [None, 0.0]),
        ("gammaincc", (20.0, -1.0), [None, NAN]),
        ("betainc", (1.0, 2.0, 0.0), [None, None, 2.0]),
        ("betaincc", (1.0, 2.0, 0.0), [None, None, -2.0]),
        ("select", (True, 1.0, NAN), [None, 1.0, 0.0]),
        ("select", (False, INF, 1.0), [None, 0.0, 1.0]),
        ("to_f32", (0.1,), [1.0]),
        ("to_f64", (0.1,), [1.0]),
    ],
)
def test_partials_at_the_corners(name: str, args: tuple[float, ...], expected: list[float | None]) -> None:
    got = partials_at(name, *args)
    assert len(got) == len(expected)
    for value, wanted in zip(got, expected, strict=True):
        if value is None or wanted is None:
            assert value is wanted
        elif math.isnan(wanted):
            assert math.isnan(value)
        else:
            assert value == pytest.approx(wanted, rel=1e-14, abs=0)


def test_lgamma_is_differentiable_to_the_third_order() -> None:
    """ψ(1) = -γ, ψ₁(1) = π²/6, ψ₂(1) = -2·ζ(3)"""
    assert partials_at("lgamma", 1.0) == [pytest.approx(-0.57721566490153286)]
    assert partials_at("digamma", 1.0) == [pytest.approx(math.pi**2 / 6)]
    assert partials_at("trigamma", 1.0) == [pytest.approx(-2.4041138063191885708, rel=1e-15)]
