"""Rows that are gathered: an array of which only some rows are read is computed in those alone.

Where a loop of m iterations reads rows of an array of n that data name, and nothing else reads the array,
min(m, n) rows are enough: those that the iterations read, one for each, or all. Which of the two is known
when the program runs, and both are the same code: `rows` says which rows are computed, and a read goes to the
one of its iteration or to the one that is named. What a row is made of, if it is rows of other arrays that
nothing else needs, goes the same way, through parfors, reshapes and matrix products.

That costs a read of an index for each row, and is done for rows that take much more. A row of which a check
may fail is not left out.

Before:
    fn f(w: f64[n, d], x: f64[d, d], c: i64[m]) -> f64[m, d] {
      a = call matmul(w, x, transpose_left=false, transpose_right=false)
      e = parfor i < n {
        r = parfor j < d { v = a[i, j]; u = exp v; yield stack u }
        yield stack r
      }
      g = parfor k < m { p = c[k]; q = e[p]?; yield stack q }
      return g
    }
After:
    fn f(w: f64[n, d], x: f64[d, d], c: i64[m]) -> f64[m, d] {
      size = min m n
      v = lt m n
      a = parfor k < size {
        p = c[k]
        v1 = ge p 0
        v2 = lt p n
        v3 = and v1 v2
        v4 = select v3 p 0
        v5 = select v v4 k
        yield stack v5
      }
      a1 = parfor i < size {
        v6 = a[i]
        v7 = w[v6]
        yield stack v7
      }
      a2 = call matmul(a1, x, transpose_left=false, transpose_right=false)
      a3 = parfor k1 < size {
        r = parfor j < d {
          v8 = a2[k1, j]
          u = exp v8
          yield stack u
        }
        yield stack r
      }
      g = parfor k2 < m {
        p1 = c[k2]
        v9 = ge p1 0
        v10 = lt p1 n
        v11 = and v9 v10
        v12 = select v11 p1 0
        check v11 index "index {0} is out of range for a dimension of size {1}" p1 n
        v13 = select v k2 v12
        q = a3[v13]
        yield stack q
      }
      return g
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import MappingProxyType

from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Check,
    Const,
    Expr,
    Function,
    Index,
    Let,
    Library,
    ParFor,
    Reshape,
    Size,
    Stack,
    Var,
    i64,
)
from anadrome.array_ir.overwriting import overwriting
from anadrome.array_ir.rewrite import Renaming, Substitution, remade, with_body
from anadrome.array_ir.walk import bodies, has_effect, let_variables, operands
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.errors.runtime import INDEX_MESSAGE

LEAST = 40
"""Operations of a row below which all rows are computed: where it is read from is an index in memory then."""
UNKNOWN = 8
"""The iterations of a loop of which nothing is known, for that."""


def gathered(fn: Function, config: Config) -> Function:
    """The function with arrays whose rows are gathered computed in those; itself where there is none."""
    body = fn.body
    while (plan := _Search(body).plan()) is not None:
        body = _written(body, plan)
    return fn if body is fn.body else remove_dead(with_body(fn, body))


# ---------------------------------------------------------------------------- what is gathered
@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A read in a nest, the parfors around, from the outermost one, and the statements in them that say which
    row is read; None where those are not simple, or ask no data. `around` ends where that is known."""

    index: Index
    around: tuple[ParFor, ...]
    finding: tuple[Let, ...] | None

    @property
    def row(self) -> Atom:
        """Which row is read."""
        return self.index.indices[0]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Which statements make rows, of how many; where they are read, and how it is known which."""

    region: tuple[Let, ...]
    size: Size
    consumer: Let
    reads: tuple[Read, ...]


Use = tuple[Let | None, Expr | None]
"""A statement of the body that uses an array, and the expression in it; None for results of bodies."""


class _Search:
    """The statements of a body, and who uses what they make."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.made = {target: let for let in body.lets for target in let.targets}
        self.uses: dict[Var, list[Use]] = {}
        for let in body.lets:
            self._uses_in(let, let.expr)
        for atom in body.results:
            self._use(atom, (None, None))
        uses = self.uses
        self.used = {let: sum(len(uses.get(target, ())) for target in let.targets) for let in body.lets}
        self.least = {
            let.targets[0] for let in body.lets if isinstance(let.expr, Apply) and let.expr.prim.name == "min"
        }

    def _uses_in(self, let: Let, expr: Expr) -> None:
        for atom in operands(expr):
            self._use(atom, (let, expr))
        for _, body in bodies(expr):
            for inner in body.lets:
                self._uses_in(let, inner.expr)
            for atom in body.results:
                self._use(atom, (let, None))

    def _use(self, atom: Atom, use: Use) -> None:
        if isinstance(atom, Var) and atom in self.made and atom.type.shape:
            self.uses.setdefault(atom, []).append(use)

    def plan(self) -> Plan | None:
        """The first array whose rows are gathered, and are worth it."""
        for consumer in self.body.lets:
            reads: dict[Let, list[Read]] = {}
            for found in _reads(consumer.expr):
                if found[0].array in self.made:
                    reads.setdefault(self.made[found[0].array], []).append(_read(*found))
            for maker, own in reads.items():
                plan = self._plan_of(maker, consumer, own)
                if plan is not None:
                    return plan
        return None

    def _plan_of(self, maker: Let, consumer: Let, own: Sequence[Read]) -> Plan | None:
        size = maker.targets[0].type.shape[0] if maker.targets[0].type.shape else None
        if size is None or size in self.least or self.used[maker] != len(own) or not _makes_rows(maker, size):
            return None
        if any(read.finding is None or read.around != own[0].around for read in own):
            return None
        if not self._may_be_fewer(own, size):
            return None
        region = self._region(maker, size)
        is_worth = sum(_work(let.expr) // _times(let.expr) for let in region) >= LEAST
        if not is_worth or self._is_late(region, consumer):
            return None
        return Plan(region, size, consumer, tuple(own))

    def _may_be_fewer(self, reads: Sequence[Read], size: Size) -> bool:
        """Whether fewer rows may be read than there are, and it is known before the nest how many."""
        extents = [loop.extent for loop in reads[0].around]
        inside = {var for loop in reads[0].around for let in loop.body.lets for var in let.targets}
        if any(extent in inside or extent == size for extent in extents):
            return False
        if isinstance(size, Const) and all(isinstance(extent, Const) for extent in extents):
            choices = len({read.row for read in reads})
            return choices * _product(extents) < int(size.value)
        return True

    def _region(self, maker: Let, size: Size) -> tuple[Let, ...]:
        """The statements that make rows which only a row of `maker` needs, itself among them."""
        found = [maker]
        end = self.body.lets.index(maker)
        for let in reversed(self.body.lets[:end]):
            uses = [(target, use) for target in let.targets for use in self.uses.get(target, ())]
            is_needed = any(
                user not in found or not _takes_row(user, expr, one) for one, (user, expr) in uses
            )
            if uses and not is_needed and _makes_rows(let, size):
                found.append(let)
        return tuple(reversed(found))

    def _is_late(self, region: Sequence[Let], consumer: Let) -> bool:
        """Whether something that the rows are made of is overwritten before they are read."""
        read = {var for let in region for var in let_variables(let)}
        start = self.body.lets.index(region[0])
        between = takewhile(lambda let: let is not consumer, self.body.lets[start:])
        ends = overwriting(self.body)
        return any(not read.isdisjoint(ends.get(let, ())) for let in between if let not in region)


Made = Mapping[Var, Let]
"""The statements of the parfors around, by what they make."""

NOTHING: Made = MappingProxyType({})


def _reads(
    expr: Expr, around: tuple[ParFor, ...] = (), made: Made = NOTHING
) -> Iterator[tuple[Index, tuple[ParFor, ...], Made]]:
    """What a nest of parfors reads, with the parfors around and their statements."""
    if isinstance(expr, ParFor):
        nest = (*around, expr)
        own = {**made, **{target: let for let in expr.body.lets for target in let.targets}}
        for let in expr.body.lets:
            if isinstance(let.expr, Index):
                yield let.expr, nest, own
            yield from _reads(let.expr, nest, own)


def _read(index: Index, around: tuple[ParFor, ...], made: Made) -> Read:
    waiting, needed, known = [index.indices[0]], set[Let](), set[Var]()
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Var) and atom not in known:
            known.add(atom)
            if atom in made:
                needed.add(made[atom])
                waiting.extend(let_variables(made[atom]))
    inside = [loop for loop in around if loop.index in known or not needed.isdisjoint(loop.body.lets)]
    depth = around.index(inside[-1]) + 1 if inside else 0
    is_data = any(isinstance(let.expr, Index) for let in needed)
    if not is_data or not all(map(_is_simple, needed)):
        return Read(index, around[:depth], None)
    finding = (let for loop in around for let in loop.body.lets if let in needed)
    return Read(index, around[:depth], tuple(finding))


