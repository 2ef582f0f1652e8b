"""Derivatives of the eigenvalues of any matrix, and of the decompositions of complex matrices.

Eigenvectors and singular vectors are determined up to a factor; the rules follow the choice of `library`:
length 1, the largest component real (`_in_gauge`). What is not determined has no derivative: that of vectors
is infinite or NaN where eigenvalues or singular values are equal; that of eigenvalues alone asks for no gaps,
but for a regular matrix of eigenvectors. An adjoint pairs as Re Σ conj(x_adj)·x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anadrome.ad.arrays import zeros_like
from anadrome.ad.library.complex_matrices import (
    Number,
    Pair,
    adjoint_of,
    at,
    conj_times,
    pair_difference,
    pair_entries,
    pair_product,
    pair_solved,
    pair_sum,
    pair_vector,
    square_of_size,
    times,
)
from anadrome.ad.library.matrices import half, product, total
from anadrome.ad.library.record import Call, ForwardRule, Lazy, ReverseRule, Vars
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Var, i64
from anadrome.library.complex_decompositions import ROUNDING


def _pair(b: Builder, parts: Vars, like: Sequence[Var]) -> Pair | None:
    """The adjoint or tangent of a complex array from that of its parts; None where it is zero."""
    if parts[0] is None and parts[1] is None:
        return None
    real, imag = (_zeros(b, own) if part is None else part for part, own in zip(parts, like, strict=True))
    return real, imag


def _known(pair: Pair) -> tuple[Lazy, ...]:
    real, imag = pair
    return (lambda: real), (lambda: imag)


# ---------------------------------------------------------------------------- the factor of a vector
def _largest(b: Builder, v: Pair) -> Var:
    """For each column the row of the component that is real: the first of the largest, up to rounding."""
    rows, columns = v[0].type.shape
    precision = float(np.finfo(v[0].type.dtype.numpy_name).eps)
    last = b.size("sub", rows, i64(1))

    def place(column: Builder, j: Var) -> Atom:
        squares = column.stack(rows, lambda inner, i: square_of_size(inner, at(inner, v, (i, j))))
        most = column.reduce("max", rows, lambda inner, i: inner.index(squares, (i,)))
        least = column.mul(most, column.constant(1.0 - ROUNDING * precision, most))

        def candidate(inner: Builder, i: Var) -> Atom:
            return inner.select(inner.apply("ge", inner.index(squares, (i,)), least), i, last)

        return column.reduce("min", rows, candidate)

    return b.stack(columns, place)


def _turn(b: Builder, v: Pair, w: Pair, rows: Var) -> Var:
    """c_j = -Im(conj(v_kj)·w_kj) / |v_kj|²: w + i·c·v leaves the phase of v_kj as it is, with k = rows[j]."""

    def entry(inner: Builder, j: Var) -> Atom:
        k = inner.index(rows, (j,))
        own = at(inner, v, (k, j))
        _, imag = conj_times(inner, own, at(inner, w, (k, j)))
        return inner.neg(inner.div(imag, square_of_size(inner, own)))

    return b.stack(rows.type.shape[0], entry)


def _sums(b: Builder, v: Pair, g: Pair) -> Pair:
    """s_j = Σ_i conj(v_ij)·g_ij"""
    rows, columns = v[0].type.shape

    def entry(inner: Builder, j: Var) -> Number:
        def part(side: int) -> Atom:
            def term(deeper: Builder, i: Var) -> Atom:
                return conj_times(deeper, at(deeper, v, (i, j)), at(deeper, g, (i, j)))[side]

            return inner.reduce("add", rows, term)

        return part(0), part(1)

    return pair_vector(b, columns, entry)


def _in_gauge(b: Builder, v: Pair, w: Pair) -> Pair:
    """v_tan = w + v·c, so that the length of v_j and the phase of its largest component v_kj stay:

    c_j = -Re(v_jᴴ·w_j) - i·Im(conj(v_kj)·w_kj) / |v_kj|²
    """
    along, turn = _sums(b, v, w)[0], _turn(b, v, w, _largest(b, v))

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        factor = inner.neg(inner.index(along, (j,))), inner.index(turn, (j,))
        real, imag = times(inner, at(inner, v, (i, j)), factor)
        x, y = at(inner, w, (i, j))
        return inner.add(x, real), inner.add(y, imag)

    return pair_entries(b, v[0].type.shape, entry)


def _from_gauge(b: Builder, v: Pair, g: Pair, s: Pair) -> Pair:
    """The adjoint of w in `_in_gauge`, where g is that of v_tan and s_j = v_jᴴ·g_j:

    g_ij - Re(s_j)·v_ij - [i = k]·Im(s_j)·i·v_kj / |v_kj|²
    """
    rows = _largest(b, v)

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        along, turn = at(inner, s, (j,))
        (x, y), (u, w) = at(inner, v, (i, j)), at(inner, g, (i, j))
        share = inner.div(turn, square_of_size(inner, (x, y)))
        is_largest = inner.apply("eq", i, inner.index(rows, (j,)))
        share = inner.select(is_largest, share, inner.constant(0.0, share))
        real = inner.sub(u, inner.sub(inner.mul(along, x), inner.mul(share, y)))
        return real, inner.sub(w, inner.add(inner.mul(along, y), inner.mul(share, x)))

    return pair_entries(b, v[0].type.shape, entry)


# ---------------------------------------------------------------------------- eigenvalues
def _over_difference(b: Builder, value: Number, left: Number, right: Number, conjugated: bool) -> Number:
    """value / (right - left), or over the conjugate of that"""
    gap = b.sub(right[0], left[0]), b.sub(right[1], left[1])
    real, imag = times(b, gap, value) if conjugated else conj_times(b, gap, value)
    size = square_of_size(b, gap)
    return b.div(real, size), b.div(imag, size)


def _beside(b: Builder, i: Var, j: Var, diagonal: Number, beside: Number) -> Number:
    """One number on the diagonal, another beside it."""
    is_diagonal = b.apply("eq", i, j)
    return b.select(is_diagonal, diagonal[0], beside[0]), b.select(is_diagonal, diagonal[1], beside[1])


def _apart(b: Builder, i: Var, j: Var, w: Pair) -> tuple[Number, Number]:
    """The eigenvalues i and j; on the diagonal two that differ, since there nobody asks for their gap."""
    left, right = at(b, w, (i,)), at(b, w, (j,))
    one = b.constant(1.0, right[0])
    return left, (b.select(b.apply("eq", i, j), b.add(right[0], one), right[0]), right[1])


def _eig_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """A·V = V·diag(w) (Boeddeker et al. 2017, "On the computation of complex-valued gradients", §4.4).

    With G the adjoint of V from `_from_gauge` and F_ij = 1 / (w_j - w_i):
    A_adj = V⁻ᴴ·(diag(w_adj) + conj(F)∘(Vᴴ·G))·Vᴴ, of which the real part where A is real
    """
    w, v = (call.results[0], call.results[1]), (call.results[2], call.results[3])
    w_adj, v_adj = _pair(b, adjoints[:2], w), _pair(b, adjoints[2:], v)
    k = None
    if v_adj is not None:
        k = pair_product(b, v, _from_gauge(b, v, v_adj, _sums(b, v, v_adj)), True)

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        zero = inner.constant(0.0, w[0])
        diagonal = (zero, zero) if w_adj is None else at(inner, w_adj, (i,))
        if k is None:
            return _beside(inner, i, j, diagonal, (zero, zero))
        ends = _apart(inner, i, j, w)
        return _beside(inner, i, j, diagonal, _over_difference(inner, at(inner, k, (i, j)), *ends, True))

    middle = pair_entries(b, v[0].type.shape, entry)
    found = pair_solved(b, v, pair_product(b, middle, v, False, True), True)
    return _known(found)[: len(call.args)]


def _eig_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With P = V⁻¹·A_tan·V: w_tan = diag P, V_tan from V·(F∘P) by `_in_gauge`."""
    w, v = (call.results[0], call.results[1]), (call.results[2], call.results[3])
    if len(call.args) == 1:
        (a_tan,) = tangents
        assert a_tan is not None
        moved = product(b, a_tan, v[0]), product(b, a_tan, v[1])
    else:
        pair = _pair(b, tangents, call.args)
        assert pair is not None
        moved = pair_product(b, pair, v)
    p = pair_solved(b, v, moved, False)

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        zero = inner.constant(0.0, w[0])
        ends = _apart(inner, i, j, w)
        return _beside(inner, i, j, (zero, zero), _over_difference(inner, at(inner, p, (i, j)), *ends, False))

    w_tan = pair_vector(b, w[0].type.shape[0], lambda inner, i: at(inner, p, (i, i)))
    v_tan = _in_gauge(b, v, pair_product(b, v, pair_entries(b, v[0].type.shape, entry)))
    return *w_tan, *v_tan


