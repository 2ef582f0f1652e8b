"""How much a loop computes and how much memory it reaches, as sums of products of sizes.

Operations are counted as the table's costs, each element of memory that a loop reads or writes once, however
often it does: two accesses are one where they go along the same buffer in the same way, some iterations
apart. A place that is not known is another element each time. Of a branch both ways are counted, and a loop
inside whose bounds change runs as often as it can: amounts are upper bounds, which are reached where there
are no branches and arrays stay in cache. What routines do that it calls is not counted, nor memory that it
makes itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import gcd

from anadrome.dtypes import I64
from anadrome.kernel_ir.affine import (
    Atom,
    Bindings,
    Forms,
    whole_of_part,
)
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Binding,
    Buffer,
    Copy,
    Expr,
    Fill,
    For,
    If,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    While,
)
from anadrome.kernel_ir.walk import bodies, expressions, subexpressions
from anadrome.kernel_ir.work import value_operations
from anadrome.prims.polynomials import Polynomial, number, variable
from anadrome.prims.table import PRIMS


@dataclass(frozen=True, slots=True)
class Amounts:
    """Operations, and bytes read and written at least once. `unknown` are numbers in them that only the run
    knows: how often a loop runs that ends by what it computes."""

    operations: Polynomial
    read: Polynomial
    written: Polynomial
    unknown: tuple[Var, ...] = ()


@dataclass(slots=True, eq=False)
class _Level:
    """A loop around what is counted: its index, if it has one, how often it runs, its first and last index.

    `is_part`: its iterations are a worker's part of those counted, so that the workers are not counted again.
    """

    index: Var | None
    trip: Polynomial
    ends: tuple[Polynomial, Polynomial] | None
    is_of_workers: bool = False
    is_part: bool = False


@dataclass(slots=True, eq=False)
class _Count:
    """A walk over the statements of a loop."""

    forms: Forms
    levels: list[_Level] = field(default_factory=list)
    operations: Polynomial = field(default_factory=lambda: number(0))
    reached: dict[tuple[object, ...], tuple[bool, Polynomial]] = field(default_factory=dict)
    unknown: list[Var] = field(default_factory=list)
    own: set[Buffer] = field(default_factory=set)

    def times(self, is_moved: Callable[[_Level], bool] = lambda _: True) -> Polynomial:
        """How often a statement here runs; of the loops around only those by which it is moved."""
        total = number(1)
        is_shared = any(level.is_part and is_moved(level) for level in self.levels)
        for level in reversed(self.levels):
            if level.index is not None and level.ends is not None:
                total = at_most(total, level.index, level.ends)
            if is_moved(level) and not (is_shared and level.is_of_workers):
                total = total.times(level.trip)
        return total

    def body(self, stmts: Iterable[Stmt]) -> None:
        """Count statements."""
        for stmt in stmts:
            self._statement(stmt)

    def _statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, While):
            self._enter(None, None, None, stmt)
        else:
            self._count(stmt)
            self._inside(stmt)

    def _count(self, stmt: Stmt) -> None:
        work = sum(value_operations(value, load=0) for value in _values(stmt))
        if work:
            self.operations = self.operations.plus(self.times(), work)
        for expr in expressions(stmt):
            for part in subexpressions(expr):
                if isinstance(part, Load):
                    self._reach(part.buffer, self.forms.place(part), is_write=False)
        match stmt:
            case Let(var=var, value=value):
                self.forms.bound[var] = None if var.dtype.is_float else self.forms.of(value)
            case Alloc(buffer=buffer):
                self.own.add(buffer)
            case Store(buffer=buffer):
                self._reach(buffer, self.forms.place(stmt), is_write=True)
            case Atomic(buffer=buffer, indices=indices):
                place = self.forms.place(Load(buffer, indices))
                self._reach(buffer, place, is_write=False)
                self._reach(buffer, place, is_write=True)
            case Fill(buffer=buffer, size=size):
                self._run(buffer, size, is_write=True)
            case Copy(target=target, source=source, size=size):
                self._run(source, size, is_write=False)
                self._run(target, size, is_write=True)
            case _:
                pass

    def _inside(self, stmt: Stmt) -> None:
        if isinstance(stmt, For):
            self._enter(stmt.index, self.forms.of(stmt.lo), self.forms.of(stmt.hi), stmt)
        else:
            for body in bodies(stmt):
                self.body(body)

    def _enter(self, index: Var | None, first: Polynomial | None, end: Polynomial | None, stmt: Stmt) -> None:
        if first is None or end is None:
            level = _Level(index, self._unknown(), None)
        elif (whole := whole_of_part(first, end)) and any(level.is_of_workers for level in self.levels):
            level = _Level(index, whole, (number(0), whole.plus(number(1), -1)), is_part=True)
        else:
            of_workers = isinstance(stmt, For) and stmt.binding is Binding.THREADS
            level = _Level(index, end.plus(first, -1), (first, end.plus(number(1), -1)), of_workers)
        if index is not None and not level.is_of_workers:
            self.forms.moving.add(index)
        self.levels.append(level)
        if isinstance(stmt, While):
            self._count(stmt)
        for body in bodies(stmt):
            self.body(body)
        self.levels.pop()

    def _unknown(self) -> Polynomial:
        """A number that only the run knows."""
        rounds = Var(f"rounds{len(self.unknown) or ''}", I64)
        self.unknown.append(rounds)
        return variable(rounds)

    def _run(self, buffer: Buffer, size: Expr, *, is_write: bool) -> None:
        """A run of elements from the start of a buffer on."""
        length = self.forms.of(size) or self._unknown()
        self._note(buffer, ("run", length), length.times(self.times(lambda _: False)), is_write=is_write)

    def _reach(self, buffer: Buffer, place: Polynomial | None, *, is_write: bool) -> None:
        if buffer.space is not Space.LOCAL and self.forms.bindings.root(buffer) not in self.own:
            if place is None:
                self._note(buffer, ("anywhere", object()), self.times(), is_write=is_write)
                return
            indices = {level.index for level in self.levels if level.index is not None}
            moved = {atom for atom in place.variables() if atom in indices}
            count = self.times(lambda level: level.index in moved)
            rest = place.varying
            every = gcd(*(factor for term, factor in rest.terms.items() if not moved.isdisjoint(term)))
            offset = place.added
            first = offset % every if every else offset
            self._note(buffer, ("along", rest, first), count, is_write=is_write)

    def _note(self, buffer: Buffer, way: tuple[object, ...], count: Polynomial, *, is_write: bool) -> None:
        root = self.forms.bindings.root(buffer)
        if root.space is not Space.LOCAL:
            key = (root, is_write, *way)
            self.reached.setdefault(key, (is_write, number(0).plus(count, root.dtype.bytes)))


def _values(stmt: Stmt) -> tuple[Expr, ...]:
    """What a statement computes that is no place: whole numbers under a name are taken for one."""
    match stmt:
        case Let(var=var, value=value):
            return (value,) if var.dtype.is_float else ()
        case Store(value=value) | Atomic(value=value):
            return (value,)
        case If(condition=condition) | While(condition=condition):
            return (condition,)
        case _:
            return ()


def at_most(form: Polynomial, index: Var, ends: tuple[Polynomial, Polynomial]) -> Polynomial:
    """A form with the last index in the place of a loop's index where that is added, and the first one where
    it is taken off."""
    if not form.has((index,)):
        return form
    total = number(0)
    for monomial, coefficient in form.terms.items():
        total = total.plus(Polynomial({monomial: coefficient}).at(index, ends[coefficient > 0]))
    return total


@dataclass(frozen=True, slots=True)
class Sizes:
    """What numbers are in one call: those of the parameters, and what is computed of them alone."""

    params: Mapping[Var, int]
    numbers: Mapping[Var, Expr]
    workers: int

    def of(self, form: Polynomial) -> int | None:
        """The number that a form is; None where the run decides."""
        total = 0
        for monomial, coefficient in form.terms.items():
            for atom in monomial:
                value = self._atom(atom)
                if value is None:
                    return None
                coefficient *= value
            total += coefficient
        return total

    def _atom(self, atom: Atom) -> int | None:
        if isinstance(atom, Var):
            if atom in self.params:
                return self.params[atom]
            form = Forms(set()).of(self.numbers[atom]) if atom in self.numbers else None
            return None if form is None else self.of(form)
        match atom:
            case ("workers",):
                return self.workers
            case ("load", *_):
                return None
            case (str() as name, *forms):
                values = [self.of(form) for form in forms if isinstance(form, Polynomial)]
                known = [value for value in values if value is not None]
                return int(PRIMS[name].numpy(*known)) if len(known) == len(forms) else None
            case _:
                return None


def amounts_of(stmt: Stmt, bindings: Bindings) -> Amounts:
    """What a statement computes and reaches, with the bindings of its program."""
    inside = _Count(Forms(set(), bindings=bindings))
    inside.body((stmt,))
    read = written = number(0)
    for is_write, form in inside.reached.values():
        if is_write:
            written = written.plus(form)
        else:
            read = read.plus(form)
    return Amounts(inside.operations, read, written, tuple(inside.unknown))
