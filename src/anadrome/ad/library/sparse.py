"""Derivatives of sparse linear systems: of the stored values of the matrix, and of the right-hand sides."""

from __future__ import annotations

from collections.abc import Mapping

from anadrome.ad.arrays import transpose, zeros_like
from anadrome.ad.library.matrices import negated, total
from anadrome.ad.library.record import Call, ForwardRule, Lazy, ReverseRule, Vars, only
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, ArrayType, Atom, Library, Part, Var


def _reverse(b: Builder, call: Call, adjoints: Vars) -> tuple[Lazy, ...]:
    """A·Y = B: B_adj = A⁻ᵀ·Y_adj; of the entry k at (r, c): data_adj_k = -Σ_j B_adj[r, j]·Y[c, j]."""
    data, rows, columns, right = call.args
    (y,) = call.results
    right_adj = b.let_one(Library("sparse_solve", (data, columns, rows, only(adjoints))))

    def data_adj() -> Atom:
        def entry(inner: Builder, k: Var) -> Atom:
            row, column = inner.index(rows, (k,)), inner.index(columns, (k,))
            return inner.neg(
                inner.reduce(
                    "add",
                    right.type.shape[1],
                    lambda deep, j: deep.mul(deep.index(right_adj, (row, j)), deep.index(y, (column, j))),
                )
            )

        return b.stack(data.type.shape[0], entry)

    return data_adj, lambda: zeros_like(b, rows), lambda: zeros_like(b, columns), lambda: right_adj


def _forward(b: Builder, call: Call, tangents: Vars) -> tuple[Atom, ...]:
    """A·Y_tan = B_tan - A_tan·Y with (A_tan·Y)[r, j] = Σ data_tan_k·Y[c, j] over the entries k at (r, c)."""
    data, rows, columns, _ = call.args
    data_tan, _, _, right_tan = tangents
    terms = [] if right_tan is None else [right_tan]
    if data_tan is not None:
        terms.append(negated(b, _product(b, (data_tan, rows, columns), call.results[0])))
    return call.again(b, (data, rows, columns, total(b, terms)))


def _product(b: Builder, matrix: tuple[Var, Var, Var], y: Var) -> Var:
    """A·Y, column by column."""
    data, rows, columns = matrix
    n, m = y.type.shape

    def column(outer: Builder, j: Var) -> Atom:
        start = outer.zeros(ArrayType(y.type.dtype, (n,)))
        assert isinstance(start, Var)

        def entry(inner: Builder, k: Var) -> tuple[Part]:
            value = inner.mul(inner.index(data, (k,)), inner.index(y, (inner.index(columns, (k,)), j)))
            return (Accumulate.of("add", start, (inner.index(rows, (k,)),), value),)

        return outer.parfor(data.type.shape[0], entry)[0]

    return transpose(b, b.stack(m, column))


REVERSE: Mapping[str, ReverseRule] = {"sparse_solve": _reverse}
FORWARD: Mapping[str, ForwardRule] = {"sparse_solve": _forward}
