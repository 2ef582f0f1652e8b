"""`show`: the program of a function at any stage of its compilation, as text."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from anadrome.api.call import Compiled, plain_call
from anadrome.api.signature import Signature
from anadrome.compile import STAGES, Program, show_program
from anadrome.errors.api import UnknownStage
from anadrome.errors.tracebacks import door
from anadrome.targets.cpu_machine import Machine, assembly, optimised_text, this_machine

MACHINE_STAGES: dict[str, Callable[[str, Machine], str]] = {
    "llvm": lambda text, machine: text,
    "llvm-optimised": optimised_text,
    "asm": assembly,
}
"""The stages after the kernel IR, from the module's text."""

LAST_PASS = STAGES.index("kernel")
ALIASES = {"optimised": STAGES[LAST_PASS - 1], "optimized": STAGES[LAST_PASS - 1]}
KNOWN_STAGES = (*STAGES[:LAST_PASS], "optimised", *STAGES[LAST_PASS:], *MACHINE_STAGES)


@door
def show(function: Callable[..., Any], *args: Any, stage: str = "optimised", **kwargs: Any) -> str:
    """The program that `function(*args, **kwargs)` runs, as text.

    Stages, in order: of the functions that are differentiated in it `primal` (as the front end made them),
    `primal-` and the name of each pass of `compile.PREPARATION`, and `canonical` (in the constructs that have
    derivative rules); of the program itself `array` (as the front end and differentiation made it), each pass
    of `compile.PIPELINE` by its name, `optimised` (after all of them), `kernel` (loops and memory),
    `schedule` (the plan in words: how each loop of `kernel` runs, why, and what it computes and reaches at
    most; then the program that carries it out), `llvm`, `llvm-optimised` and `asm`.

    >>> import anadrome as ad
    >>> def square(x):
    ...     return x * x
    >>> print(ad.show(square, 2.0))
    fn square(x: f64) -> f64 {
      v = mul x x
      return v
    }
    <BLANKLINE>
    """
    compiled = as_compiled(function)
    return show_stages(compiled, compiled.signature(args, kwargs))(stage)


def as_compiled(function: Callable[..., Any]) -> Compiled:
    """The function itself if it is a compiled one or a transform, else the function compiled."""
    return function if isinstance(function, Compiled) else Compiled("jit", function, plain_call)


def show_stages(compiled: Compiled, signature: Signature) -> Callable[[str], str]:
    """Compile once and give each stage's text on request."""
    recorded: dict[str, list[Program]] = {stage: [] for stage in STAGES}

    def record(stage: str, program: Program) -> None:
        recorded[stage].append(program)

    executable = compiled.make(signature, record).executable

    def text(stage: str) -> str:
        name = ALIASES.get(stage, stage)
        if name in MACHINE_STAGES:
            return MACHINE_STAGES[name](executable.llvm_text, this_machine())
        if name not in recorded:
            raise UnknownStage(stage, KNOWN_STAGES)
        if not recorded[name]:
            return "# nothing is differentiated in this program\n"
        return "\n".join(dict.fromkeys(map(show_program, recorded[name])))  # one staged again is one

    return text


def stage_before(stage: str) -> str:
    """The stage whose program a stage starts from."""
    name = ALIASES.get(stage, stage)
    if name not in STAGES[1:]:
        raise UnknownStage(stage, STAGES[1:])
    return STAGES[STAGES.index(name) - 1]


def difference(stage: str, text: Callable[[str], str]) -> str:
    """What a stage changed, as a unified diff."""
    before = stage_before(stage)
    lines = difflib.unified_diff(
        text(before).splitlines(),
        text(stage).splitlines(),
        f"before {stage}",
        f"after {stage}",
        lineterm="",
        n=3,
    )
    return "\n".join(lines)


def timings(seconds: Mapping[str, float]) -> str:
    """Seconds by stage, as a table."""
    rows = [f"{stage:<12} {1e3 * spent:8.1f} ms" for stage, spent in seconds.items()]
    return "\n".join([*rows, f"{'total':<12} {1e3 * sum(seconds.values()):8.1f} ms"])
