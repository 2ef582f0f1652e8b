"""Programs as text: the grammar, the printer and the door of the parser (`text_parse`).

    function   = "fn" NAME "(" [NAME ":" type {"," NAME ":" type}] ")" ["->" types] block
    types      = type {"," type} | "(" ")"
    type       = ["sum"] DTYPE ["[" size {"," size} "]"]          `sum`: an accumulator
    block      = "{" {statement SEP} ["return" atom {"," atom}] "}"      SEP: a line's end or ";"
    statement  = [NAME {"," NAME} "="] expression
    expression = PRIM {atom}                                      add a b
               | NAME at                                          x[i, j]
               | "update" NAME at atom                            update x[i] v
               | ("full" | "unfilled") list atom                  full [n, 3] 0.0
               | "literal" list                                   literal [a, b]
               | "reshape" NAME list                              reshape x [n, 3]
               | "parfor" NAME "<" size ["lanes"] "{" {statement SEP} {yield SEP} "}"
               | "loop" [hint] inits "for" NAME "<" size block    loop (s = 0.0) for i < n { …; return t }
               | "loop" [hint] inits "while" block "do" block     the first block returns the condition
               | "if" atom block "else" block
               | "with_sum" inits block                           with_sum (t = x) { …; return u }
               | "add_to" NAME at atom                            add_to t[i] v
               | "check" atom ERROR STRING {atom}                 check ok index "outside: {0}" i
               | "print" STRING {atom}                            a line of `printing.Message`
               | "custom" inits block ["jvp" names block] ["vjp" names block names block]
               | "launch" KERNEL list list atom "(" [atom {"," atom}] ")"   grid, block, shared bytes
               | "thread" OPERATION "(" names ")" list ["?"] ["of" type]   what threads do together
               | "call" OPERATION "(" atom {"," atom} {"," NAME "=" atom} ")"
    hint       = ["swept"] ["blocks"] ("checkpoint" ("all" | "sqrt" | "log" | INTEGER) ["memory" INTEGER]
                           | "memory" INTEGER)
    inits      = "(" [NAME "=" atom {"," NAME "=" atom}] ")"
    list       = "[" [atom {"," atom}] "]"
    at         = list ["?" | "~"]          plain: proved inside; "?": checked; "~": ignored when outside
    yield      = "yield" ( "stack" atom
                         | "reduce" operator {atom} [monoid]
                         | "scan" ["exclusive"] operator {atom} [monoid]
                         | "accumulate" operator NAME at atom [monoid]
                         | "scatter" NAME at atom
                         | "carry" NAME NAME )                    the accumulator outside, the token inside
    operator   = "add" | "mul" | "min" | "max" | "and" | "or" | "lambda"
    monoid     = "by" names names "from" "(" atom {"," atom} ")" block ["inverse" block]
                                                                  of a lambda: left, right, identity
    names      = "(" NAME {"," NAME} ")"
    atom       = NAME | constant
    constant   = "true" | "false" | INTEGER [":" DTYPE] | FLOAT [":" DTYPE]

Kernels that a function launches stand before it, as `kernel_ir.text` has them.

A number without a type is i64, or f64 where it has a point, an exponent, or is `nan` or `inf`. A name in a
parameter's type that is no parameter is an implicit size. Types of everything else follow; spans are not
written. `#` starts a comment. The printer gives every variable a name of its own:

    fn total(x: f64[n]) -> f64 {
      s = parfor i < n {
        v = x[i]
        yield reduce add v
      }
      return s
    }
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import assert_never

from anadrome.array_ir.checkpoint import Checkpoint
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Bounds,
    Carry,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Lambda,
    Launch,
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
from anadrome.array_ir.text_parse import RESERVED, parse
from anadrome.array_ir.text_parse_reader import BOUNDS
from anadrome.array_ir.walk import all_lets
from anadrome.dtypes import BOOL, F64, I64
from anadrome.kernel_ir.nodes import Kernel
from anadrome.kernel_ir.text import show_kernels
from anadrome.library.table import LIBRARY

__all__ = ["parse", "show", "show_body", "show_constant", "show_type"]

_MARKS = {bounds: mark for mark, bounds in BOUNDS.items()}


def show(fn: Function) -> str:
    """The text of a function; `parse` of it shows the same."""
    kernels, printed = show_kernels(
        let.expr.kernel for let in all_lets(fn.body) if isinstance(let.expr, Launch)
    )
    printer = _Printer(kernels=printed)
    names = [printer.name(param) for param in fn.params]
    params = [f"{name}: {printer.type(param.type)}" for name, param in zip(names, fn.params, strict=True)]
    printer.body(fn.body)
    types = ", ".join(printer.type(atom.type) for atom in fn.body.results) or "()"
    lines = (f"fn {_identifier(fn.name)}({', '.join(params)}) -> {types} {{", *printer.lines, "}")
    return kernels + "\n".join(lines) + "\n"


def show_body(body: Body) -> str:
    """The statements of a body and its results, one to a line."""
    printer = _Printer(indent="")
    printer.body(body)
    return "\n".join(printer.lines) + "\n"


def show_type(type_: Type) -> str:
    """A type on its own, sizes under the names they were given."""
    return _Printer().type(type_)


def show_constant(constant: Const) -> str:
    """A constant, with its type where that is not the default of how it is written."""
    dtype = constant.dtype
    if dtype is BOOL:
        return "true" if constant.value else "false"
    if dtype.is_float:
        text = repr(float(constant.value))
        return text if dtype is F64 else f"{text}:{dtype.name}"
    return str(int(constant.value)) if dtype is I64 else f"{int(constant.value)}:{dtype.name}"


def _identifier(name: str) -> str:
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned


class _Printer:
    """One printing: the lines so far, and the names given."""

    def __init__(self, indent: str = "  ", kernels: Mapping[Kernel, str] | None = None) -> None:
        self.lines: list[str] = []
        self.kernels = kernels or {}
        self.indent = indent
        self._names: dict[Var, str] = {}
        self._used: set[str] = set(RESERVED)
        self._next: dict[str, int] = {}

    # ------------------------------------------------------------------ words
    def name(self, var: Var) -> str:
        """The name of a variable, its own where that is free."""
        found = self._names.get(var)
        if found is None:
            found = self._names[var] = self._fresh(var.name)
        return found

    def _fresh(self, wanted: str) -> str:
        base = name = wanted if wanted.isascii() and wanted.isidentifier() else _identifier(wanted)
        separator = "_" if base[-1].isdigit() else ""
        number = self._next.get(base, 1)
        while name in self._used:
            name = f"{base}{separator}{number}"
            number += 1
        self._next[base] = number
        self._used.add(name)
        return name

    def atom(self, atom: Atom) -> str:
        """A variable's name or a constant."""
        return self.name(atom) if isinstance(atom, Var) else show_constant(atom)

    def spaced(self, atoms: Sequence[Atom]) -> str:
        """Atoms with a space before each."""
        return "".join([f" {self.atom(atom)}" for atom in atoms])

    def listed(self, atoms: Sequence[Atom]) -> str:
        """Atoms with commas between them."""
        return ", ".join([self.atom(atom) for atom in atoms])

    def type(self, type_: Type) -> str:
        """A type, sizes under the names they have here."""
        shape = f"[{self.listed(type_.shape)}]" if type_.shape else ""
        return f"{'sum ' if isinstance(type_, SumType) else ''}{type_.dtype.name}{shape}"

    def at(self, array: Var, indices: Sequence[Atom], bounds: Bounds) -> str:
        """A place in an array."""
        return f"{self.name(array)}[{self.listed(indices)}]{_MARKS[bounds]}"

    def inits(self, variables: Sequence[Var], atoms: Sequence[Atom]) -> str:
        """Variables bound to where they start."""
        starts = [self.atom(atom) for atom in atoms]
        pairs = [f"{self.name(var)} = {start}" for var, start in zip(variables, starts, strict=True)]
        return f"({', '.join(pairs)})"

    # ------------------------------------------------------------------ statements
    def body(self, body: Body) -> None:
        """The lines of a body."""
        self.statements(body)
        if body.results:
            self.lines.append(f"{self.indent}return {self.listed(body.results)}")

    def statements(self, body: Body) -> None:
        """The lines of the statements of a body."""
        for let in body.lets:
            self.statement(let)

    def statement(self, let: Let) -> None:
        """The lines of one statement."""
        head = f"{self.indent}{', '.join([self.name(target) for target in let.targets])}"
        if let.targets:
            head += " = "
        expr = let.expr
        match expr:
            case ParFor(index=index, extent=extent, in_lanes=in_lanes):
                lanes = " lanes" if in_lanes else ""
                self.lines.append(f"{head}parfor {self.name(index)} < {self.atom(extent)}{lanes} {{")
                with self.indented():
                    self.statements(expr.body)
                    for part in expr.parts:
                        self.part(part)
            case Loop():
                self.loop(head, expr)
            case If(condition=condition, then=then, other=other):
                self.lines.append(f"{head}if {self.atom(condition)} {{")
                self.nested(then)
                self.lines[-1] += " else {"
                self.nested(other)
            case WithSum(init=init, tokens=tokens, body=body):
                self.lines.append(f"{head}with_sum {self.inits(tokens, init)} {{")
                self.nested(body)
            case Custom():
                self.custom(head, expr)
            case _:
                self.lines.append(head + self.simple(expr))

    @contextmanager
    def indented(self) -> Iterator[None]:
        """A `with` block for the lines of a nested body, which ends with its closing brace."""
        outer, self.indent = self.indent, self.indent + "  "
        yield
        self.indent = outer
        self.lines.append(f"{outer}}}")

    def nested(self, body: Body) -> None:
        """The lines of a nested body and its closing brace."""
        with self.indented():
            self.body(body)

    def loop(self, head: str, expr: Loop) -> None:
        """The lines of a sequential loop."""
        head += f"loop {show_checkpoint(expr.checkpoint)}{self.inits(expr.carried, expr.init)}"
        if expr.condition is not None:
            self.lines.append(f"{head} while {{")
            self.nested(expr.condition)
            self.lines[-1] += " do {"
        else:
            assert expr.index is not None and expr.trip is not None
            self.lines.append(f"{head} for {self.name(expr.index)} < {self.atom(expr.trip)} {{")
        self.nested(expr.body)

    def collective(self, expr: Collective) -> str:
        """What threads do together."""
        memory = "" if expr.memory is None else f" of {self.type(expr.memory)}"
        args = f"[{self.listed(expr.args)}]{_MARKS[expr.bounds]}"
        return f"thread {expr.operation} ({self.listed(expr.arrays)}) {args}{memory}"

    def custom(self, head: str, expr: Custom) -> None:
        """The lines of a primal and of its rules."""
        self.lines.append(f"{head}custom {self.inits(expr.params, expr.args)} {{")
        self.nested(expr.primal)
        if expr.jvp is not None:
            self.lines[-1] += f" jvp ({self.listed((*expr.jvp.params, *expr.jvp.tangents))}) {{"
            self.nested(expr.jvp.body)
        if expr.vjp is not None:
            self.lines[-1] += f" vjp ({self.listed(expr.vjp.params)}) {{"
            self.nested(expr.vjp.forward)
            self.lines[-1] += f" ({self.listed((*expr.vjp.residuals, *expr.vjp.cotangents))}) {{"
            self.nested(expr.vjp.backward)

    def simple(self, expr: Expr) -> str:
        """An expression without nested bodies."""
        match expr:
            case Apply(prim=prim, args=args):
                return prim.name + self.spaced(args)
            case Index(array=array, indices=indices, bounds=bounds):
                return self.at(array, indices, bounds)
            case Update(array, indices, value, bounds):
                return f"update {self.at(array, indices, bounds)} {self.atom(value)}"
            case Full(shape=shape, value=value, is_room=is_room):
                return f"{'unfilled' if is_room else 'full'} [{self.listed(shape)}] {self.atom(value)}"
            case Literal(elements=elements):
                return f"literal [{self.listed(elements)}]"
            case Reshape(array=array, shape=shape):
                return f"reshape {self.name(array)} [{self.listed(shape)}]"
            case AddTo(token, indices, value, bounds):
                return f"add_to {self.at(token, indices, bounds)} {self.atom(value)}"
            case Check(condition, error, message, values):
                words = json.dumps(message, ensure_ascii=False)
                return f"check {self.atom(condition)} {error} {words}{self.spaced(values)}"
            case Print(message=message, values=values):
                return f"print {json.dumps(message, ensure_ascii=False)}{self.spaced(values)}"
            case Library(operation=operation, args=args, attributes=attributes):
                names = LIBRARY[operation].attributes
                given = [f"{name}={_attribute(value)}" for name, value in zip(names, attributes, strict=True)]
                return f"call {operation}({', '.join([*map(self.atom, args), *given])})"
            case Launch(kernel=kernel, grid=grid, block=block, shared=shared, args=args):
                name = self.kernels.get(kernel, kernel.name)
                extents = f"[{self.listed(grid)}] [{self.listed(block)}] {self.atom(shared)}"
                return f"launch {name} {extents} ({self.listed(args)})"
            case Collective():
                return self.collective(expr)
            case ParFor() | Loop() | If() | WithSum() | Custom():
                raise AssertionError(f"{type(expr).__name__} holds bodies")
            case _:
                assert_never(expr)

    # ------------------------------------------------------------------ yields
    def part(self, part: Part) -> None:
        """The lines of a yield with what it takes."""
        match part.item:
            case Stack():
                self.yields(f"stack {self.atom(part.value)}")
            case Reduce(operator=operator):
                self.yields(f"reduce {_operator(operator)}{self.spaced(part.takes)}", operator)
            case Scan(operator=operator, exclusive=exclusive):
                kind = "scan exclusive" if exclusive else "scan"
                self.yields(f"{kind} {_operator(operator)}{self.spaced(part.takes)}", operator)
            case Accumulate(operator=operator, init=init, bounds=bounds):
                place = self.at(init, part.at, bounds)
                self.yields(f"accumulate {_operator(operator)} {place} {self.atom(part.value)}", operator)
            case Scatter(init=init, bounds=bounds):
                self.yields(f"scatter {self.at(init, part.at, bounds)} {self.atom(part.value)}")
            case Carry(source=source):
                self.yields(f"carry {self.name(source)} {self.atom(part.value)}")
            case _:
                assert_never(part.item)

    def yields(self, words: str, operator: Operator = "") -> None:
        """A line of a yield, and the operator after it where that is a lambda."""
        line = f"{self.indent}yield {words}"
        if isinstance(operator, Lambda):
            identity = self.listed(operator.identity)
            sides = f"({self.listed(operator.left)}) ({self.listed(operator.right)})"
            self.lines.append(f"{line} by {sides} from ({identity}) {{")
            self.nested(operator.body)
            if operator.inverse is not None:
                self.lines[-1] += " inverse {"
                self.nested(operator.inverse)
        else:
            self.lines.append(line)


def show_checkpoint(hint: Checkpoint | None) -> str:
    """What the reverse sweep of a loop may keep, with a space behind it; nothing for no hint."""
    if hint is None:
        return ""
    swept = "swept " * hint.is_swept + "blocks " * hint.in_blocks
    memory = "" if hint.memory is None else f"memory {hint.memory} "
    if hint.policy == "budget":
        return swept + memory
    return f"{swept}checkpoint {hint.repeats if hint.policy == 'repeats' else hint.policy} {memory}"


def _operator(operator: Operator) -> str:
    return operator if isinstance(operator, str) else "lambda"


def _attribute(value: bool | int) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
