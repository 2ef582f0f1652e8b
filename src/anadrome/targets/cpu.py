"""Compile a host function of the kernel IR for this machine's CPU, and call it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from anadrome.config import Config
from anadrome.kernel_ir.nodes import Function
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import load, object_code, this_machine
from anadrome.targets.llvm_emit import ENTRY, emit


@dataclass(slots=True)
class Statistics:
    """What compiling has cost so far; whoever compiles owns one and passes it in."""

    compiled: int = 0
    """Functions that went through LLVM."""
    seconds: float = 0.0
    """Time spent in LLVM."""
    cache_hits: int = 0
    """Functions whose object code was found on disk."""


def compile_cpu(fn: Function, config: Config, statistics: Statistics | None = None) -> Executable:
    """Machine code for a host function, ready to be called."""
    machine = this_machine()
    emitted = emit(fn, machine.target)
    began = perf_counter()
    code = object_code(emitted.text, machine)
    if statistics is not None:
        statistics.compiled += 1
        statistics.seconds += perf_counter() - began
    engine = load(code, machine)
    return Executable(fn, emitted, engine.get_function_address(ENTRY), engine, machine, config.workers)
