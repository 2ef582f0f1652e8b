"""Compile a host function of the kernel IR for this machine's CPU, and call it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from time import perf_counter

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from anadrome.config import Config
from anadrome.errors.base import warn_user
from anadrome.errors.targets import MissingFunction, MissingTransforms, UntrustedCache
from anadrome.kernel_ir.nodes import Function
from anadrome.targets.cache import CacheRefused, ObjectCache, key_of
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import (
    Machine,
    load,
    missing_symbols,
    object_code,
    this_machine,
    using_llvm,
)
from anadrome.targets.llvm_emit import EMITTER_VERSION, ENTRY, Emitted, emit
from anadrome.targets.llvm_fourier import LOOP_PREFIX
from anadrome.targets.llvm_memory import MEASURE
from anadrome.targets.llvm_poll import POLL, WAIT, has_semaphores, runtime
from anadrome.targets.trust import Doubt


@dataclass(slots=True)
class Statistics:
    """What compiling has cost so far; whoever compiles owns one and passes it in."""

    compiled: int = 0
    """Functions that went through LLVM."""
    seconds: float = 0.0
    """Time spent in LLVM."""
    cache_hits: int = 0
    """Functions whose object code was found on disk."""


def vector_bits(config: Config) -> int:
    """How long the vectors are that loops are divided for."""
    return 64 * config.lanes if config.lanes else this_machine().target.vector_bits


def compile_cpu(fn: Function, config: Config, statistics: Statistics | None = None) -> Executable:
    """Machine code for a host function, ready to be called; from the disk cache where it is there."""
    machine = this_machine()
    emitted = emit(fn, machine.target, config.measure_memory)
    _load_runtime(machine, config, emitted)
    missing = missing_symbols(emitted.symbols)
    loops = [symbol.removeprefix(LOOP_PREFIX) for symbol in missing if symbol.startswith(LOOP_PREFIX)]
    if loops:
        raise MissingTransforms(fn.name, loops, np.__version__)
    if missing:
        raise MissingFunction(fn.name, missing)
    code = _object_code(emitted.text, machine, config, statistics or Statistics())
    engine = load(code, machine)
    measure = engine.get_function_address(MEASURE) if config.measure_memory else 0
    return Executable(
        fn, emitted, engine.get_function_address(ENTRY), engine, machine, config.workers, measure
    )


def _load_runtime(machine: Machine, config: Config, emitted: Emitted) -> None:
    """Have the runtime that a program calls in the process."""
    if POLL in emitted.symbols or WAIT in emitted.symbols:
        with using_llvm():
            _runtime(machine, config.cache, config.cache_dir, config.cache_megabytes)


@functools.cache
def _runtime(machine: Machine, cache: bool, cache_dir: str, cache_megabytes: int) -> object:
    """The runtime, loaded for as long as the process runs."""
    module = runtime(machine.target)
    missing = missing_symbols(module.symbols())
    if missing:
        raise MissingFunction("every program with loops", missing)
    config = Config(cache=cache, cache_dir=cache_dir, cache_megabytes=cache_megabytes)
    engine = load(_object_code(module.text(), machine, config, Statistics()), machine)
    for name in (POLL, WAIT) if has_semaphores(machine.target) else (POLL,):
        llvm.add_symbol(name, engine.get_function_address(name))
    return engine


def _object_code(text: str, machine: Machine, config: Config, statistics: Statistics) -> bytes:
    if not config.cache:
        return _compile(text, machine, statistics)
    target = machine.target
    cache = ObjectCache(config.cache_path, config.cache_megabytes)
    key = key_of(text, target.triple, target.cpu, target.features, llvmlite.__version__, str(EMITTER_VERSION))
    try:
        code = cache.read(key)
    except CacheRefused as refusal:
        _warn(refusal.doubt)
        return _compile(text, machine, statistics)
    if code is not None:
        statistics.cache_hits += 1
        return code
    code = _compile(text, machine, statistics)
    try:
        cache.write(key, code)
    except CacheRefused as refusal:
        _warn(refusal.doubt)
    return code


@functools.cache
def _warn(doubt: Doubt) -> None:
    """Say once in a process what speaks against the cache."""
    warn_user(UntrustedCache(doubt.words, doubt.remedy))


def _compile(text: str, machine: Machine, statistics: Statistics) -> bytes:
    began = perf_counter()
    code = object_code(text, machine)
    statistics.compiled += 1
    statistics.seconds += perf_counter() - began
    return code