# ---------------------------------------------------------------------------- Hermitian matrices
def _over_gap(b: Builder, i: Var, j: Var, value: Number, gap: Atom, diagonal: Number) -> Number:
    """value / gap beside the diagonal, where a real gap is zero of itself."""
    size = b.select(b.apply("eq", i, j), b.constant(1.0, gap), gap)
    return _beside(b, i, j, diagonal, (b.div(value[0], size), b.div(value[1], size)))


def _eigh_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """S·V = V·diag(w), S = Φ(A) + Φ(A)ᴴ, for only one triangle of A is read; G as above:

    S_adj = V·(diag(w_adj) + F∘(Vᴴ·G))·Vᴴ,  F_ij = 1 / (w_j - w_i),  A_adj = Φ(S_adj + S_adjᴴ)
    """
    w, v = call.results[0], (call.results[1], call.results[2])
    w_adj, v_adj = adjoints[0], _pair(b, adjoints[1:], v)
    k = None
    if v_adj is not None:
        k = pair_product(b, v, _from_gauge(b, v, v_adj, _sums(b, v, v_adj)), True)

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        zero = inner.constant(0.0, w)
        diagonal = zero if w_adj is None else inner.index(w_adj, (i,)), zero
        if k is None:
            return _beside(inner, i, j, diagonal, (zero, zero))
        gap = inner.sub(inner.index(w, (j,)), inner.index(w, (i,)))
        return _over_gap(inner, i, j, at(inner, k, (i, j)), gap, diagonal)

    middle = pair_entries(b, v[0].type.shape, entry)
    s_adj = pair_product(b, pair_product(b, v, middle), v, False, True)
    real, imag = pair_sum(b, s_adj, adjoint_of(b, s_adj))
    (lower,) = call.attributes
    return _known((half(b, real, lower), half(b, imag, lower)))


