"""A sequential loop whose iterations wait for nobody is a parfor.

It carries nothing but sums, arrays of which each iteration makes the row of its own and reads none, and the
least or greatest of what iterations compute (`extremes`). Sums are those of return sweeps: what a program
adds up in a loop of its own is a value that the loop carries, and keeps its order. Adjoints that a loop
carries and that turn out not to change are what they start as.

Before:
    fn f(x: f64[n], p: i64[n], y: f64[m]) -> f64[m], f64[n] {
      a = with_sum (total = y) {
        b = loop (sum1 = total) for i < n {
          k = p[i]
          v = x[i]
          sum2 = add_to sum1[k]~ v
          return sum2
        }
        return b
      }
      zeros = full [n] 0.0
      c = loop (rows = zeros) for i < n {
        d = loop (s = 0.0) for j < m { v = y[j]; w = x[i]; q = mul v w; s1 = add s q; return s1 }
        rows1 = update rows[i] d
        return rows1
      }
      return a, c
    }
After:
    fn f(x: f64[n], p: i64[n], y: f64[m]) -> f64[m], f64[n] {
      a = with_sum (total = y) {
        b = parfor i < n {
          k = p[i]
          v = x[i]
          sum2 = add_to total[k]~ v
          yield carry total sum2
        }
        return b
      }
      zeros = full [n] 0.0
      c = parfor i < n {
        d = loop (s = 0.0) for j < m { v = y[j]; w = x[i]; q = mul v w; s1 = add s q; return s1 }
        yield stack d
      }
      return a, c
    }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anadrome.array_ir.build import Builder
from anadrome.array_ir.infer import yield_types
from anadrome.array_ir.nodes import (
    Accumulate,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Collective,
    Expr,
    Function,
    Index,
    Launch,
    Let,
    Loop,
    ParFor,
    Part,
    Scatter,
    Stack,
    SumType,
    Update,
    Var,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, bodies, bound_in, operands, prints
from anadrome.config import Config
from anadrome.passes.extremes import Extreme, extremes_of, offered, settled


def parallel_loops(fn: Function, config: Config) -> Function:
    """The function with such loops as parfors; itself where there are none. Where iterations of a loop around
    may run in lanes, an extreme stays a number that its loop carries: each lane has one of its own. So does
    one with something beside it in any loop, since a second search is too much for few iterations."""
    return _parallel(fn, to_differentiate=False)


def differentiable_loops(fn: Function, config: Config) -> Function:
    """The same before differentiation, which has a rule for the extreme of a reduction: one iteration wins,
    where the loop would keep the best of each. What has something beside it is left to `winners`."""
    return _parallel(fn, to_differentiate=True)


def _parallel(fn: Function, *, to_differentiate: bool) -> Function:
    if not any(_is_candidate(let.expr) for let in all_lets(fn.body)):
        return fn
    return with_body(fn, _Parallel(to_differentiate).body(fn.body))


def _is_candidate(expr: Expr) -> bool:
    return isinstance(expr, Loop) and expr.condition is None and expr.checkpoint is None


@dataclass(frozen=True, slots=True)
class _Row:
    """What an iteration puts into an array: the statement, and the indices in front of its own."""

    put: Let
    prefix: tuple[Atom, ...]
    value: Atom


Brought = _Row | Extreme | Var
"""What an iteration brings to what a loop carries: its row, an extreme that it may be or stand beside, or the
sum with what it adds."""


def _own_parts(loop: Loop, extremes: Iterable[Extreme]) -> dict[Var, Brought]:
    """What iterations bring to what a loop carries, by the carried variable, where none waits for another."""
    if prints(loop) or any(isinstance(let.expr, Launch | Collective) for let in all_lets(loop.body)):
        return {}
    found: dict[Var, Brought] = {}
    rows = _Rows(loop)
    for extreme in extremes:
        found.update(dict.fromkeys((extreme.carried, *(var for var, _ in extreme.beside)), extreme))
    for carried, start, after in zip(loop.carried, loop.init, loop.body.results, strict=True):
        if carried in found:
            continue
        if isinstance(carried.type, SumType):
            assert isinstance(after, Var)
            found[carried] = after
        elif (row := rows.row(carried, after)) is not None:
            found[carried] = row
        elif after is not carried or start.type != carried.type:
            return {}
    return found


class _Rows:
    """The rows of their own that iterations of a loop put into arrays; its body is gone over once."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.results = Counter(loop.body.results)
        self.made = {target: let for let in loop.body.lets for target in let.targets}
        self.bound: set[Atom | None] = {loop.index, *loop.carried, *self.made}
        self.reads: dict[Atom, list[tuple[Let, Expr | None]]] = {}
        """What reads a variable, and in which statement of the body; None: a body inside results in it."""
        for let in loop.body.lets:
            for inner in all_lets(Body((let,))):
                for atom in operands(inner.expr):
                    self.reads.setdefault(atom, []).append((let, inner.expr))
                for _, body in bodies(inner.expr):
                    for atom in body.results:
                        self.reads.setdefault(atom, []).append((let, None))

    def row(self, carried: Var, after: Atom) -> _Row | None:
        """The row that each iteration puts into an array, of which it reads no other; there is one for each
        of the array's."""
        loop, put = self.loop, self.made.get(after) if isinstance(after, Var) else None
        if put is None or self.results[after] > 1:
            return None
        match put.expr:
            case Update(array=array, indices=(*prefix, index), value=value, bounds=Bounds.PROVED) if (
                array is carried and index is loop.index
            ):
                lead = (*prefix, index)
                is_whole = carried.type.shape[len(prefix)] == loop.trip
                is_own = value is not carried and self._are_own(put, carried, lead)
                is_one = self.bound.isdisjoint(prefix)
                return _Row(put, tuple(prefix), value) if is_whole and is_own and is_one else None
            case _:
                return None

    def _are_own(self, put: Let, carried: Var, lead: tuple[Atom, ...]) -> bool:
        """Whether other statements read of an array only what is at these indices, and nothing it becomes."""
        if any(let is not put for let, _ in self.reads.get(put.targets[0], ())):
            return False
        for let, expr in self.reads.get(carried, ()):
            match expr:
                case _ if let is put:
                    pass
                case Index(array=array, indices=indices, bounds=Bounds.PROVED) if (
                    array is carried and indices[: len(lead)] == lead
                ):
                    pass
                case _:
                    return False
        return True


