"""Heap memory in LLVM: the C library's allocator, and slots that remember what must be freed."""

from __future__ import annotations

from collections.abc import Callable

from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import Atomic
from anadrome.prims.table import PRIMS
from anadrome.targets.llvm_scalars import CONTRACT, emit_scalar
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value

_ALLOCATE = (
    "declare noalias ptr @aligned_alloc(i64 allocalign, i64) nounwind willreturn "
    'allockind("alloc,uninitialized,aligned") allocsize(1) memory(inaccessiblemem: readwrite) '
    '"alloc-family"="malloc"'
)
_FREE = (
    'declare void @free(ptr allocptr) nounwind willreturn allockind("free") '
    'memory(argmem: write, inaccessiblemem: readwrite) "alloc-family"="malloc"'
)
"""It does not read what it frees: LLVM need not store what nobody reads before."""

LARGEST_ALLOCATION = 1 << 46
"""More bytes than any machine has: no size in bytes overflows below it."""

HUGE_PAGE_BYTES = 1 << 22
"""Allocations of at least this size ask for huge pages."""


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


def declare_memory(module: ModuleText) -> None:
    """Declare the C library's allocator, so that LLVM knows what it is."""
    module.declare("aligned_alloc", _ALLOCATE)
    module.declare("free", _FREE)


def declare_allocate(module: ModuleText) -> None:
    """Have `ptr @anadrome.allocate(i64 count, i64 each)` in the module: aligned to 64 bytes, or null."""
    declare_memory(module)
    module.helper("anadrome.allocate", _allocate_text(module))


def allocate(scope: Scope, count: Value, bytes_each: int) -> Value:
    """Memory for `count` elements, aligned to 64 bytes; null where the count is absurd or memory runs out."""
    declare_allocate(scope.program.module)
    return scope.text.value(f"call noalias ptr @anadrome.allocate(i64 {count}, i64 {bytes_each})")


def _allocate_text(module: ModuleText) -> str:
    """Large allocations ask for huge pages: without them, filling fresh memory is all page faults."""
    advise = ""
    if "linux" in module.target.triple:
        module.declare("madvise", "declare i32 @madvise(ptr, i64, i32) nounwind")
        advise = f"""  %is_large = icmp uge i64 %size, {HUGE_PAGE_BYTES}
  br i1 %is_large, label %advise, label %done
advise:
  %address = ptrtoint ptr %memory to i64
  %up = add i64 %address, 4095
  %first = and i64 %up, -4096
  %skipped = sub i64 %first, %address
  %page = inttoptr i64 %first to ptr
  %rest = sub i64 %size, %skipped
  %ignored = call i32 @madvise(ptr %page, i64 %rest, i32 14)
"""
    return f"""define internal noalias ptr @anadrome.allocate(i64 %count, i64 %each) noinline nounwind {{
  %limit = udiv i64 {LARGEST_ALLOCATION}, %each
  %is_sane = icmp ule i64 %count, %limit
  br i1 %is_sane, label %try, label %refuse
refuse:
  ret ptr null
try:
  %exact = mul nuw nsw i64 %count, %each
  %padded = add nuw nsw i64 %exact, 127
  %size = and i64 %padded, -64
  %memory = call noalias ptr @aligned_alloc(i64 64, i64 %size)
  %exists = icmp ne ptr %memory, null
  br i1 %exists, label %got, label %refuse
got:
{advise}  br label %done
done:
  ret ptr %memory
}}"""


def free_slot(scope: Scope, slot: Value) -> None:
    """Free what the slot of an allocation holds, and remember that it holds nothing."""
    declare_memory(scope.program.module)
    held = scope.text.value(f"load ptr, ptr {slot}")
    scope.text.do(f"call void @free(ptr {held})")
    scope.text.do(f"store ptr null, ptr {slot}")
    _count_freed(scope, slot)


def finish_function(scope: Scope, result: Callable[[], str] = lambda: "void") -> None:
    """The way out that failures and success share: free every allocation still held, return the result."""
    scope.text.do("br label %cleanup")
    scope.text.label("cleanup")
    for slot in scope.slots:
        held = scope.text.value(f"load ptr, ptr {slot}")
        scope.text.do(f"call void @free(ptr {held})")
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
    dtype = stmt.buffer.dtype
    return emit_scalar(text, PRIMS[_COMBINED[stmt.operation]], (old, value), (dtype, dtype), dtype, CONTRACT)
