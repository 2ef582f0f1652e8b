"""Ending a call early: compiled code looks from time to time whether a signal wants it to end.

Each function counts operations down from `PATIENCE` in a register; a loop whose work is known runs that many
iterations at once, other loops count in each iteration. When the count is spent, `anadrome.poll` is called:

* every thread looks at the status in the frame, and leaves where another has failed or was told to end;
* the main thread also looks at the clock, and every `INTERVAL` takes the interpreter lock and lets Python run
  the handlers of the signals that have come. Only where a handler raises does the call end, with what it
  raised: it is kept in the frame until the call has freed its memory and returned.

No other thread can run handlers. So the main thread, when it has nothing left to do in a parallel loop,
does not wait in the runtime's join, where nothing could be looked at, but for a semaphore (`wait`).
"""

from __future__ import annotations

import time
from typing import Protocol

from anadrome.kernel_ir.work import PATIENCE
from anadrome.targets.llvm_scope import INTERRUPTED, LOOK_AGAIN, RAISED
from anadrome.targets.llvm_text import FunctionText, ModuleText, Value
from anadrome.targets.record import Target

INTERVAL = 50_000_000
"""Nanoseconds from one look at the signals to the next; ten times what it took to get the interpreter lock,
where that is more, but never over `LONGEST`."""
LONGEST = 120_000_000

PYTHON_PREFIX = "anadrome.python."
"""How compiled code spells a function of the Python library."""
PYTHON_FUNCTIONS = {
    "PyGILState_Ensure": "i32 {}()",
    "PyGILState_Release": "void {}(i32)",
    "PyErr_Clear": "void {}()",
    "PyErr_CheckSignals": "i32 {}()",
    "PyErr_Fetch": "void {}(ptr, ptr, ptr)",
}
"""Those that are called, with their LLVM types."""

MAIN_THREAD = "anadrome.main_thread"
"""How compiled code spells the number of the thread that runs Python's signal handlers."""

POLL, WAIT = "anadrome.poll", "anadrome.wait"
"""The functions of the runtime: `i1 (ptr frame)`, whether the call is to end; and `void (ptr frame, ptr left,
ptr semaphore)`: the main thread waits for the semaphore, which is posted when nothing is left to do, or until
the call is to end; other threads do not wait."""


class Looking(Protocol):
    """A function being written in which it is looked at."""

    text: FunctionText
    frame: Value
    """The address of the call frame."""
    way_out: str
    """The block that leaves the function."""
    unlikely: str
    """The metadata of a branch that is hardly ever taken."""

    def patience(self, start: int) -> Value:
        """The variable that counts operations down, from `start` at the beginning of the function."""


def python_function(module: ModuleText, name: str) -> str:
    """A function of the Python library, declared; its symbol."""
    symbol = PYTHON_PREFIX + name
    module.declare(symbol, f"declare {PYTHON_FUNCTIONS[name].format('@' + symbol)}")
    return symbol


# ---------------------------------------------------------------------------- counting
def charge(scope: Looking, operations: Value) -> None:
    """Count operations that were done."""
    text, slot = scope.text, scope.patience(PATIENCE)
    left = text.value(f"load i64, ptr {slot}")
    text.do(f"store i64 {text.value(f'sub i64 {left}, {operations}')}, ptr {slot}")


def look_if_spent(scope: Looking) -> None:
    """Look, if the count is spent."""
    text = scope.text
    left = text.value(f"load i64, ptr {scope.patience(PATIENCE)}")
    look, go = text.fresh("look"), text.fresh("go")
    is_spent = text.value(f"icmp slt i64 {left}, 0")
    text.do(f"br i1 {is_spent}, label %{look}, label %{go}, !prof {scope.unlikely}")
    with text.branch(look, is_spent):
        look_now(scope, go)
    text.label(go)


def look_now(scope: Looking, following: str, notes: str = "") -> None:
    """Look: leave, or go on at a block. `notes` are for the branch there."""
    text = scope.text
    declare_poll(text.module)
    ends = text.value(f"call i1 @{POLL}(ptr {scope.frame})")
    text.do(f"store i64 {PATIENCE}, ptr {scope.patience(PATIENCE)}")
    text.do(f"br i1 {ends}, label %{scope.way_out}, label %{following}, !prof {scope.unlikely}{notes}")


def spent(scope: Looking) -> Value:
    """The operations that were counted since the function last looked."""
    left = scope.text.value(f"load i64, ptr {scope.patience(PATIENCE)}")
    return scope.text.value(f"sub i64 {PATIENCE}, {left}")


def declare_poll(module: ModuleText) -> None:
    """Have `anadrome.poll` known in a module. What it reads and writes the program never looks at, so LLVM
    keeps what it knows of the program's memory."""
    module.declare(
        POLL,
        f"declare i1 @{POLL}(ptr captures(none)) cold nounwind willreturn nofree "
        "memory(inaccessiblemem: readwrite)",
    )


