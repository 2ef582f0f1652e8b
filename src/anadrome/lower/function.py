"""The door: a function of the array IR as a host program of the kernel IR."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.walk import operands
from anadrome.config import Config
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import ZERO, known
from anadrome.kernel_ir.nodes import Buffer, Output
from anadrome.kernel_ir.walk import written
from anadrome.lower.destinations import is_as_large, supply
from anadrome.lower.lowering import Lowering, Offer, is_scalar, number
from anadrome.lower.memory import Frame
from anadrome.lower.origin import origin
from anadrome.lower.statements import lower_statement
from anadrome.lower.values import Destination, Place, Splat, Storage, Value, dimensions
from anadrome.prims.node import replace


def lower(fn: array_ir.Function, config: Config, donated: Collection[int] = ()) -> kernel_ir.Function:
    """Choose memory, loops and threads for a function.

    Parameters are the implicit sizes (i64), then the parameters of `fn`: scalars as variables, arrays as
    row-major buffers. Results are scalars, or buffers allocated in the call with their dimensions. Arrays
    among the parameters at the places `donated` are the call's own: they are updated in place, and a result
    of the type and size of one is written there, once nobody reads it any more. Those of which neither is the
    case stay parameters that are only read.
    """
    low = Lowering(fn, config, lower_statement, supply)
    params: list[kernel_ir.Var | Buffer] = []
    body = _lengths_first(fn.body)
    with low.live.enter(body, is_repeating=False) as frame:
        for var in (*fn.sizes, *(param for param in fn.params if is_scalar(param))):
            scalar = kernel_ir.Var(var.name, var.type.dtype)
            low.bind(var, scalar)
        for size in fn.sizes:
            params.append(_scalar_param(low, size))
        for place, param in enumerate(fn.params):
            if is_scalar(param):
                params.append(_scalar_param(low, param))
            else:
                params.append(_array_param(low, param, place in donated))
        _offer_donated(low, fn.params, body)
        _run(low, body, frame)
        outputs = _outputs(low, body.results)
    failures = tuple(kernel_ir.Failure(*words) for words in low.failures)
    stmts, messages = tuple(low.emit.block.stmts), tuple(low.messages)
    sizes = tuple(_scalar_param(low, size) for size in fn.sizes)
    lowered = kernel_ir.Function(fn.name, tuple(params), stmts, outputs, failures, messages, sizes)
    if not low.donated:
        return lowered
    used = {*written(lowered), *(output.value for output in outputs if isinstance(output.value, Buffer))}
    return replace(lowered, donated=tuple(one for one in params if one in used and one in low.donated))


def _scalar_param(low: Lowering, var: array_ir.Var) -> kernel_ir.Var:
    value = low.scalar(var)
    assert isinstance(value, kernel_ir.Var)
    return value


def _array_param(low: Lowering, var: array_ir.Var, is_donated: bool) -> Buffer:
    shape = low.scalars(var.type.shape)
    buffer = Buffer(var.name, var.type.dtype, shape=dimensions(shape))
    if is_donated:
        low.donated.add(buffer)
    storage = Storage(buffer, is_owned=is_donated, is_whole=is_donated)
    low.bind(var, Place(storage, ZERO, shape))
    return buffer


def _offer_donated(low: Lowering, params: tuple[array_ir.Var, ...], body: array_ir.Body) -> None:
    """Offer the donated arrays to results, each to one: that which is an updated version of it, else one of
    its type and size."""
    donated: dict[array_ir.Var, Place] = {}
    for param in params:
        value = low.value(param)
        if isinstance(value, Place) and value.buffer in low.donated:
            donated[param] = value
    arrays = [atom for atom in body.results if isinstance(atom, array_ir.Var) and not is_scalar(atom)]
    others: list[array_ir.Var] = []
    for result in dict.fromkeys(arrays):
        first = origin(low.live.facts, body, result)
        place = None if first is None else donated.pop(first, None)
        if place is None:
            others.append(result)
        else:
            low.want(result, _offer(low, place, result))
    for result in others:
        for param, place in donated.items():
            is_alike = param.type.dtype is result.type.dtype
            if is_alike and is_as_large(low, param.type.shape, result.type.shape):
                low.want(result, _offer(low, place, result))
                del donated[param]
                break


def _offer(low: Lowering, place: Place, result: array_ir.Var) -> Offer:
    def offered() -> Destination | None:
        shape = result.type.shape
        return Destination(place.reshaped(low.scalars(shape))) if low.is_known(shape) else None

    return offered


def _lengths_first(body: array_ir.Body) -> array_ir.Body:
    """The body with the lengths of arrays that only depend on parameters before all else: an array may then
    be built in the place of one that is put together behind it."""
    made = {target for let in body.lets for target in let.targets}
    types = [target.type for let in body.lets for target in let.targets]
    lengths: set[array_ir.Atom] = {size for type_ in types for size in type_.shape}
    for let in reversed(body.lets):
        if isinstance(let.expr, array_ir.Apply) and let.targets[0] in lengths:
            lengths.update(let.expr.args)
    first: dict[array_ir.Let, None] = {}
    for let in body.lets:
        is_length = isinstance(let.expr, array_ir.Apply) and let.targets[0] in lengths
        if is_length and made.isdisjoint(operands(let.expr)):
            first[let] = None
            made.difference_update(let.targets)
    return array_ir.Body((*first, *(let for let in body.lets if let not in first)), body.results)


def _run(low: Lowering, body: array_ir.Body, frame: Frame) -> None:
    """The statements, each followed by freeing what nobody reads any more."""
    buffers = _Buffers(low, {let: position for position, let in enumerate(body.lets)})
    for position, let in enumerate(body.lets):
        frame.position = position
        low.lower(let)
        buffers.free_dead(position)
    frame.position = len(body.lets)


@dataclass(slots=True, eq=False)
class _Buffers:
    """The heap buffers of a call, each looked at behind the last statement that is known to need it."""

    low: Lowering
    places: Mapping[array_ir.Let, int]
    due: dict[int, list[Buffer]] = field(default_factory=dict)
    numbers: dict[Buffer, int] = field(default_factory=dict)
    """Those seen so far, in the order in which they were allocated."""

    def free_dead(self, position: int) -> None:
        """Give back the buffers of which no variable that is still to be read names a part."""
        low, block = self.low, self.low.emit.block
        new = [*takewhile(lambda buffer: buffer not in self.numbers, reversed(block.owned))]
        for buffer in reversed(new):
            self.numbers[buffer] = len(self.numbers)
        dead: list[Buffer] = []
        for buffer in (*self.due.pop(position, ()), *new):
            until = low.needed_until(block.owned[buffer], self.places)
            if until > position:
                self.due.setdefault(until, []).append(buffer)
            elif buffer not in low.exchanged:
                dead.append(buffer)
        for buffer in sorted(dead, key=self.numbers.__getitem__):
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
    assert isinstance(value, Place | Splat)
    if isinstance(value, Place) and _may_be_given(low, value) and value.buffer not in given:
        return value
    copy = low.emit.allocate("result", atom.type.dtype, value.shape, is_shared=True)
    low.deliver(value, Destination(copy))
    return copy


def _may_be_given(low: Lowering, place: Place) -> bool:
    """Whether a place begins a heap buffer that this call allocated, or was given."""
    is_ours = place.buffer in low.emit.block.owned or place.buffer in low.donated
    return is_ours and known(place.start) == 0 and not place.buffer.strides
