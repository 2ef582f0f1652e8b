"""What one thread does as a `Kernel`: every version of the memory that threads share is one buffer.

The function's first parameters are what tells a thread apart: the extents of the grid and of a block, which
block and which thread this is, and the bytes of dynamic shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.errors.kernels_launch import KernelRefused
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Buffer, Geometry, Kernel, Triple, Var
from anadrome.lower.arithmetic import ZERO
from anadrome.lower.destinations import supply
from anadrome.lower.lowering import Lowering, is_scalar
from anadrome.lower.statements import lower_statement
from anadrome.lower.values import Place, Storage

GEOMETRY = 13
"""How many parameters tell a thread apart."""


def lower_kernel(fn: array_ir.Function, config: Config) -> Kernel:
    """The kernel of a function of what one thread does.

    Parameters are the implicit sizes, then those of `fn` behind the geometry: scalars as variables, arrays as
    buffers of their dimensions. Raises `KernelCopy` and `KernelArray` with the line where an array would have
    to be copied, or made of a size that is not constant.
    """
    _refuse(fn)
    low = Lowering(fn, config, lower_statement, supply, is_kernel=True)
    where, given = fn.params[:GEOMETRY], fn.params[GEOMETRY:]
    geometry = _geometry(where)
    params: list[Var | Buffer] = []
    with low.live.enter(fn.body, fn.body.results, is_repeating=False) as frame:
        for var, own in zip(where, geometry.variables, strict=True):
            low.bind(var, own)
        scalars = {var: Var(var.name, var.type.dtype) for var in (*fn.sizes, *filter(is_scalar, given))}
        for var, scalar in scalars.items():
            low.bind(var, scalar)
        params += [scalars[size] for size in fn.sizes]
        for var in given:
            params.append(scalars[var] if is_scalar(var) else _array(low, var))
        for position, let in enumerate(fn.body.lets):
            frame.position = position
            low.lower(let)
    failures = tuple(kernel_ir.Failure(*words) for words in low.failures)
    return Kernel(fn.name, tuple(params), geometry, tuple(low.emit.block.stmts), failures)


def _geometry(params: tuple[array_ir.Var, ...]) -> Geometry:
    own = iter([Var(param.name, I64) for param in params])
    return Geometry(_triple(own), _triple(own), _triple(own), _triple(own), next(own))


def _triple(own: Iterator[Var]) -> Triple[Var]:
    return next(own), next(own), next(own)


def _array(low: Lowering, var: array_ir.Var) -> Buffer:
    """An array of the launch, which stays where it is."""
    buffer = Buffer(var.name, var.type.dtype, shape=low.scalars(var.type.shape))
    low.bind(var, Place(Storage(buffer, is_pinned=True), ZERO, buffer.shape))
    return buffer


def _refuse(fn: array_ir.Function) -> None:
    """What a thread cannot do."""
    for let in all_lets(fn.body):
        match let.expr:
            case array_ir.Library(operation=operation):
                help = "compute it in loops, or before the launch"
                raise KernelRefused(f"`{operation}`, a call into a library,", let.span, help)
            case array_ir.Print():
                help = "write what is to be seen into an array, and print that after the launch"
                raise KernelRefused("printing", let.span, help)
            case array_ir.Launch():
                help = "launch one kernel after the other, from the function around"
                raise KernelRefused("a launch", let.span, help)
            case _:
                pass