# ---------------------------------------------------------------------------- the runtime
def add_polling(module: ModuleText) -> None:
    """Define `anadrome.poll` and `anadrome.wait`."""
    symbols = {name: python_function(module, name) for name in PYTHON_FUNCTIONS if name != "PyErr_Clear"}
    module.declare("pthread_self", "declare ptr @pthread_self() nounwind")
    module.declare("clock_gettime", "declare i32 @clock_gettime(i32, ptr) nounwind")
    module.declare(MAIN_THREAD, f"@{MAIN_THREAD} = external global i64")
    module.declare("llvm.smin.i64", "declare i64 @llvm.smin.i64(i64, i64)")
    module.declare("llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
    module.functions += [_NOW, _IS_MAIN, _POLL.format(clock=time.CLOCK_MONOTONIC, **symbols)]
    if has_semaphores(module.target):
        module.declare("sem_timedwait", "declare i32 @sem_timedwait(ptr, ptr) nounwind")
        module.functions.append(_WAIT)


def has_semaphores(target: Target) -> bool:
    """Whether the system has the semaphores that the main thread waits for; else it waits in the join."""
    return "linux" in target.triple


_NOW = """define internal i64 @anadrome.now(i32 %clock) #0 {
  %time = alloca [2 x i64], align 8
  %ignored = call i32 @clock_gettime(i32 %clock, ptr %time)
  %pnano = getelementptr inbounds i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %nano = load i64, ptr %pnano
  %scaled = mul i64 %seconds, 1000000000
  %now = add i64 %scaled, %nano
  ret i64 %now
}"""

_IS_MAIN = f"""define internal i1 @anadrome.is_main() #0 {{
  %self = call ptr @pthread_self()
  %number = ptrtoint ptr %self to i64
  %main = load i64, ptr @{MAIN_THREAD}
  %is_main = icmp eq i64 %number, %main
  ret i1 %is_main
}}"""

_POLL = f"""define i1 @{POLL}(ptr %frame) #3 {{{{
entry:
  %status = load atomic i64, ptr %frame monotonic, align 8
  %is_well = icmp eq i64 %status, 0
  br i1 %is_well, label %who, label %leave
who:
  %is_main = call i1 @anadrome.is_main()
  br i1 %is_main, label %when, label %stay
when:
  %pdue = getelementptr inbounds i64, ptr %frame, i64 {LOOK_AGAIN}
  %due = load i64, ptr %pdue
  %now = call i64 @anadrome.now(i32 {{clock}})
  %is_first = icmp eq i64 %due, 0
  br i1 %is_first, label %later, label %again
again:
  %is_due = icmp sge i64 %now, %due
  br i1 %is_due, label %look, label %stay
look:
  %state = call i32 @{{PyGILState_Ensure}}()
  %got = call i64 @anadrome.now(i32 {{clock}})
  %raised = call i32 @{{PyErr_CheckSignals}}()
  %has_raised = icmp ne i32 %raised, 0
  br i1 %has_raised, label %keep, label %release
keep:
  %ptype = getelementptr inbounds i64, ptr %frame, i64 {RAISED}
  %pvalue = getelementptr inbounds i64, ptr %frame, i64 {RAISED + 1}
  %ptraceback = getelementptr inbounds i64, ptr %frame, i64 {RAISED + 2}
  call void @{{PyErr_Fetch}}(ptr %ptype, ptr %pvalue, ptr %ptraceback)
  %ignored = cmpxchg ptr %frame, i64 0, i64 {INTERRUPTED} monotonic monotonic
  br label %release
release:
  call void @{{PyGILState_Release}}(i32 %state)
  br i1 %has_raised, label %leave, label %later
later:
  %from = phi i64 [%now, %when], [%now, %release]
  %until = phi i64 [%now, %when], [%got, %release]
  %took = sub i64 %until, %from
  %tenfold = mul i64 %took, 10
  %longer = call i64 @llvm.smax.i64(i64 %tenfold, i64 {INTERVAL})
  %pause = call i64 @llvm.smin.i64(i64 %longer, i64 {LONGEST})
  %next = add i64 %until, %pause
  store i64 %next, ptr %pdue
  br label %stay
stay:
  ret i1 false
leave:
  ret i1 true
}}}}"""

_WAIT = f"""define void @{WAIT}(ptr %frame, ptr %left, ptr %semaphore) #3 {{
entry:
  %time = alloca [2 x i64], align 8
  %pnano = getelementptr inbounds i64, ptr %time, i64 1
  %is_main = call i1 @anadrome.is_main()
  br i1 %is_main, label %next, label %done
next:
  %count = load atomic i64, ptr %left acquire, align 8
  %is_busy = icmp sgt i64 %count, 0
  br i1 %is_busy, label %wait, label %done
wait:
  %now = call i64 @anadrome.now(i32 {time.CLOCK_REALTIME})
  %until = add i64 %now, {INTERVAL}
  %seconds = udiv i64 %until, 1000000000
  %nano = urem i64 %until, 1000000000
  store i64 %seconds, ptr %time
  store i64 %nano, ptr %pnano
  %ignored = call i32 @sem_timedwait(ptr %semaphore, ptr %time)
  %ends = call i1 @{POLL}(ptr %frame)
  br i1 %ends, label %done, label %next
done:
  ret void
}}"""
