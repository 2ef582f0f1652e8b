"""Integer expressions as sums of products of variables: how far apart the iterations of a loop reach, and
whether two places are one.

An operation that is no sum or product is a variable of its own, as long as nothing in it changes in the loop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never, cast

from anadrome.kernel_ir.nodes import (
    Alloc,
    Buffer,
    Compute,
    Const,
    Expr,
    For,
    Let,
    Load,
    Stmt,
    Store,
    Var,
    View,
    Workers,
)
from anadrome.kernel_ir.walk import expressions, offset_of, statements, subexpressions
from anadrome.prims.polynomials import Polynomial, number, variable

Atom = Var | tuple[object, ...]
"""A variable, or an operation and what it is of."""

LONGEST, HIGHEST = 24, 16
"""A sum of more terms, or of products of more factors, is taken for unknown."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """What a program's names are bound to: buffers to views or to so many elements, whole numbers to what is
    computed of others, indices to their loops. `sizes` are lengths of arrays, never negative. The depth
    of an index is above those of the loops around its own."""

    views: Mapping[Buffer, View] = field(default_factory=dict)
    numbers: Mapping[Var, Expr] = field(default_factory=dict)
    loops: Mapping[Var, For] = field(default_factory=dict)
    lengths: Mapping[Buffer, int] = field(default_factory=dict)
    sizes: Collection[Var] = ()
    depths: Mapping[Var, int] = field(default_factory=dict)

    def root(self, buffer: Buffer) -> Buffer:
        """The buffer that a view looks into in the end."""
        while buffer in self.views:
            buffer = self.views[buffer].base
        return buffer


def bindings_of(body: Iterable[Stmt], sizes: Collection[Var] = ()) -> Bindings:
    """The bindings of a program, without numbers that are read from memory, which may have changed since."""
    views: dict[Buffer, View] = {}
    numbers: dict[Var, Expr] = {}
    loops: dict[Var, For] = {}
    lengths: dict[Buffer, int] = {}
    for stmt in statements(body):
        match stmt:
            case View(buffer=buffer):
                views[buffer] = stmt
            case Let(var=var, value=value) if not var.dtype.is_float:
                if not any(isinstance(part, Load) for part in subexpressions(value)):
                    numbers[var] = value
            case For(index=index):
                loops[index] = stmt
            case Alloc(buffer=buffer, size=Const(value=length)):
                lengths[buffer] = int(length)
            case _:
                pass
    depths = {index: depth for depth, index in enumerate(loops)}
    return Bindings(views, numbers, loops, lengths, frozenset(sizes), depths)


@dataclass(slots=True)
class Forms:
    """The forms of what is bound in a loop. `moving` are variables that change in it, its index among them;
    `changed` are buffers whose elements do; `bindings` are those of the program around."""

    moving: set[Var]
    changed: Collection[Buffer] = ()
    bindings: Bindings = field(default_factory=Bindings)
    bound: dict[Var, Polynomial | None] = field(default_factory=dict)

    def of(self, expr: Expr) -> Polynomial | None:
        """The form of an integer expression; None where it is none in the variables that move."""
        match expr:
            case Var(dtype=dtype):
                if expr not in self.bound:
                    self.bound[expr] = None if dtype.is_float else self._around(expr)
                return self.bound[expr]
            case Const(value=value, dtype=dtype):
                return None if dtype.is_float else number(int(value))
            case Workers():
                return variable(("workers",))
            case Compute(prim=prim, args=args):
                forms = [self.of(arg) for arg in args]
                known = [form for form in forms if form is not None]
                return self._operation(prim.name, known) if len(known) == len(forms) else None
            case Load(buffer=buffer, indices=indices):
                forms = [self.of(index) for index in indices]
                if buffer.dtype.is_float or buffer in self.changed:
                    return None
                if any(form is None or form.has(self.moving) for form in forms):
                    return None
                return variable(("load", buffer, *forms))
            case _:
                assert_never(expr)

    def place(self, at: Load | Store) -> Polynomial | None:
        """Where an element is in the buffer that is looked into in the end; None where that is no form."""
        buffer, form, views = at.buffer, self.of(offset_of(at.buffer, at.indices)), self.bindings.views
        while buffer in views and form is not None:
            start = self.of(views[buffer].offset)
            form = None if start is None else form.plus(start)
            buffer = views[buffer].base
        return form

    def _around(self, var: Var) -> Polynomial:
        """The form of what is bound around the loop, where it is a sum of products."""
        value = self.bindings.numbers.get(var) if var not in self.moving else None
        form = None if value is None else self.of(value)
        is_sum = form is not None and all(isinstance(atom, Var) for atom in form.variables())
        return form if form is not None and is_sum else variable(var)

    def _operation(self, name: str, args: list[Polynomial]) -> Polynomial | None:
        found: Polynomial | None = None
        match name, args:
            case "add", [left, right]:
                found = left.plus(right)
            case "sub", [left, right]:
                found = left.plus(right, -1)
            case "neg", [only]:
                found = number(0).plus(only, -1)
            case "mul", [left, right]:
                found = left.times(right)
            case _:
                found = None if any(arg.has(self.moving) for arg in args) else variable((name, *args))
        is_short = found is not None and len(found.terms) <= LONGEST and found.degree <= HIGHEST
        return found if is_short else None


def whole_of_part(first: Polynomial, end: Polynomial) -> Polynomial | None:
    """The iterations of all workers, where these are from ⌊t·n/workers⌋ to ⌊(t + 1)·n/workers⌋ of one: n."""
    match _only_atom(first), _only_atom(end):
        case ("truncdiv", Polynomial() as low, count), ("truncdiv", Polynomial() as high, other) if (
            count == other
        ):
            return high.plus(low, -1)
        case _:
            return None


def _only_atom(form: Polynomial) -> Atom | None:
    """The variable or operation that a form is, if it is one."""
    match list(form.terms.items()):
        case [((atom,), 1)]:
            return cast(Atom, atom)
        case _:
            return None


def steps_of(body: Iterable[Stmt], index: Var) -> Iterator[tuple[Buffer, int | None]]:
    """The elements that statements read and write: each by its buffer, and by how many elements it is behind
    the one of the iteration over `index` before; None where that is no constant."""
    inside = list(statements(body))
    forms = Forms({index, *(stmt.index for stmt in inside if isinstance(stmt, For))})
    starts: dict[Buffer, Polynomial | None] = {}
    for stmt in inside:
        reached: list[Load | Store] = [stmt] if isinstance(stmt, Store) else []
        for expr in expressions(stmt):
            reached += (part for part in subexpressions(expr) if isinstance(part, Load))
        for at in reached:
            form, start = forms.of(offset_of(at.buffer, at.indices)), starts.get(at.buffer, number(0))
            factor = None if form is None or start is None else form.plus(start).factor(index)
            yield at.buffer, None if factor is None else factor.constant
        match stmt:
            case Let(var=var, value=value):
                forms.bound[var] = None if var.dtype.is_float else forms.of(value)
            case View(buffer=buffer, base=base, offset=offset):
                form, start = forms.of(offset), starts.get(base, number(0))
                starts[buffer] = None if form is None or start is None else form.plus(start)
            case _:
                pass
