"""Writing kernel statements: one operation each, named, and the same pure operation once in a scope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors import Span
from anadrome.errors.ir import IRError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Buffer,
    Compute,
    Const,
    For,
    Let,
    Load,
    Space,
    Stmt,
    Store,
    Var,
    i64,
)
from anadrome.prims.record import Algebra, Bracket, Prim, bracket_of
from anadrome.prims.table import PRIMS

Atom = Var | Const
"""A variable or a constant: what the operands of a kernel in normal form are."""

_Key = tuple[object, ...]
FIRST, STEP = i64(0), i64(1)


@dataclass(slots=True)
class Block:
    """A list of statements being written, and what the pure operations in it are called."""

    stmts: list[Stmt] = field(default_factory=list)
    known: dict[_Key, Atom] = field(default_factory=dict)


class Emitter(Algebra[Atom]):
    """Appends statements to the innermost open block."""

    def __init__(self) -> None:
        self.blocks = [Block()]
        self.span: Span | None = None
        self.brackets: dict[Atom, Bracket[Atom]] = {}

    @property
    def stmts(self) -> tuple[Stmt, ...]:
        """The statements of the innermost open block so far."""
        return tuple(self.blocks[-1].stmts)

    @contextmanager
    def open(self) -> Iterator[Block]:
        """A block inside; the caller places its statements."""
        block = Block()
        self.blocks.append(block)
        try:
            yield block
        finally:
            self.blocks.pop()

    def emit(self, stmt: Stmt) -> None:
        """Append a statement."""
        self.blocks[-1].stmts.append(stmt)

    # ------------------------------------------------------------------ scalars
    def apply(self, name: str, *args: Atom) -> Atom:
        """The operation of this name on atoms."""
        return self.compute(PRIMS[name], args)

    def constant(self, value: float, like: Atom) -> Const:
        """A number of the type of `like`."""
        return number(value, like.dtype)

    def compute(
        self, prim: Prim, args: Sequence[Atom], name: str = "", is_reassociable: bool = False
    ) -> Atom:
        """An operation on atoms: folded, found again, or bound to a new variable."""
        folded = simpler(prim, tuple(args))
        if folded is not None:
            return folded
        key = (prim, is_reassociable, *map(key_of, args))
        for block in reversed(self.blocks):
            if key in block.known:
                return block.known[key]
        dtype = prim.types(tuple(arg.dtype for arg in args))
        if dtype is None:
            raise IRError(f"{prim.name} is not defined on {[str(arg.dtype) for arg in args]}")
        var = Var(name or prim.name, dtype)
        self.emit(Let(var, Compute(prim, tuple(args), is_reassociable), self.span))
        self.blocks[-1].known[key] = var
        self._learn(var, prim, tuple(args))
        return var

    def bracket(self, value: Atom) -> Bracket[Atom] | None:
        """The Iverson bracket that a value is, if it is one."""
        return self.brackets.get(value)

    def _learn(self, var: Var, prim: Prim, args: tuple[Atom, ...]) -> None:
        found = bracket_of(prim, args, of_bool=args[0].dtype is BOOL)
        if found is not None:
            self.brackets[var] = found

    def remember(self, var: Var, value: Compute) -> None:
        """A variable of the open block is this pure operation."""
        args = [arg for arg in value.args if isinstance(arg, Atom)]
        key = (value.prim, value.is_reassociable, *map(key_of, args))
        self.blocks[-1].known.setdefault(key, var)
        self._learn(var, value.prim, tuple(args))

    # ------------------------------------------------------------------ memory
    def load(self, buffer: Buffer, indices: Sequence[Atom], name: str = "") -> Var:
        """An element."""
        var = Var(name or buffer.name, buffer.dtype)
        self.emit(Let(var, Load(buffer, tuple(indices)), self.span))
        return var

    def store(self, buffer: Buffer, indices: Sequence[Atom], value: Atom) -> None:
        """Put a value into an element."""
        self.emit(Store(buffer, tuple(indices), value, self.span))

    def cell(self, name: str, dtype: DType, start: Atom) -> Buffer:
        """A mutable scalar."""
        buffer = Buffer(name, dtype, Space.LOCAL)
        self.emit(Alloc(buffer, i64(1)))
        self.store(buffer, (i64(0),), start)
        return buffer

    def cell_value(self, cell: Buffer) -> Var:
        """What a mutable scalar holds."""
        return self.load(cell, (i64(0),))

    def each(
        self,
        buffer: Buffer,
        size: Atom,
        value: Callable[[tuple[Atom, ...]], Atom],
        start: Atom = FIRST,
        step: Atom = STEP,
    ) -> None:
        """Put values into the elements start, start + step, … of the first `size` ones, row-major."""
        if is_number(size, 1) and is_number(step, 1):
            at: tuple[Atom, ...] = (i64(0),) * buffer.rank
            self.store(buffer, at, value(at))
            return
        rest = self.sub(self.add(size, self.sub(step, i64(1))), start)
        index = Var("k", I64)
        with self.open() as block:
            at = self.indices(buffer, self.add(start, self.mul(index, step)))
            self.store(buffer, at, value(at))
        self.emit(For(index, i64(0), self.apply("truncdiv", rest, step), tuple(block.stmts)))

    def fill(
        self, buffer: Buffer, size: Atom, value: Atom, start: Atom | None = None, step: Atom | None = None
    ) -> None:
        """Put one value into the elements start, start + step, … of the first `size` ones."""
        self.each(buffer, size, lambda _: value, start or i64(0), step or i64(1))

    def indices(self, buffer: Buffer, place: Atom) -> tuple[Atom, ...]:
        """The indices of an element, of its place in row-major order."""
        found: list[Atom] = []
        for extent in reversed(atoms_of(buffer.shape[1:])):
            quotient = self.apply("truncdiv", place, extent)
            found.insert(0, self.sub(place, self.mul(quotient, extent)))
            place = quotient
        return (place, *found)


def atom_of(expr: object) -> Atom:
    """An operand of a kernel in normal form."""
    assert isinstance(expr, Atom), "a kernel in normal form"
    return expr


def atoms_of(exprs: Iterable[object]) -> tuple[Atom, ...]:
    """Operands of a kernel in normal form."""
    return tuple(map(atom_of, exprs))


def key_of(atom: Atom) -> object:
    """What is equal where two atoms are surely the same number."""
    return atom if isinstance(atom, Var) else (atom.dtype.name, repr(atom.value))


def number(value: float, dtype: DType) -> Const:
    """A constant of a type."""
    return Const(float(value) if dtype.is_float else bool(value) if dtype is BOOL else int(value), dtype)


def zero(dtype: DType) -> Const:
    """The 0 of a type."""
    return number(0, dtype)


def is_number(atom: Atom, value: float) -> bool:
    """Whether an atom is this constant."""
    return isinstance(atom, Const) and atom.value == value


def simpler(prim: Prim, args: tuple[Atom, ...]) -> Atom | None:
    """What an operation comes to without being done: products with 1, sums of integers with 0, choices that
    are known, and operations on known integers."""
    if all(isinstance(arg, Const) and not arg.dtype.is_float for arg in args):
        return _folded(prim, args)
    match prim.name, args:
        case ("mul", (left, right)) if is_number(right, 1):
            return left
        case ("mul", (left, right)) if is_number(left, 1):
            return right
        case ("add", (left, right)) if is_number(right, 0) and left.dtype.is_integer:
            return left
        case ("add", (left, right)) if is_number(left, 0) and right.dtype.is_integer:
            return right
        case ("sub", (left, right)) if is_number(right, 0) and left.dtype.is_integer:
            return left
        case ("mul", (left, right)) if left.dtype.is_integer and (is_number(left, 0) or is_number(right, 0)):
            return zero(left.dtype)
        case ("select", (condition, then, other)):
            if isinstance(condition, Const):
                return then if condition.value else other
            return then if key_of(then) == key_of(other) else None
        case _:
            return None


def _folded(prim: Prim, args: tuple[Atom, ...]) -> Atom | None:
    dtype = prim.types(tuple(arg.dtype for arg in args))
    if dtype is None or dtype.is_float or prim.name in ("floordiv", "mod", "truncdiv", "rem", "fmod", "pow"):
        return None
    values = [arg.dtype.numpy.type(arg.value) for arg in args if isinstance(arg, Const)]
    with np.errstate(all="ignore"):
        return number(prim.numpy(*values).item(), dtype)
