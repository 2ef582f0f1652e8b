"""Signals and compiled code: what `llvm_poll` calls, made known to LLVM; what a signal handler has raised."""

from __future__ import annotations

import ctypes
import functools
import threading

import llvmlite.binding as llvm

from anadrome.targets.llvm_poll import MAIN_THREAD, PYTHON_FUNCTIONS, PYTHON_PREFIX
from anadrome.targets.llvm_scope import INTERRUPTED, PARAMS, RAISED, STATUS

_RESTORE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    ("PyErr_Restore", ctypes.pythonapi)
)
"""Give the interpreter an exception back that was taken from it; the call then raises it."""


def add_signals() -> None:
    """Make known what looks at signals; once in a process."""
    for name in PYTHON_FUNCTIONS:
        address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        assert address is not None
        llvm.add_symbol(PYTHON_PREFIX + name, address)
    llvm.add_symbol(MAIN_THREAD, ctypes.addressof(_main_thread()))


@functools.cache
def _main_thread() -> ctypes.c_uint64:
    """Where compiled code finds the number of the thread that runs signal handlers."""
    return ctypes.c_uint64(threading.main_thread().ident or 0)


def adopt_main_thread() -> None:
    """In a child made by `fork`: the thread that is there is the main one."""
    _main_thread().value = threading.get_ident()


def exception_of(type_: int, value: int, traceback: int) -> BaseException:
    """The exception that compiled code has taken from the interpreter, and that is given back by this."""
    try:
        _RESTORE(type_, value or None, traceback or None)
    except BaseException as error:
        return error
    raise AssertionError("no exception was kept")


def end_call(frame: int, error: BaseException) -> None:
    """Let the call with this frame end with an error that was raised while Python ran for it."""
    slots = (ctypes.c_int64 * PARAMS).from_address(frame)
    if slots[STATUS]:
        return
    for place, part in enumerate((type(error), error)):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(part))
        slots[RAISED + place] = id(part)
    slots[STATUS] = INTERRUPTED
