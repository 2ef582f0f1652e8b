"""Adjoints of shuffles: what a lane brought to others comes back from them.

    r_l = v_{s(l)}  where lane s(l) is there, else v_l
    v̄_l = Σ over k with s(k) = l of r̄_k  +  r̄_l where lane s(l) is not there

"up" and "down" undo each other, "xor" itself. Where lanes choose their source, each lane looks at all others.
"""

from __future__ import annotations

from anadrome.ad.kernels.emitter import Atom, Emitter, zero
from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir.nodes import WARP, Const, For, Geometry, Var, Warp, i64

OPPOSITE = {"up": "down", "down": "up"}


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
    if operation == "xor":
        return _exchanged(emitter, "xor", mask, adjoint, lane)
    number, _ = thread_number(emitter, where)
    own = emitter.apply("bitand", number, i64(WARP - 1))
    there = Var("there", I64)
    emitter.emit(Warp("ballot", mask, Const(True, BOOL), None, there, emitter.span))
    nothing = zero(adjoint.dtype)
    if operation == "shuffle":
        source = emitter.apply("bitand", lane, i64(WARP - 1))
        is_there = _is_there(emitter, there, source)
        kept = emitter.select(is_there, nothing, adjoint)
        sent = emitter.select(is_there, adjoint, nothing)
        return emitter.add(kept, _collected(emitter, mask, there, own, source, sent))
    step = lane if operation == "up" else emitter.neg(lane)
    was_given = _is_there(emitter, there, emitter.sub(own, step))
    was_taken = _is_there(emitter, there, emitter.add(own, step))
    back = _exchanged(emitter, OPPOSITE[operation], mask, adjoint, lane)
    kept = emitter.select(was_given, nothing, adjoint)
    return emitter.add(emitter.select(was_taken, back, nothing), kept)


def _exchanged(emitter: Emitter, operation: str, mask: Atom, value: Atom, lane: Atom) -> Var:
    result = Var("lane_adj", value.dtype)
    emitter.emit(Warp(operation, mask, value, lane, result, emitter.span))
    return result


def _is_there(emitter: Emitter, there: Atom, lane: Atom) -> Atom:
    """0 ≤ lane < 32, and the lane takes part"""
    low, high = emitter.apply("ge", lane, i64(0)), emitter.apply("lt", lane, i64(WARP))
    inside = emitter.apply("and", low, high)
    place = emitter.select(inside, lane, i64(0))
    bit = emitter.apply("bitand", emitter.apply("shr", there, place), i64(1))
    return emitter.apply("and", inside, emitter.apply("eq", bit, i64(1)))


def _collected(emitter: Emitter, mask: Atom, there: Atom, own: Atom, source: Atom, sent: Atom) -> Atom:
    """Σ over the lanes k that take part and whose source is this lane of what k sent"""
    total = emitter.cell("lane_adj", sent.dtype, zero(sent.dtype))
    k = Var("k", I64)
    with emitter.open() as block:
        theirs = _exchanged(emitter, "shuffle", mask, source, k)
        value = _exchanged(emitter, "shuffle", mask, sent, k)
        is_mine = emitter.apply("and", _is_there(emitter, there, k), emitter.apply("eq", theirs, own))
        part = emitter.select(is_mine, value, zero(sent.dtype))
        emitter.store(total, (i64(0),), emitter.add(emitter.cell_value(total), part))
    emitter.emit(For(k, i64(0), i64(WARP), tuple(block.stmts)))
    return emitter.cell_value(total)
