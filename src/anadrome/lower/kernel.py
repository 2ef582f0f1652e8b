"""What one thread does as a `Kernel`: every version of the memory that threads share is one buffer."""

from __future__ import annotations

from collections.abc import Iterator

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.launch import GEOMETRY
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.errors.kernels_launch import KernelCopy, KernelRefused
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO
from anadrome.kernel_ir.nodes import Buffer, Geometry, Kernel, Triple, Var
from anadrome.lower.destinations import supply
from anadrome.lower.lowering import Lowering, is_pinned, is_scalar
from anadrome.lower.statements import lower_statement
from anadrome.lower.values import Place, Storage


def lower_kernel(fn: array_ir.Function, config: Config) -> Kernel:
    """The kernel of a function of what one thread does.

    Parameters are the implicit sizes, then those of `fn` behind the geometry: scalars as variables, arrays as
    buffers of their dimensions. Raises `KernelCopy` and `KernelArray` with the line where an array would have
    to be copied, or made of a size that is not constant.
    """
    _refuse(fn)
    low = Lowering(fn, config, lower_statement, supply, is_kernel=True)
    where, given = fn.params[: len(GEOMETRY)], fn.params[len(GEOMETRY) :]
    geometry = _geometry(where)
    params: list[Var | Buffer] = []
    with low.live.enter(fn.body, is_repeating=False) as frame:
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
        frame.position = len(fn.body.lets)
        _check_results(low, fn)
    failures = tuple(kernel_ir.Failure(*words) for words in low.failures)
    return Kernel(fn.name, tuple(params), geometry, tuple(low.emit.block.stmts), failures)


def _check_results(low: Lowering, fn: array_ir.Function) -> None:
    """What an array is in the end lies where the array does: nothing else is written."""
    made = {target: let.span for let in all_lets(fn.body) for target in let.targets}
    for atom in fn.body.results:
        if isinstance(atom, array_ir.Var) and not is_pinned(low.env[atom]):
            raise KernelCopy(atom.name, made.get(atom))


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
