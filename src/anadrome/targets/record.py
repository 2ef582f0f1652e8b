"""What the emitter must know of a machine: a `Target`, filled by `cpu_machine` or another target's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """A vector version of a C function: its symbol, in which the vector ABI spells how it is called."""

    symbol: str
    lanes: int


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """One machine, as far as LLVM text depends on it."""

    triple: str
    data_layout: str
    cpu: str
    features: str
    vector_bits: int = 128
    """The widest vectors that pay."""
    vector_functions: Mapping[str, tuple[VectorFunction, ...]] = field(default_factory=dict)
    """C function -> its vector versions on this machine, widest first."""
    gathers_fast: bool = True
    """Whether a gather takes less time than loads of single elements that are put together."""
    writes_functions: bool = True
    """Whether functions of lanes are written out where `llvm_functions` has them."""
    fuses: bool = True
    """Whether a product to which something is added may be rounded once with it."""
    array_data: int | None = None
    """Where in the object of a NumPy array the address of its elements is, in bytes: arrays are passed as
    objects then, else as the addresses of their elements."""
    fork_join: str = ""
    """The symbol `void (void (*)(void *), void *, unsigned threads, unsigned flags)` that runs a function on
    several threads and joins them; empty where the machine has none."""
