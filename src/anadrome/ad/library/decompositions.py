"""Derivatives of QR, of eigenvalues and of singular values.

What is not determined by
the matrix has no derivative: where eigenvalues or singular values are equal, that of their vectors is
infinite or NaN wherever it is asked for (a function of the eigenvalues alone does not ask), and so are those
of U and V at a singular value of zero, and that of Q where the columns depend on one another.
"""

from __future__ import annotations

from collections.abc import Mapping

from anadrome.ad.arrays import transpose
from anadrome.ad.library.matrices import both_halves, entries, half, negated, product, total
from anadrome.ad.library.record import Call, ForwardRule, Lazy, ReverseRule, Vars, only
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var


# ---------------------------------------------------------------------------- elements
def _over_gap(b: Builder, i: Var, j: Var, numerator: Atom, gap: Atom, diagonal: Atom | None = None) -> Atom:
    """numerator / gap beside the diagonal, where the gap is zero of itself.

    0/0 stays NaN: a numerator of zero does not say that nothing depends on the two vectors. With U·S·Vᵀ = A
    at equal singular values the parts of U and V cancel, and the derivative is not zero.
    """
    is_diagonal = b.apply("eq", i, j)
    beside = b.div(numerator, b.select(is_diagonal, b.constant(1.0, gap), gap))
    return b.select(is_diagonal, b.constant(0.0, gap) if diagonal is None else diagonal, beside)


# ---------------------------------------------------------------------------- QR
def _qr_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """A = Q·R: A_adj = (Q_adj + Q·S)·R⁻ᵀ, S = the symmetric matrix with the lower triangle of M,

    M = R·R_adjᵀ - Q_adjᵀ·Q (Walter and Lehmann 2010; Seeger et al. 2017, §4.3).
    """
    (q, r), (q_adj, r_adj) = call.results, adjoints
    terms = []
    if r_adj is not None:
        terms.append(product(b, r, r_adj, False, True))
    if q_adj is not None:
        terms.append(negated(b, product(b, q_adj, q, True)))
    m = total(b, terms)

    def entry(inner: Builder, i: Var, j: Var) -> Atom:
        return inner.index(m, (inner.apply("max", i, j), inner.apply("min", i, j)))

    symmetric = entries(b, m.type.shape, entry)
    inside = product(b, q, symmetric)
    if q_adj is not None:
        inside = total(b, [q_adj, inside])
    found = transpose(b, b.let_one(Library("triangular_solve", (r, transpose(b, inside)), (False, False))))
    return (lambda: found,)


def _qr_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With W = A_tan·R⁻¹, C = Qᵀ·W, Ω its strictly lower triangle minus the transpose of that:

    Q_tan = W - Q·(C - Ω),  R_tan = (C - Ω)·R
    """
    (q, r), a_tan = call.results, only(tangents)
    w = transpose(b, b.let_one(Library("triangular_solve", (r, transpose(b, a_tan)), (False, True))))
    c = product(b, q, w, True)

    def entry(inner: Builder, i: Var, j: Var) -> Atom:
        value, other = inner.index(c, (i, j)), inner.index(c, (j, i))
        upper = inner.select(inner.apply("lt", i, j), inner.add(value, other), inner.constant(0.0, value))
        return inner.select(inner.apply("eq", i, j), value, upper)

    rotation = entries(b, c.type.shape, entry)
    return total(b, [w, negated(b, product(b, q, rotation))]), product(b, rotation, r)


# ---------------------------------------------------------------------------- eigenvalues
def _eigh_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """S·V = V·diag(w), S = Φ(A) + Φ(A)ᵀ, for only one triangle of A is read (Giles 2008, §3.1):

    S_adj = V·(diag(w_adj) + F∘(Vᵀ·V_adj))·Vᵀ,  F_ij = 1 / (w_j - w_i),  A_adj = Φ(S_adj + S_adjᵀ)
    """
    (w, v), (w_adj, v_adj), (lower,) = call.results, adjoints, call.attributes
    k = None if v_adj is None else product(b, v, v_adj, True)

    def entry(inner: Builder, i: Var, j: Var) -> Atom:
        zero = inner.constant(0.0, w)
        diagonal = zero if w_adj is None else inner.index(w_adj, (i,))
        if k is None:
            return inner.select(inner.apply("eq", i, j), diagonal, zero)
        gap = inner.sub(inner.index(w, (j,)), inner.index(w, (i,)))
        return _over_gap(inner, i, j, inner.index(k, (i, j)), gap, diagonal)

    middle = entries(b, v.type.shape, entry)
    s_adj = product(b, product(b, v, middle), v, False, True)
    found = half(b, both_halves(b, s_adj), lower)
    return (lambda: found,)


def _eigh_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With P = Vᵀ·S_tan·V: w_tan = diag P, V_tan = V·(F∘P)."""
    (w, v), (lower,) = call.results, call.attributes
    s_tan = both_halves(b, half(b, only(tangents), lower))
    p = product(b, v, product(b, s_tan, v), True)

    def entry(inner: Builder, i: Var, j: Var) -> Atom:
        gap = inner.sub(inner.index(w, (j,)), inner.index(w, (i,)))
        return _over_gap(inner, i, j, inner.index(p, (i, j)), gap)

    w_tan = b.stack(w.type.shape[0], lambda inner, i: inner.index(p, (i, i)))
    return w_tan, product(b, v, entries(b, v.type.shape, entry))


