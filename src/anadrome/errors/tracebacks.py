"""Tracebacks that end at the user's call.

Every callable of the public interface is a door. An exception that leaves through one keeps the frames of
the user's own code and loses those of this package, and so do the exceptions it is chained to. Python adds no
frame at a bare `raise`, so a door that strips and re-raises does not appear either.

The variable ANADROME_TRACEBACK=full keeps all frames.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Literal, ParamSpec, TypeVar

from anadrome.errors.base import AnadromeError

P = ParamSpec("P")
R = TypeVar("R")

Frames = Literal["short", "full"]
"""Which frames a traceback shows: those of the user's code, or all."""

VARIABLE = "ANADROME_TRACEBACK"

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LIBRARIES = frozenset({"numpy", "scipy", "llvmlite"})
"""Packages whose frames are no news where this package called them, beside the standard library."""

STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
INSTALLED = ("site-packages", "dist-packages")

WHOLE = "__anadrome_whole__"
"""The attribute of an exception that no door strips."""

BUG = "This is a bug in Anadrome, not in your program. Please report it with this traceback."

NO_BUGS = (AnadromeError, MemoryError, Warning)


def door(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with tracebacks that end at its caller."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            end_at_call(error)
            raise

    return call


def end_at_call(error: BaseException, frames: Frames = "short") -> None:
    """Strip an exception that a door is about to re-raise; `frames` is the setting of the compiled function,
    where there is one."""
    if frames == "full" or os.environ.get(VARIABLE) == "full":
        vars(error)[WHOLE] = True
    if WHOLE in vars(error):
        return
    error.__traceback__, is_users = _of_user(error.__traceback__)
    if is_users:  # raised by code of the user that this package has called: its chain is the user's
        return
    error.__context__ = _first_of_user(error.__context__)
    error.__cause__ = _first_of_user(error.__cause__)
    error.__suppress_context__ = error.__cause__ is not None


def mark_bug(error: BaseException) -> None:
    """Let an exception that nothing in the user's program explains keep its frames, and say what it is."""
    if not isinstance(error, Exception) or isinstance(error, NO_BUGS) or WHOLE in vars(error):
        return
    inner = error.__traceback__.tb_next if error.__traceback__ is not None else None
    if inner is not None and not _of_user(error.__traceback__)[1]:
        vars(error)[WHOLE] = True
        error.add_note(BUG)


def _first_of_user(error: BaseException | None) -> BaseException | None:
    """The first exception of a chain that passed through code of the user, without the frames of this
    package; None where there is none."""
    while error is not None:
        found, _ = _of_user(error.__traceback__)
        if found is None:
            error = error.__context__
        elif found is error.__traceback__:  # the user was handling it when this package was called
            return error
        else:
            error.__traceback__ = found
            error.__context__ = _first_of_user(error.__context__)
            return error
    return None


def _of_user(traceback: TracebackType | None) -> tuple[TracebackType | None, bool]:
    """The frames of a traceback that are not of this package, and whether the innermost frame is one of them.

    A library that this package has called is left out with it; one that the user's code has called is kept.
    """
    kept: list[TracebackType] = []
    is_users, is_whole, entry = False, True, traceback
    while entry is not None:
        if _is_own(entry.tb_frame):
            is_users = False
        elif not is_users:
            is_users = not _is_of_library(entry.tb_frame)
        is_whole = is_whole and is_users
        if is_users:
            kept.append(entry)
        entry = entry.tb_next
    if is_whole:
        return traceback, is_users
    found: TracebackType | None = None
    for entry in reversed(kept):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found, is_users


def _is_own(frame: FrameType) -> bool:
    """Whether a frame runs code of this package. That of generated methods of its dataclasses, and that which
    mypyc has compiled, has no place in the file system."""
    file = frame.f_code.co_filename
    return file.startswith(PACKAGE) or (not os.path.isabs(file) and _module(frame).startswith("anadrome."))


def _is_of_library(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    if file.startswith("<frozen ") or _module(frame).partition(".")[0] in LIBRARIES:
        return True
    folder = file.removeprefix(STANDARD_LIBRARY).partition(os.sep)[0]
    return file.startswith(STANDARD_LIBRARY) and folder not in INSTALLED


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
