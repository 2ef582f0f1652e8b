"""Statements of the kernel IR as LLVM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Fence,
    Fill,
    For,
    Free,
    If,
    Launch,
    Let,
    Print,
    Space,
    Stmt,
    Store,
    Swap,
    View,
    Warp,
    While,
)
from anadrome.kernel_ir.walk import is_zero, offset_of
from anadrome.targets.llvm_calls import emit_call
from anadrome.targets.llvm_checks import emit_check
from anadrome.targets.llvm_loops import emit_for, emit_while
from anadrome.targets.llvm_memory import (
    atomic_operation,
    combined,
    free_slot,
    hold,
    move_in_parts,
    take_slot,
)
from anadrome.targets.llvm_poll import charge
from anadrome.targets.llvm_print import emit_print
from anadrome.targets.llvm_scalars import TRUTHS, whole_number
from anadrome.targets.llvm_scope import Place, Scope
from anadrome.targets.llvm_text import Value, memory_type


def emit_body(scope: Scope, body: Iterable[Stmt]) -> None:
    """Statements in order."""
    for stmt in body:
        emit_statement(scope, stmt)


def emit_statement(scope: Scope, stmt: Stmt) -> None:
    """One statement."""
    match stmt:
        case Let(var=var, value=value):
            scope.let(var, value)
        case Store(buffer=buffer, indices=indices, value=value):
            scope.store(buffer, scope.expr(offset_of(buffer, indices)), scope.expr(value))
        case For():
            emit_for(scope, stmt, emit_body)
        case If():
            _emit_if(scope, stmt)
        case While():
            emit_while(scope, stmt, emit_body)
        case Check():
            emit_check(scope, stmt)
        case Print():
            emit_print(scope, stmt)
        case Alloc():
            _emit_alloc(scope, stmt)
        case Free(buffer=buffer):
            free_slot(scope, scope.places[buffer].slot)
        case View():
            _emit_view(scope, stmt)
        case Swap():
            _emit_swap(scope, stmt)
        case Fill():
            _emit_fill(scope, stmt)
        case Copy():
            _emit_copy(scope, stmt)
        case Atomic():
            _emit_atomic(scope, stmt)
        case Call():
            emit_call(scope, stmt)
        case Barrier() | Warp() | Fence() | Launch():
            raise IRError("a launch that was not scheduled")
        case _:
            assert_never(stmt)


# ---------------------------------------------------------------------------- control
def _emit_if(scope: Scope, stmt: If) -> None:
    text = scope.text
    condition = text.decided(scope.expr(stmt.condition))
    if condition in TRUTHS:
        emit_body(scope, stmt.then if condition == "true" else stmt.other)
        return
    then, other, after = text.fresh("then"), text.fresh("else"), text.fresh("after")
    text.do(f"br i1 {condition}, label %{then}, label %{other if stmt.other else after}")
    with text.branch(then, condition):
        emit_body(scope, stmt.then)
        text.do(f"br label %{after}")
    if stmt.other:
        with text.branch(other, condition, "false"):
            emit_body(scope, stmt.other)
            text.do(f"br label %{after}")
    text.label(after)


# ---------------------------------------------------------------------------- memory
def _element_count(scope: Scope, size: Expr) -> Value:
    """A number of elements; all ones, more than any machine has, where a product of sizes overflows."""
    match size:
        case Compute(prim=prim, args=(left, right)) if prim.name == "mul":
            factors = [("i64", _element_count(scope, left)), ("i64", _element_count(scope, right))]
            pair = scope.text.intrinsic("llvm.umul.with.overflow.i64", "{ i64, i1 }", factors)
            product = scope.text.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
            overflows = scope.text.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
            return scope.text.value(f"select i1 {overflows}, i64 -1, i64 {product}")
        case Compute(prim=prim, args=(left, Const(value=least))) if prim.name == "max":
            count = _element_count(scope, left)
            return scope.text.intrinsic("llvm.umax.i64", "i64", [("i64", count), ("i64", str(least))])
        case _:
            return scope.expr(size)


def _emit_alloc(scope: Scope, stmt: Alloc) -> None:
    buffer = stmt.buffer
    if buffer.space is Space.LOCAL:
        if not isinstance(stmt.size, Const):
            raise IRError(f"the local buffer {buffer} has no constant size")
        scope.allocate_local(buffer, int(stmt.size.value))
        return
    size = _element_count(scope, stmt.size)
    is_swapped = buffer in scope.program.swapped
    slot = take_slot(scope, is_swapped)
    root = hold(scope, slot, size, buffer.dtype.bytes)
    scope.places[buffer] = Place(root, slot=slot, is_swapped=is_swapped, may_alias=is_swapped)


def _emit_view(scope: Scope, stmt: View) -> None:
    base = scope.places[stmt.base]
    root = scope.text.value(f"load ptr, ptr {base.slot}") if base.is_swapped else base.root
    offset = scope.expr(stmt.offset)
    if base.offset:
        offset = base.offset if offset == "0" else scope.text.value(f"add nsw i64 {base.offset}, {offset}")
    offset = "" if offset == "0" else offset
    scope.places[stmt.buffer] = Place(root, offset, may_alias=base.may_alias)


def _emit_swap(scope: Scope, stmt: Swap) -> None:
    first, second = scope.places[stmt.first].slot, scope.places[stmt.second].slot
    if not first or not second:
        raise IRError(
            f"only buffers allocated in this function are swapped, not {stmt.first} and {stmt.second}"
        )
    held_first = scope.text.value(f"load ptr, ptr {first}")
    held_second = scope.text.value(f"load ptr, ptr {second}")
    scope.text.do(f"store ptr {held_second}, ptr {first}")
    scope.text.do(f"store ptr {held_first}, ptr {second}")


def _emit_fill(scope: Scope, stmt: Fill) -> None:
    text, dtype = scope.text, stmt.buffer.dtype
    size = text.intrinsic("llvm.smax.i64", "i64", [("i64", scope.expr(stmt.size)), ("i64", "0")])
    pointer = scope.pointer(stmt.buffer)
    if is_zero(stmt.value):
        count = whole_number(text, "mul", size, str(dtype.bytes))
        if move_in_parts(scope, pointer, "", count):
            return
        charge(scope, size)
        text.module.declare("llvm.memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        text.do(
            f"call void @llvm.memset.p0.i64(ptr align {dtype.bytes} {pointer}, i8 0, i64 {count}, i1 false)"
        )
        return
    charge(scope, size)
    value = scope.in_memory(scope.expr(stmt.value), dtype)
    kind = memory_type(dtype)
    body, after = text.fresh("body"), text.fresh("after")
    enters = text.value(f"icmp sgt i64 {size}, 0")
    before, index, following = text.block, text.fresh(), text.fresh()
    text.do(f"br i1 {enters}, label %{body}, label %{after}")
    with text.branch(body, enters):
        text.do(f"{index} = phi i64 [0, %{before}], [{following}, %{body}]")
        element = text.value(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")
        text.do(f"store {kind} {value}, ptr {element}, align {dtype.bytes}")
        text.do(f"{following} = add nuw nsw i64 {index}, 1")
        more = text.value(f"icmp slt i64 {following}, {size}")
        text.do(f"br i1 {more}, label %{body}, label %{after}")
    text.label(after)


def _emit_copy(scope: Scope, stmt: Copy) -> None:
    text, align = scope.text, stmt.target.dtype.bytes
    size = text.intrinsic("llvm.smax.i64", "i64", [("i64", scope.expr(stmt.size)), ("i64", "0")])
    count = whole_number(text, "mul", size, str(align))
    target, source = scope.pointer(stmt.target), scope.pointer(stmt.source)
    if move_in_parts(scope, target, source, count):
        return
    charge(scope, size)
    text.module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    text.do(
        f"call void @llvm.memcpy.p0.p0.i64(ptr align {align} {target}, ptr align {align} {source}, "
        f"i64 {count}, i1 false)"
    )


def _emit_atomic(scope: Scope, stmt: Atomic) -> None:
    value = scope.expr(stmt.value)
    offset = scope.expr(offset_of(stmt.buffer, stmt.indices))
    if stmt.is_alone:
        scope.store(stmt.buffer, offset, combined(scope.text, stmt, scope.load(stmt.buffer, offset), value))
        return
    dtype, operation = stmt.buffer.dtype, atomic_operation(stmt)
    address = scope.address(stmt.buffer, offset)
    scope.text.value(
        f"atomicrmw {operation} ptr {address}, {dtype.llvm} {value} monotonic, align {dtype.bytes}"
    )
