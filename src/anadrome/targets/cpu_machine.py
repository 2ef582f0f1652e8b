"""This machine: its processor as LLVM knows it, the libraries that compiled code calls, the pass pipeline.

Everything here is found once per process (`this_machine`) and never changes: a record of facts.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from anadrome.targets.record import Target


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What is known of this machine, and the process that found it out."""

    target: Target
    target_machine: Any
    process: int
    """A child made by `fork` is another process: it must not use the parent's worker threads."""


@functools.cache
def this_machine() -> Machine:
    """The machine this process runs on."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    cpu = llvm.get_host_cpu_name()
    features = llvm.get_host_cpu_features()
    flat = features.flatten()
    target_machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=flat, opt=3, reloc="default", codemodel="jitdefault", jit=True
    )
    target = Target(
        triple=triple,
        data_layout=str(target_machine.target_data),
        cpu=cpu,
        features=flat,
        vector_bits=_vector_bits(features),
    )
    return Machine(target, target_machine, os.getpid())


def _vector_bits(features: Any) -> int:
    if features.get("avx512f") and features.get("avx512vl") and features.get("avx512dq"):
        return 512
    return 256 if features.get("avx2") else 128


def optimise(module: Any, machine: Machine) -> None:
    """Run LLVM's O3 pipeline with both vectorisers."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = True
    options.loop_interleaving = True
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine.target_machine, options)
    builder.getModulePassManager().run(module, builder)
