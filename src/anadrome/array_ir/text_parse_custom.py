"""Reading a primal with its rules: the part of the parser behind the word `custom`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from anadrome.array_ir.nodes import ArrayType, Atom, Body, Custom, Expr, JvpRule, Type, Var, VjpRule
from anadrome.array_ir.rewrite import bind_residuals


class Parser(Protocol):
    """What is needed of the parser."""

    scope: dict[str, Var]

    def fail(self, expected: str) -> NoReturn:
        """Something else was expected here."""
        ...

    def accept(self, text: str) -> bool:
        """Whether this is next; then it is taken."""
        ...

    def sequence(self, item: Callable[[], Any], opening: str = "(", closing: str = ")") -> tuple[Any, ...]:
        """Items with commas between them, in brackets."""
        ...

    def name(self) -> str:
        """A name."""
        ...

    def inits(self) -> tuple[tuple[str, ...], tuple[Atom, ...]]:
        """Names and where they start."""
        ...

    def bind(self, name: str, type_: Type) -> Var:
        """A new variable in scope."""
        ...

    def block(self, bound: Mapping[str, Type] | None = None) -> tuple[Body, tuple[Var, ...]]:
        """A nested body with these variables bound in it."""
        ...


def parse_custom(parser: Parser) -> Expr:
    """After `custom`: the primal, and a rule for each mode that has one."""
    names, args = parser.inits()
    types = tuple(arg.type for arg in args)
    primal, params = parser.block(dict(zip(names, types, strict=True)))
    floats = tuple(
        atom.type for atom in primal.results if isinstance(atom.type, ArrayType) and atom.type.dtype.is_float
    )
    jvp, vjp = None, None
    if parser.accept("jvp"):
        body, given = parser.block(_typed(parser, (*types, *types)))
        jvp = JvpRule(given[: len(types)], given[len(types) :], body)
    if parser.accept("vjp"):
        forward, inputs = parser.block(_typed(parser, types))
        vjp = _backward(parser, inputs, forward, len(primal.results), floats)
    return Custom(args, params, primal, jvp, vjp)


def _backward(
    parser: Parser, inputs: tuple[Var, ...], forward: Body, count: int, floats: Sequence[Type]
) -> VjpRule:
    names = parser.sequence(parser.name)
    split = len(names) - len(floats)
    if split != len(forward.results) - count:
        parser.fail(f"{len(forward.results) - count} residuals and {len(floats)} cotangents before here")
    outer = parser.scope
    parser.scope = dict(outer)
    residuals = bind_residuals(forward, count, lambda position, type_: parser.bind(names[position], type_))
    body, cotangents = parser.block(dict(zip(names[split:], floats, strict=True)))
    parser.scope = outer
    return VjpRule(inputs, forward, residuals, cotangents, body)


def _typed(parser: Parser, types: Sequence[Type]) -> dict[str, Type]:
    names = parser.sequence(parser.name)
    if len(names) != len(types):
        parser.fail(f"{len(types)} names before here")
    return dict(zip(names, types, strict=True))
