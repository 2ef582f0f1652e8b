"""`check_kernel`: races between threads, found by running a program on the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from anadrome.api.call import Compiled
from anadrome.api.kernels.kernel import Launcher
from anadrome.api.places import placed
from anadrome.api.show import as_compiled
from anadrome.array_ir.interp import run
from anadrome.errors.kernels import DataRace, InactiveLane, UninitialisedRead
from anadrome.errors.runtime import BarrierDivergence
from anadrome.errors.tracebacks import door

FAULTS = (DataRace, UninitialisedRead, InactiveLane, BarrierDivergence)
"""What threads do wrong together."""


@door
def check_kernel(function: Callable[..., Any], *args: Any, seeds: int = 4, **kwargs: Any) -> None:
    """Run the launches of `function(*args, **kwargs)` on an interpreter that watches their threads.

    `function` is a kernel with its launch configuration, `k[blocks, threads]`, whose arrays stay as they are,
    or a function with launches in it, or a transform of one: `ad.grad(f)` checks the kernels of the gradient.
    Threads run in their order, then in `seeds` random orders. Every access to shared memory and to arrays is
    watched, so a race is found whether or not it changes a result, but only those that these arguments lead
    to. The interpreter runs some ten thousand statements of threads a second: use small arguments.

    Raises `DataRace` where two threads touch one element, one of them writes, and no barrier orders them;
    `UninitialisedRead` where memory is read that no thread wrote; `BarrierDivergence` where some threads of a
    block do not reach a barrier; `InactiveLane` where a warp operation takes the value of a thread that takes
    no part. Each names the lines, the threads and the element.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def total(x, y):
    ...     i = ad.grid(1)
    ...     if i < len(x):
    ...         y[0] += x[i]
    >>> try:
    ...     ad.check_kernel(total[1, 4], np.ones(4), np.zeros(1))
    ... except RuntimeError as race:
    ...     print(str(race).splitlines()[0].partition(" (")[0])
    error: two threads of the kernel `total` access `y[0]` in no order: a data race
    """
    compiled: Compiled
    if isinstance(function, Launcher):
        compiled = cast("Compiled", function.kernel.launched)
        args = (function.extents, *args)
    else:
        compiled = as_compiled(function)
    program, leaves, arrays = compiled.program(args, kwargs)
    fn = program.staged().function
    values = program.arguments(leaves, arrays, is_looking=True)[len(fn.sizes) :]
    for seed in (None, *range(seeds)):
        try:
            run(fn, values, seed)
        except FAULTS as fault:
            raise placed(fault, compiled.python) from None
