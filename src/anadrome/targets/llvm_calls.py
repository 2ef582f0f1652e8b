"""Calls of the routines of `kernel_ir.routines`: the module gets the text of those it calls."""

from __future__ import annotations

from collections.abc import Callable

from anadrome.dtypes import DType
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import Buffer, Call
from anadrome.kernel_ir.routines import ROUTINES
from anadrome.targets import llvm_complex, llvm_decompositions, llvm_fourier, llvm_linalg, llvm_sparse
from anadrome.targets.llvm_checks import fail_unless
from anadrome.targets.llvm_poll import charge
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_sort import argsort
from anadrome.targets.llvm_text import ModuleText, Value

LARGEST_SIZE = 1 << 15
"""What a size counts at most in an estimate of a routine's work: beyond it the program looks anyway."""

Writer = Callable[[ModuleText, str, DType], None]

WRITERS: dict[str, Writer] = {
    "gemm": llvm_linalg.gemm,
    "solve": llvm_linalg.solve,
    "triangular_solve": llvm_linalg.triangular_solve,
    "inv": llvm_linalg.inv,
    "det": llvm_linalg.det,
    "cholesky": llvm_linalg.cholesky,
    "cholesky_adjoint": llvm_linalg.cholesky_adjoint,
    "slogdet": llvm_decompositions.slogdet,
    "qr": llvm_decompositions.qr,
    "eigh": llvm_decompositions.eigh,
    "svd": llvm_decompositions.svd,
    "eig": llvm_complex.eig,
    "complex_eig": llvm_complex.complex_eig,
    "complex_eigh": llvm_complex.complex_eigh,
    "complex_svd": llvm_complex.complex_svd,
    "fourier": llvm_fourier.fourier,
    "fourier_of_real": llvm_fourier.fourier_of_real,
    "fourier_to_real": llvm_fourier.fourier_to_real,
    "argsort": argsort,
    "sparse_solve": llvm_sparse.sparse_solve,
}
"""The name of a routine, without its type -> what writes it."""


def emit_call(scope: Scope, stmt: Call) -> None:
    """A call; it leaves where the routine got no memory, or was ended."""
    row = ROUTINES.get(stmt.routine)
    if row is None or len(row.arguments) != len(stmt.args):
        raise IRError(f"`{stmt.routine}` is no routine of {len(stmt.args)} arguments")
    program, name = scope.program, f"anadrome.{row.name}"
    if name not in program.routines:
        program.routines.add(name)
        WRITERS[row.operation.routine_name](program.module, name, row.dtype)
    given = [f"ptr {scope.frame}"]
    for argument, value in zip(row.arguments, stmt.args, strict=True):
        if isinstance(value, Buffer):
            given.append(f"ptr {scope.pointer(value)}")
        else:
            given.append(f"{argument.dtype.llvm} {scope.expr(value)}")
    charge(scope, _operations(scope, [value for value in given if value.startswith("i64")]))
    code = scope.text.value(f"call i64 @{name}({', '.join(given)})")
    succeeded = scope.text.value(f"icmp eq i64 {code}, 0")
    fail_unless(scope, succeeded, program.memory_failure, ["-1", "0"])


def _operations(scope: Scope, sizes: list[str]) -> Value:
    """An estimate of the work of a routine: n (n + 1) for its largest size n.

    Of n² LLVM would ask whether n is the same number at both places, which takes it through all blocks in
    front: with 300 products 3 s in place of 0.3.
    """
    largest = "8"
    for size in sizes:
        given = ("i64", size.removeprefix("i64 "))
        largest = scope.text.intrinsic("llvm.smax.i64", "i64", [("i64", largest), given])
    bounded = scope.text.intrinsic("llvm.smin.i64", "i64", [("i64", largest), ("i64", str(LARGEST_SIZE))])
    return scope.text.value(f"mul i64 {bounded}, {scope.text.value(f'add i64 {bounded}, 1')}")
