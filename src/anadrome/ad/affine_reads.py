"""Which arrays a statement reads only at regular places, so that their adjoints are terms, not accumulators.

A read `x[e₁, e₂, …]` inside a nest of parfors is regular when every index is
  * free of the nest, or
  * the index j of a parfor of the nest whose extent is the size of that dimension, or
  * affine in the index of the outermost parfor (a·i + c, c free of the nest),
with no parfor index used for two dimensions, and when it stands in no sequential loop; in a branch, the
indices must not depend on anything bound inside it. Such an adjoint is built by stacking and reducing
(design, §6). Every other read contributes to an accumulator that is carried inwards.

An array whose adjoint is whole already costs nothing to open an accumulator on. In a loop, where the sum of
a few stacked elements and the whole array would be made in every iteration, its regular reads must therefore
be of about as many places as the dimension has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from anadrome.array_ir.affine import affine
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Const,
    Expr,
    If,
    Index,
    Let,
    Loop,
    ParFor,
    Size,
    Var,
)
from anadrome.array_ir.walk import bodies, expression_variables, operands
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is in the nest: what surrounds it. What is bound grows with the walk: one set for the
    statement, one for each outermost branch."""

    is_whole: Callable[[Var], bool]
    extents: Mapping[Var, Size] = field(default_factory=dict)
    bound: set[Var] = field(default_factory=set)
    outermost: Var | None = None
    bound_in_branch: set[Var] | None = None
    is_in_loop: bool = False

    def inside(self, expr: Expr, binders: tuple[Var, ...]) -> _Place:
        """The place in a body nested in `expr`."""
        self.bind(binders)
        match expr:
            case ParFor(index=index, extent=extent) if index in binders:
                extents = {**self.extents, index: extent}
                return replace(self, extents=extents, outermost=self.outermost or index)
            case Loop():
                return replace(self, is_in_loop=True)
            case If():
                branch = self.bound_in_branch
                return replace(self, bound_in_branch=set() if branch is None else branch)
            case _:
                return self

    def bind(self, variables: tuple[Var, ...]) -> None:
        """These variables are bound here."""
        self.bound.update(variables)
        if self.bound_in_branch is not None:
            self.bound_in_branch.update(variables)


def non_affine_arrays(
    let: Let, varied: set[Var], definitions: Mapping[Var, Expr], is_whole: Callable[[Var], bool]
) -> list[Var]:
    """The varied arrays, bound around the statement, that need an accumulator while it is reversed.
    `is_whole`: whether the adjoint of one is an array that a loop around updates in place."""
    candidates = {
        var
        for var in expression_variables(let.expr)
        if var in varied and isinstance(var.type, ArrayType) and var.type.shape
    }
    if not candidates:
        return []
    return list(dict.fromkeys(_irregular(let.expr, _Place(is_whole), candidates, definitions)))


def _irregular(
    expr: Expr, place: _Place, candidates: set[Var], definitions: Mapping[Var, Expr]
) -> Iterator[Var]:
    for binders, body in bodies(expr):
        yield from _in_body(body, place.inside(expr, binders), candidates, definitions)


def _in_body(
    body: Body, place: _Place, candidates: set[Var], definitions: Mapping[Var, Expr]
) -> Iterator[Var]:
    for let in body.lets:
        match let.expr:
            case Index(array=array, indices=indices):
                if array in candidates and not _is_regular(array, indices, place, definitions):
                    yield array
            case expr:
                yield from _whole(operands(expr), place, candidates)
                yield from _irregular(expr, place, candidates, definitions)
        place.bind(let.targets)
    yield from _whole(body.results, place, candidates)


def _whole(atoms: tuple[Atom, ...], place: _Place, candidates: set[Var]) -> Iterator[Var]:
    """Arrays used as a whole: their adjoint is dense, which a loop or a branch must not make every time."""
    if place.is_in_loop or place.bound_in_branch is not None:
        yield from (atom for atom in atoms if isinstance(atom, Var) and atom in candidates)


def _is_regular(
    array: Var, indices: tuple[Atom, ...], place: _Place, definitions: Mapping[Var, Expr]
) -> bool:
    if place.is_in_loop:
        return False
    used: set[Var] = set()
    for index, size in zip(indices, array.type.shape, strict=False):
        form = affine(index, definitions)
        inside = [var for var, _ in form.terms if var in place.bound]
        if not inside:
            continue
        if len(inside) > 1 or inside[0] in used or inside[0] not in place.extents:
            return False
        (var,) = inside
        if place.bound_in_branch is not None and var in place.bound_in_branch:
            return False
        is_whole = form.atom is var and place.extents[var] == size
        if not is_whole and var is not place.outermost:
            return False
        if not is_whole and place.is_whole(array) and not _is_most_of(place.extents[var], size, definitions):
            return False
        used.add(var)
    return True


def _is_most_of(extent: Size, size: Size, definitions: Mapping[Var, Expr]) -> bool:
    """Whether a parfor surely runs over all but a few places of a dimension."""
    if isinstance(extent, Const) and isinstance(size, Const):
        return 4 * int(extent.value) >= int(size.value)
    return affine(extent, definitions).slope == affine(size, definitions).slope
