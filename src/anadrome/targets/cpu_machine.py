"""This machine: its processor as LLVM knows it, the libraries that compiled code calls, the pass pipeline.

Everything here is found once per process (`this_machine`) and never changes: a record of facts.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite.binding.newpassmanagers import NewPassManager

from anadrome.targets.cpu_foreign import add_for, add_fork_join, vector_functions
from anadrome.targets.cpu_signals import add_signals, adopt_main_thread
from anadrome.targets.cpu_sparse import SparseSolver
from anadrome.targets.cpu_transforms import add_transforms
from anadrome.targets.llvm_sparse import SPARSE_SOLVE
from anadrome.targets.record import Target

_LLVM: Any = getattr(llvm.ffi.lib, "_lock", None) or threading.RLock()
"""The lock that llvmlite holds during each call of LLVM; a thread may take it again. Where a later llvmlite
has it elsewhere, one of our own, which covers the passes."""


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What is known of this machine, and the process that found it out."""

    target: Target
    code_generator: Any
    """LLVM's TargetMachine, for the passes and for object code."""
    sparse: SparseSolver
    """What solves sparse systems for compiled programs."""
    process: int
    """A child made by `fork` is another process: it must not use the parent's worker threads."""


@functools.cache
def this_machine() -> Machine:
    """The machine this process runs on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_enter_llvm, after_in_parent=_leave_llvm, after_in_child=_wake_in_child)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    add_transforms()
    add_signals()
    sparse = SparseSolver()
    llvm.add_symbol(SPARSE_SOLVE, sparse.address)
    triple = llvm.get_process_triple()
    cpu = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features()
    flat = features.flatten()
    code_generator = _code_generator(triple, cpu, flat)
    target = Target(
        triple=triple,
        data_layout=str(code_generator.target_data),
        cpu=cpu,
        features=flat,
        vector_bits=_vector_bits(features),
        vector_functions=vector_functions(features),
        gathers_fast=not cpu.startswith("znver"),
        array_data=_array_data(),
        fork_join=add_fork_join(),
    )
    return Machine(target, code_generator, sparse, os.getpid())


@contextmanager
def using_llvm() -> Iterator[None]:
    """A `with` block during which no other thread uses LLVM."""
    with _LLVM:
        yield


def _enter_llvm() -> None:
    """Before a fork: wait until no other thread is in LLVM, whose locks its copy in the child would never
    release."""
    _LLVM.__enter__()


def _leave_llvm() -> None:
    """After a fork, in both processes."""
    _LLVM.__exit__(None, None, None)


def _wake_in_child() -> None:
    """After a fork, in the child."""
    _leave_llvm()
    adopt_main_thread()


def _code_generator(triple: str, cpu: str, features: str) -> Any:
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )


def _vector_bits(features: Any) -> int:
    if features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"):
        return 512
    return 256 if features.get("avx2") else 128


def _array_data() -> int | None:
    """Where in the object of a NumPy array the address of its elements is: behind what every object has, in
    the interface of C. Two arrays tell; None where they do not."""
    arrays = (np.empty(1), np.empty(1000))
    for offset in range(8, 72, 8):
        found = [ctypes.c_void_p.from_address(id(array) + offset).value for array in arrays]
        if found == [array.__array_interface__["data"][0] for array in arrays]:
            return offset
    return None


def missing_symbols(symbols: Iterable[str]) -> list[str]:
    """Those of the symbols that this process cannot resolve: LLVM would end the process over them."""
    symbols = list(symbols)
    add_for(symbols)
    return [symbol for symbol in symbols if not llvm.address_of_symbol(symbol)]


def object_code(text: str, machine: Machine) -> bytes:
    """A module's text as machine code."""
    with _optimised(text, machine) as module:
        return bytes(machine.code_generator.emit_object(module))


def optimised_text(text: str, machine: Machine) -> str:
    """What LLVM's passes make of a module: for people and tests."""
    with _optimised(text, machine) as module:
        return str(module)


def assembly(text: str, machine: Machine) -> str:
    """A module's text as the assembly of this machine: for people and tests."""
    with _optimised(text, machine) as module:
        return str(machine.code_generator.emit_assembly(module))


@contextmanager
def _optimised(text: str, machine: Machine) -> Iterator[Any]:
    """The module after as few of LLVM's passes as it needs (`_PASSES`).

    The text is written with most of the others done: loops are in lanes as they are, what a loop does not
    change stands in front of it, and nothing is computed twice (`FunctionText`). All of LLVM's O3 takes a
    third as long again, code generation included. Of its passes, the vectoriser of loops makes wrong programs
    out of branches (decision 18); that of straight code ends the process on some modules ("must be scheduled
    at this point"), and makes others on which the code generator does ("Already set a value for this node").

    The module and its context are freed here, which takes a while: Python would lose a Ctrl-C that comes
    while their `__del__` does it.
    """
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.verify()
        builder = llvm.create_pass_builder(machine.code_generator, llvm.create_pipeline_tuning_options())
        inliner, cleaner = llvm.create_new_module_pass_manager(), llvm.create_new_module_pass_manager()
        inliner.add_always_inliner_pass()
        cleaner.add_global_dead_code_eliminate_pass()
        of_function = llvm.create_new_function_pass_manager()
        for name in _PASSES:
            getattr(of_function, f"add_{name}_pass")()
        try:
            inliner.run(module, builder)
            for function in module.functions:
                if not function.is_declaration:
                    of_function.run(function, builder)
            cleaner.run(module, builder)
        finally:
            for passes in (inliner, of_function, cleaner):
                _free(passes)
        yield module


_PASSES = (
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "loop_unroll",
    "sroa",
    "instruction_combine",
    "simplify_cfg",
)
"""LLVM's passes of a function, as llvmlite calls them: arrays on the stack become registers, blocks are
joined, instructions combined, short loops unrolled; then the same for what that has opened."""


def _free(passes: Any) -> None:
    """Free a pass manager. In llvmlite 0.50 its `close` finds the empty `_dispose` of another base class, and
    75 kB would stay for every program."""
    if type(passes)._dispose is llvm.ffi.ObjectRef._dispose:
        NewPassManager._dispose(passes)
        passes.detach()
    passes.close()


def load(code: bytes, machine: Machine) -> Any:
    """Object code as a running engine; the code lives as long as the engine does."""
    target = machine.target
    # The engine owns its target machine, so each has one of its own.
    own = _code_generator(target.triple, target.cpu, target.features)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), own)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
