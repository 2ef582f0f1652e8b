"""Sparse systems as LLVM: a call of the function of the process that solves them (`cpu_sparse`)."""

from __future__ import annotations

from anadrome.dtypes import DType
from anadrome.targets.llvm_text import ModuleText
from anadrome.targets.llvm_wrapper import Wrapper

SPARSE_SOLVE = "anadrome.sparse_solve"
"""How compiled code spells that function: `i64 (frame, data, rows, columns, right, out, k, n, m, bytes)`.

It gives 1 + the status of the routine, or 0 where the call is to end."""


def sparse_solve(module: ModuleText, name: str, dtype: DType) -> None:
    """A·X = B for the matrix A of the entries `data` at (`rows`, `columns`)."""
    arrays = "ptr %data, ptr %rows, ptr %columns, ptr %right, ptr %out"
    w = Wrapper(module, name, dtype, f"{arrays}, ptr %status, i64 %k, i64 %n, i64 %m")
    module.declare(SPARSE_SOLVE, f"declare i64 @{SPARSE_SOLVE}({', '.join(['ptr'] * 6 + ['i64'] * 4)})")
    given = f"ptr %frame, {arrays}, i64 %k, i64 %n, i64 %m, i64 {dtype.bytes}"
    code = w.text.value(f"call i64 @{SPARSE_SOLVE}({given})")
    w.leave_unless(w.text.value(f"icmp sgt i64 {code}, 0"))
    w.text.do(f"store i64 {w.text.value(f'sub i64 {code}, 1')}, ptr %status")
    w.finish()
