"""Both modes of the yields that stand alone (`lone`): which rule each has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anadrome.ad.canonical import has_rule
from anadrome.ad.folds.fold import forward_fold, reverse_fold
from anadrome.ad.folds.monoids import Derivative, Lookup
from anadrome.ad.folds.scatter import forward_bins, forward_scatter, reverse_bins
from anadrome.ad.sweep.scope import Scope
from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import Accumulate, Atom, Let, ParFor, Reduce, Scan, Scatter, Var
from anadrome.array_ir.rewrite import Renaming


def is_lone(let: Let, expr: ParFor, varied: set[Var]) -> bool:
    """Whether a parfor of a canonical program is there for one yield with a rule on arrays."""
    return len(expr.yields) == 1 and not has_rule(expr.yields[0]) and not varied.isdisjoint(let.targets)


# ---------------------------------------------------------------------------- reverse mode


def reverse_lone(scope: Scope, let: Let, expr: ParFor, reverse: Derivative) -> None:
    """The adjoint of a yield that stands alone."""
    (item,) = expr.yields
    match item:
        case Reduce() | Scan():
            reverse_fold(scope, let, expr, reverse)
        case Accumulate() | Scatter():
            reverse_bins(scope, let, expr, reverse)
        case _:
            raise AssertionError(f"a {type(item).__name__} is reversed with the parfor it stands in")


# ---------------------------------------------------------------------------- forward mode
@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """How tangents go through a yield that stands alone: those of `targets`, from those of what it reads."""

    targets: tuple[Var, ...]
    tangents: Callable[[Builder, Lookup], Sequence[Atom]]


def forward_lone(
    builder: Builder,
    renaming: Renaming,
    let: Let,
    expr: ParFor,
    varied: set[Var],
    forward: Derivative,
    is_single: bool,
) -> Push:
    """Emit the primal, or leave it to the rule to make it with the tangent of a single direction."""
    (item,) = expr.yields
    match item:
        case Reduce() | Scan():
            targets, tangents = forward_fold(builder, renaming, let, expr, varied, forward, is_single)
            return Push(targets, tangents)
        case Accumulate():
            builder.emit(renaming.let(let))
            return Push(let.targets, forward_bins(builder, renaming, let, expr, varied, forward))
        case Scatter():
            builder.emit(renaming.let(let))
            return Push(let.targets, forward_scatter(renaming, let, expr))
        case _:
            raise AssertionError(f"a {type(item).__name__} goes with the parfor it stands in")
