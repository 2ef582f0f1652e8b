"""What the library refuses: arguments by name, results of unknown size, writes, shapes that do not fit."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
import operator
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.optimize
from numpy.lib.stride_tricks import sliding_window_view as windows

from anadrome.errors.frontend import (
    CallMismatch,
    ComplexRefused,
    FrontendError,
    PromotionError,
    ShapeMismatch,
    StaticCallFailed,
    StaticIndexError,
    StaticRequired,
    UnsuitableSize,
    UnsupportedArgument,
    UnsupportedCall,
    UnsupportedType,
    WritesArgument,
    WritesThroughView,
)
from anadrome.errors.runtime import EmptyReduction, IndexOutOfBounds, NegativePower, SizeMismatch
from anadrome.frontend.library import CALLS
from anadrome.frontend.substitutes import SUBSTITUTES
from tests.frontend.library.staging import compiled

X = np.arange(12.0).reshape(4, 3)
ROW = np.arange(3)

REFUSED: list[tuple[Callable[..., Any], type[FrontendError], str]] = [
    (lambda x: np.sum(x, where=x), UnsupportedArgument, "give it booleans"),
    (lambda x: np.sum(x[0], where=x > 0), ShapeMismatch, "`where` of np.sum"),
    (lambda x: np.max(x, where=x > 0), UnsupportedArgument, "`initial=`"),
    (lambda x: np.sum(x, initial=x[0]), UnsupportedArgument, "give one number"),
    (lambda x: np.exp(x, out=x), WritesArgument, "its argument"),
    (lambda x: np.exp(x, where=x > 0), UnsupportedArgument, "give `out=`"),
    (lambda x: np.exp(x, out=np.zeros(x.shape), where=x), UnsupportedArgument, "give it booleans"),
    (lambda x: np.exp(x, out=np.zeros(x.shape, int)), UnsupportedArgument, "`dtype=float64`"),
    (lambda x: np.exp(x, out=[1.0, 2.0]), UnsupportedArgument, "`out` is a list"),
    (lambda x: np.exp(x, out=np.zeros(3), casting="loose"), UnsupportedArgument, "casting='loose'"),
    (lambda x: np.add(x, 1j, out=np.zeros(x.shape)), ComplexRefused, "np.add"),
    (lambda x: np.sum(x, out=np.zeros(3)), ShapeMismatch, "`out` of np.sum"),
    (lambda x: np.exp(x, out=np.zeros((4, 2))), ShapeMismatch, "(4, 2)"),
    (lambda x: np.copyto(np.zeros(3, int), x[0]), UnsupportedArgument, "float64 for an array of type int64"),
    (lambda x: np.copyto(None, x[0]), UnsupportedArgument, "None"),
    (lambda x: np.putmask(x.copy(), x > 0, x[0]), UnsupportedArgument, "repeats"),
    (
        lambda x: np.putmask(np.zeros((4, 3), int), x > 0, x),
        UnsupportedArgument,
        "float64 for an array of type",
    ),
    (lambda x: np.putmask(x.astype(np.float32), x > 0, x), UnsupportedArgument, "dtype=float64"),
    (lambda x: np.repeat(x, x[0].astype(np.uint64), axis=1), UnsupportedArgument, "w.astype(int)"),
    (lambda x: np.repeat(x, x[0], axis=1), UnsupportedArgument, "float64(3,)"),
    (lambda x: np.fill_diagonal(x[0].copy(), 1.0), UnsupportedArgument, "a vector"),
    (lambda x: np.fill_diagonal(x.copy(), x), UnsupportedArgument, "ravel"),
    (lambda x: np.put_along_axis(x.copy(), x, 1.0, axis=0), UnsupportedArgument, "whole numbers"),
    (lambda x: x.copy().fill(x), UnsupportedArgument, "x[...] = values"),
    (lambda x: np.block([[x], x]), UnsupportedArgument, "different depths"),
    (lambda x: np.block([(x, x)]), UnsupportedArgument, "use lists"),
    (lambda x: np.ix_(x), UnsupportedArgument, "vectors of indices"),
    (lambda x: np.r_.__getitem__(("r", x)), UnsupportedArgument, "quotes"),
    (lambda x: np.array_split(x, 0), UnsupportedArgument, "0 sections"),
    (lambda x: np.delete(x, 1.5), StaticCallFailed, "np.delete"),
    (lambda x: np.delete(x, x[0]), UnsupportedArgument, "whole numbers"),
    (lambda x: np.insert(x, x[0], 1.0), UnsupportedArgument, "as places"),
    (lambda x: np.repeat(x, [1, -1, 2], axis=1), UnsuitableSize, "negative"),
    (lambda x: np.polyval(x, 2.0), UnsupportedArgument, "no vector"),
    (lambda x: np.poly(x), UnsupportedArgument, "no vector"),
    (lambda x: np.poly(x[0, 0]), UnsupportedArgument, "roots are expected"),
    (lambda x: np.polyfit(x[0], x[1], -1), UnsupportedArgument, "the degree -1"),
    (lambda x: np.polyfit(x, x, 1), UnsupportedArgument, "`x` is float64"),
    (lambda x: np.polyfit(x[0], x[1], 1, w=x), UnsupportedArgument, "`w` is float64"),
    (lambda x: np.polyfit(x[0], x[:, 1], 1), ShapeMismatch, "np.polyfit"),
    (lambda x: np.polyder(x[0], -1), UnsupportedArgument, "np.polyint"),
    (lambda x: np.vectorize(lambda v: np.ones(2) * v)(x), UnsupportedArgument, "one number for each place"),
    (lambda x: np.vectorize(lambda v: v, signature="(n)->()")(x), UnsupportedArgument, "ad.vmap"),
    (lambda x: np.vectorize(lambda v: v)(v=x), UnsupportedArgument, "by name"),
    (lambda x: np.vectorize(lambda v: v if v > 1 else 0)(x), UnsupportedArgument, "otypes=[float]"),
    (lambda x: np.vectorize(lambda v: max(0, v))(x), UnsupportedArgument, "otypes=[float]"),
    (
        lambda x: np.apply_along_axis(lambda r: operator.iadd(r, 1.0), 0, x * 1.0),
        WritesThroughView,
        "cannot follow",
    ),
    (lambda x: np.apply_along_axis(lambda r: operator.iadd(r, 1.0), 0, x), WritesArgument, "its argument"),
    (lambda x: np.putmask(x.copy(), x[0] > 0, 1.0), UnsupportedArgument, "another shape"),
    (lambda x: np.fill_diagonal(np.zeros((2, 3, 2)), x[0, 0]), ShapeMismatch, "np.fill_diagonal"),
    (lambda x: np.copyto(np.zeros(3, bool), 1), UnsupportedArgument, "int64 for an array of type bool"),
    (lambda x: np.polyint(x[0], 2, k=[1.0, 2.0, 3.0]), ShapeMismatch, "constants"),
    (lambda x: functools.reduce(operator.add, []), StaticCallFailed, "reduce() of empty iterable"),
    (lambda x: functools.reduce(operator.add, x, 1.0, 2.0), UnsupportedArgument, "more than one first value"),
    (lambda x: sum(itertools.islice(x[0], x[0, 0])), UnsupportedType, "a number"),
    (lambda x: sum(itertools.islice(x[0], -1, None)), UnsupportedArgument, "start=-1"),
    (
        lambda x: list(itertools.chain(np.repeat(x, 30, axis=0), x)),
        UnsupportedCall,
        "items that are no numbers",
    ),
    (lambda x: operator.itemgetter(5)(x), StaticIndexError, "5"),
    (lambda x: statistics.mean(np.argsort(x[0])), UnsupportedArgument, "statistics.fmean"),
    (lambda x: statistics.median(x), UnsupportedArgument, "a sequence"),
    (lambda x: math.factorial(x[0, 0]), UnsupportedArgument, "math.factorial"),
    (lambda x: math.gcd(3, np.argsort(x[0])), UnsupportedArgument, "math.gcd"),
    (lambda x: np.reshape(x, (3, 4), order="G"), UnsupportedArgument, "order"),
    (lambda x: np.add(x, x, casting="no"), UnsupportedArgument, "casting"),
    (lambda x: np.mean(x, 5), UnsupportedArgument, "axis 5"),
    (lambda x: np.sum(x, axis=(0, 0)), UnsupportedArgument, "twice"),
    (lambda x: np.sum(x, axis=len(x) * x[0, 0]), FrontendError, "axis"),
    (lambda x: np.where(x > 0, x), UnsupportedArgument, "two arguments"),
    (lambda x: np.unique(x, return_counts=True), UnsupportedArgument, "return_counts"),
    (lambda x: np.unique(x, axis=0), UnsupportedArgument, "axis"),
    (lambda x: np.percentile(x, 101), UnsupportedArgument, "between 0 and 100"),
    (lambda x: np.quantile(x, 0.5, method="most"), UnsupportedArgument, "method"),
    (lambda x: np.quantile(x, np.array([0, 1]), method="weibull"), UnsupportedArgument, "whole numbers"),
    (lambda x: np.unwrap(x, period=x[0, 0]), UnsupportedArgument, "period of 1.0"),
    (lambda x: np.unwrap(x[0, 0]), UnsupportedArgument, "an array is expected"),
    (
        lambda x: np.lexsort(np.array([1, 2])) + np.lexsort(np.stack([x[0, 0]])),
        UnsupportedArgument,
        "one shape",
    ),
    (lambda x: np.lexsort((x, x[0])), ShapeMismatch, "np.lexsort"),
    (lambda x: np.intersect1d(x, x, return_indices=True), UnsupportedArgument, "return_indices"),
    (lambda x: np.add.reduceat(x, [[0, 1]]), UnsupportedArgument, "vector of whole numbers"),
    (lambda x: np.add.reduceat(x, [0.5]), UnsupportedArgument, "vector of whole numbers"),
    (lambda x: np.median(x > 0), UnsupportedArgument, "bools"),
    (lambda x: np.pad(x, 1, mode="mean"), UnsupportedArgument, "mode"),
    (lambda x: np.pad(x, -1), UnsupportedArgument, "negative"),
    (lambda x: np.pad(x, 1, mode="edge", constant_values=1), UnsupportedArgument, "constant_values"),
    (lambda x: np.pad(x, (1, 2, 3)), UnsupportedArgument, "pad_width"),
    (lambda x: np.convolve(x, x), UnsupportedArgument, "vectors"),
    (lambda x: np.convolve(x[0], x[0], "most"), UnsupportedArgument, "mode"),
    (lambda x: np.histogram(x, "auto"), UnsupportedArgument, "auto"),
    (lambda x: np.histogram(x[0], x[1], weights=x[0] > 0), UnsupportedArgument, "weights as floats"),
    (lambda x: np.histogram(x, 0), UnsupportedArgument, "0 bins"),
    (lambda x: np.histogram2d(x, x), UnsupportedArgument, "vectors of places"),
    (lambda x: np.histogram2d(x[0], x[1], np.array([2, 3])), UnsupportedArgument, "as a tuple"),
    (lambda x: np.histogram2d(x[0], x[1], range=(0, 1, 2)), UnsupportedArgument, "a pair of pairs"),
    (lambda x: np.histogram2d(x[0] > 0, x[1] > 0), UnsupportedArgument, "arrays of bools"),
    (lambda x: np.select([], []), FrontendError, ""),
    (lambda x: np.select([x], [x]), UnsupportedArgument, "bool"),
    (lambda x: np.cumulative_sum(x), UnsupportedArgument, "axis="),
    (lambda x: np.vecdot(x, x[:, :2]), ShapeMismatch, "np.vecdot"),
    (lambda x: np.matvec(x[0], x), UnsupportedArgument, "2 dimensions or more"),
    (lambda x: np.linalg.outer(x, x), UnsupportedArgument, "as a vector"),
    (lambda x: np.rollaxis(x, 0, 3), UnsupportedArgument, "start=3"),
    (lambda x: np.matrix_transpose(x[0]), UnsupportedArgument, "1 dimension"),
    (lambda x: np.linalg.vector_norm(x, axis=()), UnsupportedArgument, "no axes"),
    (lambda x: np.linalg.matrix_rank(x, 0.1, rtol=0.1), UnsupportedArgument, "one of them"),
    (lambda x: np.linalg.tensorinv(x, 0), UnsupportedArgument, "ind=0"),
    (lambda x: np.linalg.tensorsolve(x, x), UnsupportedArgument, "more dimensions"),
    (lambda x: np.linalg.tensorsolve(x, x[0], axes=1), UnsupportedArgument, "tuple of axes"),
    (lambda x: np.astype(x[0, 0], int), UnsupportedArgument, "np.asarray"),
    (lambda x: np.broadcast_shapes(x.shape, (len(x) + 1, 3)), FrontendError, ""),
    (lambda x: np.rollaxis([x, x], 1), UnsupportedArgument, "np.array"),
    (lambda x: np.tril_indices_from(x[0]), UnsupportedArgument, "a matrix is expected"),
    (lambda x: np.diag_indices_from(x[0]), UnsupportedArgument, "1 dimension"),
    (lambda x: np.diag_indices_from(x), ShapeMismatch, "np.diag_indices_from"),
    (lambda x: np.indices((np.argmax(x),), sparse=True), UnsupportedArgument, "np.ogrid"),
    (lambda x: np.fromfunction(lambda i: i * x[0, 0], 3), UnsupportedArgument, "give a tuple"),
    (lambda x: np.unravel_index(x, (9, 9)), UnsupportedArgument, "whole numbers"),
    (lambda x: np.unravel_index(np.argmax(x), (4, 3), order="K"), UnsupportedArgument, "order='K'"),
    (lambda x: np.unravel_index(np.argsort(x[0]), ()), UnsupportedArgument, "places of a number"),
    (lambda x: np.ravel_multi_index((np.argmax(x),), (4, 3)), UnsupportedArgument, "1 arrays of indices"),
    (lambda x: np.choose(np.argmax(x), x, mode="none"), UnsupportedArgument, "mode='none'"),
    (lambda x: np.choose(np.argmax(x), ()), UnsupportedArgument, "no choices"),
    (lambda x: np.choose(np.argmax(x), x[0, 0]), UnsupportedArgument, "a tuple is expected"),
    (lambda x: np.average(x, weights=x[0]), UnsupportedArgument, "axis"),
    (lambda x: np.average(x, weights=x[:1]), ShapeMismatch, "np.average"),
    (lambda x: np.average(x, axis=0, weights=x[0]), ShapeMismatch, "np.average"),
    (lambda x: np.append(x, 2.0, axis=0), UnsupportedArgument, "a number where an array is expected"),
    (lambda x: np.roll(x[0, 0], 1, axis=0), UnsupportedArgument, "axis"),
    (lambda x: np.cumsum(x[0, 0], axis=1), UnsupportedArgument, "axis"),
    (lambda x: np.polyval(x[0, 0], x), UnsupportedArgument, "a number where an array is expected"),
    (lambda x: np.polyder(x[0, 0]), UnsupportedArgument, "a number where an array is expected"),
    (lambda x: np.add.accumulate(x[0, 0]), UnsupportedArgument, "a number where an array is expected"),
    (lambda x: np.bincount(np.arange(4), weights=x), UnsupportedArgument, "weights that are no vector"),
    (lambda x: np.insert(x[0], 1, x), UnsupportedArgument, "values of 2 dimensions, and there are 1"),
    (lambda x: np.var(x, dtype=int), PromotionError, "dtype=int64"),
    (lambda x: np.gradient(x, 1.0, 2.0, 3.0), UnsupportedArgument, "3 spacings"),
    (lambda x: np.gradient(x[0], x[0]), UnsupportedArgument, "evenly"),
    (lambda x: np.add.at(x, np.arange(2), 1.0), FrontendError, "argument"),
    (lambda x: np.add.at(x[0] * 2, slice(None), 1.0), UnsupportedArgument, r"write `x[...] += v`"),
    (lambda x: np.maximum.at(x[0] * 2, slice(None), 1.0), UnsupportedArgument, "= np.maximum(x[...], v)"),
    (lambda x: np.add.at(x * 2, (slice(None), np.arange(2)), 1.0), UnsupportedArgument, "over the places"),
    (lambda x: scipy.optimize.brentq(lambda t: t * x[0, 0], -1.0, 9.0), StaticCallFailed, "`ad.root(f, x0)`"),
    (lambda x: scipy.integrate.quad(lambda t: t * x[0, 0], 0.0, 1.0)[0], StaticCallFailed, "leggauss"),
    (lambda x: scipy.optimize.minimize_scalar(lambda t: t * x[0, 0]).x, StaticCallFailed, "write what it"),
    (lambda x: np.add.reduce(x, initial=1.0), UnsupportedArgument, "initial"),
    (lambda x: x.fill(1.0), WritesArgument, "its argument"),
    (lambda x: x.put([0], 1.0), UnsupportedArgument, "in place"),
    (lambda x: x.sort(), WritesArgument, "its argument"),
    (lambda x: np.reshape(x, (5, 3)), ShapeMismatch, "(5, 3)"),
    (lambda x: np.reshape(x, (-1, -1)), UnsupportedArgument, "unknown"),
    (lambda x: np.matmul(x, x), ShapeMismatch, "(4, 3)"),
    (lambda x: np.dot(x, x), ShapeMismatch, "fit"),
    (lambda x: np.linalg.norm(x, 3), UnsupportedArgument, "order"),
    (lambda x: np.linalg.norm(x, "nuclear"), UnsupportedArgument, "order"),
    (lambda x: np.linalg.cond(x[:3], 0), UnsupportedArgument, "order"),
    (lambda x: np.linalg.cond(x[0]), UnsupportedArgument, "a vector where a matrix"),
    (lambda x: np.linalg.multi_dot(x), UnsupportedArgument, "a list or tuple"),
    (lambda x: np.linalg.multi_dot([x]), UnsupportedArgument, "fewer than two"),
    (lambda x: np.linalg.multi_dot([x, x[0], x]), UnsupportedArgument, "anything but matrices"),
    (lambda x: np.linalg.lstsq(x, x, rcond="none"), UnsupportedArgument, "cut-off"),
    (lambda x: np.linalg.lstsq(np.stack([x, x]), x), UnsupportedArgument, "a stack of matrices"),
    (lambda x: np.linalg.eig(x), UnsuitableSize, "(4, 3)"),
    (lambda x: np.linalg.eig(x[0]), UnsupportedArgument, "a vector where a matrix"),
    (lambda x: np.linalg.eigh(1j * x[:3], UPLO="M"), UnsupportedArgument, "UPLO"),
    (lambda x: np.linalg.svd(1j * x), UnsupportedArgument, "full factors"),
    (lambda x: np.linalg.svd(1j * x, hermitian=True), UnsupportedArgument, "hermitian"),
    (lambda x: np.linalg.cond(1j * x, 1), ComplexRefused, "p=1"),
    (lambda x: scipy.linalg.expm(np.stack([1j * x[:3]])), UnsupportedArgument, "one matrix is expected"),
    (lambda x: np.linalg.inv(x), UnsuitableSize, "(4, 3)"),
    (lambda x: np.linalg.slogdet(x), UnsuitableSize, "(4, 3)"),
    (lambda x: np.linalg.svd(x), UnsupportedArgument, "full factors"),
    (lambda x: np.linalg.qr(x, mode="complete"), UnsupportedArgument, "complete"),
    (lambda x: np.linalg.eigh(x[:3], UPLO="M"), UnsupportedArgument, "UPLO"),
    (lambda x: np.fft.fft(x, 0), UnsupportedArgument, "0 points"),
    (lambda x: np.fft.fft(x, axis=2), UnsupportedArgument, "axis 2"),
    (lambda x: np.fft.fft(x, norm=1), UnsupportedArgument, "norm=int64"),
    (lambda x: np.fft.fft(x[0, 0]), UnsupportedArgument, "a number where an array"),
    (lambda x: np.fft.fft(x, out=x), UnsupportedArgument, "out"),
    (lambda x: np.fft.rfft(x * 1j), UnsupportedArgument, "np.fft.fft"),
    (lambda x: np.fft.fft2(x[0]), UnsupportedArgument, "axis -2"),
    (lambda x: np.fft.fftn(x, s=(2,), axes=(0, 1)), UnsupportedArgument, "1 sizes"),
    (lambda x: np.fft.fftn(x, s=2), UnsupportedArgument, "no tuple"),
    (lambda x: np.fft.fftshift(x, axes=(0, 0)), UnsupportedArgument, "twice"),
    (lambda x: np.fft.fftfreq(len(x), x), UnsupportedArgument, "an array where a number"),
    (lambda x: scipy.fft.dct(x[0], type=1), UnsupportedArgument, "type=1"),
    (lambda x: scipy.fft.dst(x * 1j), UnsupportedArgument, "complex"),
    (lambda x: np.fft.fft(x, scipy.fft.next_fast_len(np.argmax(x))), UnsupportedCall, "any number of points"),
    (lambda x: __import__("scipy.signal").signal.fftconvolve(x[0], x[0]), UnsupportedCall, "np.convolve"),
    (lambda x: np.einsum("ij,jk", x), UnsupportedArgument, "2 subscripts"),
    (lambda x: np.einsum("ijk", x), ShapeMismatch, "ijk"),
    (lambda x: np.einsum("ij->ik", x), UnsupportedArgument, "ik"),
    (lambda x: np.concatenate([x, x[0]]), ShapeMismatch, "(3,)"),
    (lambda x: np.negative(x > 0), PromotionError, "bool"),
    (lambda x: np.exp(x > 0), UnsupportedType, "float16"),
    (lambda x: np.dot(x), CallMismatch, "missing"),
    (lambda x: np.arange(0, len(x), 0 * len(x)), FrontendError, "0"),
    (lambda x: np.full(-1, x[0, 0]), UnsuitableSize, "negative"),
    (lambda x: np.tile(x, (2, -1)), UnsuitableSize, "negative"),
    (lambda x: np.repeat(x, -1), UnsuitableSize, "negative"),
    (lambda x: np.broadcast_to(x, (-1, *x.shape)), UnsuitableSize, "negative"),
    (lambda x: windows(x, (2, -1)), UnsuitableSize, "negative"),
    (lambda x: windows(x[:, :3], (1, 4)), UnsuitableSize, "a window of 4 along a size of 3"),
    (lambda x: windows(x, 2), UnsupportedArgument, "1 width where 2 are expected"),
    (lambda x: windows(x, 2, axis=0, writeable=True), UnsupportedArgument, "written into"),
    (lambda x: np.reshape(x, (-2, -1)), UnsuitableSize, "negative"),
    (lambda x: np.bincount(np.arange(len(x)) * len(x), minlength=-3), UnsuitableSize, "negative"),
    (lambda x: np.gradient(x[:1]), UnsuitableSize, "a size of 1 along axis 0"),
    (lambda x: np.gradient(x[:, :0], axis=1), UnsuitableSize, "a size of 0 along axis 1"),
    (lambda x: np.bincount(x[0]), UnsupportedArgument, "whole numbers"),
    (lambda x: np.take_along_axis(x, x, axis=0), UnsupportedArgument, "indices of type float64"),
    (lambda x: np.take_along_axis(x, x > 0.0, axis=0), UnsupportedArgument, "indices of type bool"),
    (lambda x: np.median(x, axis=(0, 2)), UnsupportedArgument, "`np.median`"),
    (lambda x: np.quantile(x, 0.3, axis=(0, 0)), UnsupportedArgument, "`np.quantile`"),
    (lambda x: np.percentile(x, 30, axis=2), UnsupportedArgument, "`np.percentile`"),
    (lambda x: np.stack([x[0] for _ in range(len(x))], axis=(0, 1)), UnsupportedArgument, "`np.stack`"),
]


@pytest.mark.parametrize(("function", "error", "words"), REFUSED)
def test_refusal_names_the_reason(
    function: Callable[..., Any], error: type[FrontendError], words: str
) -> None:
    with pytest.raises(error) as caught:
        compiled(function, [X], is_symbolic=False)
    assert words in str(caught.value)
    assert caught.value.span is not None


def test_products_of_many_matrices_of_sizes_that_only_the_run_knows() -> None:
    def product(*matrices):
        return np.linalg.multi_dot(matrices)

    shapes = ((2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 8))
    matrices = [np.ones(shape) for shape in shapes]
    np.testing.assert_allclose(compiled(product, matrices, is_symbolic=False), product(*matrices))
    np.testing.assert_allclose(compiled(product, matrices[:5]), product(*matrices[:5]))
    with pytest.raises(UnsupportedArgument, match="more than 5 matrices of sizes that only the run knows"):
        compiled(product, matrices)


def test_static_arguments_must_be_known() -> None:
    with pytest.raises(StaticRequired, match="axis"):
        compiled(lambda x, k: np.sum(x, axis=k), [X, 1])


@pytest.mark.parametrize("function", [np.min, np.max, np.argmin, np.argmax, lambda x: np.max(x, axis=0)])
def test_extremum_of_nothing_fails_at_run_time(function: Callable[..., Any]) -> None:
    with pytest.raises(EmptyReduction):
        compiled(lambda x: function(x), [np.zeros((0, 3))])


@pytest.mark.parametrize("function", [lambda x: 2**x, lambda x: x**x, lambda x: np.power(x, x[1])])
def test_a_negative_power_of_an_integer_fails_at_run_time(function: Callable[..., Any]) -> None:
    with pytest.raises(NegativePower, match="negative integer powers"):
        compiled(lambda x: function(x), [np.array([2, -1, 3])])


@pytest.mark.parametrize("at", [3, -4])
def test_take_outside_fails_at_run_time(at: int) -> None:
    with pytest.raises(IndexOutOfBounds):
        compiled(lambda x, i: np.take(x, i), [np.zeros(3), np.array([0, at])])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda x, y: np.dot(x, y), (np.ones(3), np.ones(4))),
        (lambda x, y: np.concatenate([x, y]), (np.ones((20, 3)), np.ones((4, 5)))),
        (lambda x, y: np.maximum(x, y), (np.ones(3), np.ones(4))),
        (lambda x, y: np.reshape(x, (len(y), -1)), (np.ones(30), np.ones(4))),
        (lambda x, y: np.split(x, 3)[0], (np.ones(31), np.ones(4))),
        (lambda x, y: np.tile(x, len(y) - 5), (np.ones(3), np.ones(4))),
        (lambda x, y: np.eye(len(y) - 5), (np.ones(3), np.ones(4))),
        (lambda x, y: np.broadcast_to(x, (len(y) - 5, 3)), (np.ones(3), np.ones(4))),
        (lambda x, y: windows(x, len(y)), (np.ones(3), np.ones(4))),
        (lambda x, y: np.bincount(x.astype(int), minlength=len(y) - 5), (np.ones(3), np.ones(4))),
        (lambda x, y: np.gradient(x[: len(y) - 3]), (np.ones(30), np.ones(4))),
    ],
)
def test_sizes_that_differ_fail_at_run_time(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    with pytest.raises(SizeMismatch):
        compiled(function, args)


def test_views_see_later_writes_and_copies_do_not() -> None:
    def program(x: Any) -> Any:
        y = x.copy()
        views = (
            np.transpose(y),
            y.reshape(-1),
            y.ravel(),
            np.flip(y),
            y.T,
            np.expand_dims(y, 0),
            np.split(y, 2)[0],
        )
        copies = (y.copy(), y.flatten(), np.array(y), y.astype(float))
        y[0, 0] = 99.0
        return (*views, *copies)

    for got, wanted in zip(compiled(program, [X]), program(X), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_no_hint_is_of_a_function_that_compiles() -> None:
    stale = []
    for name in SUBSTITUTES:
        module, _, own = name.rpartition(".")
        if importlib.util.find_spec(module) is None:
            continue
        function = getattr(importlib.import_module(module), own, None)
        if getattr(function, "__hash__", None) and function in CALLS:
            stale.append(name)
    assert not stale
