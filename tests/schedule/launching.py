"""Host programs with launches: scheduled, compiled and run with several numbers of workers."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from anadrome.config import Config
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Buffer, Function
from anadrome.kernel_ir.text import parse, show
from anadrome.schedule import workers as sharing
from anadrome.schedule.cpu import schedule_cpu
from anadrome.targets.cpu import compile_cpu
from anadrome.targets.cpu_call import Executable

AT = "at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes"
WORKERS = (1, 2, 3)
VECTOR_BITS = {1: 0, 2: 512, 3: 128}
"""Workers -> how long the vectors are that the threads of a block are divided for."""


def config(workers: int) -> Config:
    """So many workers, and nothing from the disk."""
    return Config(threads=workers, cache=False)


def scheduled(text: str, workers: int = 1, vector_bits: int = 0) -> Function:
    """The program with loops in the place of launches, accepted by the verifier and the same when read
    again."""
    fn = parse(text)
    check(fn)
    found = schedule_cpu(fn, config(workers), vector_bits).function
    check(found)
    assert show(parse(show(found))) == show(found)
    return found


@functools.cache
def _program(text: str, workers: int, least_work: int) -> tuple[Function, Executable]:
    """The scheduled program and its machine code, where `least_work` pays for several workers."""
    fn = scheduled(text, workers, VECTOR_BITS[workers])
    return fn, compile_cpu(fn, config(workers))


def compiled(text: str, workers: int = 1) -> Executable:
    """Machine code of a program with launches."""
    return compile_cpu(scheduled(text, workers), config(workers))


def prepared(fn: Function, args: tuple[Any, ...]) -> list[Any]:
    """Arguments as an executable wants them."""
    return [
        np.ascontiguousarray(arg, dtype=param.dtype.numpy) if isinstance(param, Buffer) else arg
        for param, arg in zip(fn.params, args, strict=True)
    ]


def results(text: str, *args: Any) -> list[Any]:
    """The results of machine code: in each run the same bits, and those that the interpreter finds by running
    the kernels themselves and by running the scheduled program."""
    found: list[Any] = []
    written = parse(text)
    expected = run(written, prepared(written, args))
    for workers in WORKERS:
        fn, executable = _program(text, workers, sharing.LEAST_WORK)
        given = prepared(fn, args)
        first, second = executable(given), executable(given)
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)
        for one, judged in zip(first, expected, strict=True):
            np.testing.assert_allclose(one, judged, rtol=1e-12)
        found = first
    fn, _ = _program(text, WORKERS[-1], sharing.LEAST_WORK)
    for one, judged in zip(run(fn, prepared(fn, args), WORKERS[-1]), expected, strict=True):
        np.testing.assert_allclose(one, judged, rtol=1e-12)
    return found
