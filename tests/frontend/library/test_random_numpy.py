"""Random calls of NumPy on arrays of any type and small shape: what is compiled gives what NumPy gives, sizes
known or symbolic, and what NumPy refuses is refused. Both modes and differences agree on derivatives."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anadrome.ad.forward import jvp
from anadrome.ad.reverse import vjp
from anadrome.array_ir.interp import run
from anadrome.compile import prepare
from anadrome.errors.base import AnadromeError
from anadrome.frontend.stage import stage
from tests.frontend.library.staging import CONFIG, assert_same, compiled, spec
from tests.test_python_programs import inner, loaded

Arguments = tuple[Any, ...]

BATCHES = 12
CALLS = 40

FLOATS, INTEGERS = ("float64", "float32"), ("int64", "int32", "int8", "uint8", "uint64")
TYPES = (*FLOATS, *FLOATS, *INTEGERS, "bool")
SHAPES = (
    (),
    (1,),
    (5,),
    (7,),
    (0,),
    (3, 4),
    (2, 3, 4),
    (1, 4),
    (4, 1),
    (0, 3),
    (3, 0),
    (3, 3),
    (20,),
    (18, 2),
)

ONE = (
    *("sin", "exp", "log", "sqrt", "abs", "sign", "floor", "rint", "square", "cbrt", "isnan", "isfinite"),
    *("signbit", "logical_not", "positive", "invert", "real", "conj", "nan_to_num", "ravel", "flatnonzero"),
    *("transpose", "diag", "trace", "tril", "flip", "squeeze", "diff", "unique", "sort", "cumsum", "cumprod"),
    *("ones_like", "atleast_2d", "shape", "size", "argwhere", "rot90", "gradient", "nancumsum", "iscomplex"),
)
ALONG = (
    *("sum", "prod", "max", "min", "mean", "std", "var", "any", "all", "argmax", "argmin", "median", "ptp"),
    *(
        "nansum",
        "nanmax",
        "nanmean",
        "count_nonzero",
        "average",
        "cumsum",
        "sort",
        "flip",
        "diff",
        "linalg.norm",
    ),
)
AXES = ("", ", axis=0", ", axis=-1", ", axis=1", ", axis=None", ", axis=(0, 1)", ", axis=0, keepdims=True")
SETTINGS = ("", "", "", ", dtype=np.float32", ", dtype=np.int64", ", ddof=1", ", initial=2", ", where=x > 0")
TWO = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "mod", "fmod", "power", "maximum", "minimum"),
    *("fmax", "fmin", "arctan2", "hypot", "copysign", "heaviside", "logaddexp", "greater", "less", "equal"),
    *("logical_and", "logical_xor", "bitwise_and", "left_shift", "right_shift", "isclose", "allclose"),
    *("array_equal", "outer", "dot", "matmul", "inner", "kron", "cross", "convolve", "append"),
    *("union1d", "isin", "vecdot", "where", "tensordot", "searchsorted", "digitize"),
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", ">", "<=", "==", "!=", "&", "|", "^", "<<", ">>", "@")
NUMBERS = ("2", "-3", "2.5", "True", "0", "1.0", "0.5")
TEXTS = (
    *("np.concatenate([x, y])", "np.stack([x, y], axis=-1)", "np.vstack([x, y])", "np.hstack([x, y])"),
    *("np.roll(x, 2)", "np.roll(x, (1, 2), axis=(0, 1))", "np.repeat(x, 3, axis=0)", "np.tile(x, (2, 1))"),
    *("x.reshape(2, -1)", "x.T", "np.moveaxis(x, 0, -1)", "np.expand_dims(x, (0, 2))", "x.flatten()"),
    *("np.pad(x, (1, 2), mode='edge')", "np.pad(x, 2, mode='reflect')", "np.pad(x, 1, constant_values=3)"),
    *(
        "np.quantile(x, [0.1, 0.5], axis=0)",
        "np.percentile(x, 30, method='lower')",
        "np.histogram(x, bins=4)",
    ),
    *("np.cov(x, y)", "np.corrcoef(x)", "np.delete(x, 0, axis=0)", "np.insert(x, 1, 5)", "np.split(x, 2)"),
    *("np.diff(x, n=2)", "np.diff(x, prepend=0)", "np.trapezoid(x, y)", "np.round(x, 1)", "np.round(x, -1)"),
    *("x.astype(np.int32)", "x.astype(bool)", "np.float32(x)", "np.full_like(x, 2.7)", "np.vander(x, 3)"),
    *(
        "np.einsum('i,j->ij', x, y)",
        "np.einsum('ij,ij->i', x, x)",
        "np.einsum('ii->i', x)",
        "np.lexsort((x, y))",
    ),
    *(
        "np.unique(x, return_counts=True)",
        "x[::-1]",
        "x[1:]",
        "x[..., 0]",
        "x[None]",
        "x[-100:2]",
        "x[x > 0]",
    ),
    *(
        "x[[0, -1]]",
        "x[:, [1, 0]]",
        "x[3:0:-1]",
        "np.average(x, weights=y)",
        "np.average(x, axis=0, weights=y)",
    ),
    *("np.linalg.norm(x, ord=1)", "np.linalg.matrix_power(x, 2)", "np.linalg.multi_dot([x, y])"),
    *(
        "np.select([x > 1, x < 0], [x, -x], 7)",
        "np.where(x > 0, x, 0)",
        "np.clip(x, y, None)",
        "x.clip(-1, 2)",
    ),
    *(
        "np.take(x, [0, 1], axis=-1)",
        "np.maximum.accumulate(x)",
        "np.add.reduce(x, axis=0)",
        "np.multiply.outer(x, y)",
    ),
    *(
        "x.max(axis=0)",
        "x.std()",
        "x.prod()",
        "x.cumsum()[-1]",
        "np.int8(100) + x",
        "np.float32(3) * x",
        "True + x",
    ),
    *(
        "divmod(x, 3)",
        "-x",
        "~x",
        "abs(x)",
        "x ** -1",
        "2 ** x",
        "(x == y).all()",
        "np.r_[x, 1, y]",
        "np.c_[x, y]",
    ),
)


def program(draw: random.Random) -> str:
    """An expression of x and y."""
    which = draw.random()
    if which < 0.2:
        return f"np.{draw.choice(ONE)}(x)"
    if which < 0.45:
        return f"np.{draw.choice(ALONG)}(x{draw.choice(AXES)}{draw.choice(SETTINGS)})"
    if which < 0.6:
        other = "y" if draw.random() < 0.8 else draw.choice(NUMBERS)
        if (name := draw.choice(TWO)) == "where":
            return f"np.where(x > 0, x, {other})"
        return f"np.{name}(np.sort(x), {other})" if name == "searchsorted" else f"np.{name}(x, {other})"
    if which < 0.75:
        sides = (
            ("x", "y")
            if draw.random() < 0.7
            else draw.choice((("x", draw.choice(NUMBERS)), (draw.choice(NUMBERS), "x")))
        )
        return f"{sides[0]} {draw.choice(OPERATORS)} {sides[1]}"
    return draw.choice(TEXTS)


def drawn(source: np.random.Generator, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Small numbers, many of them equal; of floats now and then one that is none, infinite or -0.0."""
    if name == "bool":
        return np.asarray(source.random(shape) < 0.5)
    if not name.startswith("float"):
        low = 0 if name.startswith("u") else -4
        return np.asarray(source.integers(low, 6, shape)).astype(name)
    found = np.array(np.round(2.0 * source.normal(size=shape), int(source.integers(0, 4))))
    if found.size and source.random() < 0.3:
        found.flat[source.integers(found.size)] = source.choice((np.nan, np.inf, -0.0))
    return found.astype(name)


