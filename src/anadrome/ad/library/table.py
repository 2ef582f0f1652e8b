"""Derivatives of library calls: where their rules stand, by the name of the operation.

An operation that is linear in every argument that it reads, in each group of them for itself, needs no
forward rule: its tangent is the sum over the groups of the operation with the tangents of the group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from anadrome.ad.arrays import zeros_like
from anadrome.ad.library import complex_decompositions, decompositions, fourier, sparse, systems
from anadrome.ad.library.matrices import total
from anadrome.ad.library.record import Call, ForwardRule, Lazy, ReverseRule
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Atom, Library, Var
from anadrome.library.table import LIBRARY

REVERSE: Mapping[str, ReverseRule] = {
    **systems.REVERSE,
    **decompositions.REVERSE,
    **complex_decompositions.REVERSE,
    **fourier.REVERSE,
    **sparse.REVERSE,
}
"""Operation -> its reverse rule; one for each that has a derivative."""
FORWARD: Mapping[str, ForwardRule] = {
    **systems.FORWARD,
    **decompositions.FORWARD,
    **complex_decompositions.FORWARD,
    **sparse.FORWARD,
}
"""Operation -> its forward rule; one for each that has a derivative and is not multilinear."""


def reverse_library(
    builder: Builder, expr: Library, results: Sequence[Atom], adjoints: Sequence[Atom | None]
) -> list[tuple[int, Lazy]]:
    """For each argument that is read its position and what computes its adjoint."""
    call = _call(expr, results)
    found = REVERSE[expr.operation](builder, call, cast("Sequence[Var | None]", adjoints))
    positions = call.operation.read(range(len(expr.args)))
    return list(zip(positions, found, strict=True))


def forward_library(
    builder: Builder, expr: Library, results: Sequence[Atom], tangents: Sequence[Atom | None]
) -> tuple[Atom, ...]:
    """The tangents of the results; `expr` is in the new program, each argument has its tangent or None."""
    call = _call(expr, results)
    given = call.operation.read(cast("Sequence[Var | None]", tangents))
    rule = _multilinear if call.operation.is_multilinear else FORWARD[expr.operation]
    return rule(builder, call, given)


def _call(expr: Library, results: Sequence[Atom]) -> Call:
    """The call; its arguments and results are arrays or bound numbers, never constants."""
    args, attributes = cast("tuple[Var, ...]", expr.args), tuple(map(bool, expr.attributes))
    return Call(LIBRARY[expr.operation], args, attributes, cast("tuple[Var, ...]", tuple(results)))


def _multilinear(b: Builder, call: Call, tangents: Sequence[Var | None]) -> tuple[Atom, ...]:
    """y_tan = Σ over groups g of f(…, x_tan of g, …)"""
    read = call.operation.read(call.operation.arguments)
    args = call.operation.read(call.args)
    terms: list[tuple[Var, ...]] = []
    for group in call.operation.groups:
        inside = [argument.name in group for argument in read]
        if not any(tangent is not None and is_in for tangent, is_in in zip(tangents, inside, strict=True)):
            continue
        given = [
            arg if not is_in else cast("Var", zeros_like(b, arg)) if tangent is None else tangent
            for arg, tangent, is_in in zip(args, tangents, inside, strict=True)
        ]
        terms.append(call.again(b, given))
    return tuple(total(b, parts) for parts in zip(*terms, strict=True))
