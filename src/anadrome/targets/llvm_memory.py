"""Heap memory in LLVM: taken from the runtime (`llvm_heap`), and slots that remember what must be freed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import Atomic, Buffer
from anadrome.prims.table import PRIMS
from anadrome.targets.llvm_checks import fail_unless, failure
from anadrome.targets.llvm_heap import ALLOCATE, RELEASE
from anadrome.targets.llvm_poll import POLL, declare_poll
from anadrome.targets.llvm_scalars import emit_scalar
from anadrome.targets.llvm_scope import Place, Scope
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value

_ALLOCATE = (
    f"declare noalias align 64 ptr @{ALLOCATE}(i64, i64) nounwind willreturn "
    'memory(inaccessiblemem: readwrite) "alloc-family"="anadrome"'
)
"""LLVM is not told that it allocates: it would leave out memory that nobody reads, and with it the failure
where there is none."""
_RELEASE = (
    f'declare void @{RELEASE}(ptr allocptr) nounwind willreturn allockind("free") '
    'memory(argmem: write, inaccessiblemem: readwrite) "alloc-family"="anadrome"'
)
"""It does not read what it frees: LLVM need not store what nobody reads before."""

MEASURE = "anadrome_peak_bytes"
"""The function of a measured module that gives the most bytes it held at once since it was last asked."""

_COUNT = """@anadrome.held = internal global i64 0
@anadrome.beside = internal global i64 0
@anadrome.peak = internal global i64 0
define internal void @anadrome.count(i64 %change) noinline nounwind {
  %before = atomicrmw add ptr @anadrome.held, i64 %change monotonic
  %now = add i64 %before, %change
  %ignored = atomicrmw max ptr @anadrome.peak, i64 %now monotonic
  ret void
}
define internal void @anadrome.count_in_thread(ptr %own, i64 %change) noinline nounwind {
  %before = load i64, ptr %own
  %now = add i64 %before, %change
  store i64 %now, ptr %own
  %pmost = getelementptr inbounds i64, ptr %own, i64 1
  %most = load i64, ptr %pmost
  %larger = call i64 @llvm.smax.i64(i64 %most, i64 %now)
  store i64 %larger, ptr %pmost
  ret void
}
define internal void @anadrome.leave_thread(ptr %own) noinline nounwind {
  %pmost = getelementptr inbounds i64, ptr %own, i64 1
  %most = load i64, ptr %pmost
  %ignored = atomicrmw add ptr @anadrome.beside, i64 %most monotonic
  ret void
}
define internal void @anadrome.join() noinline nounwind {
  %beside = atomicrmw xchg ptr @anadrome.beside, i64 0 monotonic
  %held = load i64, ptr @anadrome.held
  %now = add i64 %held, %beside
  %ignored = atomicrmw max ptr @anadrome.peak, i64 %now monotonic
  ret void
}"""


ROW = 16
"""Slots that stand side by side."""

_CLAIM = f"""define internal noalias align 64 ptr
@anadrome.claim(ptr %frame, i64 %status, i64 %count, i64 %each) noinline #0 {{{{
entry:
  %memory = call ptr @{ALLOCATE}(i64 %count, i64 %each)
  %is_missing = icmp eq ptr %memory, null
  br i1 %is_missing, label %fail, label %done
fail:
  call void @{{failure}}(ptr %frame, i64 %status, i64 %count, i64 %each)
  br label %done
done:
  ret ptr %memory
}}}}
define internal void @anadrome.drop(ptr %slot) noinline #0 {{{{
  %held = load ptr, ptr %slot
  call void @{RELEASE}(ptr %held)
  store ptr null, ptr %slot
  ret void
}}}}
define internal void @anadrome.drop_all(ptr %slots) noinline #0 {{{{
entry:
  br label %next
next:
  %at = phi i64 [0, %entry], [%after, %next]
  %slot = getelementptr inbounds ptr, ptr %slots, i64 %at
  call void @anadrome.drop(ptr %slot)
  %after = add i64 %at, 1
  %is_more = icmp ult i64 %after, {ROW}
  br i1 %is_more, label %next, label %done
