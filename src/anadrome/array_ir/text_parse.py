"""Reading programs from text, by recursive descent; the grammar stands in `array_ir.text`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.infer import result_types
from anadrome.array_ir.nodes import (
    NAMED_OPERATORS,
    Accumulate,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Carry,
    Check,
    Const,
    Expr,
    Full,
    Function,
    If,
    Index,
    Lambda,
    Let,
    Library,
    Literal,
    Loop,
    Operator,
    ParFor,
    Part,
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.text_parse_custom import parse_custom
from anadrome.array_ir.text_parse_kernels import parse_collective, parse_launch, split_kernels
from anadrome.array_ir.text_parse_reader import RawType, Reader, Token
from anadrome.dtypes import I64
from anadrome.library.table import LIBRARY
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS


def parse(text: str) -> Function:
    """The function a text describes; raises `IRSyntaxError`, or `IRError` where a type rule is broken."""
    kernels, rest = split_kernels(text)
    parser = _Parser(rest, kernels)
    fn = parser.function()
    parser.skip_ends()
    parser.expect("end of text", kind="eof")
    return fn


class _Parser(Reader):
    """One parsing of a whole text."""

    # ------------------------------------------------------------------ functions
    def name(self) -> str:
        """A name being bound."""
        token = self.expect("a name", kind="name")
        if token.text in RESERVED:
            self.fail("a name that is not a word of the grammar", token)
        return token.text

    def parameter(self) -> tuple[str, RawType]:
        """A parameter's name and type."""
        name = self.name()
        self.expect(":")
        return name, self.raw_type()

    def function(self) -> Function:
        """A whole function."""
        self.skip_ends()
        self.expect("fn")
        name = self.expect("the function's name", kind="name").text
        raw = self.sequence(self.parameter)
        for parameter, type_ in raw:
            if not type_.sizes:
                self.bind(parameter, self.type(type_))
        params = [
            self.bind(parameter, self.type(type_)) if type_.sizes else self.scope[parameter]
            for parameter, type_ in raw
        ]
        stated = self.stated_results()
        start = self.token
        outer = self.scope
        self.scope = dict(outer)
        body, _ = self.statements()
        if stated is not None:
            self.check_results(stated, body, start)
        self.scope = outer
        return Function(name, tuple(params), body)

    def stated_results(self) -> tuple[RawType, ...] | None:
        """The result types after the arrow, if they are given."""
        if not self.accept("->"):
            return None
        if self.accept("("):
            self.expect(")")
            return ()
        types = [self.raw_type()]
        while self.accept(","):
            types.append(self.raw_type())
        return tuple(types)

    def check_results(self, stated: tuple[RawType, ...], body: Body, start: Token) -> None:
        """Hold the function to the result types it states, whose sizes its body may compute."""
        found = tuple(atom.type for atom in body.results)
        known = set(self.scope)
        if any(t.kind == "name" and t.text not in known for raw in stated for t in raw.sizes):
            self.fail("sizes of the results that are in scope", start)
        if tuple(self.type(raw) for raw in stated) != found:
            self.fail("the stated result types", Token("name", ", ".join(map(str, found)), start.line))

    # ------------------------------------------------------------------ statements
    def block(self, bound: Mapping[str, Type] | None = None) -> tuple[Body, tuple[Var, ...]]:
        """A nested body in a scope of its own, with these variables bound in it."""
        outer = self.scope
        self.scope = dict(outer)
        variables = tuple(self.bind(name, type_) for name, type_ in (bound or {}).items())
        body, _ = self.statements()
        self.scope = outer
        return body, variables

    def statements(self) -> tuple[Body, tuple[Part, ...]]:
        """A braced body, with its results or its yields."""
        self.expect("{")
        lets: list[Let] = []
        results: tuple[Atom, ...] = ()
        parts: list[Part] = []
        self.skip_ends()
        while not self.accept("}"):
            if self.token.text == "yield":
                parts.append(self.part())
            elif parts or results:
                self.fail("`}` after the results")
            elif self.accept("return"):
                results = self.results()
            else:
                lets.append(self.statement())
            if self.token.text != "}":
                self.expect("the end of the statement", kind="end")
            self.skip_ends()
        return Body(tuple(lets), results), tuple(parts)

    def results(self) -> tuple[Atom, ...]:
        """Atoms with commas between them."""
        found = [self.atom()]
        while self.accept(","):
            found.append(self.atom())
        return tuple(found)

    def statement(self) -> Let:
        """One statement; its targets get the types of its results."""
        token = self.token
        names: list[str] = []
        if self.tokens[self.position + 1].text in ("=", ","):
            names.append(self.name())
            while self.accept(","):
                names.append(self.name())
            self.expect("=")
        expr = self.expression()
        types = result_types(expr)
        if len(types) != len(names):
            self.fail(f"{len(types)} targets", Token("name", f"{len(names)} targets", token.line))
        targets = tuple(self.bind(name, type_) for name, type_ in zip(names, types, strict=True))
        return Let(targets, expr)

    def expression(self) -> Expr:
        """The right-hand side of a statement."""
        token = self.expect("an expression", kind="name")
        rule = _EXPRESSIONS.get(token.text)
        if rule is not None:
            return rule(self)
        if self.token.text == "[":
            self.position -= 1
            return Index(*self.at())
        prim = PRIMS.get(token.text)
        if prim is None:
            self.fail("an operation", token)
        return Apply(prim, self.atoms())

    def update(self) -> Expr:
        """After `update`."""
        array, indices, bounds = self.at()
        return Update(array, indices, self.atom(), bounds)

    def full(self) -> Expr:
        """After `full`."""
        shape = self.sequence(self.atom, "[", "]")
        return Full(shape, self.atom())

    def unfilled(self) -> Expr:
        """After `unfilled`."""
        full = self.full()
        assert isinstance(full, Full)
        return replace(full, is_room=True)

    def literal(self) -> Expr:
        """After `literal`."""
        return Literal(self.sequence(self.atom, "[", "]"))

    def reshape(self) -> Expr:
        """After `reshape`."""
        array = self.variable()
        return Reshape(array, self.sequence(self.atom, "[", "]"))

    def parfor(self) -> Expr:
        """After `parfor`."""
        name = self.name()
        self.expect("<")
        extent, in_lanes = self.atom(), self.accept("lanes")
        outer, self.scope = self.scope, dict(self.scope)
        index = self.bind(name, ArrayType(I64))
        body, parts = self.statements()
        self.scope = outer
        return ParFor.of(index, extent, body.lets, parts, in_lanes=in_lanes)

    def loop(self) -> Expr:
        """After `loop`."""
        hint = self.checkpoint()
        names, init = self.inits()
        types = {name: atom.type for name, atom in zip(names, init, strict=True)}
        outer = self.scope
        self.scope = dict(outer)
        carried = tuple(self.bind(name, type_) for name, type_ in types.items())
        condition, index, trip = None, None, None
        if self.accept("while"):
            condition, _ = self.block()
            self.expect("do")
        else:
            self.expect("for")
            name = self.name()
            self.expect("<")
            trip = self.atom()
            index = self.bind(name, ArrayType(I64))
        body, _ = self.block()
        self.scope = outer
        return Loop(carried, init, body, index, trip, condition, hint)

    def checkpoint(self) -> Checkpoint | None:
        """What the reverse sweep may keep, where that is said."""
        word, is_swept, in_blocks = "", self.accept("swept"), self.accept("blocks")
        if self.accept("checkpoint"):
            word = self.token.text
            self.position += 1
        memory = int(self.expect("a number of bytes", kind="number").text) if self.accept("memory") else None
        try:
            hint = Checkpoint.of(word or None, memory)
        except ValueError:
            self.fail("all, sqrt, log or a number")
        return hint if hint is None else replace(hint, is_swept=is_swept, in_blocks=in_blocks)

    def branch(self) -> Expr:
        """After `if`."""
        condition = self.atom()
        then, _ = self.block()
        self.expect("else")
        other, _ = self.block()
        return If(condition, then, other)

    def with_sum(self) -> Expr:
        """After `with_sum`."""
        token = self.token
        names, init = self.inits()
        arrays = tuple(atom for atom in init if isinstance(atom, Var))
        if len(arrays) != len(init):
            self.fail("accumulators that start as arrays", token)
        bound = {
            name: SumType(var.type.dtype, var.type.shape) for name, var in zip(names, arrays, strict=True)
        }
        body, tokens = self.block(bound)
        return WithSum(arrays, tokens, body)

    def add_to(self) -> Expr:
        """After `add_to`."""
        token, indices, bounds = self.at()
        return AddTo(token, indices, self.atom(), bounds)

    def check(self) -> Expr:
        """After `check`."""
        condition, error = self.atom(), self.expect("the name of an error", kind="name").text
        message = str(json.loads(self.expect("a message", kind="string").text))
        return Check(condition, error, message, self.atoms())

    def print(self) -> Expr:
        """After `print`."""
        return Print(str(json.loads(self.expect("a message", kind="string").text)), self.atoms())

    def call(self) -> Expr:
        """After `call`."""
        token = self.expect("a library operation", kind="name")
        row = LIBRARY.get(token.text)
        if row is None:
            self.fail("a library operation", token)
        given: dict[str, bool | int] = {}

        def argument() -> Atom | None:
            if self.tokens[self.position + 1].text != "=":
                return self.atom()
            name = self.expect("an attribute", kind="name").text
            self.expect("=")
            value = self.atom()
            if not isinstance(value, Const) or isinstance(value.value, float):
                self.fail("a constant attribute", token)
            given[name] = value.value
            return None

        args = tuple(atom for atom in self.sequence(argument) if atom is not None)
        if set(given) != set(row.attributes):
            self.fail(f"the attributes {row.attributes} of {row.name}", token)
        return Library(row.name, args, tuple(given[name] for name in row.attributes))

    # ------------------------------------------------------------------ yields
    def part(self) -> Part:
        """One yield and what it takes."""
        self.expect("yield")
        token = self.expect("a kind of yield", kind="name")
        rule = _YIELDS.get(token.text)
        if rule is None:
            self.fail("a kind of yield", token)
        return rule(self)

    def operator_name(self) -> str:
        """The name of a monoid, or `lambda`."""
        token = self.expect("an operator", kind="name")
        if token.text not in NAMED_OPERATORS and token.text != "lambda":
            self.fail("an operator", token)
        return token.text

    def monoid(self, name: str, values: tuple[Atom, ...]) -> Operator:
        """The operator of this name on these values; a lambda follows here."""
        if name != "lambda":
            return name
        self.expect("by")
        outer = self.scope
        self.scope = dict(outer)
        sides: list[tuple[Var, ...]] = []
        for _ in range(2):
            token = self.token
            names = self.sequence(self.name)
            if len(names) != len(values):
                self.fail(f"{len(values)} operands", token)
            sides.append(tuple(self.bind(n, v.type) for n, v in zip(names, values, strict=True)))
        self.expect("from")
        identity = self.sequence(self.atom)
        body, _ = self.block()
        inverse = self.block()[0] if self.accept("inverse") else None
        self.scope = outer
        return Lambda(sides[0], sides[1], body, identity, inverse)

    def stack(self) -> Part:
        """After `stack`."""
        return Stack.of(self.atom())

    def reduce(self) -> Part:
        """After `reduce`."""
        name, values = self.operator_name(), self.atoms()
        return Reduce.of(self.monoid(name, values), values)

    def scan(self) -> Part:
        """After `scan`."""
        exclusive = self.accept("exclusive")
        name, values = self.operator_name(), self.atoms()
        return Scan.of(self.monoid(name, values), values, exclusive)

    def accumulate(self) -> Part:
        """After `accumulate`."""
        name = self.operator_name()
        init, at, bounds = self.at()
        value = self.atom()
        return Accumulate.of(self.monoid(name, (value,)), init, at, value, bounds)

    def scatter(self) -> Part:
        """After `scatter`."""
        init, at, bounds = self.at()
        return Scatter.of(init, at, self.atom(), bounds)

    def carry(self) -> Part:
        """After `carry`."""
        source = self.variable()
        return Carry.of(source, self.variable())


_EXPRESSIONS: Mapping[str, Callable[[_Parser], Expr]] = {
    "update": _Parser.update,
    "full": _Parser.full,
    "unfilled": _Parser.unfilled,
    "literal": _Parser.literal,
    "reshape": _Parser.reshape,
    "parfor": _Parser.parfor,
    "loop": _Parser.loop,
    "if": _Parser.branch,
    "with_sum": _Parser.with_sum,
    "custom": parse_custom,
    "launch": parse_launch,
    "thread": parse_collective,
    "add_to": _Parser.add_to,
    "check": _Parser.check,
    "print": _Parser.print,
    "call": _Parser.call,
}
_YIELDS: Mapping[str, Callable[[_Parser], Part]] = {
    "stack": _Parser.stack,
    "reduce": _Parser.reduce,
    "scan": _Parser.scan,
    "accumulate": _Parser.accumulate,
    "scatter": _Parser.scatter,
    "carry": _Parser.carry,
}
RESERVED = frozenset(
    {*_EXPRESSIONS, "fn", "return", "yield", "for", "while", "do", "else", "by", "from"}
    | {"true", "false", "nan", "inf", "sum"}
)
"""Words that no variable is called."""
