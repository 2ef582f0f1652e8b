"""Loops of the kernel IR as LLVM: `for` with its bindings, `while`, and which of them LLVM may vectorise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Binding,
    Call,
    Check,
    Const,
    Copy,
    Fill,
    For,
    Free,
    If,
    Let,
    Space,
    Stmt,
    Store,
    Swap,
    View,
    While,
)
from anadrome.targets.llvm_checks import settle
from anadrome.targets.llvm_scope import Nest, Scope
from anadrome.targets.llvm_text import Value
from anadrome.targets.llvm_threads import emit_threads
from anadrome.targets.strides import widest_stride

SMALL_LOOP = 16
"""Inner loops of at most this constant extent are unrolled by LLVM, so that the loop around may vectorise."""

FAR = 16
"""A loop around unrolled loops is not vectorised where lanes would read elements further apart than this:
each lane takes a cache line of its own, and the inner loops run along them."""

EmitBody = Callable[[Scope, Iterable[Stmt]], None]


def emit_for(scope: Scope, stmt: For, emit_body: EmitBody) -> None:
    """A loop; the outermost one opens a nest, at whose end the checks inside are looked at."""
    if stmt.binding is Binding.THREADS and not scope.in_threads:
        emit_threads(scope, stmt, emit_body)
        return
    lo, hi = scope.expr(stmt.lo), scope.expr(stmt.hi)
    nest = Nest() if scope.nest is None else None
    if nest is not None:
        scope.nest = nest
    around = scope.may_vectorise
    scope.may_vectorise = around or may_vectorise(stmt.body)
    _emit_loop(scope, stmt, lo, hi, emit_body)
    scope.may_vectorise = around
    if nest is not None:
        scope.nest = None
        settle(scope, nest)


def _emit_loop(scope: Scope, stmt: For, lo: Value, hi: Value, emit_body: EmitBody) -> None:
    """The rotated loop: if lo < hi: i = lo; do body while ++i < hi."""
    text = scope.text
    body, after = text.fresh("body"), text.fresh("after")
    enters = text.value(f"icmp slt i64 {lo}, {hi}")
    before = text.block
    text.do(f"br i1 {enters}, label %{body}, label %{after}")
    text.label(body)
    index, following = text.fresh(), text.fresh()
    phi = text.reserve()
    scope.bind(stmt.index, index)
    group = ""
    if stmt.binding is Binding.LANES:
        group = scope.program.module.metadata("!{}", is_distinct=True)
        scope.groups.append(group)
    scope.loop_depth += 1
    emit_body(scope, stmt.body)
    scope.loop_depth -= 1
    text.fill(phi, f"{index} = phi i64 [{lo}, %{before}], [{following}, %{text.block}]")
    wrap = "nuw nsw" if lo.isdigit() else "nsw"
    text.do(f"{following} = add {wrap} i64 {index}, 1")
    more = text.value(f"icmp slt i64 {following}, {hi}")
    module = scope.program.module
    notes = [scope.program.no_runtime_unrolling]
    if any(isinstance(inner, For) for inner in stmt.body) and widest_stride(stmt.body, stmt.index) > FAR:
        notes.append(module.metadata('!{!"llvm.loop.vectorize.enable", i1 false}'))
    if group:
        scope.groups.pop()
        notes.append(module.metadata(f'!{{!"llvm.loop.parallel_accesses", {group}}}'))
    loop = module.metadata("!{" + ", ".join(["{self}", *notes]) + "}", is_distinct=True)
    text.do(f"br i1 {more}, label %{body}, label %{after}, !llvm.loop {loop}")
    text.label(after)


def may_vectorise(body: Iterable[Stmt]) -> bool:
    """Whether a loop with this body is innermost, apart from loops that will be unrolled."""
    for stmt in body:
        match stmt:
            case For(lo=Const(value=lo), hi=Const(value=hi), body=inner):
                if hi - lo > SMALL_LOOP or not may_vectorise(inner):
                    return False
            case For() | While() | Call() | Barrier() | Swap():
                return False
            case Alloc(buffer=buffer):
                if buffer.space is not Space.LOCAL:
                    return False
            case If(then=then, other=other):
                if not (may_vectorise(then) and may_vectorise(other)):
                    return False
            case Let() | Free() | View() | Store() | Atomic() | Fill() | Copy() | Check():
                pass
            case _:
                assert_never(stmt)
    return True


def emit_while(scope: Scope, stmt: While, emit_body: EmitBody) -> None:
    """A loop that runs while its condition holds."""
    text = scope.text
    outer_nest, outer_may = scope.nest, scope.may_vectorise
    scope.nest, scope.may_vectorise = None, False
    scope.loop_depth += 1
    head, body, after = text.fresh("head"), text.fresh("body"), text.fresh("after")
    text.do(f"br label %{head}")
    text.label(head)
    emit_body(scope, stmt.prelude)
    condition = scope.expr(stmt.condition)
    text.do(f"br i1 {condition}, label %{body}, label %{after}")
    text.label(body)
    emit_body(scope, stmt.body)
    text.do(f"br label %{head}")
    text.label(after)
    scope.loop_depth -= 1
    scope.nest, scope.may_vectorise = outer_nest, outer_may
