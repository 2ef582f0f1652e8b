"""Loops run by worker threads: the body becomes a function of its own, called by the fork-join runtime.

The threads share a context: a counter from which each takes the next iteration, and what the body reads of
the function around it. Taking iterations from a counter makes the team's real size irrelevant.

The main thread looks at signals while it works, and must not wait in the runtime's join, where it could not.
So whoever ends the last iteration, or sees that one has failed, posts a semaphore, and the main thread waits
for that, looking in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anadrome.kernel_ir.nodes import For, Stmt
from anadrome.kernel_ir.work import ALWAYS, PATIENCE
from anadrome.targets.llvm_memory import count_joined
from anadrome.targets.llvm_outline import is_well, leave_if_failed, outlined
from anadrome.targets.llvm_poll import (
    POLL,
    WAIT,
    charge,
    declare_poll,
    has_semaphores,
    look_if_spent,
)
from anadrome.targets.llvm_scope import Outlined, Scope
from anadrome.targets.llvm_text import Value

_COUNTER, _LIMIT, _FRAME, _WORKERS, _LEFT, _SEMAPHORE, _FIRST = 0, 1, 2, 3, 4, 5, 9
"""Slots of the context: the next iteration, the end, the call frame, the workers, the iterations that are not
done, the semaphore that is posted when there are none (four slots), then what is captured."""


def emit_threads(scope: Scope, stmt: For, emit_body: Callable[[Scope, Iterable[Stmt]], None]) -> None:
    """One iteration, one worker or no runtime: a plain loop. Else a team of min(workers, iterations), which
    forks, runs the iterations and joins. Leave where one has failed."""
    program, text = scope.program, scope.text
    program.uses_threads = True

    def iteration(inner: Scope) -> None:
        inner.in_threads = True
        inner.bind(stmt.index, "%index")
        emit_body(inner, stmt.body)
        charge(inner, str(program.works.of(stmt.body).operations))

    body = outlined(scope, stmt, stmt.body, "threads", iteration, "%index")
    lo, hi = scope.expr(stmt.lo), scope.expr(stmt.hi)
    if not program.module.target.fork_join:
        _alone(scope, body, lo, hi)
        return
    count = text.value(f"sub i64 {hi}, {lo}")
    team = text.intrinsic("llvm.smin.i64", "i64", [("i64", count), ("i64", scope.workers)])
    several = text.value(f"icmp sgt i64 {team}, 1")
    fork, alone, after = text.fresh("fork"), text.fresh("alone"), text.fresh("after")
    text.do(f"br i1 {several}, label %{fork}, label %{alone}")
    with text.branch(fork, several):
        _fork(scope, body, lo, hi, team)
        text.do(f"br label %{after}")
    with text.branch(alone, several, "false"):
        _alone(scope, body, lo, hi)
        text.do(f"br label %{after}")
    text.label(after)


def _alone(scope: Scope, run: Outlined, lo: Value, hi: Value) -> None:
    """The iterations one after the other."""
    text = scope.text
    enters = text.value(f"icmp slt i64 {lo}, {hi}")
    body, after = text.fresh("body"), text.fresh("after")
    before, index, following = text.block, text.fresh(), text.fresh()
    text.do(f"br i1 {enters}, label %{body}, label %{after}")
    with text.branch(body, enters):
        phi = text.reserve()
        charge(scope, text.value(run.call(scope, index)))
        look_if_spent(scope)
        text.fill(phi, f"{index} = phi i64 [{lo}, %{before}], [{following}, %{text.block}]")
        text.do(f"{following} = add nsw i64 {index}, 1")
        more = text.value(f"icmp slt i64 {following}, {hi}")
        goes_on = text.value(f"and i1 {more}, {is_well(scope)}")
        text.do(f"br i1 {goes_on}, label %{body}, label %{after}")
    text.label(after)
    _leave_if_failed(scope)


def _fork(scope: Scope, run: Outlined, lo: Value, hi: Value, team: Value) -> None:
    """A team runs the iterations."""
    text, module, parameters = scope.text, scope.program.module, run.parameters
    context = text.alloca(f"[{_FIRST + len(parameters)} x i64]")

    def put(index: int, kind: str, value: Value) -> None:
        text.do(f"store {kind} {value}, ptr {_slot(scope, context, index)}, align 8")

    put(_COUNTER, "i64", lo)
    put(_LIMIT, "i64", hi)
    put(_FRAME, "ptr", scope.frame)
    put(_WORKERS, "i64", scope.workers)
    put(_LEFT, "i64", text.value(f"sub i64 {hi}, {lo}"))
    for position, (kind, value, _) in enumerate(parameters, _FIRST):
        put(position, kind.split()[0], value)
    if has_semaphores(module.target):
        for function, types in (("sem_init", "ptr, i32, i32"), ("sem_post", "ptr")):
            module.declare(function, f"declare i32 @{function}({types}) nounwind")
        module.declare(WAIT, f"declare void @{WAIT}(ptr, ptr, ptr) nounwind")
        text.value(f"call i32 @sem_init(ptr {_slot(scope, context, _SEMAPHORE)}, i32 0, i32 0)")
    declare_poll(module)
    worker = f"{run.name}.worker"
    module.helper(worker, _worker_text(worker, run, has_semaphores(module.target)))
    runtime = module.target.fork_join
    module.declare(runtime, f"declare void @{runtime}(ptr, ptr, i32, i32)")
    size = text.value(f"trunc i64 {team} to i32")
    text.do(f"call void @{runtime}(ptr @{worker}, ptr {context}, i32 {size}, i32 0)")
    charge(scope, str(ALWAYS))
    _leave_if_failed(scope)


def _leave_if_failed(scope: Scope) -> None:
    count_joined(scope)
    leave_if_failed(scope)


def _slot(scope: Scope, context: Value, index: int) -> Value:
    return scope.text.value(f"getelementptr inbounds i64, ptr {context}, i64 {index}")


def _worker_text(name: str, run: Outlined, has_semaphore: bool) -> str:
    """What a thread of a team runs: take the next iteration until none is left or one has failed."""
    lines = []
    for position, (kind, _, inside) in enumerate(run.parameters, _FIRST):
        lines.append(f"  %a{position} = getelementptr inbounds i64, ptr %context, i64 {position}")
        lines.append(f"  {inside} = load {kind.split()[0]}, ptr %a{position}, align 8")
    given = "".join(f", {kind.split()[0]} {inside}" for kind, _, inside in run.parameters)
    loads = "\n".join(lines)
    post = "  %ignored = call i32 @sem_post(ptr %psemaphore)\n" if has_semaphore else ""
    wait = f"  call void @{WAIT}(ptr %frame, ptr %pleft, ptr %psemaphore)\n" if has_semaphore else ""
    return f"""define internal void @{name}(ptr %context) #3 {{
