"""Loops of the kernel IR as LLVM, and where in them a program looks whether it is to end (`llvm_poll`).

A loop whose iterations are known work runs as many of them at once as `PATIENCE` allows and looks in between:

    for start = lo, lo + n, … { for i in start .. min(start + n, hi) { body }; look }

so that the inner loop is what it would be without. Other loops, and `while`, count in each iteration. A cheap
pass over arrays inside another loop is left alone and counted as a whole: strips would keep what LLVM
computes from its bounds inside the loop around, which costs a third of a pass over thirty elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Binding,
    Const,
    For,
    Stmt,
    While,
)
from anadrome.kernel_ir.walk import most_trips, trip_count
from anadrome.kernel_ir.work import is_cheap_pass, iterations_at_once, work_of
from anadrome.targets.llvm_lanes import emit_lanes
from anadrome.targets.llvm_poll import charge, look_if_spent, look_now
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import Value
from anadrome.targets.llvm_threads import emit_threads

EmitBody = Callable[[Scope, Iterable[Stmt]], None]


def emit_for(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    """A loop."""
    if stmt.binding is Binding.THREADS and not scope.in_threads:
        emit_threads(scope, stmt, emit_body)
        return
    if stmt.binding is Binding.LANES:
        _emit_vector(scope, stmt, emit_body)
        return
    if stmt.binding is Binding.OUTER:
        raise IRError("an outer loop that was not scheduled")
    lo, hi = scope.expr(stmt.lo), scope.expr(stmt.hi)
    at_once = iterations_at_once(most_trips(stmt), work_of(stmt.body))
    if at_once and not (scope.loop_depth and is_cheap_pass(stmt)):
        _emit_strips(scope, stmt, lo, hi, at_once, emit_body)
    else:
        _emit_loop(scope, stmt, lo, hi, emit_body, is_looking=at_once is None, is_counted=bool(at_once))


def _emit_vector(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    if trip_count(stmt) == 1:
        scope.bind(stmt.index, "0")
        emit_body(scope, stmt.body)
    else:
        emit_lanes(scope, stmt)


def _emit_loop(
    scope: Scope,
    stmt: For,
    lo: Value,
    hi: Value,
    emit_body: EmitBody,
    is_looking: bool = False,
    is_counted: bool = False,
) -> None:
    """The rotated loop: if lo < hi: i = lo; do body while ++i < hi. All iterations are counted at once, or
    each by itself where it also looks."""
    text = scope.text
    enters = text.value(f"icmp slt i64 {lo}, {hi}")
    first, body, after = text.fresh("first"), text.fresh("body"), text.fresh("after")
    bounds = _stepped(scope, stmt, lo), _stepped(scope, stmt, hi)
    text.do(f"br i1 {enters}, label %{first}, label %{after}")
    text.label(first)
    if is_counted:
        _charge_all(scope, stmt, text.value(f"sub i64 {hi}, {lo}"))
    with text.loop():
        text.do(f"br label %{body}")
        _emit_iterations(scope, stmt, (bounds[0], first), bounds[1], (body, after), emit_body, is_looking)
    text.label(after)


def _emit_strips(scope: Scope, stmt: For, lo: Value, hi: Value, at_once: int, emit_body: EmitBody) -> None:
    """if lo < hi: start, end = lo, min(lo + at_once, hi); do body while ++i != end; while end < hi: the same
    from end on

    What the first strip takes beside its iterations LLVM moves out of the loops around, where it can."""
    text = scope.text
    enters = text.value(f"icmp slt i64 {lo}, {hi}")
    first, strip, body = text.fresh("first"), text.fresh("strip"), text.fresh("body")
    done, look, after = text.fresh("done"), text.fresh("look"), text.fresh("after")
    text.do(f"br i1 {enters}, label %{first}, label %{after}")
    text.label(first)
    trip = text.value(f"sub i64 {hi}, {lo}")  # no `nsw`: it may exceed the largest i64
    _charge_all(scope, stmt, trip)
    first_end = _end_of_strip(scope, lo, trip, at_once)
    with text.loop():
        text.do(f"br label %{strip}")
        text.label(strip)
        start, end = text.fresh(), text.fresh()
        start_phi, end_phi = text.reserve(), text.reserve()
        bounds = _stepped(scope, stmt, start), _stepped(scope, stmt, end)
        text.do(f"br label %{body}")
        _emit_iterations(scope, stmt, (bounds[0], strip), bounds[1], (body, done), emit_body, test="ne")
    text.label(done)
    is_more = text.value(f"icmp slt i64 {end}, {hi}")
    text.do(f"br i1 {is_more}, label %{look}, label %{after}, !prof {scope.unlikely}")
    text.label(look)
    next_end = _end_of_strip(scope, end, text.value(f"sub i64 {hi}, {end}"), at_once)
    text.fill(start_phi, f"{start} = phi i64 [{lo}, %{first}], [{end}, %{look}]")
    text.fill(end_phi, f"{end} = phi i64 [{first_end}, %{first}], [{next_end}, %{look}]")
    loop = scope.program.module.metadata(f"!{{{{self}}, {scope.program.no_unrolling}}}", is_distinct=True)
    look_now(scope, strip, f", !llvm.loop {loop}")
    text.label(after)


def _charge_all(scope: Scope, stmt: For, trip: Value) -> None:
    """Count all iterations."""
    charge(scope, scope.text.value(f"mul i64 {trip}, {max(work_of(stmt.body).operations, 1)}"))


def _end_of_strip(scope: Scope, start: Value, left: Value, at_once: int) -> Value:
    count = scope.text.intrinsic("llvm.umin.i64", "i64", [("i64", left), ("i64", str(at_once))])
    return scope.text.value(f"add nsw i64 {start}, {count}")


def _emit_iterations(
    scope: Scope,
    stmt: For,
    lo: tuple[Value, str],
    hi: Value,
    blocks: tuple[str, str],
    emit_body: EmitBody,
    is_looking: bool = False,
    test: str = "slt",
) -> None:
    """do body while ++i < hi, from the block `blocks[0]` to `blocks[1]`; `lo` is a value and where it comes
    from. Both bounds are in steps."""
    text, (body, after) = scope.text, blocks
    text.label(body)
    index, following = text.fresh(), text.fresh()
    phi = text.reserve()
    step = _step(stmt)
    if step == 1:
        scope.bind(stmt.index, index)
    else:
        strip = text.value(f"sdiv exact i64 {index}, {step}")
        text.equal(f"mul i64 {strip}, {step}", index)
        scope.bind(stmt.index, strip)
    scope.loop_depth += 1
    emit_body(scope, stmt.body)
    scope.loop_depth -= 1
    if is_looking:
        charge(scope, str(work_of(stmt.body).operations))
        look_if_spent(scope)
    text.fill(phi, f"{index} = phi i64 [{lo[0]}, %{lo[1]}], [{following}, %{text.block}]")
    wrap = "nuw nsw" if lo[0].isdigit() else "nsw"
    text.do(f"{following} = add {wrap} i64 {index}, {step}")
    more = text.value(f"icmp {test} i64 {following}, {hi}")
    is_short = step > 1 and trip_count(stmt) is None and most_trips(stmt) is not None
    unrolling = scope.program.no_unrolling if is_short else scope.program.no_runtime_unrolling
    notes = scope.program.module.metadata(f"!{{{{self}}, {unrolling}}}", is_distinct=True)
    text.do(f"br i1 {more}, label %{body}, label %{after}, !llvm.loop {notes}")


def _step(stmt: For) -> int:
    """What LLVM's index of a loop goes up by: of strips of lanes as many as there are, so that it is what
    addresses are computed from."""
    match stmt.body:
        case (For(binding=Binding.LANES, hi=Const(value=width)),):
            return int(width)
        case _:
            return 1


def _stepped(scope: Scope, stmt: For, value: Value) -> Value:
    step = _step(stmt)
    return value if step == 1 or value == "0" else scope.text.value(f"mul i64 {value}, {step}")


def emit_while(scope: Scope, stmt: While, emit_body: EmitBody) -> None:
    """A loop that runs while its condition holds."""
    text = scope.text
    scope.loop_depth += 1
    head, body, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
    with text.loop():
        text.do(f"br label %{head}")
        text.label(head)
        emit_body(scope, stmt.prelude)
        condition = scope.expr(stmt.condition)
        text.do(f"br i1 {condition}, label %{body}, label %{after}")
        text.label(body)
        emit_body(scope, stmt.body)
        charge(scope, str(work_of((*stmt.prelude, *stmt.body)).operations + 1))
        look_if_spent(scope)
        text.do(f"br label %{head}")
    text.label(after)
    scope.loop_depth -= 1
