"""Printing: raw values handed to the caller's function, whose address stands in the call frame.

Object code holds no address of it, so that it can be kept on disk and used by another process.
"""

from __future__ import annotations

from anadrome.kernel_ir.nodes import Print, Shown
from anadrome.targets.llvm_checks import fail_unless
from anadrome.targets.llvm_scope import PRINT_FAILURE, PrintSite, Scope
from anadrome.targets.llvm_text import Value


def emit_print(scope: Scope, stmt: Print) -> None:
    """Call `i64 print(frame, site, values)`; where it gives 0, the call has failed and ends.

    A scalar is one slot of the values, an array its address and its dimensions.
    """
    text, program = scope.text, scope.program
    slots: list[Value] = []
    kinds = []
    for value in stmt.values:
        if isinstance(value, Shown):
            slots.append(text.value(f"ptrtoint ptr {scope.pointer(value.buffer)} to i64"))
            slots += [scope.expr(size) for size in value.shape]
            kinds.append((value.buffer.dtype, len(value.shape)))
        else:
            found, dtype = scope.typed(value)
            slots.append(scope.as_bits(found, dtype))
            kinds.append((dtype, 0))
    values = text.alloca(f"[{max(len(slots), 1)} x i64]")
    for position, slot in enumerate(slots):
        place = text.value(f"getelementptr inbounds i64, ptr {values}, i64 {position}")
        text.do(f"store i64 {slot}, ptr {place}")
    program.prints.append(PrintSite(stmt.code, tuple(kinds)))
    function = text.value(f"load ptr, ptr {scope.frame_slot(program.layout.printer)}")
    given = f"ptr {scope.frame}, i64 {len(program.prints) - 1}, ptr {values}"
    done = text.value(f"call i64 {function}({given})")
    fail_unless(scope, text.value(f"icmp ne i64 {done}, 0"), program.site(PRINT_FAILURE, ()), [])
