"""Loops run by worker threads: the body becomes a function of its own, called by the fork-join runtime.

The threads share a context: a counter from which each takes the next iteration, and what the body reads of
the function around it. Taking iterations from a counter makes the team's real size irrelevant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anadrome.kernel_ir.nodes import Buffer, For, Stmt, Var
from anadrome.kernel_ir.walk import free_names
from anadrome.targets.llvm_memory import count_joined, finish_function
from anadrome.targets.llvm_scope import Place, Scope
from anadrome.targets.llvm_text import FunctionText, Value

_COUNTER, _LIMIT, _FRAME, _WORKERS, _FIRST = range(5)
"""Slots of the context: the next iteration, the end, the call frame, the workers, then what is captured."""


def emit_threads(scope: Scope, stmt: For, emit_body: Callable[[Scope, Iterable[Stmt]], None]) -> None:
    """Fork, run the iterations, join; then leave where one has failed."""
    program, text = scope.program, scope.text
    program.uses_threads = True
    name = f"threads.{len(program.module.functions)}"
    inner, parameters = _outline(scope, stmt, name, emit_body)
    lo, hi = scope.expr(stmt.lo), scope.expr(stmt.hi)
    context = text.alloca(f"[{_FIRST + len(parameters)} x i64]")
    _put(scope, context, _COUNTER, "i64", lo)
    _put(scope, context, _LIMIT, "i64", hi)
    _put(scope, context, _FRAME, "ptr", scope.frame)
    _put(scope, context, _WORKERS, "i64", scope.workers)
    for position, (kind, value, _) in enumerate(parameters, _FIRST):
        _put(scope, context, position, kind.split()[0], value)
    _fork(scope, name, context, lo, hi)
    count_joined(scope)
    if inner.can_fail:
        scope.can_fail = True
        status = text.value(f"load atomic i64, ptr {scope.frame} monotonic, align 8")
        good, failed = text.fresh("good"), text.value(f"icmp ne i64 {status}, 0")
        text.do(f"br i1 {failed}, label %cleanup, label %{good}, !prof {program.unlikely}")
        text.label(good)


def _put(scope: Scope, context: Value, index: int, kind: str, value: Value) -> None:
    address = scope.text.value(f"getelementptr inbounds i64, ptr {context}, i64 {index}")
    scope.text.do(f"store {kind} {value}, ptr {address}, align 8")


def _fork(scope: Scope, name: str, context: Value, lo: Value, hi: Value) -> None:
    """One iteration, one worker or no runtime: a plain call. Else a team of min(workers, iterations)."""
    text, runtime = scope.text, scope.program.module.target.fork_join
    if not runtime:
        text.do(f"call void @{name}(ptr {context})")
        return
    scope.program.module.declare(runtime, f"declare void @{runtime}(ptr, ptr, i32, i32)")
    count = text.value(f"sub i64 {hi}, {lo}")
    team = text.intrinsic("llvm.smin.i64", "i64", [("i64", count), ("i64", scope.workers)])
    several = text.value(f"icmp sgt i64 {team}, 1")
    fork, alone, after = text.fresh("fork"), text.fresh("alone"), text.fresh("after")
    text.do(f"br i1 {several}, label %{fork}, label %{alone}")
    text.label(fork)
    size = text.value(f"trunc i64 {team} to i32")
    text.do(f"call void @{runtime}(ptr @{name}, ptr {context}, i32 {size}, i32 0)")
    text.do(f"br label %{after}")
    text.label(alone)
    text.do(f"call void @{name}(ptr {context})")
    text.do(f"br label %{after}")
    text.label(after)


Parameter = tuple[str, Value, Value]
"""(type with attributes, value outside, name inside)"""


def _outline(
    scope: Scope, stmt: For, name: str, emit_body: Callable[[Scope, Iterable[Stmt]], None]
) -> tuple[Scope, list[Parameter]]:
    """The function of one iteration and the one that a thread runs."""
    program = scope.program
    captured = _Captured(scope, stmt)
    listed = "".join(f", {kind} {inside}" for kind, _, inside in captured.parameters)
    header = (
        f"define internal void @{name}.body(ptr noalias %frame, i64 %workers, i64 %index{listed}) noinline #0"
    )
    inner = Scope(program, FunctionText(program.module, header))
    inner.in_threads = True
    inner.vars = captured.vars
    inner.places = captured.places
    inner.bind(stmt.index, "%index")
    emit_body(inner, stmt.body)
    finish_function(inner)
    program.module.functions.append(_worker_text(name, captured.parameters))
    return inner, captured.parameters


class _Captured:
    """What a body reads of the function around it, as parameters of its own function.

    Buffers that share their storage (a view and its base) share the parameter, so that every pointer
    parameter is `noalias`; a view passes its offset. Where storage was swapped nothing is promised.
    """

    def __init__(self, scope: Scope, stmt: For) -> None:
        self.parameters: list[Parameter] = []
        self.vars: dict[Var, Value] = {}
        self.places: dict[Buffer, Place] = {}
        self._roots: dict[Value, Value] = {}
        names = free_names(stmt.body)
        for var in names.vars:
            if var is not stmt.index:
                self.vars[var] = self._parameter(var.dtype.llvm, scope.vars[var])
        for buffer in names.buffers:
            self.places[buffer] = self._place(scope, scope.places[buffer])

    def _parameter(self, kind: str, value: Value) -> Value:
        inside = f"%c{len(self.parameters)}"
        self.parameters.append((kind, value, inside))
        return inside

    def _place(self, scope: Scope, place: Place) -> Place:
        root = scope.text.value(f"load ptr, ptr {place.slot}") if place.is_swapped else place.root
        inside = self._roots.get(root)
        if inside is None:
            inside = self._parameter("ptr" if place.may_alias else "ptr noalias", root)
            self._roots[root] = inside
        offset = self._parameter("i64", place.offset) if place.offset else ""
        return Place(inside, offset, may_alias=place.may_alias)


def _worker_text(name: str, parameters: list[Parameter]) -> str:
    """What a thread runs: take the next iteration until none is left or one has failed."""
    lines = []
    for position, (kind, _, inside) in enumerate(parameters, _FIRST):
        lines.append(f"  %a{position} = getelementptr inbounds i64, ptr %context, i64 {position}")
        lines.append(f"  {inside} = load {kind.split()[0]}, ptr %a{position}, align 8")
    given = "".join(f", {kind.split()[0]} {inside}" for kind, _, inside in parameters)
    loads = "\n".join(lines)
    return f"""define internal void @{name}(ptr %context) #3 {{
entry:
  %plimit = getelementptr inbounds i64, ptr %context, i64 {_LIMIT}
  %limit = load i64, ptr %plimit
  %pframe = getelementptr inbounds i64, ptr %context, i64 {_FRAME}
  %frame = load ptr, ptr %pframe
  %pworkers = getelementptr inbounds i64, ptr %context, i64 {_WORKERS}
  %workers = load i64, ptr %pworkers
{loads}
  br label %next
next:
  %index = atomicrmw add ptr %context, i64 1 monotonic, align 8
  %is_inside = icmp slt i64 %index, %limit
  br i1 %is_inside, label %go, label %done
go:
  %status = load atomic i64, ptr %frame monotonic, align 8
  %is_well = icmp eq i64 %status, 0
  br i1 %is_well, label %run, label %done
run:
  call void @{name}.body(ptr %frame, i64 %workers, i64 %index{given})
  br label %next
done:
  ret void
}}"""
