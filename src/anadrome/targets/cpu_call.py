"""Calling compiled code: arguments into a frame of 8-byte slots, results and failures out of it."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from anadrome.errors.runtime import FAILURES, OutOfMemory
from anadrome.targets.cpu_frame import value_code
from anadrome.targets.cpu_machine import Machine
from anadrome.targets.cpu_print import Printer
from anadrome.targets.cpu_signals import exception_of
from anadrome.targets.interface import Interface, Parameter, Result
from anadrome.targets.llvm_scope import LOOK_AGAIN, MEMORY_FAILURE, PARAMS, PRINT_FAILURE, RAISED, SMALL
from anadrome.targets.llvm_sparse import SPARSE_SOLVE

_ENTRY_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
"""The call releases the interpreter lock."""

_MEASURE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64)

Release = Callable[[int], None]
"""Takes memory back that a program has handed over."""

_STATE = struct.Struct(f"<{PARAMS}q").unpack_from
"""The slots of a frame in front of the parameters."""

_NOTHING = mmap.mmap(-1, 1 << 24)
_NOTHING_ADDRESS = ctypes.addressof(ctypes.c_char.from_buffer(_NOTHING))
"""Where an empty array is said to be: what stands for an element of it is read before its check ends the
call. Pages that nobody reads take no memory."""
_EMPTY = (ctypes.c_void_p * 16)(*[_NOTHING_ADDRESS] * 16)
"""What is passed for an empty array where arrays are passed as objects: wherever the address of the elements
stands in them, it is that of nothing."""


class Memory:
    """Memory a compiled function has handed over: what it has allocated, which is freed when the last array
    on it is gone, or an argument that was given away, whose memory `holder` keeps."""

    __slots__ = ("__array_interface__", "_address", "_release", "holder")

    def __init__(
        self, address: int, release: Release, shape: tuple[int, ...], typestr: str, holder: object = None
    ) -> None:
        self._address = address
        self._release = release
        self.holder = holder
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "typestr": typestr,
            "version": 3,
        }

    def __del__(self) -> None:
        if self.holder is None:
            self._release(self._address)


def holder_of(array: np.ndarray) -> object:
    """What keeps the memory of an array that has it for itself: no chain of arrays, however often it is given
    from one call to the next."""
    owner: object = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return owner.holder if isinstance(owner, Memory) and owner.holder is not None else owner


def _references(view: np.ndarray) -> int:
    """How many references there are to the base of a view, with those of this function."""
    base: object = view.base
    return sys.getrefcount(base)


_ONE_VIEW = _references(np.zeros((1, 1)).reshape(1))
"""The references to the base of a view that nothing else refers to."""


def is_for_itself(array: object) -> bool:
    """Whether an array has memory that may be given away: it may be written, and is no view of an array that
    somebody else has, as what `reshape` gives of a new array is none."""
    if type(array) is not np.ndarray or not array.flags.carray:
        return False
    is_alone = type(array.base) is np.ndarray and _references(array) == _ONE_VIEW
    owner = array.base if is_alone else array
    assert isinstance(owner, np.ndarray)
    base: object = owner.base
    return base is None or isinstance(base, Memory)


_NONE_GIVEN: Mapping[int, np.ndarray] = {}


def _addresses(args: Sequence[Any], donated: Sequence[int]) -> dict[int, np.ndarray]:
    """The donated arrays by the addresses of their elements; an empty one is nowhere."""
    arrays = [args[position] for position in donated if args[position].size]
    return {array.__array_interface__["data"][0]: array for array in arrays}


class Frame:
    """One call's slots: bytes that Python packs and compiled code reads and writes."""

    __slots__ = ("address", "slots")

    def __init__(self, count: int) -> None:
        self.slots = bytearray(8 * count)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.slots))