def arguments(draw: random.Random, seed: int) -> Arguments:
    source, shape = np.random.default_rng(seed), draw.choice(SHAPES)
    others = (shape, shape, shape[-1:], shape[::-1], (), draw.choice(SHAPES))
    return tuple(drawn(source, one, draw.choice(TYPES)) for one in (shape, draw.choice(others)))


def outcome(function: Callable[..., Any], args: Arguments) -> Any:
    """What NumPy gives, or its error."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*(np.copy(one) for one in args))
        except Exception as error:
            return error


def is_half(value: Any) -> bool:
    """Whether a float16 is in it, which compiled functions do not have."""
    if isinstance(value, tuple | list):
        return any(map(is_half, value))
    return np.asarray(value).dtype == np.float16


def is_odd(text: str, args: Arguments) -> bool:
    """Where NumPy differs from itself: BLAS takes 0·∞ for 0 in a product with a number, `cov` leaves out what
    is empty."""
    is_product = text.startswith(("np.dot", "np.inner", "x.dot")) and not all(one.shape for one in args)
    return is_product or (text.startswith("np.cov") and not all(one.size for one in args))


def agree(seed: int) -> bool:
    """Whether a random call was compiled; what it gives then is what NumPy gives."""
    draw = random.Random(seed)
    text, args, is_symbolic = program(draw), arguments(draw, seed), draw.random() < 0.5
    function = loaded(f"def program(x, y):\n    return {text}\n")
    wanted = outcome(function, args)
    try:
        got = compiled(function, args, is_symbolic)
    except AnadromeError:
        return False
    said = f"{seed}: {text} of {[f'{one.dtype}{one.shape}' for one in args]}"
    if isinstance(wanted, ZeroDivisionError) or is_half(wanted) or is_odd(text, args):
        return True
    assert not isinstance(wanted, Exception), f"{said}: {wanted!r}, compiled {got}"
    try:
        assert_same(got, wanted)
    except AssertionError as error:
        raise AssertionError(f"{said}: {error}") from None
    return True


@pytest.mark.parametrize("start", range(BATCHES))
def test_calls(start: int) -> None:
    compiled_ones = sum(agree(seed) for seed in range(start * CALLS, (start + 1) * CALLS))
    assert compiled_ones > CALLS / 4


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1000, 1300))
def test_many_calls(start: int) -> None:
    test_calls(start)


# ---------------------------------------------------------------------------- derivatives
def floats(value: Any) -> list[np.ndarray]:
    """The numbers of a result that have derivatives."""
    if isinstance(value, tuple | list):
        return [found for one in value for found in floats(one)]
    return [np.asarray(value)] if np.asarray(value).dtype.kind == "f" else []


def slopes(function: Callable[..., Any], at: Arguments, along: Arguments, step: float) -> list[np.ndarray]:
    """Differences of NumPy's results; none where they change their shapes."""
    ends = [
        floats(
            outcome(function, tuple(one + side * step * part for one, part in zip(at, along, strict=True)))
        )
        for side in (1.0, -1.0)
    ]
    if [one.shape for one in ends[0]] != [one.shape for one in ends[1]]:
        return []
    return [(ahead - behind) / (2.0 * step) for ahead, behind in zip(*ends, strict=True)]