def _is_simple(let: Let) -> bool:
    match let.expr:
        case Apply():
            return True
        case Index(bounds=bounds):
            return bounds is Bounds.PROVED
        case _:
            return False


def _makes_rows(let: Let, size: Size) -> bool:
    """Whether a statement makes one row after the other of arrays of this size, and cannot fail."""
    match let.expr:
        case ParFor(extent=extent, yields=yields):
            is_stack = all(isinstance(item, Stack) for item in yields)
            return extent == size and is_stack and not has_effect(let.expr)
        case Reshape(array=array, shape=shape):
            return bool(shape and array.type.shape) and shape[0] == size == array.type.shape[0]
        case Library(operation="matmul", args=(left, right), attributes=(False, _)):
            return left is not right and left.type.shape[0] == size
        case _:
            return False


def _takes_row(user: Let | None, expr: Expr | None, array: Var) -> bool:
    """Whether a statement that makes rows reads a row of this array for its own, and nothing else."""
    match expr:
        case Index(indices=indices):
            return user is not None and isinstance(user.expr, ParFor) and indices[0] is user.expr.index
        case Reshape():
            return user is not None and expr is user.expr
        case Library(args=(left, right)):
            return user is not None and expr is user.expr and left is array and right is not array
        case _:
            return False


def _work(expr: Expr) -> int:
    """About how many operations an expression is."""
    match expr:
        case Apply(prim=prim):
            return prim.cost
        case Library():
            return LEAST
        case _:
            inside = sum(_work(let.expr) for _, body in bodies(expr) for let in body.lets)
            return inside * _times(expr)


