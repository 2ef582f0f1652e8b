"""Small constant sizes become scalars: short loops are unrolled, small arrays are known element by element.

A parfor or loop of constant extent at most `config.unroll_limit` is written out (longer ones, up to
`config.small_dimension`, where that lets a known array disappear). Literals, fulls and updates at constant
indices are tracked, so a read at a constant index is the element itself. Arrays whose every size is at most
`config.unroll_limit` go through loops, branches and `reduce` as scalars; so do products of such matrices.
Reductions become chains in order, from the first value (a sum of nothing but -0.0 is then -0.0, not 0.0).
A program grows by at most `MOST_GROWTH` statements.

Before:
    fn norm(x: f64[3]) -> f64 {
      y = parfor i < 3 { v = x[i]; w = mul v v; yield stack w }
      s = parfor i < 3 { v = y[i]; yield reduce add v }
      r = sqrt s
      return r
    }
After:
    fn norm(x: f64[3]) -> f64 {
      v = x[0]
      w = mul v v
      v1 = x[1]
      w1 = mul v1 v1
      v2 = x[2]
      w2 = mul v2 v2
      s = add w w1
      s1 = add s w2
      r = sqrt s1
      return r
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
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
    Size,
    Stack,
    SumType,
    Type,
    Update,
    Var,
    WithSum,
    Yield,
    i64,
)
from anadrome.array_ir.rewrite import Renaming, Substitution, with_body
from anadrome.array_ir.walk import all_lets
from anadrome.config import Config
from anadrome.errors import Span
from anadrome.library.table import LIBRARY
from anadrome.prims.table import PRIMS

MOST_GROWTH = 2000
"""The statements by which a program may grow."""
MOST_GROWTH_OF_SUMS = 4000
"""The same for loops that add to accumulators: at places that vary, these keep loops around out of lanes."""
MOST_UNROLLED = 200
"""The statements that one unrolled loop may become."""
MOST_TINY = 64
"""The same for a loop longer than the limit."""


def scalarize(fn: Function, config: Config) -> Function:
    """The function with short loops unrolled and small arrays as scalars."""
    walk = _Scalarizer(config)
    return remove_dead(with_body(fn, walk.body(fn.body)))


class _Scalarizer(Substitution):
    """One walk; `elements` are the rows of the arrays that are known by their parts."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.elements: dict[Var, tuple[Atom, ...]] = {}
        self.lets: list[Let] = []
        self.span: Span | None = None
        self.growth = 0

    # ------------------------------------------------------------------ bodies and emission
    def body(self, body: Body) -> Body:
        """A body written anew."""
        return self.split_body(body, ())

    def split_body(self, body: Body, split: Sequence[int]) -> Body:
        """A body whose results at these positions are given as their elements."""
        before, span, self.lets = self.lets, self.span, []
        for let in body.lets:
            self.statement(let)
        results: list[Atom] = []
        for position, atom in enumerate(self.atoms(body.results)):
            results.extend(self.leaves(atom) if position in split else (atom,))
        new = Body(tuple(self.lets), tuple(results))
        self.lets, self.span = before, span
        return new

    def emit(self, targets: tuple[Var, ...], expr: Expr) -> None:
        """Write a statement."""
        self.lets.append(Let(targets, expr, self.span))

    def fresh(self, name: str, type_: Type, expr: Expr) -> Var:
        """Write a statement of one new variable."""
        target = Var(name, type_)
        self.emit((target,), expr)
        return target

    def known(self, target: Var, rows: tuple[Atom, ...]) -> Var:
        """`target` is the array of these rows; it is written, and stays only where it is needed whole."""
        target = self.bound(target)
        self.emit((target,), Literal(rows))
        self.elements[target] = rows
        return target

    # ------------------------------------------------------------------ elements
    def at(self, array: Var, index: int) -> Atom:
        """A row or element of an array at a constant index."""
        rows = self.elements.get(array)
        if rows is not None:
            return rows[index]
        assert isinstance(array.type, ArrayType)
        return self.fresh("v", array.type.row(), Index(array, (i64(index),)))

    def leaves(self, atom: Atom) -> list[Atom]:
        """The scalars of an array of constant sizes, in order."""
        if not atom.type.shape:
            return [atom]
        assert isinstance(atom, Var)
        count = _constant(atom.type.shape[0])
        assert count is not None
        return [leaf for index in range(count) for leaf in self.leaves(self.at(atom, index))]

    def assembled(self, target: Var, leaves: Sequence[Atom]) -> None:
        """`target` is the array of these scalars."""
        assert isinstance(target.type, ArrayType)
        if target.type.is_scalar:
            (atom,) = leaves
            self.replace(target, atom)
            return
        count = _constant(target.type.shape[0])
        assert count is not None
        width = len(leaves) // count
        rows: list[Atom] = []
        for index in range(count):
            row = Var(target.name, target.type.row())
            self.assembled(row, leaves[index * width : (index + 1) * width])
            rows.append(self.atom(row))
        self.known(target, tuple(rows))

    def is_small(self, type_: Type) -> bool:
        """Whether values of this type are passed as scalars."""
        if isinstance(type_, SumType) or not type_.shape:
            return False
        sizes = [_constant(size) for size in type_.shape]
        return len(sizes) <= 2 and all(
            size is not None and 0 < size <= self.config.unroll_limit for size in sizes
        )

    # ------------------------------------------------------------------ statements
    def statement(self, let: Let) -> None:
        """Write one statement."""
        self.span = let.span
        expr = let.expr
        match expr:
            case Index(array=array, indices=indices, bounds=bounds):
                self.read(let, self.variable(array), self.atoms(indices), bounds)
            case Literal(elements=elements):
                self.known(let.targets[0], self.atoms(elements))
            case Full(shape=shape, value=value, is_room=is_room):
                self.full(let.targets[0], Full(self.atoms(shape), self.atom(value), is_room))
            case Update(array, indices, value, bounds):
                self.update(let, Update(self.variable(array), self.atoms(indices), self.atom(value), bounds))
            case ParFor():
                self.parfor(let, expr)
            case Loop():
                self.loop(let, expr)
            case If():
                self.branch(let, expr)
            case Library(operation, args, attributes) if LIBRARY[operation].plain == "product":
                self.product(let, Library(operation, self.atoms(args), attributes))
            case Apply() | Reshape() | WithSum() | AddTo() | Check() | Print() | Custom() | Library():
                changed = self.expr(expr, self.body)
                self.emit(self.all_bound(let.targets), changed)
            case Launch() | Collective():
                changed = self.expr(expr, self.body)
                self.emit(self.all_bound(let.targets), changed)
            case _:
                assert_never(expr)

    def read(self, let: Let, array: Var, indices: tuple[Atom, ...], bounds: Bounds) -> None:
        """A read: of the element itself where it is known."""
        while indices and array in self.elements:
            rows, first = self.elements[array], indices[0]
            if not isinstance(first, Const) or not 0 <= first.value < len(rows):
                break
            row, indices = rows[int(first.value)], indices[1:]
            if not indices:
                self.replace(let.targets[0], row)
                return
            assert isinstance(row, Var)
            array = row
        self.emit(self.all_bound(let.targets), Index(array, indices, bounds))

    def full(self, target: Var, expr: Full) -> None:
        """An array of one value."""
        count = _constant(expr.shape[0]) if expr.shape else None
        rest = expr.shape[1:]
        if count is None or not 0 < count <= self.config.small_dimension or not self.all_constant(rest):
            self.emit((self.bound(target),), expr)
            return
        row = expr.value
        if rest:
            inner = Var(target.name, ArrayType(row.type.dtype, rest))
            self.full(inner, Full(rest, expr.value, expr.is_room))
            row = inner
        target = self.bound(target)
        self.emit((target,), expr)
        self.elements[target] = (row,) * count

    def all_constant(self, shape: Sequence[Size]) -> bool:
        """Whether all sizes are small constants."""
        sizes = [_constant(size) for size in shape]
        return all(size is not None and 0 < size <= self.config.small_dimension for size in sizes)

    def update(self, let: Let, expr: Update) -> None:
        """An update at a constant index of a known array is a known array."""
        rows = self.elements.get(expr.array)
        first = expr.indices[0] if expr.indices else None
        is_known = rows is not None and isinstance(first, Const) and 0 <= first.value < len(rows)
        if (
            not is_known
            or len(expr.indices) > 2
            or not all(isinstance(index, Const) for index in expr.indices)
        ):
            self.emit(self.all_bound(let.targets), expr)
            return
        assert rows is not None and isinstance(first, Const)
        place = int(first.value)
        value = expr.value
        if len(expr.indices) == 2:
            inner = rows[place]
            assert isinstance(inner, Var)
            row = Var(inner.name, inner.type)
            self.update(Let((row,), expr, let.span), Update(inner, expr.indices[1:], value, expr.bounds))
            value = self.atom(row)
        self.known(let.targets[0], (*rows[:place], value, *rows[place + 1 :]))

    def product(self, let: Let, call: Library) -> None:
        """C[i, j] = Σₖ A[i, k]·B[k, j] written out."""
        if not all(self.is_small(arg.type) for arg in call.args):
            self.emit(self.all_bound(let.targets), call)
            return
        a, b = (self.matrix(arg, bool(flag)) for arg, flag in zip(call.args, call.attributes, strict=True))
        leaves: list[Atom] = []
        for row in a:
            for column in zip(*b, strict=True):
                terms = [self.apply("mul", x, y) for x, y in zip(row, column, strict=True)]
                leaves.append(self.chain("add", terms))
        self.assembled(let.targets[0], leaves)

    def matrix(self, atom: Atom, is_transposed: bool) -> list[list[Atom]]:
        """The elements of a small matrix, row by row."""
        leaves = self.leaves(atom)
        columns = _constant(atom.type.shape[1])
        assert columns is not None
        rows = [leaves[start : start + columns] for start in range(0, len(leaves), columns)]
        return [list(column) for column in zip(*rows, strict=True)] if is_transposed else rows

    def apply(self, name: str, *args: Atom) -> Atom:
        """Write a scalar operation whose result has the type of its arguments."""
        return self.fresh("s", args[0].type, Apply(PRIMS[name], args))

    def chain(self, name: str, values: Sequence[Atom]) -> Atom:
        """v₀ ⊕ v₁ ⊕ … from the left."""
        total = values[0]
        for value in values[1:]:
            total = self.apply(name, total, value)
        return total

    # ------------------------------------------------------------------ branches and loops
    def branch(self, let: Let, expr: If) -> None:
        """Small arrays leave a branch as scalars."""
        split = [position for position, target in enumerate(let.targets) if self.is_small(target.type)]
        condition = self.atom(expr.condition)
        then, other = self.split_body(expr.then, split), self.split_body(expr.other, split)
        self.emit_split(let.targets, split, If(condition, then, other))

    def emit_split(self, targets: tuple[Var, ...], split: Sequence[int], expr: Expr) -> None:
        """Write a statement of which some results come as their elements, and put those together."""
        written: list[Var] = []
        pieces: list[tuple[Var, list[Var]]] = []
        for position, target in enumerate(targets):
            if position in split:
                leaves = self.leaf_variables(target)
                written.extend(leaves)
                pieces.append((target, leaves))
            else:
                written.append(self.bound(target))
        self.emit(tuple(written), expr)
        for target, leaves in pieces:
            self.assembled(target, leaves)

    def leaf_variables(self, var: Var) -> list[Var]:
        """A scalar variable for each element of a small array."""
        count = 1
        for size in var.type.shape:
            count *= _constant(size) or 0
        return [Var(var.name, ArrayType(var.type.dtype)) for _ in range(count)]

    def loop(self, let: Let, expr: Loop) -> None:
        """A short loop is written out; small carried arrays are carried as scalars."""
        trip = None if expr.trip is None else self.atom(expr.trip)
        count = None if trip is None else _constant(trip)
        if count is not None and self.may_unroll(expr.body, count):
            self.unrolled_loop(let, expr, count)
            return
        split = [position for position, carried in enumerate(expr.carried) if self.is_small(carried.type)]
        init: list[Atom] = []
        for position, start in enumerate(self.atoms(expr.init)):
            init.extend(self.leaves(start) if position in split else (start,))
        carried: list[Var] = []
        leaves = {position: self.leaf_variables(expr.carried[position]) for position in split}
        for position, var in enumerate(expr.carried):
            carried.extend(leaves[position] if position in split else (self.bound(var),))
        condition = None if expr.condition is None else self.carried_body(expr, expr.condition, leaves, ())
        body = self.carried_body(expr, expr.body, leaves, split)
        new = Loop(tuple(carried), tuple(init), body, expr.index, trip, condition, expr.checkpoint)
        self.emit_split(let.targets, split, new)

    def carried_body(
        self, expr: Loop, body: Body, leaves: dict[int, list[Var]], split: Sequence[int]
    ) -> Body:
        """A body of a loop in which small carried arrays are put together first."""
        before, self.lets = self.lets, []
        for position, scalars in leaves.items():
            carried = expr.carried[position]
            copy = Var(carried.name, carried.type)
            self.assembled(copy, scalars)
            self.replace(carried, self.atom(copy))
        start, self.lets = self.lets, before
        new = self.split_body(body, split)
        return Body((*start, *new.lets), new.results)

    def unrolled_loop(self, let: Let, expr: Loop, count: int) -> None:
        """Each iteration after the other."""
        values = self.atoms(expr.init)
        for iteration in range(count):
            renaming = Renaming({} if expr.index is None else {expr.index: i64(iteration)})
            carried = tuple(Var(var.name, var.type) for var in expr.carried)
            renaming.mapping.update(zip(expr.carried, carried, strict=True))
            for var, value in zip(carried, values, strict=True):
                self.replace(var, value)
            copy = renaming.body(expr.body)
            for inner in copy.lets:
                self.statement(inner)
            values = self.atoms(copy.results)
        for target, value in zip(let.targets, values, strict=True):
            self.replace(target, value)

    # ------------------------------------------------------------------ parfors
    def parfor(self, let: Let, expr: ParFor) -> None:
        """A short parfor is written out; small vectors are reduced by element."""
        extent = self.atom(expr.extent)
        count = _constant(extent)
        if count is not None and count > 0 and _is_plain(expr) and self.is_worth(expr, count):
            self.unrolled(let, expr, count)
            return
        before, span, self.lets = self.lets, self.span, []
        for inner in expr.body.lets:
            self.statement(inner)
        parts: list[Part] = []
        split: list[int] = []
        for part, where in expr.slices():
            item, values = part.item, self.atoms(part.takes)
            if isinstance(item, Reduce) and isinstance(item.operator, str) and self.is_small(part.value.type):
                parts.extend(Reduce.of(item.operator, (leaf,)) for leaf in self.leaves(values[0]))
                split.append(where.start)
            else:
                parts.append(Part(self.item(item, self.body), values))
        new = ParFor.of(expr.index, extent, self.lets, parts)
        self.lets, self.span = before, span
        self.emit_split(let.targets, split, new)

    def may_unroll(
        self, body: Body, count: int, limit: int = MOST_UNROLLED, growth: int = MOST_GROWTH
    ) -> bool:
        """Whether the copies are few and small enough; if so they are counted."""
        if count > self.config.unroll_limit and limit != MOST_TINY:
            return False
        size = sum(1 for _ in all_lets(body)) * count
        if size > limit or self.growth + size > growth:
            return False
        self.growth += size
        return True

    def is_worth(self, expr: ParFor, count: int) -> bool:
        """Short, or tiny and reading a known array at its index."""
        if count <= self.config.unroll_limit:
            adds = any(isinstance(item, Carry) for item in expr.yields)
            growth = MOST_GROWTH_OF_SUMS if adds else MOST_GROWTH
            return self.may_unroll(expr.body, count, growth=growth)
        if count > self.config.small_dimension:
            return False
        reads = [let.expr for let in all_lets(expr.body) if isinstance(let.expr, Index)]
        is_known = any(
            self.variable(read.array) in self.elements and expr.index in read.indices for read in reads
        )
        return is_known and self.may_unroll(expr.body, count, MOST_TINY)

    def unrolled(self, let: Let, expr: ParFor, count: int) -> None:
        """Each iteration after the other, then what becomes of their results."""
        taken: list[tuple[Part, ...]] = []
        for iteration in range(count):
            renaming = Renaming({expr.index: i64(iteration)})
            for last in taken[-1] if taken else ():
                if isinstance(last.item, Carry):
                    renaming.replace(last.item.source, last.value)
            for inner in expr.body.lets:
                self.statement(renaming.let(inner))
            taken.append(
                tuple(Part(part.item, self.atoms(renaming.atoms(part.takes))) for part in expr.parts)
            )
        for position, (part, where) in enumerate(expr.slices()):
            self.combined(part.item, let.targets[where], [parts[position].takes for parts in taken])

    def combined(self, item: Yield, targets: tuple[Var, ...], rows: Sequence[tuple[Atom, ...]]) -> None:
        """The results of a yield from what it takes of each iteration."""
        match item:
            case Stack():
                self.known(targets[0], tuple(value for (value,) in rows))
            case Reduce(operator=operator):
                for target, value in zip(targets, self.prefixes(operator, rows)[-1], strict=True):
                    self.replace(target, value)
            case Scan(operator=operator):
                columns = zip(*self.prefixes(operator, rows), strict=True)
                for target, column in zip(targets, columns, strict=True):
                    self.known(target, column)
            case Carry():
                self.replace(targets[0], rows[-1][0])
            case _:
                raise TypeError(f"a {type(item).__name__} is not unrolled")

    def prefixes(self, operator: Operator, parts: Sequence[tuple[Atom, ...]]) -> list[tuple[Atom, ...]]:
        """v₀, v₀ ⊕ v₁, v₀ ⊕ v₁ ⊕ v₂, …"""
        found = [parts[0]]
        for part in parts[1:]:
            if isinstance(operator, Lambda):
                renaming = Renaming(
                    dict(zip((*operator.left, *operator.right), (*found[-1], *part), strict=True))
                )
                for inner in operator.body.lets:
                    self.statement(renaming.let(inner))
                found.append(self.atoms(renaming.atoms(operator.body.results)))
            else:
                found.append((self.apply(operator, found[-1][0], part[0]),))
        return found


def _is_plain(expr: ParFor) -> bool:
    """Whether all yields can be written out: stacks, accumulators, reductions, inclusive scans of scalars."""
    for part in expr.parts:
        match part.item:
            case Stack() | Carry():
                continue
            case Reduce(operator=operator) | Scan(operator=operator):
                if isinstance(part.item, Scan) and part.item.exclusive:
                    return False
                if isinstance(operator, str) and part.value.type.shape:
                    return False
            case _:
                return False
    return True


def _constant(size: Size) -> int | None:
    return int(size.value) if isinstance(size, Const) else None
