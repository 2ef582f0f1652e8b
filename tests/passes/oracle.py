"""What a pass must keep: the verifier's rules, the interpreter's results, the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.text import parse, show
from anadrome.config import Config
from anadrome.passes.blocks_in_place import blocks_in_place
from anadrome.passes.both_sides import both_sides
from anadrome.passes.eliminate_bounds_checks import eliminate_bounds_checks
from anadrome.passes.equal_sizes import equal_sizes
from anadrome.passes.fuse import fuse
from anadrome.passes.gathered import gathered
from anadrome.passes.hoist import hoist
from anadrome.passes.hoist_sums import hoist_sums
from anadrome.passes.inline import inline
from anadrome.passes.inline_partial_reads import inline_partial_reads
from anadrome.passes.iverson import iverson
from anadrome.passes.join import join
from anadrome.passes.outer_lanes import outer_lanes
from anadrome.passes.parallel_loops import parallel_loops
from anadrome.passes.restrict_domains import restrict_domains
from anadrome.passes.reuse_across_branches import reuse_across_branches
from anadrome.passes.reuse_across_loops import reuse_across_loops
from anadrome.passes.scalarize import scalarize
from anadrome.passes.simplify import simplify
from anadrome.passes.split_loops import split_loops
from anadrome.passes.stored_sums import stored_sums
from anadrome.passes.tiles import tiles
from anadrome.passes.winners import winners

Pass = Callable[[Function, Config], Function]

PASSES: dict[str, Pass] = {
    "reuse_across_loops": reuse_across_loops,
    "reuse_across_branches": reuse_across_branches,
    "simplify": simplify,
    "blocks_in_place": blocks_in_place,
    "both_sides": both_sides,
    "fuse": fuse,
    "hoist": hoist,
    "hoist_sums": hoist_sums,
    "scalarize": scalarize,
    "eliminate_bounds_checks": eliminate_bounds_checks,
    "equal_sizes": equal_sizes,
    "gathered": gathered,
    "split_loops": split_loops,
    "restrict_domains": restrict_domains,
    "join": join,
    "inline_partial_reads": inline_partial_reads,
    "stored_sums": stored_sums,
    "parallel_loops": parallel_loops,
    "winners": winners,
    "iverson": iverson,
    "inline": inline,
    "outer_lanes": outer_lanes,
    "blocks": outer_lanes,
    "tiles": tiles,
}

PIPELINE = (
    "simplify",
    "restrict_domains",
    "eliminate_bounds_checks",
    "equal_sizes",
    "gathered",
    "split_loops",
    "join",
    "parallel_loops",
    "iverson",
    "scalarize",
    "fuse",
    "simplify",
    "join",
    "hoist",
    "fuse",
    "blocks_in_place",
    "simplify",
    "both_sides",
)


def becomes(run_pass: Pass, before: str, after: str) -> None:
    """The pass makes this text of that one, and what it makes is well formed."""
    made = run_pass(parse(before), Config())
    check(made)
    assert anonymous(made) == anonymous(parse(after)), show(made)


def anonymous(fn: Function) -> str:
    """The text of a function whatever its variables are called: all are called the same, and the printer
    numbers them."""
    renaming = Renaming({})
    renaming.all_bound(fn.sizes)
    copy = Function(fn.name, renaming.all_bound(fn.params), renaming.body(fn.body))
    for var in renaming.mapping.values():
        var.name = "v"
    return show(copy)


def same(left: Sequence[object], right: Sequence[object], tolerance: float = 0.0) -> None:
    """The results are equal to the last bit, or within a relative tolerance."""
    for a, b in zip(left, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)


def keeps(name: str, fn: Function, args: Sequence[object], tolerance: float = 0.0) -> Function:
    """The pass keeps the results on these arguments and adds no work; what it made.

    A statement that leaves a loop runs once where the loop may not run at all, so hoisting is not asked;
    `fuse` may compute cheap elements again (see `producers`). `gathered` says of each of its rows which it
    is, where all are wanted as well. `parallel_loops` makes a row before it is put. `iverson` keeps what the
    contributions to a sum are made of, a write and a read in each iteration, also of those that a condition
    leaves out; `split_loops` keeps what a search has found so. `winners` computes what is taken of the
    iteration that wins once more than the others.
    """
    made = PASSES[name](fn, Config())
    check(made)
    before, after = run(fn, args), run(made, args)
    same(before.results, after.results, tolerance)
    again = {
        "fuse": 8 * before.work.writes + 3 * before.work.reads,
        "iverson": 2 * before.work.iterations,
        "split_loops": 2 * before.work.iterations,
        "gathered": before.work.total // 4,
        "parallel_loops": 2 * before.work.writes,
        "winners": before.work.total,
    }.get(name, 0)
    assert name in ("hoist", "hoist_sums") or after.work.total <= before.work.total + again, (
        name,
        before.work,
        after.work,
    )
    return made
