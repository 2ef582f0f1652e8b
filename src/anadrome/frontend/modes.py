"""The modes of the transforms around a point of the program, innermost first: how what is staged there may
yet be differentiated, and so which derivative rules it needs."""

from __future__ import annotations

import enum


class Mode(enum.Enum):
    """How a transform differentiates the function it opens."""

    FORWARD = "forward"
    REVERSE = "reverse"
    EITHER = "either"


Modes = tuple[Mode, ...]


def after(modes: Modes, mode: Mode) -> Modes | None:
    """What may still differentiate a rule for this mode: the transforms outside of the first that has it.

    None where no transform has the mode, so that its rule is not asked for. A transform that finds nothing to
    differentiate leaves the rules to those outside of it, which is why it need not be the innermost one.
    """
    for place, found in enumerate(modes):
        if found in (mode, Mode.EITHER):
            return modes[place + 1 :]
    return None
