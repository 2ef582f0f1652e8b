"""Which variables and buffers of a kernel carry derivatives: floats that depend on an active input, and on
which an active output depends.

    varied: what active inputs flow into           useful: what flows into active outputs

both without regard to the order of statements, since loops and other threads may run them in any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from anadrome.errors.ad import NotDifferentiable
from anadrome.kernel_ir.nodes import Atomic, Buffer, Compute, Kernel, Let, Load, Stmt, Store, Var, Warp
from anadrome.kernel_ir.walk import statements
from anadrome.prims.record import Prim

Name = Var | Buffer


@dataclass(frozen=True, slots=True)
class Flow:
    """One statement that passes floats on: from which names into which."""

    sources: tuple[Name, ...]
    target: Name


@dataclass(frozen=True, slots=True)
class Activity:
    """The names that carry derivatives."""

    names: set[Name] = field(default_factory=set)

    def __contains__(self, name: object) -> bool:
        return name in self.names


def activity(kernel: Kernel, inputs: Iterable[Name], outputs: Iterable[Name] | None = None) -> Activity:
    """What lies between active inputs and active outputs; None: whatever the kernel writes."""
    flows = [flow for stmt in statements(kernel.body) for flow in flows_of(stmt)]
    varied = _reached(set(inputs), [(flow.sources, (flow.target,)) for flow in flows])
    if outputs is None:
        names = varied
    else:
        names = varied & _reached(set(outputs), [((flow.target,), flow.sources) for flow in flows])
    _refuse(kernel, names)
    return Activity(names)


def carries(prim: Prim) -> bool:
    """Whether an operation may have a derivative that is not zero."""
    return not prim.zero_derivative


def flows_of(stmt: Stmt) -> tuple[Flow, ...]:
    """What a statement in normal form passes on."""
    match stmt:
        case Let(var=var, value=Load(buffer=buffer)):
            return _flow((buffer,), var)
        case Let(var=var, value=Compute(prim=prim, args=args)) if carries(prim):
            return _flow(args, var)
        case Store(buffer=buffer, value=value):
            return _flow((value,), buffer)
        case Atomic(buffer=buffer, value=value, old=old, beside=beside):
            into = _flow((value,), buffer)
            for more, put in beside:
                into = (*into, *_flow((put,), more))
            return into if old is None else (*into, *_flow((buffer,), old))
        case Warp(value=value, result=result) if result is not None and value is not None:
            return _flow((value,), result)
        case _:
            return ()


def _flow(sources: Iterable[object], target: Name) -> tuple[Flow, ...]:
    floats = tuple(one for one in sources if isinstance(one, Var | Buffer) and one.dtype.is_float)
    return (Flow(floats, target),) if floats and target.dtype.is_float else ()


def _reached(names: set[Name], steps: list[tuple[tuple[Name, ...], tuple[Name, ...]]]) -> set[Name]:
    """The names that can be reached by steps from any of the first names to all of the second ones."""
    count = -1
    while count != len(names):
        count = len(names)
        for sources, targets in steps:
            if not names.isdisjoint(sources):
                names.update(targets)
    return names


def _refuse(kernel: Kernel, names: set[Name]) -> None:
    """Refuse what has no derivative: old values of atomics that carry one, exchanges and comparisons."""
    for stmt in statements(kernel.body):
        if not isinstance(stmt, Atomic) or stmt.buffer not in names:
            continue
        if stmt.operation in ("exchange", "compare"):
            raise NotDifferentiable(f"the atomic `{stmt.operation}` of a float", stmt.span)
        if stmt.old in names:
            raise NotDifferentiable(f"the old value of an atomic `{stmt.operation}`", stmt.span)
