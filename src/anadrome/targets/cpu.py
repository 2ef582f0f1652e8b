"""Compile a host function of the kernel IR for this machine's CPU, and call it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import llvmlite.binding as llvm

from anadrome.config import Config
from anadrome.kernel_ir.nodes import Function
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import Machine, optimise, this_machine
from anadrome.targets.llvm_emit import ENTRY, Emitted, emit


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
    engine = _compile(emitted, machine, statistics or Statistics())
    return Executable(fn, emitted, engine.get_function_address(ENTRY), engine, machine, config.workers)


def _compile(emitted: Emitted, machine: Machine, statistics: Statistics) -> Any:
    began = perf_counter()
    module = llvm.parse_assembly(emitted.text)
    module.verify()
    optimise(module, machine)
    engine = llvm.create_mcjit_compiler(module, machine.target_machine)
    engine.finalize_object()
    statistics.compiled += 1
    statistics.seconds += perf_counter() - began
    return engine
