"""Run-time checks and the ways out of a function.

A failure is recorded in the call frame (the first one wins, between threads too) and the function goes to
its block `cleanup`, which frees what it holds. Where a loop may vectorise, a check must not branch: it
reduces a flag, and its changing value, and both are looked at when the outermost loop around has ended.
"""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.dtypes import I64, DType
from anadrome.kernel_ir.nodes import Check, Compute, Const, Expr, Var, Workers
from anadrome.targets.llvm_scope import Nest, PendingCheck, Scope
from anadrome.targets.llvm_text import Value

_LEAST = str(-(1 << 63))


def emit_check(scope: Scope, check: Check) -> None:
    """A check: at once where that costs nothing more, else with the loop nest it stands in."""
    condition = scope.expr(check.condition)
    if condition == "true":
        return
    nest = scope.nest
    if nest is not None and scope.may_vectorise:
        changing = sum(not _is_invariant(nest, value) for value in check.values)
        if _is_of_index(scope, nest, check):
            _emit_pending_index(scope, nest, check)
            return
        if changing <= 1:
            _emit_pending(scope, nest, check, condition)
            return
    types, bits = _values(scope, check.values)
    fail_unless(scope, condition, scope.program.site(check.code, types), bits)


def fail_unless(scope: Scope, condition: Value, status: int, bits: Sequence[Value]) -> None:
    """Record the failure and leave, unless the condition holds."""
    text = scope.text
    bad, good = text.fresh("bad"), text.fresh("good")
    inverse = text.value(f"xor i1 {condition}, true")
    text.do(f"br i1 {inverse}, label %{bad}, label %{good}, !prof {scope.unlikely}")
    text.label(bad)
    _record(scope, status, bits)
    text.label(good)


def settle(scope: Scope, nest: Nest) -> None:
    """After a loop nest: leave where one of its checks has failed."""
    text = scope.text
    for pending in nest.pending:
        bad, good = text.fresh("bad"), text.fresh("good")
        flag = text.value(f"load i64, ptr {pending.flag}")
        failed = text.value(f"icmp ne i64 {flag}, 0")
        if pending.limit:
            greatest = text.value(f"load i64, ptr {pending.values[0][0]}")
            is_outside = text.value(f"icmp uge i64 {greatest}, {pending.limit}")
            failed = text.value(f"and i1 {failed}, {is_outside}")
        text.do(f"br i1 {failed}, label %{bad}, label %{good}, !prof {scope.unlikely}")
        text.label(bad)
        bits = [
            text.value(f"load i64, ptr {slot}") if slot else scope.as_bits(value, dtype)
            for slot, value, dtype in pending.values
        ]
        _record(scope, pending.status, bits)
        text.label(good)
        if pending.limit:  # the nest may run again, with another limit
            for slot in (pending.flag, pending.values[0][0]):
                text.do(f"store i64 0, ptr {slot}")


def _record(scope: Scope, status: int, bits: Sequence[Value]) -> None:
    """Call the helper that writes status and values into the frame unless another failure has; then leave."""
    name = f"anadrome.fail.{len(bits)}"
    scope.program.module.helper(name, _fail_text(name, len(bits), scope.program.layout.values))
    given = "".join(f", i64 {value}" for value in bits)
    scope.text.do(f"call void @{name}(ptr {scope.frame}, i64 {status}{given})")
    scope.text.do("br label %cleanup")


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


def _emit_pending(scope: Scope, nest: Nest, check: Check, condition: Value) -> None:
    """flag |= ¬condition;  value = max(value, condition ? least : value now)"""
    text = scope.text
    values: list[tuple[Value, Value, DType]] = []
    for expr in check.values:
        value, dtype = scope.typed(expr)
        if _is_invariant(nest, expr):
            values.append(("", value, dtype))
            continue
        slot = text.alloca("i64", _LEAST)
        values.append((slot, "", dtype))
        bits = scope.as_bits(value, dtype)
        chosen = text.value(f"select i1 {condition}, i64 {_LEAST}, i64 {bits}")
        old = text.value(f"load i64, ptr {slot}")
        new = text.intrinsic("llvm.smax.i64", "i64", [("i64", old), ("i64", chosen)])
        text.do(f"store i64 {new}, ptr {slot}")
    flag = text.alloca("i64", "0")
    inverse = text.value(f"xor i1 {condition}, true")
    wide = text.value(f"zext i1 {inverse} to i64")
    old = text.value(f"load i64, ptr {flag}")
    new = text.value(f"or i64 {old}, {wide}")
    text.do(f"store i64 {new}, ptr {flag}")
    status = scope.program.site(check.code, [dtype for _, _, dtype in values])
    nest.pending.append(PendingCheck(status, flag, values))


def _emit_pending_index(scope: Scope, nest: Nest, check: Check) -> None:
    """flag = 1;  value = max(value, value now) without a sign, in which numbers below 0 are the greatest"""
    text = scope.text
    index, size = check.values
    slot, flag = text.alloca("i64", "0"), text.alloca("i64", "0")
    old = text.value(f"load i64, ptr {slot}")
    new = text.intrinsic("llvm.umax.i64", "i64", [("i64", old), ("i64", scope.expr(index))])
    text.do(f"store i64 {new}, ptr {slot}")
    text.do(f"store i64 1, ptr {flag}")
    limit = scope.expr(size)
    status = scope.program.site(check.code, [I64, I64])
    nest.pending.append(PendingCheck(status, flag, [(slot, "", I64), ("", limit, I64)], limit))


def _is_of_index(scope: Scope, nest: Nest, check: Check) -> bool:
    """Whether a check is 0 ≤ index < size of a size that does not change in the nest, and tells these two."""

    def made(expr: Expr) -> Expr:
        return scope.conditions.get(expr, expr) if isinstance(expr, Var) else expr

    match made(check.condition), check.values:
        case Compute(prim=both, args=(left, right)), (Var() as index, size) if both.name == "and":
            match made(left), made(right):
                case (
                    Compute(prim=least, args=(above, Const(value=0))),
                    Compute(prim=most, args=(below, limit)),
                ) if (least.name, most.name) == ("ge", "lt") and above is below is index and limit is size:
                    return index.dtype is I64 and _is_invariant(nest, size)
    return False


def _is_invariant(nest: Nest, expr: Expr) -> bool:
    """Whether a value is the same wherever the nest evaluates it, in registers bound before the nest."""
    match expr:
        case Var():
            return expr not in nest.inner
        case Const() | Workers():
            return True
        case _:
            return False


def _values(scope: Scope, exprs: Sequence[Expr]) -> tuple[list[DType], list[Value]]:
    types, bits = [], []
    for expr in exprs:
        value, dtype = scope.typed(expr)
        types.append(dtype)
        bits.append(scope.as_bits(value, dtype))
    return types, bits
