"""How every function of the front end's tables is called: a name, the kinds of arrays it takes, the calls.

`{a}` stands for the array. Kinds:

| kind | is | kind | is |
|---|---|---|---|
| v | a vector of floats from 1 | m | a matrix of floats with three columns |
| u | a vector of floats in (0, 1) | s | a square matrix that can be inverted |
| i | a vector of integers | d | a symmetric, positive definite matrix |
| b | a vector of booleans | q | an array of three dimensions |
| c | a complex vector | k | a complex matrix |
| z | an array without dimensions | | |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """A call of a function on an array of a kind."""

    name: str
    kind: str
    call: str


Table = Mapping[str, tuple[str, tuple[str, ...]]]
"""Name -> the kinds it takes, and calls of it."""

# ---------------------------------------------------------------------------- elementwise
UNARY: dict[str, str] = {
    "v m z": """
        np.absolute np.fabs np.cos np.sin np.tan np.tanh np.arctan np.arcsinh np.exp np.expm1 np.exp2 np.sinh
        np.cosh np.cbrt np.square np.negative np.positive np.sign np.floor np.ceil np.trunc np.rint np.isnan
        np.isinf np.isfinite np.degrees np.radians np.deg2rad np.rad2deg np.logical_not np.conjugate np.sqrt
        np.log np.log1p np.log2 np.log10 np.arccosh np.reciprocal np.fix np.sinc np.nan_to_num np.real
        special.erf special.erfc special.expit special.gammaln special.psi special.cbrt special.exp2
        special.expm1 special.log1p np.imag np.angle np.iscomplexobj np.isrealobj
    """,
    "u": "np.arcsin np.arccos np.arctanh",
    "i b": """
        np.int8 np.int16 np.int32 np.int64 np.uint8 np.uint16 np.uint32 np.uint64
        np.invert np.absolute np.sign np.square np.floor np.logical_not np.positive np.isnan np.conjugate
    """,
    "v m i": "np.argsort({a},kind='stable')",
    "c k": """
        np.absolute np.cos np.sin np.tan np.tanh np.arctan np.arcsinh np.exp np.expm1 np.exp2 np.sinh np.cosh
        np.square np.negative np.positive np.sign np.isnan np.isinf np.isfinite np.logical_not np.conjugate
        np.sqrt np.log np.log1p np.log2 np.log10 np.arccosh np.reciprocal np.arcsin np.arccos np.arctanh
        np.real np.imag np.angle np.iscomplexobj np.isrealobj np.count_nonzero np.nonzero np.flatnonzero
        np.any np.all np.prod np.cumprod np.var np.std np.sum np.mean np.cumsum np.diff np.ediff1d np.ravel
        np.copy np.transpose np.squeeze np.flip np.shape np.ndim np.size np.zeros_like np.ones_like np.array
        np.asarray np.asanyarray np.ascontiguousarray np.atleast_1d np.atleast_2d np.atleast_3d
        np.complex128 np.complex64 np.linalg.norm np.average np.flipud np.trapezoid
    """,
    "k": "np.fliplr np.rot90 np.diag np.diagonal np.tril np.triu np.trace",
    "c": """
        np.diag np.gradient abs np.fft.fft np.fft.ifft np.fft.fftshift np.fft.ifftshift np.fft.hfft
        np.fft.irfft
    """,
    "v m i b": """
        np.float32 np.float64 np.bool np.sum np.prod np.mean np.max np.min np.amax np.amin np.any np.all
        np.std np.var np.median np.ptp
        np.cumsum np.cumprod np.count_nonzero np.nonzero np.flatnonzero np.argwhere np.ravel np.transpose
        np.squeeze np.atleast_1d np.atleast_2d np.atleast_3d np.flip np.copy np.array np.asarray
        np.asanyarray np.ascontiguousarray np.zeros_like np.ones_like np.shape np.ndim np.size np.sort
        np.argmax np.argmin np.nansum np.nanprod np.nanmean np.nanmax np.nanmin np.flipud
        np.ediff1d np.average np.trapezoid np.complex64 np.complex128 np.unique
    """,
    "m": "np.fliplr np.rot90 np.diag np.diagonal np.tril np.triu np.trace np.cov np.corrcoef np.linalg.norm",
    "v": """
        np.diag np.gradient np.fft.fft np.fft.ifft np.fft.rfft np.fft.irfft np.fft.fftshift np.fft.ifftshift
        np.fft.hfft np.fft.ihfft fft.fft fft.ifft fft.rfft fft.irfft fft.fftshift fft.ifftshift fft.hfft
        fft.ihfft fft.dct fft.idct fft.dst fft.idst special.logsumexp special.softmax special.log_softmax
        np.vander len list tuple sum min max any all math.prod math.fsum np.linalg.norm
    """,
    "m k": "np.fft.fft2 np.fft.ifft2 np.fft.fftn np.fft.ifftn fft.fft2 fft.ifft2 fft.fftn fft.ifftn",
    "m q": "np.fft.rfft2 np.fft.irfft2 np.fft.rfftn np.fft.irfftn fft.rfft2 fft.irfft2 fft.rfftn fft.irfftn",
    "d": """
        np.linalg.inv np.linalg.det np.linalg.cholesky np.linalg.slogdet np.linalg.eigvalsh np.linalg.svdvals
        linalg.cholesky
    """,
    "s": "np.linalg.inv np.linalg.det np.linalg.pinv np.linalg.slogdet np.linalg.cond linalg.expm",
}
"""Kinds -> functions of the array alone."""

BINARY: dict[str, str] = {
    "v m z": """
        np.add np.subtract np.multiply np.divide np.minimum np.maximum np.hypot np.copysign np.float_power
        np.arctan2 np.remainder np.fmod np.floor_divide np.equal np.not_equal np.less np.less_equal
        np.greater np.greater_equal np.fmax np.fmin np.heaviside np.logaddexp np.logaddexp2 np.logical_and
        np.logical_or np.logical_xor np.power np.isclose np.allclose
    """,
    "i": """
        np.bitwise_and np.bitwise_or np.bitwise_xor np.left_shift np.right_shift np.add np.power np.fmax
        np.fmin
    """,
    "b": "np.bitwise_and np.bitwise_or np.bitwise_xor np.logical_and np.minimum",
    "c k": """
        np.add np.subtract np.multiply np.divide np.equal np.not_equal np.power np.isclose np.allclose
        np.less np.less_equal np.greater np.greater_equal
    """,
    "v c": "np.inner np.outer np.vdot np.dot np.kron np.convolve np.correlate np.append",
    "v": "np.matmul",
}
"""Kinds -> functions of two arrays of one shape, or of one and a number."""

MATH: dict[str, str] = {
    "v": """
        math.sin math.cos math.tan math.exp math.expm1 math.exp2 math.log math.log1p math.log2 math.log10
        math.sqrt math.cbrt math.tanh math.sinh math.cosh math.asinh math.acosh math.atan math.fabs math.floor
        math.ceil math.trunc math.isnan math.isinf math.isfinite math.erf math.erfc math.lgamma math.degrees
        math.radians float int bool round abs complex cmath.exp cmath.log cmath.sqrt cmath.phase
    """,
    "u": "math.asin math.acos math.atanh",
    "c": """
        cmath.acos cmath.acosh cmath.asin cmath.asinh cmath.atan cmath.atanh cmath.cos cmath.cosh cmath.exp
        cmath.isfinite cmath.isinf cmath.isnan cmath.log cmath.log10 cmath.phase cmath.polar cmath.sin
        cmath.sinh cmath.sqrt cmath.tan cmath.tanh complex abs
    """,
}
"""Kinds -> functions of one element."""

MATH_2: dict[str, str] = {
    "v": """
        math.atan2 math.copysign math.fmod math.hypot math.pow math.isclose pow divmod min max complex
        cmath.rect
    """,
    "c": "pow",
}
"""Kinds -> functions of two elements."""

UFUNC_METHODS: dict[str, str] = {
    "v m {f}.reduce({a}) {f}.accumulate({a})": """
        np.add np.multiply np.minimum np.maximum np.logical_and np.logical_or np.logaddexp np.logaddexp2
        np.hypot
    """,
    "i {f}.reduce({a}) {f}.accumulate({a}) {f}.outer({a},{a})": "np.bitwise_and np.bitwise_or np.bitwise_xor",
    "v m {f}.reduceat({a},[0]) {f}.reduceat({a},np.arange(len({a}))[::-2])": """
        np.add np.multiply np.minimum np.maximum np.logical_and np.logical_or
    """,
    "v {f}.at({a},np.array([0,0]),2.0)": "np.add np.subtract np.multiply np.minimum np.maximum",
    "c {f}.at({a},np.array([0,0]),2.0)": "np.add np.subtract",
    "b {f}.at({a},np.array([0,0]),True)": "np.logical_and np.logical_or",
    "v {f}.outer({a},{a})": """
        np.add np.subtract np.multiply np.divide np.minimum np.maximum np.hypot np.copysign np.float_power
        np.arctan2 np.remainder np.fmod np.floor_divide np.equal np.not_equal np.less np.less_equal
        np.greater np.greater_equal np.fmax np.fmin np.heaviside np.logaddexp np.logaddexp2 np.logical_and
        np.logical_or np.logical_xor np.power
    """,
    "i {f}.outer({a},{a}%3)": "np.left_shift np.right_shift",
}
"""Kinds and calls of the methods -> universal functions."""

METHODS: dict[str, str] = {
    "v m i b": """
        .all() .any() .argmax() .argmin() .argsort(kind='stable') .astype(np.float64)
        .astype(np.float64,copy=False) .conj() .conjugate() .copy() .cumprod() .cumsum() .flatten() .max()
        .mean() .min() .nonzero() .prod() .ravel() .repeat(2) .reshape(-1) .reshape((1,-1)) .round()
        .squeeze()
        .std() .sum() .tolist() .transpose() .var() .item(0) .take(np.array([0,0])) .take(0) .sort() .fill(1)
        .clip(1,2)
        .T .dtype .imag .itemsize .nbytes .ndim .real .shape .size
    """,
    "i b": ".astype(np.int64) .astype(np.int64,copy=False) .astype(np.uint8) .astype(bool)",
    "m q": """
        .transpose(1,0) .swapaxes(0,1) .diagonal() .trace() .sum(axis=0) .max(axis=1)
        .mean(axis=0,keepdims=True)
        .ravel() .T .reshape(-1) .flatten() .dot(np.ones(3)) .sort(axis=0) .cumsum(axis=0) .squeeze()
        .repeat(2,axis=0)
        .reshape(-1,order='F') .ravel(order='F') .ravel('K') .copy(order='F') .flatten('F')
    """,
    "v": ".dot(np.ones(n))  .put([0],9.0) .resize((2,2)) .round(1) .std(ddof=1) .take([0,-1])",
    "z": """
        .item() .copy() .reshape(1) .reshape(()) .ravel() .flatten() .sum() .astype(float) .T .real .conj()
        .squeeze()
        .fill(2.0) .max() .shape .ndim .round()
    """,
    "c k": """
        .all() .any() .astype(np.complex64) .astype(np.complex128,copy=False) .conj() .conjugate() .copy()
        .cumprod() .cumsum() .flatten() .item(0) .mean() .nonzero() .prod() .ravel() .repeat(2) .reshape(-1)
        .squeeze() .std() .sum() .take(0) .transpose() .var()
        .T .dtype .imag .itemsize .nbytes .ndim .real .shape .size
    """,
    "k": ".diagonal() .swapaxes(0,1) .trace() .dot(np.ones(3)) .T .ravel() .reshape(-1)",
}
"""Kinds -> methods and attributes, with their arguments."""


def recipes_of_tables() -> list[Recipe]:
    """The calls that the tables above stand for."""
    found: list[Recipe] = []
    for table, calls in (
        (UNARY, ("{f}({a})",)),
        (BINARY, ("{f}({a}, {a})", "{f}({a}, 2)", "{f}({a}, {a}[::-1])")),
        (MATH, ("{f}({a}[0])",)),
        (MATH_2, ("{f}({a}[0], {a}[-1])", "{f}({a}[0], 2)")),
    ):
        for kinds, names in table.items():
            found += [
                Recipe(name, kind, call.replace("{f}", name))
                for name in names.split()
                for kind in kinds.split()
                for call in calls
                if kind != "z" or "[" not in call
            ]
    for head, names in UFUNC_METHODS.items():
        parts = head.split()
        kinds, methods = [part for part in parts if len(part) == 1], [part for part in parts if len(part) > 1]
        found += [
            Recipe(f"{name}.{method.partition('.')[2].partition('(')[0]}", kind, method.replace("{f}", name))
            for name in names.split()
            for kind in kinds
            for method in methods
        ]
    for kinds, names in METHODS.items():
        found += [
            Recipe(f".{name[1:].partition('(')[0]}", kind, f"{{a}}{name}")
            for name in names.split()
            for kind in kinds.split()
        ]
    return found
