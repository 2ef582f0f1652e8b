"""Adjoints of shuffles: what a lane brought to others comes back from them.

    r_l = v_{s(l)}  where lane s(l) is there, else v_l
    v̄_l = Σ over k with s(k) = l of r̄_k  +  r̄_l where lane s(l) is not there

For "up", "down" and "xor" one lane k at most has taken from lane l. Where lanes choose their source, each
lane looks at all others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anadrome.ad.kernels.emitter import Atom, Emitter, zero
from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.nodes import WARP, Const, For, Geometry, Var, Warp, i64


def thread_number(emitter: Emitter, where: Geometry) -> tuple[Atom, Atom]:
    """The number of a thread in its block, x running fastest, and how many there are."""
    x, y, z = where.thread_index
    width, height, depth = where.block
    row = emitter.add(y, emitter.mul(height, z))
    number = emitter.add(x, emitter.mul(width, row))
    return number, emitter.mul(width, emitter.mul(height, depth))


def reverse_shuffle(
    emitter: Emitter, where: Geometry, operation: str, mask: Atom, lane: Atom, adjoint: Atom
) -> Atom:
    """The adjoint of the value that a shuffle was given; all lanes of the mask run this together."""
    number, _ = thread_number(emitter, where)
    warp = _Warp(emitter, mask, emitter.apply("bitand", number, i64(WARP - 1)))
    match operation:
        case "xor":
            taker = giver = emitter.apply("bitxor", warp.own, lane)
        case "up":
            giver, taker = emitter.sub(warp.own, lane), emitter.add(warp.own, lane)
        case "down":
            giver, taker = emitter.add(warp.own, lane), emitter.sub(warp.own, lane)
        case _:
            return warp.gathered(adjoint, lane)
    nothing = zero(adjoint.dtype)
    back = emitter.select(warp.has(taker), warp.from_lane(adjoint, taker), nothing)
    return emitter.add(back, emitter.select(warp.has(giver), nothing, adjoint))


@dataclass(slots=True)
class _Warp:
    """The lanes that run together: the mask, the own lane, and the bits of those that take part."""

    emitter: Emitter
    mask: Atom
    own: Atom
    there: Var = field(default_factory=lambda: Var("there", I64))

    def __post_init__(self) -> None:
        vote = Warp("ballot", self.mask, Const(True, BOOL), None, self.there, self.emitter.span)
        self.emitter.emit(vote)

    def has(self, lane: Atom) -> Atom:
        """0 ≤ lane < 32, and the lane takes part"""
        emitter = self.emitter
        low, high = emitter.apply("ge", lane, i64(0)), emitter.apply("lt", lane, i64(WARP))
        inside = emitter.apply("and", low, high)
        place = emitter.select(inside, lane, i64(0))
        bit = emitter.apply("bitand", emitter.apply("shr", self.there, place), i64(1))
        return emitter.apply("and", inside, emitter.apply("eq", bit, i64(1)))

    def from_lane(self, value: Atom, lane: Atom) -> Var:
        """What another lane has, or the own value where it takes no part."""
        result = Var("lane_adj", value.dtype)
        source = self.emitter.select(self.has(lane), lane, self.own)
        self.emitter.emit(Warp("shuffle", self.mask, value, source, result, self.emitter.span))
        return result

    def gathered(self, adjoint: Atom, source: Atom) -> Atom:
        """Σ over the lanes k that take part and whose source is this lane of the adjoint of k, and the own
        one where its source takes no part."""
        emitter, nothing = self.emitter, zero(adjoint.dtype)
        is_given = self.has(source)
        kept = emitter.select(is_given, nothing, adjoint)
        sent = emitter.select(is_given, adjoint, nothing)
        total = emitter.cell("lane_adj", adjoint.dtype, kept)
        k = Var("k", I64)
        with emitter.open() as block:
            is_mine = emitter.apply("eq", self.from_lane(source, k), self.own)
            part = self.from_lane(sent, k)
            taken = emitter.select(emitter.apply("and", self.has(k), is_mine), part, nothing)
            emitter.store(total, (i64(0),), emitter.add(emitter.cell_value(total), taken))
        emitter.emit(For(k, i64(0), i64(WARP), tuple(block.stmts)))
        return emitter.cell_value(total)
