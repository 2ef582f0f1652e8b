"""Writing what compiled code prints: values in memory become Python's objects, and Python formats them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from anadrome.dtypes import DType
from anadrome.printing import Message
from anadrome.targets.cpu_frame import value_code
from anadrome.targets.llvm_scope import PrintSite

_PRINT_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
"""(frame, site, values) -> 0 where writing has failed. The call takes the interpreter lock."""


class Printer:
    """The function that a program calls to print, at `address`. It may be called from several threads."""

    def __init__(self, messages: Sequence[str], sites: Sequence[PrintSite]) -> None:
        self._raised: dict[int, BaseException] = {}
        texts = [Message.decoded(messages[site.code]) for site in sites]
        self._function = _PRINT_TYPE(_writer(texts, [site.kinds for site in sites], self._raised))
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value

    def failure(self, frame: int) -> BaseException:
        """What was raised while the call with this frame printed.

        A signal may be handled on the way into the function, where nothing can be caught: what was raised is
        then on standard error, and the call is interrupted.
        """
        return self._raised.pop(frame, None) or KeyboardInterrupt()


def _writer(
    messages: Sequence[Message],
    kinds: Sequence[tuple[tuple[DType, int], ...]],
    raised: dict[int, BaseException],
) -> Callable[[int, int, int], int]:
    def write(frame: int, site: int, values: int) -> int:
        try:
            messages[site].write(list(_values(kinds[site], values)))
        except BaseException as error:  # compiled code ends the call, which raises it
            raised[frame] = error
            return 0
        return 1

    return write


def _values(kinds: Sequence[tuple[DType, int]], address: int) -> Iterator[Any]:
    """The values of a message, from their slots."""
    slots = ctypes.string_at(address, 8 * sum(1 + rank for _, rank in kinds))
    position = 0
    for dtype, rank in kinds:
        if rank:
            start, *shape = struct.unpack_from(f"<Q{rank}q", slots, position)
            yield _array(dtype, start, tuple(shape))
        else:
            (value,) = struct.unpack_from("<" + value_code(dtype), slots, position)
            yield dtype.numpy.type(value)
        position += 8 * (1 + rank)


def _array(dtype: DType, address: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A copy of an array of the program."""
    if not prod(shape):
        return np.empty(shape, dtype.numpy)
    held = ctypes.string_at(address, prod(shape) * dtype.bytes)
    return np.frombuffer(held, dtype.numpy).reshape(shape)
