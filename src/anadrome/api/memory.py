"""The memory that compiled programs share: what is kept of it between calls."""

from __future__ import annotations

import os

from anadrome.config import from_environment
from anadrome.errors.config import UnsuitableSetting
from anadrome.errors.tracebacks import door
from anadrome.targets.cpu import runtime

MOST_KEPT = 2**31 - 1


@door
def release_memory(keep: int | None = None) -> int:
    """Give the memory back to the system that is kept for later calls; the number of bytes that was.

    The system clears fresh memory page by page, which takes longer than most programs take to fill it. So
    the large arrays that programs free, their results too once nobody holds them, are kept for the next
    that are asked for: at most 64 of them, of 64 kB and more, and in all 512 MiB or a sixteenth of the
    machine's memory, whichever is less. Where a program asks for more than there is they are given back
    at once.

    `keep`: the mebibytes that may be kept from now on; None leaves that as it is, 0 keeps nothing.
    Raises `ValueError` where it is no such number.

    >>> import numpy as np
    >>> import anadrome as ad
    >>> double = ad.jit(lambda x: 2.0 * x)
    >>> _ = ad.release_memory()
    >>> double(np.ones(100_000)).shape
    (100000,)
    >>> 800_000 <= ad.release_memory() < 900_000
    True
    """
    limit = -1 if keep is None else _mebibytes(keep) << 20
    return runtime(from_environment(os.environ)).keep(limit)


def _mebibytes(keep: object) -> int:
    if isinstance(keep, int) and not isinstance(keep, bool) and 0 <= keep <= MOST_KEPT:
        return keep
    raise UnsuitableSetting("keep", keep, f"a number of mebibytes, from 0 to {MOST_KEPT}, or None")