done:
  ret void
}}}}"""
"""Memory, or a failure in the frame; what a slot holds is freed; what all of a row hold is."""


PART = 1 << 22
"""Bytes that are cleared or copied before the program looks whether it is to end: some tenths of a
millisecond."""

_MOVES = {
    "clear": "call void @llvm.memset.p0.i64(ptr %to_part, i8 0, i64 %part, i1 false)",
    "copy": "call void @llvm.memcpy.p0.p0.i64(ptr %to_part, ptr %from_part, i64 %part, i1 false)",
}
"""What is done to a part."""


def move_in_parts(scope: Scope, target: Value, source: Value, size: Value) -> bool:
    """Copy bytes, or without a source clear them, by a call that looks now and then whether the program is to
    end; whether that was done: inside of loops and threads others look."""
    if scope.loop_depth or scope.in_threads:
        return False
    module, name = scope.program.module, "copy" if source else "clear"
    declare_poll(module)
    module.declare("llvm.umin.i64", "declare i64 @llvm.umin.i64(i64, i64)")
    module.declare("llvm.memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    module.declare("llvm.memcpy", "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)")
    module.helper(f"anadrome.{name}", _in_parts(name, _MOVES[name]))
    given = f"ptr {scope.frame}, ptr {target}, ptr {source or target}, i64 {size}"
    go = scope.text.fresh("go")
    ends = scope.text.value(f"call i1 @anadrome.{name}({given})")  # nobody is to read what is not there
    scope.text.do(f"br i1 {ends}, label %{scope.way_out}, label %{go}, !prof {scope.unlikely}")
    scope.text.label(go)
    return True


def _in_parts(name: str, move: str) -> str:
    kind = "noinline nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)"
    given = ", ".join(f"ptr captures(none) {pointer}" for pointer in ("%frame", "%to", "%from"))
    return f"""define internal i1 @anadrome.{name}({given}, i64 %bytes) {kind} {{
entry:
  br label %next
next:
  %done = phi i64 [0, %entry], [%after, %look]
  %left = sub i64 %bytes, %done
  %part = call i64 @llvm.umin.i64(i64 %left, i64 {PART})
  %to_part = getelementptr i8, ptr %to, i64 %done
  %from_part = getelementptr i8, ptr %from, i64 %done
  {move}
  %after = add i64 %done, %part
  %is_more = icmp ult i64 %after, %bytes
  br i1 %is_more, label %look, label %end
look:
  %ends = call i1 @{POLL}(ptr %frame)
  br i1 %ends, label %leave, label %next
end:
  ret i1 false
leave:
  ret i1 true
}}"""


def emit_measure(module: ModuleText) -> None:
    """The function `MEASURE`. What a call hands over is not held any more by the time it is asked.

    Each thread counts for itself, and the most of all are added where they join: how many of them held their
    most at the same time is chance, and not to be relied on.
    """
    module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    module.helper("anadrome.count", _COUNT)
    module.functions.append(
        f"""define i64 @{MEASURE}() #3 {{
  store i64 0, ptr @anadrome.held
  %most = atomicrmw xchg ptr @anadrome.peak, i64 0 monotonic
  ret i64 %most
}}"""
    )


def _count(scope: Scope, change: Value) -> None:
    if not scope.in_threads:
        scope.text.do(f"call void @anadrome.count(i64 {change})")
        return
    if not scope.held:
        scope.held = scope.text.alloca("[2 x i64]", "zeroinitializer")
    scope.text.do(f"call void @anadrome.count_in_thread(ptr {scope.held}, i64 {change})")


def count_joined(scope: Scope) -> None:
    """In a measured module, count what threads held that have ended."""
    if scope.program.is_measured:
        scope.text.do("call void @anadrome.join()")


def count_allocated(scope: Scope, slot: Value, count: Value, bytes_each: int) -> None:
    """In a measured module, count what the allocation of a slot now holds."""
    size = scope.sizes.get(slot)
    if size is None:
        return
    taken = scope.text.value(f"mul i64 {count}, {bytes_each}")
    scope.text.do(f"store i64 {taken}, ptr {size}")
    _count(scope, taken)


def _count_freed(scope: Scope, slot: Value) -> None:
    size = scope.sizes.get(slot)
    if size is None:
        return
    given = scope.text.value(f"load i64, ptr {size}")
    _count(scope, scope.text.value(f"sub i64 0, {given}"))
    scope.text.do(f"store i64 0, ptr {size}")


def allocate(text: FunctionText, count: Value, bytes_each: int) -> Value:
    """Memory for `count` elements, aligned to 64 bytes; null where the count is absurd or memory runs out."""
    text.module.declare(ALLOCATE, _ALLOCATE)
    return text.value(f"call ptr @{ALLOCATE}(i64 {count}, i64 {bytes_each})")


def take_slot(scope: Scope, is_swapped: bool) -> Value:
    """A slot for what is to be freed, which holds nothing yet.

    Only the way out, to which every check leads, reads the slot of what is never swapped. As values that are
    handed on from check to check, 200 arrays took four fifths of LLVM's time. So where there are many their
    slots stand side by side in memory, and what is done with one is a call.
    """
    if not is_swapped and scope.program.has_many_arrays:
        slot = _slot_in_row(scope)
    else:
        slot = scope.text.alloca("ptr", "null")
        scope.slots.append(slot)
    if scope.program.is_measured:
        scope.sizes[slot] = scope.text.alloca("i64", "0")
    return slot


def _slot_in_row(scope: Scope) -> Value:
    """A slot beside others."""
    text, place = scope.text, len(scope.in_rows) % ROW
    if not place:
        text.module.declare("llvm.memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        text.module.helper("anadrome.claim", _CLAIM.format(failure=failure(scope, 2)))
        row = text.alloca(f"[{ROW} x ptr]")  # the helpers are given it, so it stays in memory
        text.entry(f"call void @llvm.memset.p0.i64(ptr align 8 {row}, i8 0, i64 {8 * ROW}, i1 false)")
        scope.rows.append(row)
    slot = text.entry_value(f"getelementptr inbounds ptr, ptr {scope.rows[-1]}, i64 {place}")
    scope.in_rows.add(slot)
    return slot


def hold(scope: Scope, slot: Value, count: Value, bytes_each: int) -> Value:
    """Memory for `count` elements in a slot; the program fails where there is none."""
    text, status = scope.text, scope.program.memory_failure
    text.module.declare(RELEASE, _RELEASE)
    if scope.loop_depth:
        free_slot(scope, slot)
    if slot in scope.in_rows:
        text.module.declare(ALLOCATE, _ALLOCATE)
        given = f"ptr {scope.frame}, i64 {status}, i64 {count}, i64 {bytes_each}"
        root = text.value(f"call ptr @anadrome.claim({given})")
    else:
        root = allocate(text, count, bytes_each)
    text.do(f"store ptr {root}, ptr {slot}")
    count_allocated(scope, slot, count, bytes_each)
    if slot in scope.in_rows:
        good = text.fresh("good")
        is_missing = text.value(f"icmp eq ptr {root}, null")
        text.do(f"br i1 {is_missing}, label %cleanup, label %{good}, !prof {scope.unlikely}")
        text.label(good)
    else:
        fail_unless(scope, text.value(f"icmp ne ptr {root}, null"), status, [count, str(bytes_each)])
    return root


def release(text: FunctionText, slot: Value, kept: Sequence[Value] = ()) -> None:
    """Free what a slot holds, if anything, unless it is at one of the addresses that are kept."""
    text.module.declare(RELEASE, _RELEASE)
    held = text.value(f"load ptr, ptr {slot}")
    for address in kept:
        is_kept = text.value(f"icmp eq ptr {held}, {address}")
        held = text.value(f"select i1 {is_kept}, ptr null, ptr {held}")
    text.do(f"call void @{RELEASE}(ptr {held})")


def take_donated(scope: Scope, buffer: Buffer, address: Value) -> None:
    """Let an argument that the caller gave away have a slot, as what is allocated here. Its own storage is
    never freed here, in whatever slot it is; storage that was swapped for it is."""
    slot = scope.text.alloca("ptr", address)
    is_swapped = buffer in scope.program.swapped
    if is_swapped:
        scope.slots.append(slot)
        scope.donated.append(address)
    scope.places[buffer] = Place(address, slot=slot, is_swapped=is_swapped, may_alias=is_swapped)


def free_slot(scope: Scope, slot: Value) -> None:
    """Free what the slot of an allocation holds, and remember that it holds nothing."""
    if slot in scope.in_rows:
        scope.text.do(f"call void @anadrome.drop(ptr {slot})")
    else:
        release(scope.text, slot, scope.donated)
        scope.text.do(f"store ptr null, ptr {slot}")
    _count_freed(scope, slot)


def finish_function(scope: Scope, result: Callable[[], str] = lambda: "void") -> None:
    """The way out that failures and success share: free every allocation still held, return the result."""
    scope.text.do("br label %cleanup")
    scope.text.forget()
    scope.text.label("cleanup")
    for row in scope.rows:
        scope.text.do(f"call void @anadrome.drop_all(ptr {row})")
    for slot in scope.slots:
        release(scope.text, slot, scope.donated)
    for slot in scope.sizes:
        _count_freed(scope, slot)
    if scope.held:
        scope.text.do(f"call void @anadrome.leave_thread(ptr {scope.held})")
    scope.text.do(f"ret {result()}")
    scope.text.finish()


# ---------------------------------------------------------------------------- atomics
_ATOMICS = {
    ("add", "float"): "fadd",
    ("sub", "float"): "fsub",
    ("min", "float"): "fmin",
    ("max", "float"): "fmax",
    **{(name, kind): name for name in ("add", "sub", "and", "or", "xor") for kind in ("int", "uint")},
    ("min", "int"): "min",
    ("max", "int"): "max",
    ("min", "uint"): "umin",
    ("max", "uint"): "umax",
}
"""(operation of `Atomic`, kind of type) -> what LLVM calls it."""


def atomic_operation(stmt: Atomic) -> str:
    """How LLVM spells an atomic operation whose old value nobody asks for."""
    dtype = stmt.buffer.dtype
    operation = _ATOMICS.get((stmt.operation, dtype.kind))
    if operation is None or stmt.old is not None:
        raise IRError(f"no atomic `{stmt.operation}` on {dtype}")
    return operation


_COMBINED = {"add": "add", "sub": "sub", "and": "bitand", "or": "bitor", "xor": "bitxor"}
"""Sum of `kernel_ir.walk.SUMS` -> the operation of the table."""


def combined(text: FunctionText, stmt: Atomic, old: Value, value: Value) -> Value:
    """What a sum that nobody else can meet leaves where `old` was, in as many lanes as are written."""
    dtype, prim = stmt.buffer.dtype, PRIMS[_COMBINED[stmt.operation]]
    return emit_scalar(text, prim, (old, value), (dtype, dtype), dtype, text.module.flags())
