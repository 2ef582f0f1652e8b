"""Calls of the routines of `kernel_ir.routines`."""

from __future__ import annotations

from anadrome.kernel_ir.nodes import Buffer, Call
from anadrome.targets.llvm_scope import Scope


def emit_call(scope: Scope, stmt: Call) -> None:
    """A call of a routine; the module gets the routine's text."""
    raise NotImplementedError