@np.errstate(all="ignore")
def differentiate(seed: int) -> bool:
    """Whether a random call of normal numbers was differentiated; both modes agree then, and they agree with
    differences of two steps where these do."""
    draw, source = random.Random(seed), np.random.default_rng(seed)
    text, shape = program(draw), draw.choice(tuple(one for one in SHAPES if 0 not in one))
    shapes = (shape, draw.choice((shape, shape, shape[-1:], shape[::-1], ())))
    args = tuple(np.asarray(0.4 + 1.3 * source.normal(size=one))[()] for one in shapes)
    along = tuple(np.asarray(source.normal(size=one))[()] for one in shapes)
    function = loaded(f"def program(x, y):\n    return {text}\n")
    is_symbolic, wanted = draw.random() < 0.5, outcome(function, args)
    if isinstance(wanted, Exception) or any(one.dtype != np.float64 for one in floats(wanted)):
        return False
    try:
        staged = stage(function, [spec(one, is_symbolic) for one in args], {}, CONFIG)
        fn = prepare(staged.function, CONFIG)
        forward, backward = jvp(fn, (True, True)), vjp(fn, (True, True))
    except AnadromeError:
        return False
    results = run(fn, [*args, *staged.captured]).results
    tangents = run(forward, [*args, *staged.captured, *along]).results[len(results) :]
    weights = [np.asarray(source.normal(size=one.shape))[()] for one in floats(results)]
    adjoints = run(backward, [*args, *staged.captured, *weights]).results[len(results) :]
    said = f"{seed}: {text} of {shapes}"
    ahead, back = inner(weights, tangents), inner(adjoints, along)
    assert np.isclose(ahead, back, rtol=1e-9, atol=1e-9, equal_nan=True), (said, ahead, back)
    coarse, fine = (slopes(function, args, along, step) for step in (1e-5, 2.5e-6))
    for one, other, tangent in zip(coarse, fine, tangents, strict=bool(coarse and fine)):
        is_smooth = (np.abs(one - other) < 1e-5 * (1.0 + np.abs(other))) & (np.abs(other) < 1e4)
        assert np.all(~is_smooth | np.isclose(other, tangent, rtol=2e-5, atol=1e-5)), (said, other, tangent)
    return True


@pytest.mark.parametrize("start", range(BATCHES))
def test_derivatives(start: int) -> None:
    differentiated = sum(differentiate(seed) for seed in range(start * CALLS, (start + 1) * CALLS))
    assert differentiated > CALLS / 4


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1000, 1300))
def test_many_derivatives(start: int) -> None:
    test_derivatives(start)
