"""Reading a primal with its rules: the part of the parser behind the word `custom`."""

from __future__ import annotations

from collections.abc import Sequence

from anadrome.array_ir.nodes import ArrayType, Body, Custom, Expr, JvpRule, Type, Var, VjpRule
from anadrome.array_ir.rewrite import bind_residuals
from anadrome.array_ir.text_parse_reader import Reader


def parse_custom(reader: Reader) -> Expr:
    """After `custom`: the primal, and a rule for each mode that has one."""
    names, args = reader.inits()
    types = tuple(arg.type for arg in args)
    primal, params = reader.block(dict(zip(names, types, strict=True)))
    floats = tuple(
        atom.type for atom in primal.results if isinstance(atom.type, ArrayType) and atom.type.dtype.is_float
    )
    jvp, vjp = None, None
    if reader.accept("jvp"):
        body, given = reader.block(_typed(reader, (*types, *types)))
        jvp = JvpRule(given[: len(types)], given[len(types) :], body)
    if reader.accept("vjp"):
        forward, inputs = reader.block(_typed(reader, types))
        vjp = _backward(reader, inputs, forward, len(primal.results), floats)
    return Custom(args, params, primal, jvp, vjp)


def _backward(
    reader: Reader, inputs: tuple[Var, ...], forward: Body, count: int, floats: Sequence[Type]
) -> VjpRule:
    names = reader.sequence(reader.name)
    split = len(names) - len(floats)
    if split != len(forward.results) - count:
        reader.fail(f"{len(forward.results) - count} residuals and {len(floats)} cotangents before here")
    outer = reader.scope
    reader.scope = dict(outer)
    residuals = bind_residuals(forward, count, lambda position, type_: reader.bind(names[position], type_))
    body, cotangents = reader.block(dict(zip(names[split:], floats, strict=True)))
    reader.scope = outer
    return VjpRule(inputs, forward, residuals, cotangents, body)


def _typed(reader: Reader, types: Sequence[Type]) -> dict[str, Type]:
    names = reader.sequence(reader.name)
    if len(names) != len(types):
        reader.fail(f"{len(types)} names before here")
    return dict(zip(names, types, strict=True))
