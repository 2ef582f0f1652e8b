"""Compile a host function of the kernel IR for this machine's CPU, and call it."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from anadrome.config import Config
from anadrome.errors.base import warn_user
from anadrome.errors.targets import MissingFunction, MissingTransforms, UntrustedCache
from anadrome.kernel_ir.nodes import Function
from anadrome.prims.node import replace
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
from anadrome.targets.interface import Interface, interface_of, packed, unpacked
from anadrome.targets.llvm_emit import EMITTER_VERSION, ENTRY, emit
from anadrome.targets.llvm_fourier import LOOP_PREFIX
from anadrome.targets.llvm_heap import ALLOCATE, HEAP, KEEP, LIMIT, RELEASE, add_heap
from anadrome.targets.llvm_memory import MEASURE
from anadrome.targets.llvm_poll import POLL, WAIT, add_polling, has_semaphores
from anadrome.targets.llvm_text import ModuleText
from anadrome.targets.record import Target
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


def target_for(config: Config) -> Target:
    """This machine, of which a program uses what its settings allow."""
    target = replace(this_machine().target, fuses=config.fused)
    if config.functions == "library":
        return replace(target, vector_functions={}, writes_functions=False)
    return target


def compile_cpu(
    fn: Function, config: Config, statistics: Statistics | None = None, program_key: str = ""
) -> Executable:
    """Machine code for a host function, ready to be called; from the disk cache where it is there. Under the
    key of its program, if it has one, another process finds it again (`kept_program`)."""
    machine = this_machine()
    emitted = emit(fn, target_for(config), config.measure_memory)
    interface = interface_of(fn, emitted)
    release = _releasing(interface, config)
    code = _object_code(emitted.text, machine, config, statistics or Statistics())
    if program_key:
        keep(program_key, packed(interface, _object_key(emitted.text, machine)), config)
    return _executable(interface, emitted.text, code, release, config, program_key)


def kept_program(program_key: str, config: Config) -> Executable | None:
    """The program that this process or another one has compiled under a key; None where there is none."""
    data = kept(program_key, config)
    if data is None:
        return None
    interface, object_key = unpacked(data)
    code = kept(object_key, config)
    if code is None:
        return None
    return _executable(interface, "", code, _releasing(interface, config), config, program_key)


def _releasing(interface: Interface, config: Config) -> Callable[[int], None]:
    """What frees the memory of a program's results, once all that the program calls is known to be there.

    Raises `MissingTransforms` or `MissingFunction` where it is not.
    """
    calls_runtime = any(symbol in interface.symbols for symbol in (POLL, WAIT, ALLOCATE))
    release = runtime(config).release if calls_runtime else _takes_no_memory
    missing = missing_symbols(interface.symbols)
    loops = [symbol.removeprefix(LOOP_PREFIX) for symbol in missing if symbol.startswith(LOOP_PREFIX)]
    if loops:
        raise MissingTransforms(interface.name, loops, np.__version__)
    if missing:
        raise MissingFunction(interface.name, missing)
    return release


def _executable(
    interface: Interface,
    text: str,
    code: bytes,
    release: Callable[[int], None],
    config: Config,
    program_key: str,
) -> Executable:
    machine = this_machine()
    engine = load(code, machine)
    entry = engine.get_function_address(ENTRY)
    measure = engine.get_function_address(MEASURE) if config.measure_memory else 0
    return Executable(interface, text, entry, engine, machine, config.workers, release, measure, program_key)


def _takes_no_memory(address: int) -> None:
    """What a program without allocations frees arrays by."""
    raise AssertionError(f"memory at {address:#x} that nobody has allocated")


@dataclass(frozen=True, slots=True)
class Runtime:
    """The functions of the runtime that Python calls; a process loads it once and never lets it go."""

    release: Callable[[int], None]
    """Takes memory back that a program has handed over (see `llvm_heap`)."""
    keep: Callable[[int], int]
    """Says how many bytes of freed memory are kept from now on; gives how many were given back."""


_RELEASE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_KEEP_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

_runtimes: dict[Machine, Runtime] = {}
"""The runtime of this process, once it is loaded: one heap, whatever the settings of programs."""


def runtime(config: Config) -> Runtime:
    """The runtime, from the disk cache where it is there."""
    machine = this_machine()
    with using_llvm():
        found = _runtimes.get(machine)
        if found is None:
            found = _runtimes[machine] = _loaded_runtime(machine, config)
        return found


def runtime_module(target: Target) -> ModuleText:
    """The runtime for a machine, in LLVM."""
    module = ModuleText(target)
    add_polling(module)
    add_heap(module)
    return module


def _loaded_runtime(machine: Machine, config: Config) -> Runtime:
    module = runtime_module(machine.target)
    missing = missing_symbols(module.symbols())
    if missing:
        raise MissingFunction("every program with loops", missing)
    engine = load(_object_code(module.text(), machine, config, Statistics()), machine)
    for name in (POLL, WAIT, *HEAP) if has_semaphores(machine.target) else (POLL, *HEAP):
        llvm.add_symbol(name, engine.get_function_address(name))
    release = _RELEASE_TYPE(engine.get_function_address(RELEASE))
    keep = _KEEP_TYPE(engine.get_function_address(KEEP))
    keep(_kept_at_first())
    engine.detach()  # arrays that live until the process ends are freed by it
    return Runtime(release, keep)


def _kept_at_first() -> int:
    """The bytes of freed memory that are kept before anyone says how many."""
    try:
        return min(LIMIT, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 16)
    except (AttributeError, ValueError):  # a system that does not say how much memory it has
        return LIMIT


def _object_code(text: str, machine: Machine, config: Config, statistics: Statistics) -> bytes:
    if not config.cache:
        return _compile(text, machine, statistics)
    key = _object_key(text, machine)
    code = kept(key, config)
    if code is not None:
        statistics.cache_hits += 1
        return code
    code = _compile(text, machine, statistics)
    keep(key, code, config)
    return code


def _object_key(text: str, machine: Machine) -> str:
    target = machine.target
    return key_of(
        text, target.triple, target.cpu, target.features, llvmlite.__version__, str(EMITTER_VERSION)
    )


def kept(key: str, config: Config) -> bytes | None:
    """What the disk cache has under a key."""
    try:
        return ObjectCache(config.cache_path, config.cache_megabytes).read(key)
    except CacheRefused as refusal:
        _warn(refusal.doubt)
        return None


def keep(key: str, data: bytes, config: Config) -> None:
    """Put something into the disk cache."""
    try:
        ObjectCache(config.cache_path, config.cache_megabytes).write(key, data)
    except CacheRefused as refusal:
        _warn(refusal.doubt)


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
