"""Launching kernels in every way there is, and comparing what each leaves in the arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import anadrome as ad
from anadrome.api.call import Compiled
from anadrome.api.kernels.kernel import EXTENTS, Kernel
from anadrome.api.kernels.launches import plain_extents
from anadrome.api.program import staged_program
from anadrome.api.pytree import flatten
from anadrome.array_ir import interp as array_interp
from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir import text as array_text
from anadrome.array_ir.check import check as check_array
from anadrome.array_ir.launch import written_places
from anadrome.compile import optimise
from anadrome.kernel_ir import interp as kernel_interp
from anadrome.kernel_ir import text as kernel_text
from anadrome.kernel_ir.check import check as check_kernel
from anadrome.kernel_ir.nodes import Kernel as KernelNode
from anadrome.kernel_ir.walk import kernels
from anadrome.lower.function import lower


def leaves_of(value: object) -> list[Any]:
    """The numbers and arrays of arguments, in order."""
    return flatten(value)[0]


def program_of(
    function: Compiled, *args: object, **kwargs: object
) -> tuple[array_ir.Function, tuple[np.ndarray, ...]]:
    """The array program that a call is, and the arrays around it that it is given as well."""
    staged = staged_program(function, function.signature(args, kwargs), function.options.config)
    check_array(staged.function)
    text = array_text.show(staged.function)
    assert array_text.show(array_text.parse(text)) == text
    return staged.function, staged.captured


def launch_program(kernel: Kernel, configuration: object, *args: object) -> array_ir.Function:
    """The array program that a launch from plain Python is."""
    return program_of(kernel.launched, plain_extents(kernel.__name__, configuration), *args)[0]


def kernel_node(kernel: Kernel, configuration: object, *args: object) -> KernelNode:
    """The kernel that is compiled for a launch."""
    program = launch_program(kernel, configuration, *args)
    (found,) = kernels(lower(optimise(program, kernel.launched.options.config), ad.Config(threads=1)))
    return found


def interpreted(program: array_ir.Function, leaves: list[Any]) -> list[list[Any]]:
    """What a program gives when interpreted: as it is, after the passes, and lowered."""
    config = ad.Config(threads=1)
    found = [list(array_interp.run(program, leaves).results)]
    optimised = optimise(program, config)
    check_array(optimised)
    found.append(list(array_interp.run(optimised, leaves).results))
    lowered = lower(optimised, config)
    check_kernel(lowered)
    text = kernel_text.show(lowered)
    assert kernel_text.show(kernel_text.parse(text)) == text
    found.append(kernel_interp.run(lowered, with_sizes(program, leaves), workers=1))
    return found


def with_sizes(program: array_ir.Function, leaves: list[Any]) -> list[Any]:
    """The arguments of a lowered program: the sizes of its arrays before them."""
    sizes: dict[object, int] = {}
    for param, leaf in zip(program.params, leaves, strict=True):
        for size, got in zip(param.type.shape, np.shape(leaf), strict=True):
            sizes.setdefault(size, got)
    return [*(sizes[size] for size in program.sizes), *leaves]


def after(kernel: Kernel, configuration: object, *args: Any) -> list[np.ndarray]:
    """The arrays that a launch writes, as they are after it, in the order of the arguments.

    Every interpreter agrees on it, and so does the compiled launch.
    """
    extents = plain_extents(kernel.__name__, configuration)
    program, around = program_of(kernel.launched, extents, *args)
    ways = interpreted(program, [*leaves_of((extents, *args)), *around])
    ways.append(launched(kernel, configuration, args, len(ways[0])))
    _agree(ways)
    return ways[0]


def launched(kernel: Kernel, configuration: object, args: tuple[Any, ...], count: int) -> list[np.ndarray]:
    """What a launch from plain Python writes into copies of the arrays that it is given."""
    copies = copy.deepcopy(args)
    kernel[configuration](*copies)
    given = leaves_of(copies)
    program = launch_program(kernel, configuration, *args)
    (launch,) = [let.expr for let in program.body.lets if isinstance(let.expr, array_ir.Launch)]
    places = written_places(launch.kernel, len(launch.args))
    written = [program.params.index(launch.args[place]) for place in places]
    assert len(written) == count
    for place, leaf in enumerate(leaves_of(args)):
        if place + EXTENTS not in written and isinstance(leaf, np.ndarray):
            np.testing.assert_array_equal(given[place], leaf)
    return [given[place - EXTENTS] for place in written]


def _agree(ways: list[list[Any]]) -> None:
    """Interpreters agree in every bit, compiled code but for the last ones: it contracts products."""
    for other in ways[1:-1]:
        for one, two in zip(ways[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    for one, two in zip(ways[0], ways[-1], strict=True):
        is_single = np.asarray(one).dtype == np.float32
        rtol, atol = (2e-6, 1e-7) if is_single else (1e-12, 1e-14)
        np.testing.assert_allclose(two, one, rtol=rtol, atol=atol)


def of_program(function: Callable[..., Any], *args: Any) -> list[Any]:
    """The results of a function that launches kernels, by every interpreter and compiled."""
    program, around = program_of(ad.jit(function), *args)
    ways = interpreted(program, [*leaves_of(args), *around])
    ways.append(leaves_of(ad.jit(function)(*args)))
    _agree(ways)
    return ways[0]
