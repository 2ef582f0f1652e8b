"""Random calls of NumPy on arrays of any type and small shape: what is compiled gives what NumPy gives, sizes
known or symbolic, and what NumPy refuses is refused."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anadrome.errors.base import AnadromeError
from tests.frontend.library.staging import assert_same, compiled
from tests.test_python_programs import loaded

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


def arguments(draw: random.Random, seed: int) -> tuple[np.ndarray, np.ndarray]:
    source, shape = np.random.default_rng(seed), draw.choice(SHAPES)
    others = (shape, shape, shape[-1:], shape[::-1], (), draw.choice(SHAPES))
    return tuple(drawn(source, one, draw.choice(TYPES)) for one in (shape, draw.choice(others)))  # type: ignore[return-value]


def outcome(function: Callable[..., Any], args: tuple[np.ndarray, ...]) -> Any:
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


def is_odd(text: str, args: tuple[np.ndarray, ...]) -> bool:
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