# ---------------------------------------------------------------------------- singular values
def _rows_over(b: Builder, matrix: Var, s: Var) -> Var:
    """S⁻¹·M: each row over its singular value."""
    return entries(
        b,
        matrix.type.shape,
        lambda inner, i, j: inner.div(inner.index(matrix, (i, j)), inner.index(s, (i,))),
    )


def _square_gap(b: Builder, s: Var, i: Var, j: Var) -> Atom:
    """s_j² - s_i², as a product, so that close values keep their digits."""
    first, second = b.index(s, (i,)), b.index(s, (j,))
    return b.mul(b.sub(second, first), b.add(second, first))


def _svd_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """A = U·S·Vᵀ (Townsend 2016, §2.2). With K = Uᵀ·U_adj, L = Vᵀ·V_adj and F_ij = 1 / (s_j² - s_i²),

    A_adj = U·M·Vᵀ + (U_adj - U·K)·S⁻¹·Vᵀ + U·S⁻¹·(V_adjᵀ - Lᵀ·Vᵀ)
    M_ij = F_ij·((K_ij - K_ji)·s_j + s_i·(L_ij - L_ji)),  M_ii = s_adj_i
    """
    (u, s, vt), (u_adj, s_adj, vt_adj) = call.results, adjoints
    k = None if u_adj is None else product(b, u, u_adj, True)
    turned = None if vt_adj is None else product(b, vt_adj, vt, False, True)  # Lᵀ

    def entry(inner: Builder, i: Var, j: Var) -> Atom:
        zero = inner.constant(0.0, s)
        numerator: Atom = zero
        if k is not None:
            skew = inner.sub(inner.index(k, (i, j)), inner.index(k, (j, i)))
            numerator = inner.mul(skew, inner.index(s, (j,)))
        if turned is not None:
            skew = inner.sub(inner.index(turned, (j, i)), inner.index(turned, (i, j)))
            numerator = inner.add(numerator, inner.mul(skew, inner.index(s, (i,))))
        diagonal = zero if s_adj is None else inner.index(s_adj, (i,))
        if numerator is zero:
            return inner.select(inner.apply("eq", i, j), diagonal, zero)
        return _over_gap(inner, i, j, numerator, _square_gap(inner, s, i, j), diagonal)

    short = s.type.shape[0]
    terms = [product(b, product(b, u, entries(b, (short, short), entry)), vt)]
    if u_adj is not None and k is not None:
        outside = total(b, [u_adj, negated(b, product(b, u, k))])
        terms.append(product(b, transpose(b, _rows_over(b, transpose(b, outside), s)), vt))
    if vt_adj is not None and turned is not None:
        outside = total(b, [vt_adj, negated(b, product(b, turned, vt))])
        terms.append(product(b, u, _rows_over(b, outside, s)))
    found = total(b, terms)
    return (lambda: found,)


def _svd_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With P = Uᵀ·A_tan·V: s_tan = diag P and

    U_tan = U·X + (A_tan·V - U·P)·S⁻¹,    X_ij = F_ij·(P_ij·s_j + s_i·P_ji)
    V_tan = V·Y + (A_tanᵀ·U - V·Pᵀ)·S⁻¹,  Y_ij = F_ij·(s_i·P_ij + P_ji·s_j)
    """
    (u, s, vt), a_tan = call.results, only(tangents)
    along_v, along_u = product(b, a_tan, vt, False, True), product(b, u, a_tan, True)
    p = product(b, u, along_v, True)

    def turning(first: bool) -> Var:
        def entry(inner: Builder, i: Var, j: Var) -> Atom:
            own, other = inner.index(p, (i, j)), inner.index(p, (j, i))
            s_i, s_j = inner.index(s, (i,)), inner.index(s, (j,))
            left = inner.mul(own, s_j if first else s_i)
            numerator = inner.add(left, inner.mul(other, s_i if first else s_j))
            return _over_gap(inner, i, j, numerator, _square_gap(inner, s, i, j))

        return entries(b, p.type.shape, entry)

    outside_u = total(b, [along_v, negated(b, product(b, u, p))])
    u_tan = total(b, [product(b, u, turning(True)), transpose(b, _rows_over(b, transpose(b, outside_u), s))])
    outside_v = total(b, [along_u, negated(b, product(b, p, vt))])
    vt_tan = total(b, [product(b, turning(False), vt, True), _rows_over(b, outside_v, s)])
    s_tan = b.stack(s.type.shape[0], lambda inner, i: inner.index(p, (i, i)))
    return u_tan, s_tan, vt_tan


REVERSE: Mapping[str, ReverseRule] = {"qr": _qr_reverse, "eigh": _eigh_reverse, "svd": _svd_reverse}
FORWARD: Mapping[str, ForwardRule] = {"qr": _qr_forward, "eigh": _eigh_forward, "svd": _svd_forward}