def _times(expr: Expr) -> int:
    if not isinstance(expr, ParFor):
        return 1
    return max(int(expr.extent.value), 1) if isinstance(expr.extent, Const) else UNKNOWN


def _product(extents: Iterable[Size]) -> int:
    total = 1
    for extent in extents:
        assert isinstance(extent, Const)
        total *= int(extent.value)
    return total


# ---------------------------------------------------------------------------- the rewrite
def _written(body: Body, plan: Plan) -> Body:
    """The body with the rows of a plan computed before what reads them."""
    builder = Builder()
    builder.span = plan.consumer.span
    choices = tuple(dict.fromkeys(read.row for read in plan.reads))
    total: Size = i64(len(choices))
    for loop in plan.reads[0].around:
        total = builder.size("mul", total, loop.extent)
    count, fewer = builder.size("min", total, plan.size), builder.apply("lt", total, plan.size)
    checked = {read.row for read in plan.reads if read.index.bounds is Bounds.CHECKED}

    def row(inner: Builder, place: Var) -> Atom:
        known = Renaming(dict(_indices(inner, place, plan.reads[0].around, len(choices))))
        for let in dict.fromkeys(let for read in plan.reads for let in read.finding or ()):
            inner.emit(known.let(let))
        found = [known.atom(choice) for choice in choices]
        inside = [
            _clamped(inner, atom, plan.size)[0] if choice in checked else atom
            for choice, atom in zip(choices, found, strict=True)
        ]
        wanted: Atom = inside[0]
        if len(inside) > 1:
            which = inner.apply("mod", place, i64(len(choices)))
            wanted = inner.index(inner.literal(inside), (which,))
        return inner.apply("select", fewer, wanted, place)

    rows = builder.stack(count, row, "k")
    arrays: dict[Var, Var] = {}
    for let in plan.region:
        _emit_rows(builder, let, rows, count, arrays)
    reader = _Reader(plan, choices, arrays, fewer)
    lets: list[Let] = []
    for let in body.lets:
        if let is plan.consumer:
            lets += (*builder.lets, reader.let(let))
        elif let not in plan.region:
            lets.append(let)
    return remade(body, lets, body.results)


def _indices(
    inner: Builder, place: Atom, around: Sequence[ParFor], choices: int
) -> Iterator[tuple[Var, Atom]]:
    """The indices of the iteration that reads the row at a place."""
    if choices > 1:
        place = inner.apply("floordiv", place, i64(choices))
    for loop in reversed(around[1:]):
        yield loop.index, inner.apply("mod", place, loop.extent)
        place = inner.apply("floordiv", place, loop.extent)
    yield around[0].index, place


