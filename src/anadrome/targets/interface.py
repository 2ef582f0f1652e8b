"""What a caller of a compiled program must know: what goes in, what comes out, and what its failures say.

It is kept on disk beside the object code, so that another process needs nothing else to call a program.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from dataclasses import dataclass

from anadrome.dtypes import BY_NAME, DType
from anadrome.kernel_ir.nodes import Buffer, Failure, Function
from anadrome.targets.llvm_emit import Emitted
from anadrome.targets.llvm_scope import FrameLayout, PrintSite, Site


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number, or an array of which the address of the elements is passed."""

    dtype: DType
    is_array: bool
    is_donated: bool


@dataclass(frozen=True, slots=True)
class Result:
    """A number, or an array of so many dimensions."""

    dtype: DType
    rank: int
    is_array: bool


@dataclass(frozen=True, slots=True)
class Interface:
    """The interface of one program; `symbols` are the foreign functions it calls."""

    name: str
    parameters: tuple[Parameter, ...]
    results: tuple[Result, ...]
    failures: tuple[Failure, ...]
    messages: tuple[str, ...]
    layout: FrameLayout
    sites: tuple[Site, ...]
    prints: tuple[PrintSite, ...]
    uses_threads: bool
    symbols: tuple[str, ...]


def interface_of(fn: Function, emitted: Emitted) -> Interface:
    """The interface of a host function and the module that was written for it."""
    return Interface(
        fn.name,
        tuple(Parameter(param.dtype, isinstance(param, Buffer), param in fn.donated) for param in fn.params),
        tuple(Result(one.dtype, len(one.shape), isinstance(one.value, Buffer)) for one in fn.outputs),
        tuple(fn.failures),
        tuple(fn.messages),
        emitted.layout,
        emitted.sites,
        emitted.prints,
        emitted.uses_threads,
        emitted.symbols,
    )


def dtype_named(name: str) -> DType:
    """The one scalar type of a name."""
    return BY_NAME[name]


def packed(interface: Interface, object_key: str) -> bytes:
    """An interface as bytes, with the key of the object code, for processes with the same Anadrome."""
    written = io.BytesIO()
    pickler = pickle.Pickler(written, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = copyreg.dispatch_table | {DType: lambda dtype: (dtype_named, (dtype.name,))}
    pickler.dump((interface, object_key))
    return written.getvalue()


def unpacked(data: bytes) -> tuple[Interface, str]:
    """What this user has packed (the disk cache sees to that)."""
    interface, object_key = pickle.loads(data)
    assert isinstance(interface, Interface) and isinstance(object_key, str)
    return interface, object_key
