"""One statement of the array IR at a time: the dispatch, and the rules that need no file of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from anadrome.array_ir import nodes as array_ir
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.nodes import Expr, i64
from anadrome.lower.access import check, check_filled, locate, write
from anadrome.lower.branches import lower_if
from anadrome.lower.collective import lower_collective
from anadrome.lower.launch import lower_launch
from anadrome.lower.library import buffer_of, lower_library
from anadrome.lower.loops import lower_loop
from anadrome.lower.lowering import Located, Lowering, is_scalar
from anadrome.lower.parfor import lower_parfor
from anadrome.lower.sums import lower_add_to, lower_with_sum
from anadrome.lower.values import Delivered, Place, Splat, Value


def lower_statement(low: Lowering, let: array_ir.Let) -> None:
    """Emit a statement and bind its targets."""
    match let.expr:
        case array_ir.Apply(prim=prim, args=args):
            (target,) = let.targets
            value = kernel_ir.Compute(prim, low.scalars(args))
            low.bind(target, low.emit.let(target.name, target.type.dtype, value))
        case array_ir.Index():
            low.bind(let.targets[0], _index(low, let, let.expr))
        case array_ir.Update():
            low.bind(let.targets[0], _update(low, let, let.expr))
        case array_ir.Full(shape=shape, value=element, is_room=is_room):
            low.bind(let.targets[0], Splat(low.scalar(element), low.scalars(shape), is_room))
        case array_ir.Literal(elements=elements):
            low.bind(let.targets[0], _literal(low, let.targets[0], elements))
        case array_ir.Reshape(array=array, shape=shape):
            low.bind(let.targets[0], _reshape(low, let.targets[0], array, low.scalars(shape)))
        case array_ir.ParFor():
            lower_parfor(low, let, let.expr)
        case array_ir.Loop():
            lower_loop(low, let, let.expr)
        case array_ir.If():
            lower_if(low, let, let.expr)
        case array_ir.WithSum():
            lower_with_sum(low, let, let.expr)
        case array_ir.AddTo():
            lower_add_to(low, let, let.expr)
        case array_ir.Custom():
            raise AssertionError("the pass `inline` put the primal in its place")
        case array_ir.Check():
            check(low, let.expr, let.span)
        case array_ir.Print():
            _print(low, let.expr)
        case array_ir.Library():
            lower_library(low, let, let.expr)
        case array_ir.Launch():
            lower_launch(low, let, let.expr)
        case array_ir.Collective():
            lower_collective(low, let, let.expr)
        case _:
            assert_never(let.expr)


def _print(low: Lowering, expr: array_ir.Print) -> None:
    """What is printed: scalars, and arrays where they lie."""
    assert not low.is_in_parfor, "the front end makes sequential what prints"
    code = low.messages.setdefault(expr.message, len(low.messages))
    values: list[Expr | kernel_ir.Shown] = []
    for atom in expr.values:
        if isinstance(atom, array_ir.Var) and not is_scalar(atom):
            place = low.place(atom)
            values.append(kernel_ir.Shown(buffer_of(low, place), place.shape))
        else:
            values.append(low.scalar(atom))
    low.emit.emit(kernel_ir.Print(code, tuple(values)))


def _index(low: Lowering, let: array_ir.Let, expr: array_ir.Index) -> Value:
    """An element, or a row where it lies; in a copy if the rest of the array may then be overwritten."""
    (target,) = let.targets
    array = low.array(expr.array)
    count = len(expr.indices)
    if isinstance(array, Splat):
        check_filled(low, array.shape, expr.indices, expr.bounds, let.span)
        return array.value if count == len(array.shape) else Splat(array.value, array.shape[count:])
    found = locate(low, array, expr.indices, expr.bounds, let.span).place
    if found.shape:
        return low.moved(found) if low.live.is_in_the_way(target, expr.array) else found
    return low.emit.element(target.name, found)


def _literal(low: Lowering, target: array_ir.Var, elements: tuple[array_ir.Atom, ...]) -> Value:
    found = low.reserve(target)
    built = () if found is None else tuple(_built_in(low, found.place, elements))
    place = low.destination(target, *built)
    for position, element in enumerate(elements):
        write(low, Located(place.row((i64(position),))), low.value(element))
    return place


def _built_in(low: Lowering, place: Place, elements: tuple[array_ir.Atom, ...]) -> Iterator[array_ir.Var]:
    """The elements that already lie in their rows."""
    for position, element in enumerate(elements):
        value = low.value(element)
        if not isinstance(element, array_ir.Var) or not isinstance(value, Place):
            continue
        if value.is_at(place.row((i64(position),))):
            yield element


def _reshape(low: Lowering, target: array_ir.Var, array: array_ir.Var, shape: tuple[Expr, ...]) -> Value:
    value = low.value(array)
    match value:
        case Place():
            if not shape:
                return low.emit.element(target.name, value)
            return value.reshaped(shape)
        case Splat(value=element):
            return Splat(element, shape) if shape else element
        case Delivered():
            return value
        case _:
            return Splat(value, shape) if shape else value


def _update(low: Lowering, let: array_ir.Let, expr: array_ir.Update) -> Value:
    """The array with a place replaced: where it is, if nobody needs the old one; else in a copy."""
    old = low.array(expr.array)
    value = low.value(expr.value)
    located = low.located.pop(let, None)
    if located is None:
        if isinstance(value, Place) and isinstance(old, Place) and value.storage.root is old.storage.root:
            value = low.moved(value)
        new = low.take_over(let, expr.array, let.targets[0])
        located = locate(low, new, expr.indices, expr.bounds, let.span)
    else:
        assert isinstance(old, Place)
        low.offer(let.targets[0], expr.array)
        new = old
    write(low, located, value)
    return new
