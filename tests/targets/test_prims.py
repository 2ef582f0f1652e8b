"""Every row of the primitive table on the CPU, against its meaning on NumPy, in units in the last place."""

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.dtypes import ALL, F64, I64
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.nodes import (
    Alloc,
    Binding,
    Buffer,
    Compute,
    For,
    Function,
    Load,
    Output,
    Store,
    Var,
    i64,
)
from anadrome.prims.table import PRIMS
from anadrome.targets.cpu import compile_cpu

EXACT = 0.0
C_LIBRARY = 6.0
"""Two libraries of at most four ulps each do not differ by more in practice."""

ULPS = {
    **dict.fromkeys(("lgamma", "digamma", "trigamma"), 512.0),
    **dict.fromkeys(("pow", "sigmoid", "log_expit", "logit", "xlogy", "xlog1py", "entr"), 8.0),
    **dict.fromkeys(("erfc", "ndtr"), 16.0),
    "fma": 1.0,
}
"""What a row may differ by where it is neither exact nor one call of the C library."""

CORNERS = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 1e-3, 700.0, -700.0)

POLES_AT_MINUS_INFINITY = {"lgamma", "digamma", "trigamma"}
"""Their poles accumulate there, and libraries disagree on what that makes of them."""


def overloads(prim):
    """Every list of argument types the row takes."""
    if prim.name == "select":
        return [(ALL[0], dtype, dtype) for dtype in ALL]
    return [(dtype,) * prim.arity for dtype in ALL if prim.types((dtype,) * prim.arity) is not None]


def mapped(prim, types):
    """The function that applies a row to every element of its arguments."""
    n, i = Var("n", I64), Var("i", I64)
    inputs = [Buffer(f"x{k}", dtype) for k, dtype in enumerate(types)]
    out = Buffer("out", prim.types(types))
    value = Compute(prim, tuple(Load(x, (i,)) for x in inputs))
    body = (Alloc(out, n), For(i, i64(0), n, (Store(out, (i,), value),), Binding.PARALLEL))
    fn = Function(f"map_{prim.name}", (*inputs, n), body, (Output(out, out.dtype, (n,)),))
    check(fn)
    return compile_cpu(fn, Config(cache=False))


def samples(prim, dtype, position, rng):
    """Numbers from the row's interval; for floats the corners as well."""
    low, high = prim.interval(position)
    drawn = rng.uniform(low, high, 512)
    if prim.converts_to is not None and prim.converts_to.kind == "uint":
        drawn = np.abs(drawn)
    if dtype.is_float:
        return drawn.astype(dtype.numpy)
    if dtype.kind == "bool":
        return drawn > (low + high) / 2
    if dtype.kind == "uint":
        drawn = np.abs(drawn)
    return np.rint(drawn * (1 if prim.name in ("shl", "shr", "pow") else 9)).astype(dtype.numpy)


def corner_grid(arity, dtype):
    """Every combination of the corners."""
    grid = np.meshgrid(*[np.array(CORNERS, dtype=dtype.numpy)] * arity)
    return [np.ascontiguousarray(axis.reshape(-1)) for axis in grid]


def distance(got, expected):
    """The difference in ulps of the expected number; NaN against NaN is none."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.dtype.kind != "f":
        return float(np.max(got != expected, initial=0))
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    with np.errstate(all="ignore"):
        apart = np.abs(got - expected) / np.spacing(np.abs(expected))
    return float(np.max(np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart)), initial=0))


def tolerance(prim, dtype):
    """How many ulps the row may be off."""
    if prim.name in ULPS and dtype.is_float:
        return ULPS[prim.name]
    return C_LIBRARY if prim.libm and dtype.is_float and prim.name != "fmod" else EXACT


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_every_row_means_what_numpy_means(name):
    prim = PRIMS[name]
    rng = np.random.default_rng(7)
    for types in overloads(prim):
        run = mapped(prim, types)
        given = [samples(prim, dtype, position, rng) for position, dtype in enumerate(types)]
        with np.errstate(all="ignore"):
            expected = prim.numpy(*given)
        (got,) = run([*given, len(given[0])])
        off = distance(got, np.asarray(expected, dtype=got.dtype))
        assert off <= tolerance(prim, types[-1]), (types, off)


@pytest.mark.parametrize("name", sorted(PRIMS))
def test_rows_on_floats_agree_at_the_corners(name):
    prim = PRIMS[name]
    target = prim.converts_to
    if target is not None and target.is_integer:
        pytest.skip("what a float outside an integer type becomes is not specified")
    for types in overloads(prim):
        if not types[-1].is_float or types[0] is not types[-1]:
            continue
        run = mapped(prim, types)
        given = corner_grid(prim.arity, types[-1])
        if name in POLES_AT_MINUS_INFINITY:
            given = [given[0][given[0] != -np.inf]]
        with np.errstate(all="ignore"):
            expected = np.asarray(prim.numpy(*given))
        (got,) = run([*given, len(given[0])])
        for case in zip(got, expected, *given, strict=True):
            assert distance(case[0], case[1]) <= max(tolerance(prim, types[-1]), 1.0), case


def test_scalars_take_the_same_path_as_arrays():
    x = Var("x", F64)
    fn = Function("one", (x,), (), (Output(Compute(PRIMS["exp"], (x,)), F64),))
    (got,) = compile_cpu(fn, Config(cache=False))([0.5])
    assert got == pytest.approx(np.exp(0.5), rel=1e-15)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_integer], ids=str)
def test_integer_division_never_traps(dtype):
    limits = np.iinfo(dtype.numpy)
    left = np.array([limits.min, limits.max, 7, 0, limits.min, 5], dtype=dtype.numpy)
    right = np.array([0, 0, 0, 0, -1 if limits.min else 3, -1 if limits.min else 3], dtype=dtype.numpy)
    for name in ("truncdiv", "floordiv", "mod", "fmod"):
        (got,) = mapped(PRIMS[name], (dtype, dtype))([left, right, len(left)])
        with np.errstate(all="ignore"):
            expected = PRIMS[name].numpy(left, right)
        assert np.array_equal(got, expected), name


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_integer], ids=str)
def test_shifts_by_the_width_and_more(dtype):
    value = np.array([5, 100, 1, 7], dtype=dtype.numpy)
    amount = np.array([dtype.bits, dtype.bits + 3, 0, dtype.bits - 1], dtype=dtype.numpy)
    for name in ("shl", "shr"):
        (got,) = mapped(PRIMS[name], (dtype, dtype))([value, amount, len(value)])
        assert np.array_equal(got, PRIMS[name].numpy(value, amount)), name
