"""Which functions of the tables have no derivative, as `docs/compiled.md` shows; the others have one.

`tests/meaning/test_derivatives.py` differentiates each of them, in both modes and by differences.
"""

from __future__ import annotations

ZERO = frozenset(
    """
    .round np.around np.ceil np.eye np.fft.fftfreq np.fft.rfftfreq np.fix np.floor np.floor_divide
    np.floor_divide.outer np.heaviside np.heaviside.outer np.identity np.ones np.ones_like np.rint
    np.round np.trunc np.zeros np.zeros_like operator.floordiv operator.ifloordiv round
    scipy.fft.fftfreq scipy.fft.rfftfreq scipy.sparse.issparse
    """.split()
)
"""Those whose derivative is zero wherever there is one."""

NONE = frozenset(
    """
    .all .any .argmax .argmin .argsort .dtype .itemsize .nbytes .ndim .nonzero .put .resize .searchsorted
    .shape .size < ad.argsort all any ascii bisect.bisect_left bisect.bisect_right bool
    cmath.isfinite cmath.isinf cmath.isnan filter format
    hasattr int
    isinstance len math.ceil math.comb math.factorial math.floor math.gcd math.isclose math.isfinite
    math.isinf math.isnan math.isqrt math.lcm math.perm math.trunc np.all np.allclose np.any np.argmax
    np.argmin np.argpartition np.argsort np.argwhere np.array_equal np.bitwise_and
    np.bitwise_and.accumulate np.bitwise_and.outer np.bitwise_and.reduce np.bitwise_or
    np.bitwise_or.accumulate np.bitwise_or.outer np.bitwise_or.reduce np.bitwise_xor
    np.bitwise_xor.accumulate np.bitwise_xor.outer np.bitwise_xor.reduce np.bool np.count_nonzero
    np.digitize np.empty np.empty_like np.equal np.equal.outer np.flatnonzero np.greater
    np.greater.outer np.greater_equal np.greater_equal.outer np.histogram np.int16 np.int32 np.int64
    np.int8 np.invert np.isclose np.iscomplexobj np.isfinite np.isin np.isinf np.isnan np.isrealobj
    np.ix_ np.left_shift np.left_shift.outer np.less np.less.outer np.less_equal np.less_equal.outer
    np.logical_and np.logical_and.accumulate np.logical_and.at np.logical_and.outer
    np.logical_and.reduce np.logical_not np.logical_or np.logical_or.accumulate np.logical_or.at
    np.logical_or.outer np.logical_or.reduce np.logical_xor np.logical_xor.outer np.ndim np.nonzero
    np.not_equal np.not_equal.outer np.right_shift np.right_shift.outer np.searchsorted np.shape
    np.array_equiv np.broadcast_shapes np.diag_indices np.diag_indices_from np.iscomplex np.isneginf
    np.isposinf np.isreal
    np.linalg.matrix_rank np.lexsort np.nanargmax np.nanargmin
    np.logical_and.reduceat np.logical_or.reduceat np.ravel_multi_index np.result_type
    np.tril_indices np.tril_indices_from np.triu_indices
    np.triu_indices_from np.unravel_index
    np.signbit np.size np.uint16 np.uint32 np.uint64 np.uint8 operator.and_ operator.contains
    operator.eq operator.ge operator.gt operator.iand operator.ilshift operator.inv operator.invert
    operator.ior operator.irshift operator.is_ operator.is_not operator.ixor operator.le operator.lshift
    operator.lt operator.ne operator.not_ operator.or_ operator.rshift operator.truth operator.xor print
    range repr str type ~
    """.split()
)
"""Those no result of which is a float."""

REFUSED: frozenset[str] = frozenset()
"""Those that refuse to be differentiated by all of their arguments."""
