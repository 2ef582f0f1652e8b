"""Running kernel functions both ways: compiled for the CPU, and by the interpreter."""

import numpy as np

from anadrome.config import Config
from anadrome.kernel_ir.check import check
from anadrome.kernel_ir.interp import run
from anadrome.kernel_ir.nodes import Buffer
from anadrome.kernel_ir.text import parse
from anadrome.schedule.cpu import schedule_cpu
from anadrome.targets.cpu import compile_cpu
from anadrome.targets.cpu_machine import this_machine

NO_CACHE = Config(cache=False)


def compiled(text, config=NO_CACHE):
    """The executable of a program text."""
    fn = parse(text)
    check(fn)
    return compile_cpu(fn, config)


def in_lanes(text):
    """The executable of a program text whose loops run in lanes as on this machine."""
    fn = parse(text)
    check(fn)
    return compile_cpu(schedule_cpu(fn, NO_CACHE, this_machine().target.vector_bits).function, NO_CACHE)


def prepared(fn, args):
    """Arguments as an executable wants them: flat, contiguous, of the right type."""
    return [
        np.ascontiguousarray(arg, dtype=param.dtype.numpy) if isinstance(param, Buffer) else arg
        for param, arg in zip(fn.params, args, strict=True)
    ]


def agree(text, *args, config=NO_CACHE, rtol=1e-12):
    """Compile and interpret; assert that all results agree; give the compiled ones."""
    fn = parse(text)
    check(fn)
    given = prepared(fn, args)
    expected = run(fn, given)
    got = compile_cpu(fn, config)(given)
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=rtol)
    return got
