"""Heap memory in LLVM: the C library's allocator, and slots that remember what must be freed."""

from __future__ import annotations

from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import ModuleText, Value

_ALLOCATE = (
    "declare noalias ptr @aligned_alloc(i64 allocalign, i64) nounwind willreturn "
    'allockind("alloc,uninitialized,aligned") allocsize(1) memory(inaccessiblemem: readwrite) '
    '"alloc-family"="malloc"'
)
_FREE = (
    'declare void @free(ptr allocptr) nounwind willreturn allockind("free") '
    'memory(argmem: readwrite, inaccessiblemem: readwrite) "alloc-family"="malloc"'
)


def declare_memory(module: ModuleText) -> None:
    """Declare the C library's allocator, so that LLVM knows what it is."""
    module.declare("aligned_alloc", _ALLOCATE)
    module.declare("free", _FREE)


def free_slot(scope: Scope, slot: Value) -> None:
    """Free what the slot of an allocation holds, and remember that it holds nothing."""
    declare_memory(scope.program.module)
    held = scope.text.value(f"load ptr, ptr {slot}")
    scope.text.do(f"call void @free(ptr {held})")
    scope.text.do(f"store ptr null, ptr {slot}")


def finish_function(scope: Scope) -> None:
    """The way out that failures and success share: free every allocation still held."""
    scope.text.do("br label %cleanup")
    scope.text.label("cleanup")
    for slot in scope.slots:
        held = scope.text.value(f"load ptr, ptr {slot}")
        scope.text.do(f"call void @free(ptr {held})")
    scope.text.do("ret void")
    scope.text.finish()