entry:
  %plimit = getelementptr inbounds i64, ptr %context, i64 {_LIMIT}
  %limit = load i64, ptr %plimit
  %pframe = getelementptr inbounds i64, ptr %context, i64 {_FRAME}
  %frame = load ptr, ptr %pframe
  %pworkers = getelementptr inbounds i64, ptr %context, i64 {_WORKERS}
  %workers = load i64, ptr %pworkers
  %pleft = getelementptr inbounds i64, ptr %context, i64 {_LEFT}
  %psemaphore = getelementptr inbounds i64, ptr %context, i64 {_SEMAPHORE}
{loads}
  br label %next
next:
  %spent = phi i64 [0, %entry], [%sum, %count], [0, %look]
  %index = atomicrmw add ptr %context, i64 1 monotonic, align 8
  %status = load atomic i64, ptr %frame monotonic, align 8
  %is_well = icmp eq i64 %status, 0
  br i1 %is_well, label %go, label %post
go:
  %is_inside = icmp slt i64 %index, %limit
  br i1 %is_inside, label %run, label %wait
run:
  %used = call i64 @{run.name}(ptr %frame, i64 %workers, i64 %index{given})
  %sum = add i64 %spent, %used
  %left = atomicrmw sub ptr %pleft, i64 1 acq_rel, align 8
  %is_last = icmp eq i64 %left, 1
  br i1 %is_last, label %post, label %count
count:
  %is_spent = icmp sgt i64 %sum, {PATIENCE}
  br i1 %is_spent, label %look, label %next
look:
  %ends = call i1 @{POLL}(ptr %frame)
  br i1 %ends, label %post, label %next
wait:
{wait}  ret void
post:
{post}  ret void
}}"""
