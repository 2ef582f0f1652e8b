"""Adjoints as sums of terms with Iverson brackets (Bernstein et al. 2020, §5; SC22 §III).

The adjoint of an array is Σ [at]·v: a term fixes some dimensions at an index and leaves others whole,

    x_adj = Σ_t [i₁ = a_t1]·[i₂ = a_t2]·…·v_t        (dimensions left whole carry no bracket)

so reading `x[i]` costs one scalar, never a dense array. Terms with equal brackets are merged as they are
read. A variable that has an open accumulator takes its contributions there instead (`scope.Scope`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anadrome.ad.arrays import add_arrays, element
from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Bounds, Carry, Const, Full, Part, Update, Var


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """[at]·value: an index for each dimension that is fixed, None for each that is whole.

    `value` is an array over the whole dimensions, in order; a scalar where all are fixed. The value of a
    guarded term is zero wherever its indices are outside (it comes from a branch that did not run).
    """

    at: tuple[Atom | None, ...]
    value: Atom
    is_guarded: bool = False
    is_late: bool = False
    """Whether a number is handed on by the iteration before: it is added last, since all wait for it."""

    @property
    def is_dense(self) -> bool:
        """Whether no dimension is fixed."""
        return all(index is None for index in self.at)

    @property
    def fixed(self) -> tuple[Atom, ...]:
        """The indices that are given."""
        return tuple(index for index in self.at if index is not None)

    @property
    def bounds(self) -> Bounds:
        """What is known of the indices."""
        return Bounds.IGNORED if self.is_guarded else Bounds.PROVED


def dense_term(value: Atom) -> Term:
    """A contribution to every element."""
    return Term((None,) * len(value.type.shape), value)


def merge(builder: Builder, terms: Sequence[Term]) -> list[Term]:
    """The same sum with the terms of equal brackets added up."""
    groups: dict[tuple[Affine | None, ...], Term] = {}
    for term in sorted(terms, key=lambda term: term.is_late):
        key = tuple(None if index is None else builder.affine(index) for index in term.at)
        known = groups.get(key)
        value = term.value if known is None else add_arrays(builder, known.value, term.value)
        is_guarded = term.is_guarded if known is None else term.is_guarded or known.is_guarded
        groups[key] = Term(term.at if known is None else known.at, value, is_guarded)
    return list(groups.values())


def materialise(builder: Builder, type_: ArrayType, terms: Sequence[Term]) -> Atom:
    """The adjoint as one array of type `type_` (a scalar for shape ()); at least one term is given."""
    merged = merge(builder, terms)
    dense = [term for term in merged if term.is_dense]
    total = dense[0].value if dense else builder.zeros(type_)
    for term in merged:
        if not term.is_dense:
            assert isinstance(total, Var)
            total = _put(builder, total, term)
    return total


def _put(builder: Builder, base: Var, term: Term) -> Var:
    fixed = term.fixed
    if not term.is_guarded and term.at[: len(fixed)] == fixed:
        before = _before_cleared(builder, base, fixed)
        if before is not None:
            return builder.update(before, fixed, term.value)
        row = add_arrays(builder, builder.index(base, fixed), term.value)
        return builder.update(base, fixed, row)
    return _put_across(builder, base, term)


def _before_cleared(builder: Builder, base: Var, at: tuple[Atom, ...]) -> Var | None:
    """The array of which `base` is a copy with zero at these indices."""
    match builder.made(base):
        case Update(array=array, indices=indices, value=value):
            row = builder.made(value)
            zero = row.value if isinstance(row, Full) else value
            same = list(map(builder.affine, indices)) == list(map(builder.affine, at))
            return array if same and isinstance(zero, Const) and zero.value == 0 else None
        case _:
            return None


def _put_across(builder: Builder, base: Var, term: Term) -> Var:
    """A term that is guarded or fixes a dimension behind a whole one: one contribution per element."""
    whole = [dimension for dimension, index in enumerate(term.at) if index is None]

    def level(inner: Builder, token: Var, indices: tuple[Var, ...]) -> Var:
        if len(indices) == len(whole):
            places = iter(indices)
            at = tuple(next(places) if index is None else index for index in term.at)
            return inner.add_to(token, at, element(inner, term.value, indices), term.bounds)

        def body(deeper: Builder, index: Var) -> tuple[Part, ...]:
            return (Carry.of(token, level(deeper, token, (*indices, index))),)

        (after,) = inner.parfor(base.type.shape[whole[len(indices)]], body)
        return after

    (result,) = builder.with_sum((base,), lambda inner, tokens: (level(inner, tokens[0], ()),))
    return result
