"""Random calls of NumPy: expressions of x and y, and arrays of any type and small shape for these."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]

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
    *(
        "np.append(x, y, axis=0)",
        "np.argpartition(np.sort(x), 1)",
        "np.array_split(x, 3)",
        "np.array([x, y])",
    ),
    *(
        "np.atleast_3d(x)",
        "np.bincount(x, minlength=3)",
        "np.bincount(x, weights=y)",
        "np.block([[x, y], [y, x]])",
    ),
    *(
        "np.broadcast_arrays(x, y)",
        "np.broadcast_shapes(x.shape, y.shape)",
        "np.broadcast_to(x, (3,) + x.shape)",
        "np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)",
        "np.lib.stride_tricks.sliding_window_view(x, x.shape)",
    ),
    *(
        "np.choose(x % 2, [x, y])",
        "np.column_stack([x, y])",
        "np.compress(x.ravel() > 0, x)",
        "np.copysign(x, y)",
    ),
    *(
        "np.compress([True, False, True], x, axis=0)",
        "np.correlate(x, y, mode='same')",
        "np.convolve(x, y, 'valid')",
    ),
    *(
        "np.cov(x, rowvar=False)",
        "np.cov(x, ddof=0)",
        "np.cross(x, y, axis=0)",
        "np.cumulative_sum(x, axis=0)",
    ),
    *(
        "np.cumulative_prod(x, include_initial=True)",
        "np.delete(x, [0, -1])",
        "np.delete(x, slice(0, 2), axis=-1)",
    ),
    *(
        "np.diag(x, 1)",
        "np.diagonal(x, offset=-1)",
        "np.diagflat(x, k=1)",
        "np.diff(x, axis=0)",
        "np.dstack([x, y])",
    ),
    *(
        "np.digitize(x, [3, 1])",
        "np.digitize(x, [0, 1, 1, 2], right=True)",
        "np.digitize(x, np.sort(y)[::-1])",
    ),
    *(
        "np.ediff1d(x)",
        "np.extract(x > 0, x)",
        "np.fix(x)",
        "np.float_power(x, 2)",
        "np.gradient(x, 0.5, axis=0)",
    ),
    *(
        "np.geomspace(1, 8, 4) * y",
        "np.linspace(x, y, 3)",
        "np.linspace(x, y, 3, axis=-1)",
        "np.logspace(0, 1, 3) * y",
    ),
    *(
        "np.heaviside(x, y)",
        "np.histogram(x, bins=3, range=(-1, 2))",
        "np.histogram(x, [0, 1, 3], weights=x)",
    ),
    *(
        "np.histogram(x, 3, density=True)",
        "np.histogram2d(x, x, bins=2)",
        "np.hsplit(x, 2)",
        "np.vsplit(x, 3)",
    ),
    *(
        "np.indices((2, 3)) * y",
        "np.insert(x, [0, 1], [7, 8])",
        "np.insert(x, 0, y, axis=0)",
        "np.interp(x, [0, 1, 2], [3, 1, 4])",
    ),
    *(
        "np.interp(x, [0, 1], [3, 1], left=-1, right=9)",
        "np.intersect1d(x, y)",
        "np.setdiff1d(x, y)",
        "np.setxor1d(x, y)",
    ),
    *("np.isin(x, [1, 2], invert=True)", "np.ix_([0, 1], [1])", "np.linalg.det(x)", "np.linalg.slogdet(x)"),
    *(
        "np.linalg.vector_norm(x, axis=0)",
        "np.linalg.matrix_norm(x)",
        "np.linalg.norm(x, ord=np.inf, axis=-1)",
    ),
    *(
        "np.linalg.norm(x, ord=0)",
        "np.linalg.norm(x, ord=-1)",
        "np.linalg.norm(x, 'fro')",
        "np.linalg.matrix_rank(x)",
    ),
    *(
        "np.linalg.norm(x, axis=(0, 1), keepdims=True)",
        "np.linalg.norm(x, ord=3, axis=0)",
        "np.linalg.outer(x, y)",
    ),
    *(
        "np.linalg.cross(x, y)",
        "np.linalg.tensordot(x, y, axes=1)",
        "np.linalg.trace(x, offset=1)",
        "np.linalg.vecdot(x, y)",
    ),
    *(
        "np.logaddexp2(x, y)",
        "np.matvec(x, y)",
        "np.vecmat(y, x)",
        "np.meshgrid(x, y)",
        "np.meshgrid(x, y, indexing='ij')",
    ),
    *(
        "np.median(x, axis=0)",
        "np.median(x, keepdims=True)",
        "np.mod(x, y)",
        "np.modf(x)",
        "np.nan_to_num(x, nan=2.0)",
    ),
    *(
        "np.nanargmax(x)",
        "np.nanmedian(x, axis=-1)",
        "np.nanpercentile(x, 40)",
        "np.nanstd(x, ddof=1)",
        "np.nanvar(x, axis=0)",
    ),
    *(
        "np.nanmin(x, axis=0)",
        "np.nanprod(x, axis=-1)",
        "np.nanquantile(x, 0.3, axis=0)",
        "np.ones_like(x, dtype=np.int32)",
    ),
    *(
        "np.pad(x, 1, mode='wrap')",
        "np.pad(x, 2, mode='symmetric')",
        "np.pad(x, ((1, 0), (0, 2)))",
        "np.partition(x, 1)[1]",
    ),
    *(
        "np.pad(x, 1, mode='linear_ramp', end_values=2)",
        "np.pad(x, 1, mode='maximum')",
        "np.pad(x, 1, mode='mean')",
    ),
    *(
        "np.percentile(x, [10, 50], axis=-1)",
        "np.quantile(x, 0.4, method='hazen')",
        "np.quantile(x, 0.3, method='nearest')",
    ),
    *(
        "np.quantile(x, 0.5, method='inverted_cdf')",
        "np.quantile(x, 0.7, axis=0, keepdims=True)",
        "np.median(x, axis=(0, 1))",
    ),
    *(
        "np.piecewise(x, [x < 0, x >= 1], [0, 1, 2])",
        "np.polyadd(x, y)",
        "np.polymul(x, y)",
        "np.polysub(x, y)",
    ),
    *(
        "np.polyder(x)",
        "np.polyint(x)",
        "np.poly(x)",
        "np.polydiv(x, y)",
        "np.polyfit(x, y, 1)",
        "np.ptp(x, axis=0)",
    ),
    *("np.ravel_multi_index((1, 2), (3, 4))",),
    *(
        "np.repeat(x, [1, 2, 0, 1], axis=-1)",
        "np.repeat(x, 2)",
        "np.resize(x, (2, 3))",
        "np.resize(x, 3)",
        "np.rollaxis(x, 1)",
    ),
    *(
        "np.roll(x, -1, axis=-1)",
        "np.roll(x, [1, 2])",
        "np.rot90(x, -1)",
        "np.round(x, 2)",
        "np.swapaxes(x, 0, -1)",
    ),
    *(
        "np.searchsorted(np.sort(x), y, side='right')",
        "np.searchsorted(np.sort(x), 1)",
        "np.searchsorted(np.sort(x), 0.5)",
    ),
    *(
        "np.select([x > 1, x > 0], [x, y])",
        "np.select([x > 0], [1], default=2.5)",
        "np.sinc(x)",
        "np.sort(x, axis=0)",
    ),
    *(
        "np.sort(x, axis=None)",
        "np.split(x, [1, 3])",
        "np.squeeze(x, axis=0)",
        "np.stack([x, y])",
        "np.take(x, -1)",
    ),
    *(
        "np.take(x, [[0, 1], [1, 0]])",
        "np.take(x, [0, 7], mode='wrap')",
        "np.take(x, [0, 7], mode='clip')",
        "x.take([1, 0], 0)",
    ),
    *(
        "np.take_along_axis(x, np.argmin(x, axis=-1, keepdims=True), axis=-1)",
        "np.tensordot(x, y, axes=0)",
        "np.tile(x, 2)",
    ),
    *(
        "np.tensordot(x, y, axes=([0], [0]))",
        "np.trace(x, offset=1)",
        "np.transpose(x, (1, 0))",
        "np.trapezoid(x, axis=0)",
    ),
    *(
        "np.trapezoid(x, dx=0.5)",
        "np.tri(3, 4, 1) * y",
        "np.tril(x, 1)",
        "np.triu(x, -1)",
        "np.tril_indices(3)",
        "np.triu_indices(2, 1)",
    ),
    *(
        "np.tril_indices_from(x)",
        "np.unravel_index(4, (2, 3))",
        "np.unstack(x)",
        "np.unwrap(x)",
        "np.vander(x, increasing=True)",
    ),
    *(
        "np.unique(x, return_inverse=True)",
        "np.unique(x, return_index=True)",
        "np.unique(x, axis=0)",
        "np.vdot(x, y)",
    ),
    *(
        "np.where(x > 0)",
        "np.where(x > y, x, y)",
        "np.where(x, 1, 2.5)",
        "np.nonzero(x)",
        "np.zeros_like(x, dtype=np.float32)",
    ),
    *(
        "np.eye(3, k=1) * y",
        "np.eye(2, 3) + x.max()",
        "np.identity(3) @ x",
        "np.full((2, 2), y)",
        "np.full_like(x, y)",
    ),
    *(
        "np.arange(3) * y",
        "np.arange(0.5, 3) + y",
        "np.arange(5, 0, -2) * y",
        "np.apply_along_axis(np.sum, 0, x)",
    ),
    *(
        "np.astype(x, np.int16)",
        "np.argwhere(x > 0)",
        "np.isneginf(x)",
        "np.isposinf(x)",
        "np.isreal(x)",
        "np.array_equiv(x, y)",
    ),
    *(
        "np.add.outer(x, y)",
        "np.subtract.outer(x, y)",
        "np.maximum.reduce(x, axis=-1)",
        "np.multiply.accumulate(x, axis=0)",
    ),
    *("np.logical_or.reduce(x)", "np.minimum.reduce(x)", "np.add.accumulate(x)", "np.hypot.outer(x, y)"),
    *(
        "x.sum(axis=(0, -1))",
        "x.mean(0)",
        "x.argmax(-1)",
        "x.any(0)",
        "x.all(axis=-1, keepdims=True)",
        "x.var(0, ddof=1)",
    ),
    *(
        "x.min(initial=3)",
        "x.trace()",
        "x.diagonal(1)",
        "x.swapaxes(0, 1)",
        "x.transpose()",
        "x.repeat(2, 0)",
        "x.item(0)",
    ),
    *(
        "x.ravel()[::-1]",
        "x.round(1)",
        "x.conj()",
        "x.nonzero()",
        "x.dot(y)",
        "x.cumprod(0)",
        "x.reshape(-1, 1)",
        "x.squeeze()",
    ),
    *(
        "x[-1]",
        "x[0:0]",
        "x[::-2]",
        "x[:, ::-1]",
        "x[:, None]",
        "x[..., 1:]",
        "x[[True, False, True]]",
        "x[x == y]",
    ),
    *(
        "x[0][-1]",
        "x[[0, 1], [1, 0]]",
        "x[:, [0, -1]]",
        "x[np.argsort(x[:, 0], kind='stable')]",
        "x[(0, 1)]",
        "x[1:2, ..., None]",
        "x[y > 0]",
    ),
    *(
        "len(x)",
        "abs(x) ** 0.5",
        "round(float(x.max()), 2)",
        "int(x.size) * x",
        "x.shape[0] * y",
    ),
    *(
        "x if x.size > 3 else y",
        "np.sum(x, axis=0) / x.shape[0]",
        "x - x.mean(axis=0)",
        "(x > 0) & (y < 1)",
        "~(x > 0) | (x == 1)",
    ),
    *(
        "(x > 0).sum()",
        "(x > 0).mean()",
        "np.sum(x > y)",
        "np.sum(x * y, axis=-1)",
        "(x * 1.5).astype(np.int8)",
        "x / 2 // 1",
    ),
    *(
        "np.iinfo(np.int8).max * x",
        "np.finfo(np.float32).eps * x",
        "np.pi * x",
        "x @ x",
        "x.T @ x",
        "x @ y",
        "y @ x",
        "x % 3 == 1",
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
