"""`ad.range`: Python's `range`, which says as well what the reverse sweep of a loop over it may keep."""

from __future__ import annotations

import builtins
import re

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.errors.base import Span
from anadrome.errors.frontend import CallMismatch, CheckpointPolicy
from anadrome.frontend.context import Context
from anadrome.frontend.iterables import staged_range
from anadrome.frontend.values import Value, is_staged
from anadrome.frontend.verbs import verb
from anadrome.prims.node import replace

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
"""The unit of a budget, in upper case -> its bytes."""


def hint_of(policy: Value, memory: Value, span: Span | None) -> Checkpoint | None:
    """What a user asks for, or None where that is the default; refuses what is no policy."""
    if is_staged(policy) or is_staged(memory):
        raise CheckpointPolicy("the policy", "a value known only at run time", span)
    budget = _bytes(memory, span)
    try:
        hint = Checkpoint.of(policy, budget)  # type: ignore[arg-type]
    except ValueError:
        raise CheckpointPolicy("the policy", repr(policy), span) from None
    return None if hint == Checkpoint("all") else hint


def _bytes(memory: Value, span: Span | None) -> int | None:
    """A budget as a number of bytes."""
    match memory:
        case None:
            return None
        case bool():
            pass
        case int() | float() if memory > 0:
            return int(memory)
        case str():
            found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*", memory)
            unit = UNITS.get(found[2].upper()) if found else None
            if found and unit is not None and float(found[1]) * unit >= 1:
                return int(float(found[1]) * unit)
        case _:
            pass
    raise CheckpointPolicy("the budget", repr(memory), span)


def _stage_range(context: Context, *bounds: Value, checkpoint: Value = None, memory: Value = None) -> Value:
    """The range as a run-time sequence that carries the policy."""
    hint = hint_of(checkpoint, memory, context.span)
    if not 1 <= len(bounds) <= 3:
        raise CallMismatch("range", f"{len(bounds)} bounds, not 1 to 3", context.span)
    return replace(staged_range(context, *bounds), checkpoint=hint)


@verb(_stage_range)
def range(
    *bounds: int, checkpoint: str | int | None = None, memory: str | int | None = None
) -> builtins.range:
    """Python's `range` for a loop that is differentiated: it says what the return sweep may keep.

    Reverse mode needs the values that a loop carries at the entry of each iteration, from the last one back
    to the first. By default it keeps what it needs of every iteration. With a policy it keeps a few states
    and runs the iterations between them again; the gradient is the same.

    `checkpoint`: "all", the default; "sqrt", about √(2n) states of n iterations, each run at most twice
    again; "log", ⌈log₂ n⌉ + 1 states; or a number k: as few states as let no iteration run more than k times
    again, about (k!·n)^(1/k).

    `memory`: a number of bytes, or a text such as "64MB" or "1GiB": as many states as fit. Beside
    `checkpoint` it is a limit to that policy. A budget that does not hold what is needed raises
    `BudgetExceeded` with the line.

    Everywhere else it is what `range` is, and takes the same bounds. Raises `CheckpointPolicy` where a policy
    or budget is none.

    >>> import anadrome as ad
    >>> def decay(rate, steps):
    ...     x = 1.0
    ...     for _ in ad.range(steps, checkpoint="log"):
    ...         x = x - rate * x * x
    ...     return x
    >>> round(float(ad.grad(decay)(0.01, 100)), 6)
    -25.125838
    """
    hint_of(checkpoint, memory, None)
    return builtins.range(*bounds)
