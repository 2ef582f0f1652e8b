"""Derivatives of products, systems, determinants and Cholesky factors.

Giles 2008, "Collected matrix derivative results". Matrices are row-major; `ᵀ` of an operand is an attribute
of the call where the operation has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anadrome.ad.arrays import transpose, zeros_like
from anadrome.ad.library.matrices import both_halves, half, negated, product, scaled, total, triangle
from anadrome.ad.library.record import Call, ForwardRule, Lazy, ReverseRule, Vars, only
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var


def _matmul_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """Y = op(A)·op(B): op(A)_adj = Y_adj·op(B)ᵀ, op(B)_adj = op(A)ᵀ·Y_adj."""
    left, right = call.args
    turned_left, turned_right = call.attributes
    y_adj = only(adjoints)

    def left_adj() -> Atom:
        if turned_left:
            return product(b, right, y_adj, turned_right, True)
        return product(b, y_adj, right, False, not turned_right)

    def right_adj() -> Atom:
        if turned_right:
            return product(b, y_adj, left, True, turned_left)
        return product(b, left, y_adj, not turned_left, False)

    return left_adj, right_adj


def _solve_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """op(A)·Y = B: B_adj = op(A)⁻ᵀ·Y_adj, op(A)_adj = -B_adj·Yᵀ, of a triangular A its triangle alone."""
    (*lower, transposed), (y,) = call.attributes, call.results
    attributes = (*lower, not transposed)
    right_adj = b.let_one(Library(call.operation.name, (call.args[0], only(adjoints)), attributes))

    def matrix_adj() -> Atom:
        pair = (y, right_adj) if transposed else (right_adj, y)
        return _cut(b, negated(b, product(b, pair[0], pair[1], False, True)), lower)

    return matrix_adj, lambda: right_adj


def _solve_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """op(A)·Y_tan = B_tan - op(A_tan)·Y, of a triangular A its triangle alone."""
    (*lower, transposed), (y,) = call.attributes, call.results
    terms = []
    if tangents[1] is not None:
        terms.append(tangents[1])
    if tangents[0] is not None:
        terms.append(negated(b, product(b, _cut(b, tangents[0], lower), y, transposed)))
    return call.again(b, (call.args[0], total(b, terms)))


def _cut(b: Builder, matrix: Var, lower: Sequence[bool]) -> Var:
    """The triangle that a triangular system reads of its matrix; the whole matrix of any other system."""
    return triangle(b, matrix, lower[0]) if lower else matrix


def _inv_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """Y = A⁻¹: A_adj = -Yᵀ·Y_adj·Yᵀ."""
    (y,), y_adj = call.results, only(adjoints)
    return (lambda: negated(b, product(b, product(b, y, y_adj, True), y, False, True)),)


def _inv_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """Y_tan = -Y·A_tan·Y"""
    (y,), a_tan = call.results, only(tangents)
    return (negated(b, product(b, product(b, y, a_tan), y)),)


def _det_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """y = det A, A not singular: A_adj = y_adj·y·A⁻ᵀ."""

    def matrix_adj() -> Atom:
        inverse = b.let_one(Library("inv", call.args))
        return scaled(b, transpose(b, inverse), b.mul(only(adjoints), call.results[0]))

    return (matrix_adj,)


def _det_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """y_tan = y·tr(A⁻¹·A_tan)"""
    return (b.mul(call.results[0], _logarithmic(b, call, tangents)),)


def _logarithmic(b: Builder, call: Call, tangents: Vars) -> Atom:
    """tr(A⁻¹·A_tan)"""
    a_tan = only(tangents)
    quotient = b.let_one(Library("solve", (*call.args, a_tan), (False,)))
    return b.reduce("add", a_tan.type.shape[0], lambda inner, i: inner.index(quotient, (i, i)))


def _slogdet_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """y = log |det A|: A_adj = y_adj·A⁻ᵀ; the sign is constant."""
    y_adj = adjoints[1]

    def matrix_adj() -> Atom:
        (matrix,) = call.args
        if y_adj is None:
            return zeros_like(b, matrix)
        return scaled(b, transpose(b, b.let_one(Library("inv", (matrix,)))), y_adj)

    return (matrix_adj,)


def _slogdet_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """y_tan = tr(A⁻¹·A_tan)"""
    trace = _logarithmic(b, call, tangents)
    return b.constant(0.0, call.results[0]), trace


def _cholesky_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """S = L·Lᵀ with S = Φ(A) + Φ(A)ᵀ, for only the lower triangle of A is read:

    A_adj = G(L, L_adj) (`_cholesky_adjoint_reverse`), in 2/3·n³ operations where these products take 4·n³.
    """
    return (lambda: b.let_one(Library("cholesky_adjoint", (*call.results, only(adjoints)))),)


def _cholesky_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """L_tan = L·Φ(L⁻¹·S_tan·L⁻ᵀ) (Murray 2016, eq. 8), where S_tan = Φ(A_tan) + Φ(A_tan)ᵀ."""
    (y,) = call.results
    symmetric = both_halves(b, half(b, only(tangents)))
    return (product(b, y, half(b, _inside(b, y, symmetric))),)


def _cholesky_adjoint_reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """G(L, W) = Φ(M), M = L⁻ᵀ·(P + Pᵀ)·L⁻¹, P = Φ(Lᵀ·W) (Murray 2016, eq. 10), so M = G + Gᵀ.

    With N = Φ(G_adj) + Φ(G_adj)ᵀ, E = L⁻¹·N·L⁻ᵀ, and of L and W the lower triangle:

    W_adj = L·Φ(E),  L_adj = W·Φ(E)ᵀ - M·N·L⁻ᵀ
    """
    (factor, w), (y,) = call.args, call.results
    n = both_halves(b, half(b, only(adjoints)))
    inside = half(b, _inside(b, factor, n))

    def factor_adj() -> Atom:
        full = product(b, n, both_halves(b, y))
        right = transpose(b, b.let_one(Library("triangular_solve", (factor, full), (True, False))))
        first = product(b, triangle(b, w, True), inside, False, True)
        return triangle(b, total(b, [first, negated(b, right)]), True)

    return factor_adj, lambda: product(b, triangle(b, factor, True), inside)


def _cholesky_adjoint_forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """With T the lower triangle of L_tan and Q = Φ(Tᵀ·W), G and M as above:

    G_tan = G(L, W_tan + L⁻ᵀ·(Q + Qᵀ)) - Φ(Z + Zᵀ),  Z = M·T·L⁻¹
    """
    (factor, w), (y,) = call.args, call.results
    terms = [] if tangents[1] is None else [tangents[1]]
    if tangents[0] is None:
        return call.again(b, (factor, *terms))
    turning = triangle(b, tangents[0], True)
    q = both_halves(b, half(b, product(b, turning, triangle(b, w, True), True)))
    terms.append(b.let_one(Library("triangular_solve", (factor, q), (True, True))))
    first = b.let_one(Library("cholesky_adjoint", (factor, total(b, terms))))
    z_turned = b.let_one(
        Library("triangular_solve", (factor, product(b, turning, both_halves(b, y), True)), (True, True))
    )
    z = half(b, both_halves(b, z_turned))
    return (total(b, [first, negated(b, z)]),)


def _inside(b: Builder, factor: Var, symmetric: Var) -> Var:
    """L⁻¹·S·L⁻ᵀ"""
    left = b.let_one(Library("triangular_solve", (factor, symmetric), (True, False)))
    return b.let_one(Library("triangular_solve", (factor, transpose(b, left)), (True, False)))


REVERSE: Mapping[str, ReverseRule] = {
    "matmul": _matmul_reverse,
    "solve": _solve_reverse,
    "triangular_solve": _solve_reverse,
    "inv": _inv_reverse,
    "det": _det_reverse,
    "slogdet": _slogdet_reverse,
    "cholesky": _cholesky_reverse,
    "cholesky_adjoint": _cholesky_adjoint_reverse,
}
FORWARD: Mapping[str, ForwardRule] = {
    "solve": _solve_forward,
    "triangular_solve": _solve_forward,
    "inv": _inv_forward,
    "det": _det_forward,
    "slogdet": _slogdet_forward,
    "cholesky": _cholesky_forward,
    "cholesky_adjoint": _cholesky_adjoint_forward,
}
