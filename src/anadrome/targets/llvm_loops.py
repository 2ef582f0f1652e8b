"""Loops of the kernel IR as LLVM.

A cheap pass over arrays inside another loop is counted as a whole and does not look whether the program is to
end: strips would keep what LLVM computes from its bounds inside the loop around, which costs a third of a
pass over thirty elements.
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
from anadrome.kernel_ir.walk import trip_count
from anadrome.kernel_ir.work import is_cheap_pass, iterations_at_once
from anadrome.kernel_ir.written_out import written_out
from anadrome.targets.llvm_lanes import emit_lanes
from anadrome.targets.llvm_outline import emit_apart
from anadrome.targets.llvm_poll import charge, look_if_spent
from anadrome.targets.llvm_rounds import Rounds, emit_rounds
from anadrome.targets.llvm_scalars import is_less
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import Value
from anadrome.targets.llvm_threads import emit_threads

EmitBody = Callable[[Scope, Iterable[Stmt]], None]


def emit_for(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    """A loop."""
    if stmt.binding is Binding.THREADS and not scope.in_threads:
        emit_threads(scope, stmt, emit_body)
    elif not emit_apart(scope, stmt, lambda inner: _emit_loop(inner, stmt, emit_body)):
        _emit_loop(scope, stmt, emit_body)


def _emit_loop(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    if stmt.binding is Binding.LANES:
        _emit_vector(scope, stmt, emit_body)
        return
    if stmt.binding is Binding.OUTER:
        raise IRError("an outer loop that was not scheduled")

    def iteration(index: Value) -> None:
        scope.bind(stmt.index, index)
        scope.loop_depth += 1
        emit_body(scope, stmt.body)
        scope.loop_depth -= 1

    written = written_out(stmt, scope)
    if written is not None:
        for index in written:
            iteration(str(index))
        return
    emit_rounds(scope, _rounds(scope, stmt), iteration)


def _rounds(scope: Scope, stmt: For) -> Rounds:
    works = scope.program.works
    work, most = works.of(stmt.body), works.limits.trips(stmt)
    at_once = iterations_at_once(most, work)
    operations = 0 if at_once == 0 else max(work.operations, 1)
    if at_once and scope.loop_depth and is_cheap_pass(stmt):
        at_once = 0
    lo, hi = scope.expr(stmt.lo), scope.expr(stmt.hi)
    enters, unchanged = is_less(scope.text, lo, hi), scope.unchanged(stmt.body)
    return Rounds(lo, hi, enters, operations, at_once, unchanged, _step(stmt))


def _emit_vector(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    if trip_count(stmt) == 1:
        scope.bind(stmt.index, "0")
        emit_body(scope, stmt.body)
    else:
        emit_lanes(scope, stmt)


def _step(stmt: For) -> int:
    """What LLVM's index of a loop goes up by: of strips of lanes as many as there are, so that it is what
    addresses are computed from."""
    match stmt.body:
        case (For(binding=Binding.LANES, hi=Const(value=width)),):
            return int(width)
        case _:
            return 1


def emit_while(scope: Scope, stmt: While, emit_body: EmitBody) -> None:
    """A loop that runs while its condition holds."""
    text = scope.text
    scope.loop_depth += 1
    head, body, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
    with text.loop(head, scope.unchanged((*stmt.prelude, *stmt.body))):
        text.do(f"br label %{head}")
        text.label(head)
        emit_body(scope, stmt.prelude)
        condition = scope.expr(stmt.condition)
        text.do(f"br i1 {condition}, label %{body}, label %{after}")
        text.label(body)
        emit_body(scope, stmt.body)
        charge(scope, str(scope.program.works.of((*stmt.prelude, *stmt.body)).operations + 1))
        look_if_spent(scope)
        text.do(f"br label %{head}")
    text.label(after)
    scope.loop_depth -= 1
