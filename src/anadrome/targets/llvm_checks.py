"""Run-time checks and the ways out of a function.

A failure is recorded in the call frame (the first one wins, between threads too) and the function goes to
its block `cleanup`, which frees what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.dtypes import DType
from anadrome.kernel_ir.nodes import Check, Expr
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import Value


def emit_check(scope: Scope, check: Check) -> None:
    """A check."""
    condition = scope.expr(check.condition)
    if condition == "true":
        return
    types, bits = _values(scope, check.values)
    fail_unless(scope, condition, scope.status(check, types), bits)


def fail_unless(scope: Scope, condition: Value, status: int | Value, bits: Sequence[Value]) -> None:
    """Record the failure and leave, unless the condition holds."""
    text = scope.text
    if text.decided(condition) == "true":
        return
    bad, good = text.fresh("bad"), text.fresh("good")
    inverse = text.value(f"xor i1 {condition}, true")
    text.do(f"br i1 {inverse}, label %{bad}, label %{good}, !prof {scope.unlikely}")
    with text.branch(bad, condition, "false"):
        _record(scope, status, bits)
    text.label(good)
    text.decide(condition)


def _record(scope: Scope, status: int | Value, bits: Sequence[Value]) -> None:
    """Call the helper that writes status and values into the frame unless another failure has; then leave."""
    given = "".join(f", i64 {value}" for value in bits)
    scope.text.do(f"call void @{failure(scope, len(bits))}(ptr {scope.frame}, i64 {status}{given})")
    scope.text.do("br label %cleanup")


def failure(scope: Scope, count: int) -> str:
    """The helper `void (ptr frame, i64 status, i64 …)`, which records a failure with so many values."""
    name = f"anadrome.fail.{count}"
    scope.program.module.helper(name, _fail_text(name, count, scope.program.layout.values))
    return name


def _fail_text(name: str, count: int, first: int) -> str:
    parameters = "".join(f", i64 %v{position}" for position in range(count))
    stores = "\n".join(
        f"  %p{position} = getelementptr inbounds i64, ptr %frame, i64 {first + position}\n"
        f"  store i64 %v{position}, ptr %p{position}"
        for position in range(count)
    )
    return f"""define internal void @{name}(ptr %frame, i64 %status{parameters}) #2 {{
  %pair = cmpxchg ptr %frame, i64 0, i64 %status monotonic monotonic
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %record, label %done
record:
{stores}
  br label %done
done:
  ret void
}}"""


def _values(scope: Scope, exprs: Sequence[Expr]) -> tuple[list[DType], list[Value]]:
    types, bits = [], []
    for expr in exprs:
        value, dtype = scope.typed(expr)
        types.append(dtype)
        bits.append(scope.as_bits(value, dtype))
    return types, bits
