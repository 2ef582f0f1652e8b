"""Derivatives of library calls (Giles 2008, "Collected matrix derivative results").

One row per operation: its reverse rule and its forward rule, written on builders. Matrices are row-major;
`ᵀ` of an operand is an attribute of the call where the operation has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anadrome.ad.arrays import add_arrays, transpose
from anadrome.ad.matrices import lower_half, negated, product, scaled, solved, total, triangle
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var
from anadrome.errors import Span
from anadrome.errors.ad import NotDifferentiable

Lazy = Callable[[], Atom]
ReverseRule = Callable[[Builder, Library, Sequence[Var], Var, Var], tuple[Lazy, ...]]
"""(builder, call, arguments, result, y_adj) -> for each argument, what computes its adjoint."""
ForwardRule = Callable[[Builder, Library, Sequence[Var], Var, Sequence[Var | None]], Atom]
"""(builder, call, arguments, result, tangents or None where zero) -> the tangent of the result."""


@dataclass(frozen=True, slots=True)
class LibraryRule:
    """How one library operation is differentiated."""

    reverse: ReverseRule
    forward: ForwardRule


def reverse_library(
    builder: Builder, call: Library, args: Sequence[Atom], result: Atom, y_adj: Atom, span: Span | None
) -> tuple[Lazy, ...]:
    """For each argument, what computes its adjoint."""
    arrays = [arg for arg in args if isinstance(arg, Var)]
    assert isinstance(result, Var)
    return _rule(call, span).reverse(builder, call, arrays, result, y_adj)  # type: ignore[arg-type]


def forward_library(
    builder: Builder,
    call: Library,
    args: Sequence[Atom],
    result: Atom,
    tangents: Sequence[Var | None],
    span: Span | None,
) -> Atom:
    """The tangent of the result."""
    arrays = [arg for arg in args if isinstance(arg, Var)]
    assert isinstance(result, Var)
    return _rule(call, span).forward(builder, call, arrays, result, tangents)


def _rule(call: Library, span: Span | None) -> LibraryRule:
    rule = RULES.get(call.operation)
    if rule is None:
        raise NotDifferentiable(f"`{call.operation}`", span)
    return rule


# ---------------------------------------------------------------------------- rules
def _matmul_reverse(b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var) -> tuple[Lazy, ...]:
    """Y = op(A)·op(B): op(A)_adj = Y_adj·op(B)ᵀ, op(B)_adj = op(A)ᵀ·Y_adj."""
    left, right = args
    turned_left, turned_right = (bool(flag) for flag in call.attributes)

    def left_adj() -> Atom:
        if turned_left:
            return product(b, right, y_adj, turned_right, True)
        return product(b, y_adj, right, False, not turned_right)

    def right_adj() -> Atom:
        if turned_right:
            return product(b, y_adj, left, True, turned_left)
        return product(b, left, y_adj, not turned_left, False)

    return left_adj, right_adj


def _matmul_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """Y_tan = op(A_tan)·op(B) + op(A)·op(B_tan)"""
    flags = tuple(bool(flag) for flag in call.attributes)
    terms = []
    if tangents[0] is not None:
        terms.append(product(b, tangents[0], args[1], *flags))
    if tangents[1] is not None:
        terms.append(product(b, args[0], tangents[1], *flags))
    return total(b, terms)


def _solve_reverse(b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var) -> tuple[Lazy, ...]:
    """op(A)·Y = B: B_adj = op(A)⁻ᵀ·Y_adj, op(A)_adj = -B_adj·Yᵀ."""
    transposed = bool(call.attributes[0])
    right_adj = solved(b, args[0], y_adj, not transposed)

    def matrix_adj() -> Atom:
        pair = (y, right_adj) if transposed else (right_adj, y)
        return negated(b, product(b, pair[0], pair[1], False, True))

    return matrix_adj, lambda: right_adj


def _solve_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """op(A)·Y_tan = B_tan - op(A_tan)·Y"""
    transposed = bool(call.attributes[0])
    terms = []
    if tangents[1] is not None:
        terms.append(tangents[1])
    if tangents[0] is not None:
        terms.append(negated(b, product(b, tangents[0], y, transposed)))
    right = total(b, terms)
    return solved(b, args[0], right, transposed)


def _inv_reverse(b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var) -> tuple[Lazy, ...]:
    """Y = A⁻¹: A_adj = -Yᵀ·Y_adj·Yᵀ."""
    return (lambda: negated(b, product(b, product(b, y, y_adj, True), y, False, True)),)


def _inv_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """Y_tan = -Y·A_tan·Y"""
    (a_tan,) = tangents
    assert a_tan is not None
    return negated(b, product(b, product(b, y, a_tan), y))


def _det_reverse(b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var) -> tuple[Lazy, ...]:
    """y = det A, A not singular: A_adj = y_adj·y·A⁻ᵀ."""

    def matrix_adj() -> Atom:
        inverse = b.let_one(Library("inv", (args[0],)))
        return scaled(b, transpose(b, inverse), b.mul(y_adj, y))

    return (matrix_adj,)


def _det_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """y_tan = y·tr(A⁻¹·A_tan)"""
    (a_tan,) = tangents
    assert a_tan is not None
    quotient = b.let_one(Library("solve", (args[0], a_tan), (False,)))
    trace = b.reduce("add", a_tan.type.shape[0], lambda inner, i: inner.index(quotient, (i, i)))
    return b.mul(y, trace)


def _cholesky_reverse(b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var) -> tuple[Lazy, ...]:
    """S = L·Lᵀ with S = Φ(A) + Φ(A)ᵀ, for only the lower triangle of A is read:

    A_adj = G(L, L_adj) (`_cholesky_adjoint_reverse`), in 2/3·n³ operations where these products take 4·n³.
    """
    return (lambda: b.let_one(Library("cholesky_adjoint", (y, y_adj))),)


def _cholesky_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """L_tan = L·Φ(L⁻¹·S_tan·L⁻ᵀ) (Murray 2016, eq. 8), where S_tan = Φ(A_tan) + Φ(A_tan)ᵀ."""
    (a_tan,) = tangents
    assert a_tan is not None
    return product(b, y, lower_half(b, _inside(b, y, _both_halves(b, lower_half(b, a_tan)))))


def _cholesky_adjoint_reverse(
    b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var
) -> tuple[Lazy, ...]:
    """G(L, W) = Φ(M), M = L⁻ᵀ·(P + Pᵀ)·L⁻¹, P = Φ(Lᵀ·W) (Murray 2016, eq. 10), so M = G + Gᵀ.

    With N = Φ(G_adj) + Φ(G_adj)ᵀ, E = L⁻¹·N·L⁻ᵀ, and of L and W the lower triangle:

    W_adj = L·Φ(E),  L_adj = W·Φ(E)ᵀ - M·N·L⁻ᵀ
    """
    factor, w = args
    n = _both_halves(b, lower_half(b, y_adj))
    inside = lower_half(b, _inside(b, factor, n))

    def factor_adj() -> Atom:
        full = product(b, n, _both_halves(b, y))
        right = transpose(b, b.let_one(Library("triangular_solve", (factor, full), (True, False))))
        first = product(b, triangle(b, w, True), inside, False, True)
        return triangle(b, total(b, [first, negated(b, right)]), True)

    return factor_adj, lambda: product(b, triangle(b, factor, True), inside)


def _cholesky_adjoint_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """With T the lower triangle of L_tan and Q = Φ(Tᵀ·W), G and M as above:

    G_tan = G(L, W_tan + L⁻ᵀ·(Q + Qᵀ)) - Φ(Z + Zᵀ),  Z = M·T·L⁻¹
    """
    factor, w = args
    terms = [] if tangents[1] is None else [tangents[1]]
    if tangents[0] is None:
        return b.let_one(Library("cholesky_adjoint", (factor, *terms)))
    turning = triangle(b, tangents[0], True)
    q = _both_halves(b, lower_half(b, product(b, turning, triangle(b, w, True), True)))
    terms.append(b.let_one(Library("triangular_solve", (factor, q), (True, True))))
    first = b.let_one(Library("cholesky_adjoint", (factor, total(b, terms))))
    z_turned = b.let_one(
        Library("triangular_solve", (factor, product(b, turning, _both_halves(b, y), True)), (True, True))
    )
    z = lower_half(b, _both_halves(b, z_turned))
    return total(b, [first, negated(b, z)])


def _both_halves(b: Builder, matrix: Var) -> Var:
    """M + Mᵀ"""
    found = add_arrays(b, matrix, transpose(b, matrix))
    assert isinstance(found, Var)
    return found


def _inside(b: Builder, factor: Var, symmetric: Var) -> Var:
    """L⁻¹·S·L⁻ᵀ"""
    left = b.let_one(Library("triangular_solve", (factor, symmetric), (True, False)))
    return b.let_one(Library("triangular_solve", (factor, transpose(b, left)), (True, False)))


def _triangular_reverse(
    b: Builder, call: Library, args: Sequence[Var], y: Var, y_adj: Var
) -> tuple[Lazy, ...]:
    """op(T)·Y = B with T triangular: as `solve`, the adjoint of T cut to its triangle."""
    lower, transposed = (bool(flag) for flag in call.attributes)
    right_adj = b.let_one(Library("triangular_solve", (args[0], y_adj), (lower, not transposed)))

    def matrix_adj() -> Atom:
        pair = (y, right_adj) if transposed else (right_adj, y)
        return triangle(b, negated(b, product(b, pair[0], pair[1], False, True)), lower)

    return matrix_adj, lambda: right_adj


def _triangular_forward(
    b: Builder, call: Library, args: Sequence[Var], y: Var, tangents: Sequence[Var | None]
) -> Atom:
    """op(T)·Y_tan = B_tan - op(T_tan)·Y, the tangent of T cut to its triangle."""
    lower, transposed = (bool(flag) for flag in call.attributes)
    terms = []
    if tangents[1] is not None:
        terms.append(tangents[1])
    if tangents[0] is not None:
        terms.append(negated(b, product(b, triangle(b, tangents[0], lower), y, transposed)))
    right = total(b, terms)
    return b.let_one(Library("triangular_solve", (args[0], right), (lower, transposed)))


RULES = {
    "matmul": LibraryRule(_matmul_reverse, _matmul_forward),
    "solve": LibraryRule(_solve_reverse, _solve_forward),
    "triangular_solve": LibraryRule(_triangular_reverse, _triangular_forward),
    "inv": LibraryRule(_inv_reverse, _inv_forward),
    "det": LibraryRule(_det_reverse, _det_forward),
    "cholesky": LibraryRule(_cholesky_reverse, _cholesky_forward),
    "cholesky_adjoint": LibraryRule(_cholesky_adjoint_reverse, _cholesky_adjoint_forward),
}
