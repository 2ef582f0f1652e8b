"""The door: a function of the array IR as a host program of the kernel IR."""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.walk import operands
from anadrome.config import Config
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Buffer, Output
from anadrome.lower.arithmetic import ZERO, is_constant
from anadrome.lower.destinations import supply
from anadrome.lower.lowering import Lowering, is_scalar, number
from anadrome.lower.memory import Frame
from anadrome.lower.statements import lower_statement
from anadrome.lower.values import Destination, Filled, Place, Storage, Value


def lower(fn: array_ir.Function, config: Config) -> kernel_ir.Function:
    """Choose memory, loops and threads for a function.

    Parameters are the implicit sizes (i64), then the parameters of `fn`: scalars as variables, arrays as
    row-major buffers. Results are scalars, or buffers allocated in the call with their dimensions.
    """
    low = Lowering(fn, config, lower_statement, supply)
    params: list[kernel_ir.Var | Buffer] = []
    body = _lengths_first(fn.body)
    with low.live.enter(body, body.results, is_repeating=False) as frame:
        for var in (*fn.sizes, *(param for param in fn.params if is_scalar(param))):
            scalar = kernel_ir.Var(var.name, var.type.dtype)
            low.bind(var, scalar)
        for size in fn.sizes:
            params.append(_scalar_param(low, size))
        for param in fn.params:
            params.append(_scalar_param(low, param) if is_scalar(param) else _array_param(low, param))
        _run(low, body, frame)
        outputs = _outputs(low, body.results)
    failures = tuple(kernel_ir.Failure(*words) for words in low.failures)
    stmts, messages = tuple(low.emit.block.stmts), tuple(low.messages)
    sizes = tuple(_scalar_param(low, size) for size in fn.sizes)
    return kernel_ir.Function(fn.name, tuple(params), stmts, outputs, failures, messages, sizes)


def _scalar_param(low: Lowering, var: array_ir.Var) -> kernel_ir.Var:
    value = low.scalar(var)
    assert isinstance(value, kernel_ir.Var)
    return value


def _array_param(low: Lowering, var: array_ir.Var) -> Buffer:
    buffer = Buffer(var.name, var.type.dtype)
    storage = Storage(buffer, is_owned=False)
    low.bind(var, Place(storage, ZERO, low.scalars(var.type.shape)))
    return buffer


def _lengths_first(body: array_ir.Body) -> array_ir.Body:
    """The body with the lengths of arrays that only depend on parameters before all else: an array may then
    be built in the place of one that is put together behind it."""
    made = {target for let in body.lets for target in let.targets}
    types = [target.type for let in body.lets for target in let.targets]
    lengths: set[array_ir.Atom] = {size for type_ in types for size in type_.shape}
    for let in reversed(body.lets):
        if isinstance(let.expr, array_ir.Apply) and let.targets[0] in lengths:
            lengths.update(let.expr.args)
    first: list[array_ir.Let] = []
    for let in body.lets:
        is_length = isinstance(let.expr, array_ir.Apply) and let.targets[0] in lengths
        if is_length and made.isdisjoint(operands(let.expr)):
            first.append(let)
            made.difference_update(let.targets)
    return array_ir.Body((*first, *(let for let in body.lets if let not in first)), body.results)


def _run(low: Lowering, body: array_ir.Body, frame: Frame) -> None:
    """The statements, each followed by freeing what nobody reads any more."""
    for position, let in enumerate(body.lets):
        frame.position = position
        low.lower(let)
        _free_dead(low)
    frame.position = len(body.lets)


def _free_dead(low: Lowering) -> None:
    """Give back the heap buffers of which no variable that is still to be read names a part."""
    block = low.emit.block
    dead = [buffer for buffer, storage in block.owned.items() if not low.is_kept(storage)]
    for buffer in dead:
        low.emit.emit(kernel_ir.Free(buffer))
        del block.owned[buffer]


def _outputs(low: Lowering, results: tuple[array_ir.Atom, ...]) -> tuple[Output, ...]:
    """The results, each array in a buffer of its own that passes to the caller."""
    given: set[Buffer] = set()
    outputs = []
    for atom in results:
        value = low.value(atom)
        if is_scalar(atom):
            outputs.append(Output(number(value), atom.type.dtype))
            continue
        place = _owned(low, value, atom, given)
        given.add(place.buffer)
        outputs.append(Output(place.buffer, place.dtype, place.shape))
    for buffer in low.emit.block.owned:
        if buffer not in given:
            low.emit.emit(kernel_ir.Free(buffer))
    return tuple(outputs)


def _owned(low: Lowering, value: Value, atom: array_ir.Atom, given: set[Buffer]) -> Place:
    assert isinstance(value, Place | Filled)
    if isinstance(value, Place) and _may_be_given(low, value) and value.buffer not in given:
        return value
    copy = low.emit.allocate("result", atom.type.dtype, value.shape, is_shared=True)
    low.deliver(value, Destination(copy))
    return copy


def _may_be_given(low: Lowering, place: Place) -> bool:
    """Whether a place begins a heap buffer that this call allocated."""
    is_begin = place.buffer in low.emit.block.owned and is_constant(place.offset, 0)
    return is_begin and not place.buffer.strides
