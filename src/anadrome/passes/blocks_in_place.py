"""A block of an array that a loop carries is written where it lies, row by row.

A block is written by a nest of parfors: of each row that it reaches, the elements in it are replaced, and the
row is put back. As a value that is another array; whoever lowers or reverses it sees whole rows. Here the
outer parfors of such a nest become loops that carry the array, and the innermost one scatters elements into
it, if that reads what the nest has read:

* no two iterations of a parfor write at one place, and
* what is read of the array is surely written by no iteration, or it is the element that the iteration itself
  replaces, or it is read from its own row before anything of that is replaced.

What each row reads once is read in front of its innermost parfor.

`differentiable_blocks` does so before differentiation, and first computes what a block becomes where it is
written: then the forward run logs the elements that it overwrites, and nothing else is kept of them.

Before:
    fn f(x: f64[n, n], m: i64) -> f64[n, n] {
      y = loop (a = x) for k < m {
        s = add k 1
        l = sub n s
        b = parfor i < l {
          p = add i s
          r = a[p]
          c = parfor j < l {
            q = add j s
            v = a[p, q]
            w = a[k, q]
            u = sub v w
            yield scatter r[q] u
          }
          yield scatter a[p] c
        }
        return b
      }
      return y
    }
After:
    fn f(x: f64[n, n], m: i64) -> f64[n, n] {
      y = loop (a = x) for k < m {
        s = add k 1
        l = sub n s
        b = loop (a1 = a) for i < l {
          p = add i s
          a2 = parfor j < l {
            q = add j s
            v = a1[p, q]
            w = a1[k, q]
            u = sub v w
            yield scatter a1[p, q] u
          }
          return a2
        }
        return b
      }
      return y
    }
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.nodes import (
    Apply,
    Atom,
    Body,
    Bounds,
    Const,
    Expr,
    Function,
    Index,
    Let,
    Loop,
    ParFor,
    Part,
    Scatter,
    Stack,
    Var,
    i64,
)
from anadrome.array_ir.own_reads import Knowledge, are_distinct
from anadrome.array_ir.rewrite import BodyChange, Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, bodies, bound_in, let_variables, map_bodies, operands
from anadrome.config import Config
from anadrome.passes.vertical_fusion import Census, inlined


def blocks_in_place(fn: Function, config: Config) -> Function:
    """The function with such nests as loops; itself where there are none."""
    if not any(True for _ in _candidates(fn.body)):
        return fn
    return with_body(fn, _Blocks(Knowledge(fn)).body(fn.body, is_in_loop=False))


def differentiable_blocks(fn: Function, config: Config) -> Function:
    """The same of a program to be differentiated, in which nothing is fused yet."""
    blocks = {let.targets[0] for let in _candidates(fn.body)}
    while blocks:
        census = Census()
        census.body(fn.body, 0)
        new = inlined(fn, census.reads, _made_for(fn, blocks))
        knowledge = Knowledge(new)
        found = {let.targets[0] for let in _candidates(new.body) if _nest(let.expr, knowledge)}
        if blocks <= found:
            return remove_dead(with_body(new, _Blocks(knowledge, blocks).body(new.body, is_in_loop=False)))
        blocks &= found
    return fn


def _made_for(fn: Function, blocks: Collection[Var]) -> set[Var]:
    """The arrays that are made, in the end, for these nests to read."""
    makers = {target: let for let in all_lets(fn.body) for target in let.targets}
    waiting = [makers[block] for block in blocks]
    found: set[Var] = set()
    while waiting:
        for let in all_lets(Body((waiting.pop(),))):
            for atom in operands(let.expr):
                made = makers.get(atom) if isinstance(atom, Var) and atom not in found else None
                if made is not None and isinstance(made.expr, ParFor) and made.targets[0] not in blocks:
                    found.update(made.targets)
                    waiting.append(made)
    return found


def _candidates(body: Body, is_in_loop: bool = False) -> Iterator[Let]:
    """The parfors inside of loops that scatter rows."""
    for let in body.lets:
        if is_in_loop and _is_candidate(let.expr):
            yield let
            continue
        for _, inner in bodies(let.expr):
            yield from _candidates(inner, is_in_loop or isinstance(let.expr, Loop))


def _is_candidate(expr: Expr) -> bool:
    if not isinstance(expr, ParFor) or not expr.yields:
        return False
    return all(
        isinstance(part.item, Scatter) and part.item.bounds is Bounds.PROVED and bool(part.value.type.shape)
        for part in expr.parts
    )


@dataclass(slots=True, eq=False)
class _Write:
    """How a nest writes to one array: for each of its levels the indices that it adds, and what it puts
    there; the rows of the array that are read to be replaced, and where each of them lies."""

    array: Var
    at: list[tuple[Atom, ...]] = field(default_factory=list)
    values: list[Atom] = field(default_factory=list)
    rows: dict[Var, tuple[Atom, ...]] = field(default_factory=dict)

    def prefix(self, levels: int | None = None) -> tuple[Atom, ...]:
        """The indices that the outermost levels say; all of them."""
        return tuple(index for indices in self.at[:levels] for index in indices)


def _nest(expr: Expr, knowledge: Knowledge) -> list[_Write]:
    """What a nest writes, one after the other of its yields, if it may be loops: it reads nothing that it has
    written."""
    assert isinstance(expr, ParFor)
    given = operands(expr)
    inside = {expr.index, *bound_in(expr.body)}
    found: list[_Write] = []
    for part in expr.parts:
        write = _written(expr, part, knowledge)
        if write is None or given.count(write.array) != 1 or not _may_grow(write.array):
            return []
        found.append(write)
    values = [value for write in found for value in write.values]
    is_right = all(_Order(write, knowledge, inside, values).is_right(expr) for write in found)
    return found if is_right and any(_is_read(expr.body, write) for write in found) else []


def _is_read(body: Body, write: _Write) -> bool:
    """Whether the array would be copied: rows of it are read, or elements."""
    return bool(write.rows) or any(write.array in operands(let.expr) for let in all_lets(body))


def _may_grow(array: Var) -> bool:
    return any(isinstance(size, Var) for size in array.type.shape)


def _written(expr: ParFor, part: Part, knowledge: Knowledge) -> _Write | None:
    """What a yield writes to its array, down to the elements."""
    assert isinstance(part.item, Scatter)
    write = _Write(part.item.init, [part.at], [part.value])
    while write.values[-1].type.shape:
        made = {target: let for let in expr.body.lets for target in let.targets}
        value = write.values[-1]
        let = made.get(value) if isinstance(value, Var) else None
        if let is None or not isinstance(let.expr, ParFor):
            return None
        inner = let.expr
        part = next(part for part, where in inner.slices() if value in let.targets[where])
        match part.item:
            case Stack():
                write.at.append((inner.index,))
            case Scatter(init=row, bounds=Bounds.PROVED) if row in made:
                if not _reads_row(made[row].expr, write, knowledge):
                    return None
                write.rows[row] = write.prefix()
                write.at.append(part.at)
            case _:
                return None
        if part.value.type.shape and len(inner.parts) > 1:
            return None
        write.values.append(part.value)
        expr = inner
    return write


def _reads_row(expr: Expr, write: _Write, knowledge: Knowledge) -> bool:
    """Whether an expression reads the row that is to be written."""
    if not isinstance(expr, Index) or expr.bounds is not Bounds.PROVED:
        return False
    if expr.array is not write.array and expr.array not in write.rows:
        return False
    place = (*write.rows.get(expr.array, ()), *expr.indices)
    return _forms(place, knowledge) == _forms(write.prefix(), knowledge)


def _forms(indices: Sequence[Atom], knowledge: Knowledge) -> list[Affine]:
    return [knowledge.place(index) for index in indices]


def _needed(body: Body, atoms: Iterable[Atom]) -> set[Let]:
    """The statements of a body that atoms are computed by."""
    made = {target: let for let in body.lets for target in let.targets}
    found: set[Let] = set()
    waiting = [let for atom in atoms if isinstance(atom, Var) and (let := made.get(atom)) is not None]
    while waiting:
        let = waiting.pop()
        if let not in found:
            found.add(let)
            waiting.extend(made[var] for var in let_variables(let) if var in made)
    return found


def _once(expr: ParFor, arrays: Collection[Var]) -> dict[Let, None]:
    """The statements of an innermost parfor that do the same in each iteration: reads of these arrays, and
    scalar operations."""
    inside = {expr.index, *bound_in(expr.body)}
    found: dict[Let, None] = {}
    for let in expr.body.lets:
        match let.expr:
            case Apply(args=atoms):
                pass
            case Index(array=array, indices=atoms, bounds=Bounds.PROVED) if array in arrays:
                if len(atoms) < len(array.type.shape):
                    continue
            case _:
                continue
        if inside.isdisjoint(atoms):
            found[let] = None
            inside.difference_update(let.targets)
    return found


class _Order:
    """Whether an array may be overwritten element by element while a nest reads it."""

    def __init__(
        self, write: _Write, knowledge: Knowledge, inside: Collection[Var], values: Collection[Atom]
    ) -> None:
        self.write, self.knowledge, self.inside = write, knowledge, inside
        self.values = {value for value in values if isinstance(value, Var) and value.type.shape}
        """What all nests below make for arrays; no place is computed from that."""
        self.versions = {write.array, *write.rows}
        self.tracked = {*self.versions, *(value for value in write.values if value.type.shape)}
        self.places = _forms(write.prefix(), knowledge)

    def is_right(self, expr: ParFor) -> bool:
        """Whether each read is of what is not replaced yet."""
        for level, value in enumerate(self.write.values):
            above, own = (_forms(self.write.prefix(count), self.knowledge) for count in (level, level + 1))
            bound = {expr.index, *bound_in(expr.body)}
            if not are_distinct(expr.index, own[len(above) :], bound):
                return False
            is_last = not value.type.shape
            if sum(atom in self.tracked for atom in expr.body.results) != (not is_last):
                return False
            if is_last:
                once = _once(expr, self.versions)
                return all(
                    self.is_allowed(let, above, False) if let in once else self.is_allowed(let, own, True)
                    for let in expr.body.lets
                )
            place = next(place for place, let in enumerate(expr.body.lets) if value in let.targets)
            before, nest, after = expr.body.lets[:place], expr.body.lets[place], expr.body.lets[place + 1 :]
            if not all(self.is_allowed(let, own, False) for let in before):
                return False
            if not all(self.is_allowed(let, None, False) for let in after):
                return False
            if sum(atom in self.tracked for atom in operands(nest.expr)) > 1:
                return False
            first = _needed(expr.body, self.write.at[level])
            if any(not self.values.isdisjoint(let.targets) for let in first):
                return False
            assert isinstance(nest.expr, ParFor)
            expr = nest.expr
        raise AssertionError("the last value is an element")

    def is_allowed(self, let: Let, own: list[Affine] | None, is_element: bool) -> bool:
        """Whether a statement, with what is in it, reads only what no iteration writes, or what is its own:
        of these indices, or that begins with them."""
        for inner in all_lets(Body((let,))):
            if any(not self.tracked.isdisjoint(body.results) for _, body in bodies(inner.expr)):
                return False
            if self.tracked.isdisjoint(operands(inner.expr)) or self.write.rows.keys() & inner.targets:
                continue
            if not isinstance(inner.expr, Index) or inner.expr.array not in self.versions:
                return False
            read = self.whole(inner.expr)
            is_own = own is not None and (read == own if is_element else read[: len(own)] == own)
            is_whole = len(read) == len(self.places)
            if not is_whole or not (is_own or self.knowledge.is_elsewhere(read, self.places, self.inside)):
                return False
        return True

    def whole(self, expr: Index) -> list[Affine]:
        """Where in the array something is read."""
        return _forms((*self.write.rows.get(expr.array, ()), *expr.indices), self.knowledge)


class _Blocks:
    """One walk over the program."""

    def __init__(self, knowledge: Knowledge, only: Collection[Var] | None = None) -> None:
        self.knowledge = knowledge
        self.only = only

    def body(self, body: Body, is_in_loop: bool) -> Body:
        """A body with its nests as loops."""
        return remade(body, [self.statement(let, is_in_loop) for let in body.lets], body.results)

    def statement(self, let: Let, is_in_loop: bool) -> Let:
        """A statement with its nests as loops."""
        if is_in_loop and _is_candidate(let.expr) and (self.only is None or let.targets[0] in self.only):
            writes = _nest(let.expr, self.knowledge)
            if writes:
                states = {write: write.array for write in writes}
                return _Rows(states).loop(let.targets, let, writes, 0)
        inside = is_in_loop or isinstance(let.expr, Loop)
        return remade(let, let.targets, map_bodies(let.expr, lambda inner: self.body(inner, inside)))


class _Rows(Substitution):
    """Writes a nest again. What each array is now stands in the place of the array and of its rows."""

    def __init__(self, states: Mapping[_Write, Var]) -> None:
        super().__init__({write.array: state for write, state in states.items()})
        self.states = dict(states)
        self.rows = {row: (write, at) for write in states for row, at in write.rows.items()}

    def expr(self, expr: Expr, change: BodyChange | None = None) -> Expr:
        """An expression; what it reads of a row it reads of the array."""
        if isinstance(expr, Index) and expr.array in self.rows:
            write, at = self.rows[expr.array]
            return Index(self.states[write], (*at, *expr.indices), expr.bounds)
        return super().expr(expr, change)

    def loop(self, targets: tuple[Var, ...], let: Let, writes: Sequence[_Write], level: int) -> Let:
        """A parfor of the nest as a loop that carries what it writes."""
        expr = let.expr
        assert isinstance(expr, ParFor)
        carried = tuple(Var(write.array.name, write.array.type) for write in writes)
        inner = _Rows({**self.states, **dict(zip(writes, carried, strict=True))})
        below = {write.values[level]: write for write in writes}
        lets: list[Let] = []
        first = _needed(expr.body, [at for write in writes for at in write.at[level]])
        for own in sorted(expr.body.lets, key=lambda let: let not in first):
            if inner.rows.keys() & own.targets:
                continue
            made = {target: below[target] for target in own.targets if target in below}
            if not made:
                lets.append(inner.let(own))
                continue
            new = {target: Var(write.array.name, write.array.type) for target, write in made.items()}
            results = tuple(new.get(target, target) for target in own.targets)
            found = list(made.values())
            if found[0].values[level + 1].type.shape:
                lets.append(inner.loop(results, own, found, level + 1))
            else:
                lets += inner.elements(results, own, made)
            for target, write in made.items():
                inner.states[write] = new[target]
                inner.replace(write.array, new[target])
        after = tuple(inner.states[write] for write in writes)
        start = tuple(self.states[write] for write in writes)
        return Let(targets, Loop(carried, start, Body(tuple(lets), after), expr.index, expr.extent), let.span)

    def elements(self, targets: tuple[Var, ...], let: Let, made: Mapping[Var, _Write]) -> list[Let]:
        """The innermost parfor, which scatters into the arrays themselves; behind what it reads once."""
        expr = let.expr
        assert isinstance(expr, ParFor)
        versions = {var for write in made.values() for var in (write.array, *write.rows)}
        once, builder = _once(expr, versions), Builder()
        builder.span = let.span
        runs: Atom | None = None
        for own in once:
            new = self.let(own)
            if isinstance(new.expr, Index) and not _surely_runs(expr):
                runs = builder.apply("lt", i64(0), expr.extent) if runs is None else runs
                known = [at for write in made.values() for at in write.prefix(len(write.at) - 1)]
                indices = tuple(
                    at if isinstance(at, Const) or at in known else builder.select(runs, at, i64(0))
                    for at in new.expr.indices
                )
                new = remade(new, new.targets, remade(new.expr, new.expr.array, indices))
            builder.emit(new)
        parts = []
        for part, where in expr.slices():
            write = made.get(let.targets[where.start])
            if write is None:
                parts.append(self.part(part))
            else:
                parts.append(Scatter.of(self.states[write], write.prefix(), self.atom(part.value)))
        lets = [self.let(own) for own in expr.body.lets if own not in once]
        new_expr = ParFor.of(expr.index, expr.extent, lets, parts, in_lanes=expr.in_lanes)
        return [*builder.lets, Let(targets, new_expr, let.span)]


def _surely_runs(expr: ParFor) -> bool:
    return isinstance(expr.extent, Const) and expr.extent.value > 0