def _updated(loop: Loop) -> set[Var]:
    """The arrays that a loop carries or makes, of types of which it replaces elements."""
    exprs = [let.expr for let in all_lets(loop.body)]
    types = {expr.array.type for expr in exprs if isinstance(expr, Update)}
    items = [item for expr in exprs if isinstance(expr, ParFor) for item in expr.yields]
    types |= {item.init.type for item in items if isinstance(item, Accumulate | Scatter)}
    return {var for var in (*loop.carried, *bound_in(loop.body)) if var.type in types} if types else set()


class _Parallel(Substitution):
    """One walk over the program, inner loops first."""

    def __init__(self, to_differentiate: bool) -> None:
        super().__init__()
        self.to_differentiate = to_differentiate
        self.is_inside = self.is_in_lanes = False
        """Whether there is a loop around, and whether one is parallel."""
        self.updated: set[Var] = set()
        """Arrays that loops around carry or make, of types of which they update one."""

    def extremes(self, loop: Loop) -> list[Extreme]:
        """The extremes of a loop that are to be reductions."""
        found = list(extremes_of(loop))
        read = [inner.expr.array for inner in all_lets(loop.body) if isinstance(inner.expr, Index)]
        if self.to_differentiate and any(array in self.updated for array in read):
            return []  # its rule makes an array of what they are made of, as it was then
        return [one for one in found if self.is_worth_it(one)]

    def is_worth_it(self, extreme: Extreme) -> bool:
        """Whether a reduction is better than a number that the loop carries."""
        if extreme.beside:
            return not (self.to_differentiate or self.is_inside)
        return self.to_differentiate or not self.is_in_lanes

    def body(self, body: Body) -> Body:
        """A body; loops whose iterations wait for nobody are parfors now."""
        lets = tuple(made for let in body.lets for made in self.statement(let))
        return remade(body, lets, self.atoms(body.results))

    def parts(self, loop: Expr) -> dict[Var, Brought]:
        """What the iterations of a loop bring, if it is parallel."""
        if not isinstance(loop, Loop) or not _is_candidate(loop):
            return {}
        return _own_parts(loop, self.extremes(loop))

    def statement(self, let: Let) -> Iterator[Let]:
        """A statement, its loops as parfors."""
        around = self.is_inside, self.is_in_lanes, self.updated
        if isinstance(let.expr, Loop | ParFor):
            is_parallel = isinstance(let.expr, ParFor) or bool(self.parts(let.expr))
            self.is_inside, self.is_in_lanes = True, self.is_in_lanes or is_parallel
        if isinstance(let.expr, Loop):
            self.updated = self.updated | _updated(let.expr)
        new = self.let(let)
        self.is_inside, self.is_in_lanes, self.updated = around
        loop, rows = new.expr, self.parts(new.expr)
        if not isinstance(loop, Loop) or loop.index is None or loop.trip is None or not rows:
            yield new
            return
        inside = Substitution()
        for carried, source in zip(loop.carried, loop.init, strict=True):
            inside.replace(carried, source)
        puts = {row.put for row in rows.values() if isinstance(row, _Row)}
        body = inside.body(Body(tuple(inner for inner in loop.body.lets if inner not in puts)))
        builder, after = Builder(), Builder()
        builder.lets += body.lets
        after.span = let.span
        made: list[Part] = []
        targets: list[Var] = []
        ends = dict(zip(loop.carried, zip(let.targets, loop.init, strict=True), strict=True))
        for old, target, carried, source in zip(
            let.targets, new.targets, loop.carried, loop.init, strict=True
        ):
            match rows.get(carried):
                case None:
                    self.replace(old, source)
                case _Row(prefix=(), value=value):
                    made.append(Stack.of(inside.atom(value)))
                    targets.append(target)
                case _Row(prefix=prefix, value=value):
                    type_ = ArrayType(carried.type.dtype, carried.type.shape[len(prefix) :])
                    stacked = Var(target.name, type_)
                    made.append(Stack.of(inside.atom(value)))
                    targets.append(stacked)
                    assert isinstance(source, Var)
                    after.emit(Let((target,), Update(source, prefix, stacked), let.span))
                case Extreme() as extreme if extreme.carried is carried:
                    parts = offered(builder, extreme, loop, inside.atom(extreme.term))
                    results = [
                        Var(target.name, type_) for part in parts for type_ in yield_types(part, loop.trip)
                    ]
                    made += parts
                    targets += results
                    pairs = [ends[var] for var in (carried, *(other for other, _ in extreme.beside))]
                    last = settled(after, extreme, loop, results, [start for _, start in pairs])
                    for (end, _), atom in zip(pairs, last, strict=True):
                        self.replace(end, atom)
                case Extreme():
                    pass
                case Var() as token:
                    contributed = inside.atom(token)
                    assert isinstance(source, Var) and isinstance(contributed, Var)
                    made.append(Carry.of(source, contributed))
                    targets.append(target)
        yield Let(tuple(targets), ParFor.of(loop.index, loop.trip, builder.lets, made), let.span)
        yield from after.lets