def _eigh_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With P = Vᴴ·S_tan·V: w_tan = diag P, V_tan from V·(F∘P) by `_in_gauge`."""
    w, v = call.results[0], (call.results[1], call.results[2])
    pair = _pair(b, tangents, call.args)
    assert pair is not None
    (lower,) = call.attributes
    read = half(b, pair[0], lower), half(b, pair[1], lower)
    p = pair_product(b, v, pair_product(b, pair_sum(b, read, adjoint_of(b, read)), v), True)

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        zero = inner.constant(0.0, w)
        gap = inner.sub(inner.index(w, (j,)), inner.index(w, (i,)))
        return _over_gap(inner, i, j, at(inner, p, (i, j)), gap, (zero, zero))

    w_tan = b.stack(w.type.shape[0], lambda inner, i: inner.index(p[0], (i, i)))
    v_tan = _in_gauge(b, v, pair_product(b, v, pair_entries(b, v[0].type.shape, entry)))
    return w_tan, *v_tan


# ---------------------------------------------------------------------------- singular values
def _square_gap(b: Builder, s: Var, i: Var, j: Var) -> Atom:
    """s_j² - s_i², as a product, so that close values keep their digits."""
    first, second = b.index(s, (i,)), b.index(s, (j,))
    return b.mul(b.sub(second, first), b.add(second, first))


def _scaled_rows(b: Builder, matrix: Pair, s: Var, operation: str) -> Pair:
    """Each row times its singular value, or over it."""

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        (real, imag), size = at(inner, matrix, (i, j)), inner.index(s, (i,))
        return inner.apply(operation, real, size), inner.apply(operation, imag, size)

    return pair_entries(b, matrix[0].type.shape, entry)


def _svd_parts(call: Call) -> tuple[Pair, Var, Pair]:
    u_real, u_imag, s, vh_real, vh_imag = call.results
    return (u_real, u_imag), s, (vh_real, vh_imag)


def _skew(b: Builder, matrix: Pair, i: Var, j: Var, factor: Atom) -> Number:
    """factor·(M_ij - conj(M_ji))"""
    (x, y), (u, v) = at(b, matrix, (i, j)), at(b, matrix, (j, i))
    return b.mul(factor, b.sub(x, u)), b.mul(factor, b.add(y, v))


def _svd_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """A = U·S·Vᴴ (Wan and Zhang 2019, "Automatic differentiation for complex valued SVD").

    With G the adjoint of U from `_svd_from_gauge`, L = Vᴴ·V_adj, K = Uᴴ·G and F_ij = 1 / (s_j² - s_i²),

    A_adj = U·M·Vᴴ + (G - U·K)·S⁻¹·Vᴴ + U·S⁻¹·(V_adjᴴ - Lᴴ·Vᴴ)
    M_ij = F_ij·((K_ij - conj(K_ji))·s_j + s_i·(L_ij - conj(L_ji))),  M_ii = s_adj_i + i·Im(K_ii) / s_i
    """
    (u, s, vh), s_adj = _svd_parts(call), adjoints[2]
    u_adj, vh_adj = _pair(b, adjoints[:2], u), _pair(b, adjoints[3:], vh)
    if u_adj is None and vh_adj is None:
        assert s_adj is not None
        return _known(pair_product(b, u, _scaled_rows(b, vh, s_adj, "mul")))
    g = _svd_from_gauge(b, u, vh, u_adj, vh_adj)
    k = pair_product(b, u, g, True)
    turned = None if vh_adj is None else pair_product(b, vh_adj, vh, False, True)  # Lᴴ

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        first, second = inner.index(s, (i,)), inner.index(s, (j,))
        real, imag = _skew(inner, k, i, j, second)
        if turned is not None:
            x, y = _skew(inner, turned, i, j, first)
            real, imag = inner.sub(real, x), inner.sub(imag, y)
        own = inner.constant(0.0, s) if s_adj is None else inner.index(s_adj, (i,))
        turn = inner.div(inner.index(k[1], (i, i)), first)
        return _over_gap(inner, i, j, (real, imag), _square_gap(inner, s, i, j), (own, turn))

    middle = pair_entries(b, k[0].type.shape, entry)
    found = pair_product(b, u, pair_product(b, middle, vh))
    outside = pair_difference(b, g, pair_product(b, u, k))
    found = pair_sum(b, found, pair_product(b, outside, _scaled_rows(b, vh, s, "div")))
    if vh_adj is not None and turned is not None:
        outside = pair_difference(b, vh_adj, pair_product(b, turned, vh))
        found = pair_sum(b, found, pair_product(b, u, _scaled_rows(b, outside, s, "div")))
    return _known(found)


def _svd_from_gauge(b: Builder, u: Pair, vh: Pair, u_adj: Pair | None, vh_adj: Pair | None) -> Pair:
    """The adjoint of U before the factors are chosen, which U and V have in common: as in `_from_gauge` with

    s_j = i·Im(u_jᴴ·u_adj_j + v_jᴴ·v_adj_j)
    """
    g = u_adj or (_zeros(b, u[0]), _zeros(b, u[1]))
    own = None if u_adj is None else _sums(b, u, u_adj)[1]
    other = None if vh_adj is None else _sums(b, adjoint_of(b, vh), adjoint_of(b, vh_adj))[1]
    turn = total(b, [part for part in (own, other) if part is not None])
    return _from_gauge(b, u, g, (_zeros(b, turn), turn))


def _svd_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With P = Uᴴ·A_tan·V: s_tan = Re diag P, and before the factors are chosen

    (which adds i·U·diag(c) to U_tan and -i·diag(c)·Vᴴ to V_tanᴴ with c from `_turn`)

    U_tan = U·X + (A_tan·V - U·P)·S⁻¹,      X_ij = F_ij·(P_ij·s_j + s_i·conj(P_ji)),  X_ii = i·Im(P_ii) / s_i
    V_tanᴴ = Yᴴ·Vᴴ + S⁻¹·(Uᴴ·A_tan - P·Vᴴ),  Y_ij = F_ij·(s_i·P_ij + conj(P_ji)·s_j),  Y_ii = 0
    """
    u, s, vh = _svd_parts(call)
    a_tan = _pair(b, tangents, call.args[:2])
    assert a_tan is not None
    along_v, along_u = pair_product(b, a_tan, vh, False, True), pair_product(b, u, a_tan, True)
    p = pair_product(b, u, along_v, True)

    def turning(is_left: bool) -> Pair:
        def entry(inner: Builder, i: Var, j: Var) -> Number:
            (x, y), (v, w) = at(inner, p, (i, j)), at(inner, p, (j, i))
            first, second = inner.index(s, (i,)), inner.index(s, (j,))
            zero, turn = inner.constant(0.0, s), inner.div(inner.index(p[1], (i, i)), first)
            one, other = (second, first) if is_left else (first, second)
            real = inner.add(inner.mul(x, one), inner.mul(v, other))
            imag = inner.sub(inner.mul(y, one), inner.mul(w, other))
            diagonal = zero, turn if is_left else zero
            return _over_gap(inner, i, j, (real, imag), _square_gap(inner, s, i, j), diagonal)

        return pair_entries(b, p[0].type.shape, entry)

    outside = adjoint_of(b, pair_difference(b, along_v, pair_product(b, u, p)))
    w = pair_sum(b, pair_product(b, u, turning(True)), adjoint_of(b, _scaled_rows(b, outside, s, "div")))
    outside = pair_difference(b, along_u, pair_product(b, p, vh))
    z = pair_sum(b, pair_product(b, turning(False), vh, True), _scaled_rows(b, outside, s, "div"))
    c = _turn(b, u, w, _largest(b, u))
    s_tan = b.stack(s.type.shape[0], lambda inner, i: inner.index(p[0], (i, i)))
    return *_turned(b, u, w, c, True), s_tan, *_turned(b, vh, z, c, False)


def _turned(b: Builder, v: Pair, w: Pair, c: Var, is_left: bool) -> Pair:
    """w_ij + i·c_j·v_ij of columns, or w_ij - i·c_i·v_ij of rows"""

    def entry(inner: Builder, i: Var, j: Var) -> Number:
        (x, y), (real, imag) = at(inner, v, (i, j)), at(inner, w, (i, j))
        turn = inner.index(c, (j,)) if is_left else inner.neg(inner.index(c, (i,)))
        return inner.sub(real, inner.mul(turn, y)), inner.add(imag, inner.mul(turn, x))

    return pair_entries(b, v[0].type.shape, entry)


def _zeros(b: Builder, like: Var) -> Var:
    zeros = zeros_like(b, like)
    assert isinstance(zeros, Var)
    return zeros


REVERSE: Mapping[str, ReverseRule] = {
    "eig": _eig_reverse,
    "complex_eig": _eig_reverse,
    "complex_eigh": _eigh_reverse,
    "complex_svd": _svd_reverse,
}
FORWARD: Mapping[str, ForwardRule] = {
    "eig": _eig_forward,
    "complex_eig": _eig_forward,
    "complex_eigh": _eigh_forward,
    "complex_svd": _svd_forward,
}