def _clamped(builder: Builder, row: Atom, size: Size) -> tuple[Atom, Atom]:
    """The row, or 0 where it is outside, and whether it is inside."""
    least, most = builder.apply("ge", row, i64(0)), builder.apply("lt", row, size)
    inside = builder.apply("and", least, most)
    return builder.apply("select", inside, row, i64(0)), inside


def _emit_rows(builder: Builder, let: Let, rows: Var, count: Size, arrays: dict[Var, Var]) -> None:
    """A statement that makes the wanted rows alone, and in `arrays` what stands for what it made."""
    builder.span = let.span
    match let.expr:
        case ParFor(index=index):
            place = Var("k", ArrayType(I64))
            of_row = _OfRow(index, place, arrays)
            own = Var(index.name, index.type)
            of_row.replace(index, own)
            new = of_row.expr(let.expr, of_row.body)
            assert isinstance(new, ParFor)
            first = Let((own,), Index(rows, (place,)), let.span)
            made = builder.let(ParFor.of(place, count, (first, *new.body.lets), new.parts))
        case Reshape(array=array, shape=shape):
            made = (builder.reshape(_rows_of(builder, array, rows, count, arrays), (count, *shape[1:])),)
        case Library(operation, (left, right), attributes):
            assert isinstance(left, Var)
            some = _rows_of(builder, left, rows, count, arrays)
            made = builder.let(Library(operation, (some, right), attributes))
        case _:
            raise AssertionError(f"{type(let.expr).__name__} does not make rows")
    arrays |= zip(let.targets, made, strict=True)


def _rows_of(builder: Builder, array: Var, rows: Var, count: Size, arrays: dict[Var, Var]) -> Var:
    """The wanted rows of an array: made as those before, or copied."""
    made = arrays.get(array)
    return made or builder.stack(count, lambda inner, k: inner.index(array, (inner.index(rows, (k,)),)))


class _OfRow(Substitution):
    """A body of all rows as one of the wanted rows: those of other arrays stand at the same place."""

    def __init__(self, index: Var, place: Var, arrays: dict[Var, Var]) -> None:
        super().__init__()
        self.index, self.place, self.arrays = index, place, arrays

    def let(self, let: Let) -> Let:
        """A statement that reads such a row, or another one."""
        match let.expr:
            case Index(array=array, indices=(_, *rest), bounds=bounds) if array in self.arrays:
                new = Index(self.arrays[array], (self.place, *self.atoms(rest)), bounds)
                return remade(let, self.all_bound(let.targets), new)
            case _:
                return super().let(let)


class _Reader(Substitution):
    """The nest that reads, with the rows where they are."""

    def __init__(self, plan: Plan, choices: Sequence[Atom], arrays: dict[Var, Var], fewer: Atom) -> None:
        super().__init__()
        self.plan, self.choices, self.arrays, self.fewer = plan, choices, arrays, fewer

    def body(self, body: Body) -> Body:
        """A body with its reads replaced."""
        lets: list[Let] = []
        for let in body.lets:
            if isinstance(let.expr, Index) and let.expr.array in self.arrays:
                lets += self._read(let, let.expr)
            else:
                lets.append(self.let(let))
        return remade(body, lets, self.atoms(body.results))

    def _read(self, let: Let, read: Index) -> list[Let]:
        builder = Builder()
        builder.span = let.span
        around, (row, *rest) = self.plan.reads[0].around, read.indices
        place: Atom = around[0].index
        for loop in around[1:]:
            place = builder.apply("add", builder.apply("mul", place, loop.extent), loop.index)
        if len(self.choices) > 1:
            first = builder.apply("mul", place, i64(len(self.choices)))
            place = builder.apply("add", first, i64(self.choices.index(row)))
        if read.bounds is Bounds.CHECKED:
            size = self.plan.size
            inside, condition = _clamped(builder, row, size)
            builder.let(Check(condition, "index", INDEX_MESSAGE, (row, size)))
            row = inside
        at = builder.apply("select", self.fewer, place, row)
        bounds = read.bounds if rest else Bounds.PROVED
        return [
            *builder.lets,
            Let(let.targets, Index(self.arrays[read.array], (at, *rest), bounds), let.span),
        ]