class Executable:
    """A compiled host function. Calling it is safe from several threads at once."""

    def __init__(
        self,
        interface: Interface,
        text: str,
        address: int,
        owner: object,
        machine: Machine,
        workers: int,
        release: Release,
        measure: int = 0,
        key: str = "",
    ) -> None:
        self.name = interface.name
        self.key = key
        self.llvm_text = text
        self._failures = interface.failures
        self._sites = interface.sites
        self._layout = interface.layout
        self._owner = owner
        self._entry = _ENTRY_TYPE(address)
        self._measure = _MEASURE_TYPE(measure) if measure else None
        self._workers = workers
        self._release = release
        self._uses_threads = interface.uses_threads
        self._process = machine.process
        self._sparse = machine.sparse if SPARSE_SOLVE in interface.symbols else None
        parameters = list(enumerate(interface.parameters))
        codes = "".join(_parameter_code(param) for _, param in parameters)
        self._pack = struct.Struct(f"<qq{8 * (PARAMS - LOOK_AGAIN)}x{codes}").pack_into
        self._buffers = [position for position, param in parameters if param.is_array]
        self.donated = tuple(position for position, param in parameters if param.is_donated)
        self._is_by_object = machine.target.array_data is not None
        self._empty = ctypes.addressof(_EMPTY) if self._is_by_object else _NOTHING_ADDRESS
        codes = "".join(map(_result_code, interface.results))
        self._unpack = struct.Struct("<" + codes).unpack_from
        self._outputs = [
            (result.dtype.numpy, result.dtype.numpy.type, result.rank, result.is_array)
            for result in interface.results
        ]
        most = max((len(site.types) for site in interface.sites), default=0)
        self._slots = interface.layout.values + most
        self._printer = Printer(interface.messages, interface.prints) if interface.messages else None
        self._frames: list[Frame] = []

    @property
    def prints(self) -> bool:
        """Whether a call may print."""
        return self._printer is not None

    def __call__(self, args: Sequence[Any]) -> list[Any]:
        """Run on arguments in the order of the parameters.

        Arrays are C-contiguous, aligned and of the right type (the caller has seen to it); the results are
        new arrays and NumPy scalars. A failed check raises its class of `errors.runtime`, and a text that
        cannot be written what Python raises of it.

        Those at the places `donated` are writable and nobody else's: the call writes them, and new arrays may
        have their memory.
        """
        values = list(args)
        given = _addresses(args, self.donated) if self.donated else _NONE_GIVEN
        is_by_object = self._is_by_object
        for position in self._buffers:
            array = args[position]
            if not isinstance(array, np.ndarray):
                raise TypeError(f"argument {position} of {self.name} is no array")
            if not array.size:
                values[position] = self._empty
            elif is_by_object:
                values[position] = id(array)
            else:
                values[position] = array.__array_interface__["data"][0]
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = self._new_frame()
        workers = self._workers
        if self._uses_threads and os.getpid() != self._process:
            workers = 1
        self._pack(frame.slots, 0, 0, workers, *values)
        try:
            status = self._entry(frame.address)
        except BaseException:  # a signal handler has raised after the call, before it gave its status
            self._discard(frame, given)
            raise
        finally:
            if self._sparse is not None:
                self._sparse.forget(frame.address)
        if status:
            failure = self._failure(status, frame)
            self._frames.append(frame)
            raise failure
        results = self._results(frame, given)
        self._frames.append(frame)
        return results

    def _new_frame(self) -> Frame:
        frame = Frame(self._slots)
        if self._printer is not None:
            struct.pack_into("<Q", frame.slots, 8 * self._layout.printer, self._printer.address)
        return frame

    def peak_bytes(self) -> int | None:
        """The most bytes of heap memory the program held at once since this was last asked, its results
        included and its arguments not; None if it was compiled without `Config.measure_memory`."""
        return None if self._measure is None else int(self._measure())

    def _results(self, frame: Frame, given: Mapping[int, np.ndarray]) -> list[Any]:
        found = self._unpack(frame.slots, 8 * self._layout.outputs)
        results: list[Any] = []
        position, place = 0, 8 * self._layout.small
        is_large = False
        for dtype, scalar, rank, is_array in self._outputs:
            value = found[position]
            position += 1
            if not is_array:
                results.append(scalar(value))
                continue
            shape = found[position : position + rank]
            position += rank
            if value:
                holder = holder_of(given[value]) if value in given else None
                results.append(Memory(value, self._release, shape, dtype.str, holder))
                is_large = True
            else:
                size = dtype.itemsize * (shape[0] if rank == 1 else math.prod(shape))
                results.append(self._array(shape, dtype, frame.slots[place : place + size]))
            place += 8 * SMALL
        if not is_large:
            return results
        return [np.asarray(result) if type(result) is Memory else result for result in results]

    def _array(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], elements: bytearray
    ) -> np.ndarray[Any, Any]:
        try:
            return np.ndarray(shape, dtype, elements)
        except ValueError:  # no element, and more bytes by its other dimensions than NumPy counts
            words = f"`{self.name}` gives an array of shape {shape}, and NumPy has none so large"
            raise OutOfMemory(words) from None

    def _discard(self, frame: Frame, given: Mapping[int, np.ndarray]) -> None:
        """Free what a call has handed over that nobody will take."""
        (status, _, _, *raised, is_finished) = _STATE(frame.slots)
        if raised[0]:
            exception_of(*raised)
        elif is_finished and not status:
            found = self._unpack(frame.slots, 8 * self._layout.outputs)
            position = 0
            for _, _, rank, is_array in self._outputs:
                if is_array and found[position] and found[position] not in given:
                    self._release(found[position])
                position += 1 + (rank if is_array else 0)

    def _failure(self, status: int, frame: Frame) -> BaseException:
        raised = _STATE(frame.slots)[RAISED : RAISED + 3]
        if raised[0]:
            return exception_of(*raised)
        site = self._sites[status - 1]
        if site.code == PRINT_FAILURE and self._printer is not None:
            return self._printer.failure(frame.address)
        codes = "".join(value_code(dtype) for dtype in site.types)
        values = struct.unpack_from("<" + codes, frame.slots, 8 * self._layout.values)
        if site.code == MEMORY_FAILURE:
            count, size = values
            words = f"{count} elements" if 0 <= count < 2**62 else "more elements than can be counted,"
            return OutOfMemory(f"`{self.name}` needs memory for {words} of {size} bytes: not available")
        failure = self._failures[site.code]
        return FAILURES[failure.error].of(failure.message, values, failure.span)


def _parameter_code(param: Parameter) -> str:
    return "Q" if param.is_array else value_code(param.dtype)


def _result_code(result: Result) -> str:
    return ("Q" if result.is_array else value_code(result.dtype)) + "q" * result.rank
