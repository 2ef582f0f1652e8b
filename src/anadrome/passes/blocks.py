"""A parfor in blocks: what its innermost loops add up stands behind what each iteration computes.

Iterations of a parfor that add to arrays around it would read and write these once for every iteration. In a
block of them, first every iteration computes what it needs by itself, in lanes (`outer_lanes`); then the
loops that add go over the arrays once, in lanes along them, and each element gets the sum over the block;
what is the same for all iterations of the block is multiplied once by their sum.
Between the two stand arrays of a block.

A nest that adds is loops inside one another, with scalar operations and reads before each, all of whose
results are sums around the parfor; where it adds does not depend on the iteration. The other statements may
not add to these, and the parfor gives nothing but sums.

Before:
    fn f(x: f64[n, d], a: f64[k, d, d], start: f64[k, d]) -> f64[k, d] {
      r = with_sum (total = start) {
        t = parfor i < n {
          z = parfor c < k {
            s = parfor p < d {
              u = parfor q < d {
                v = a[c, p, q]
                w = x[i, q]
                m = mul v w
                yield reduce add m
              }
              y = mul u u
              yield reduce add y
            }
            yield stack s
          }
          t1 = parfor c1 < k {
            s1 = z[c1]
            e = exp s1
            t2 = parfor q1 < d {
              w1 = x[i, q1]
              m1 = mul e w1
              b = add_to total[c1, q1] m1
              yield carry total b
            }
            yield carry total t2
          }
          yield carry total t1
        }
        return t
      }
      return r
    }
After:
    fn f(x: f64[n, d], a: f64[k, d, d], start: f64[k, d]) -> f64[k, d] {
      r = with_sum (total = start) {
        size = add 0 k
        fits = le size 65536
        most = select fits 32 1
        more = add n most
        more1 = add more -1
        blocks = floordiv more1 most
        t = parfor b < blocks {
          first = mul b most
          rest = sub n first
          count = min rest most
          z = parfor l < count lanes {
            i = add first l
            row = parfor j < d {
              v = x[i, j]
              yield stack v
            }
            z1 = parfor c < k {
              s = parfor p < d {
                u = parfor q < d {
                  v1 = a[c, p, q]
                  w = row[q]
                  m = mul v1 w
                  yield reduce add m
                }
                y = mul u u
                yield reduce add y
              }
              yield stack s
            }
            yield stack z1
          }
          t1 = parfor c1 < k {
            e = parfor l1 < count {
              s1 = z[l1, c1]
              e1 = exp s1
              yield stack e1
            }
            t2 = parfor q1 < d lanes {
              s2 = parfor l2 < count {
                i1 = add first l2
                e2 = e[l2]
                w1 = x[i1, q1]
                m1 = mul e2 w1
                yield reduce add m1
              }
              b1 = add_to total[c1, q1] s2
              yield carry total b1
            }
            yield carry total t2
          }
          yield carry total t1
        }
        return t
      }
      return r
    }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.build import as_var
from anadrome.array_ir.dead import live_body
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Bounds,
    Carry,
    Const,
    Index,
    Let,
    ParFor,
    Part,
    Reduce,
    Stack,
    Var,
)
from anadrome.array_ir.rewrite import Renaming, Substitution
from anadrome.array_ir.walk import all_lets, expression_variables, free_variables
from anadrome.dtypes import BOOL, I64
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS

BLOCK = 32
"""The iterations of a block: as many as a strip of lanes has at most (`schedule.outer`)."""


MEMORY = 1 << 21
"""The most elements of the arrays of a block."""


def split(expr: ParFor) -> tuple[ParFor, tuple[Let, ...]]:
    """A parfor without the nests that add to what is around it, and these nests. A nest that gives arrays as
    well is parted in two."""
    kept: list[Let] = []
    sums: list[Let] = []
    for let in expr.body.lets:
        own, adding = _parted(let)
        kept += own
        sums += adding
    made = {target for let in sums for target in let.targets}
    if any(not made.isdisjoint(expression_variables(let.expr)) for let in kept):
        return expr, ()
    parts = [part for part in expr.parts if not (isinstance(part.item, Carry) and part.value in made)]
    return ParFor.of(expr.index, expr.extent, kept, parts), tuple(sums)


def _parted(let: Let) -> tuple[list[Let], list[Let]]:
    """What of a statement gives arrays or anything else, and what is a nest that adds."""
    nest = let.expr
    if not isinstance(nest, ParFor) or not any(isinstance(item, Carry) for item in nest.yields):
        return [let], []
    slices = [(part, let.targets[where]) for part, where in nest.slices()]
    adding = [(part, targets) for part, targets in slices if isinstance(part.item, Carry)]
    others = [(part, targets) for part, targets in slices if not isinstance(part.item, Carry)]
    sums = _with(let, nest, adding)
    assert isinstance(sums.expr, ParFor)
    if not _is_nest(sums.expr):
        return [let], []
    if not others:
        return [], [let]
    return [_with(let, nest, others)], [replace(sums, expr=Renaming({}).expr(sums.expr))]


def _with(let: Let, nest: ParFor, kept: Sequence[tuple[Part, tuple[Var, ...]]]) -> Let:
    """A statement with some of the yields of its parfor, and what they need."""
    some = nest.yielding(part for part, _ in kept)
    targets = tuple(target for _, own in kept for target in own)
    return Let(targets, replace(some, body=live_body(some.body)), let.span)


def _is_nest(nest: ParFor) -> bool:
    """Whether loops stand perfectly inside one another, two of them or more, and add in the innermost one."""
    depth = 0
    loop: ParFor | None = nest
    while loop is not None:
        depth += 1
        inner = _inner(loop)
        scalars = loop.body.lets if inner is None else loop.body.lets[:-1]
        if not all(isinstance(item, Carry) for item in loop.yields):
            return False
        if not all(_is_scalar(let, may_add=inner is None) for let in scalars):
            return False
        loop = None if inner is None else inner[1]
    return depth > 1


def _inner(loop: ParFor) -> tuple[Let, ParFor] | None:
    """The last statement of a loop, if it is a loop."""
    last = loop.body.lets[-1] if loop.body.lets else None
    return (last, last.expr) if last is not None and isinstance(last.expr, ParFor) else None


def _is_scalar(let: Let, *, may_add: bool) -> bool:
    match let.expr:
        case Apply():
            return True
        case Index(bounds=bounds):
            return bounds is Bounds.PROVED and not let.targets[0].type.shape
        case AddTo(bounds=bounds):
            return may_add and bounds is Bounds.PROVED
        case _:
            return False


def blocks(let: Let, expr: ParFor, in_lanes: Callable[[ParFor], ParFor]) -> tuple[Let, ...]:
    """A statement with its parfor in blocks, whose own computations `in_lanes` puts into lanes; as it is
    where what stands between the two cannot be an array of a block."""
    rest, sums = split(expr)
    crossing = _crossing(rest, sums)
    if crossing is None or not all(isinstance(item, Reduce) for item in rest.yields):
        return (let,)
    before, writer = _Writer(), _Writer()
    most = _most(crossing, before)
    more = before.apply("more", "add", expr.extent, most)
    number = before.apply("blocks", "floordiv", before.apply("more", "add", more, _number(-1)), most)
    block, own = _index("b"), _index("l")
    first = writer.apply("first", "mul", block, most)
    left = writer.apply("rest", "sub", expr.extent, first)
    count = writer.apply("count", "min", left, most)
    place = Let((expr.index,), Apply(PRIMS["add"], (first, own)))
    stacks = [Stack.of(var) for var in crossing]
    lanes = ParFor.of(own, count, (place, *rest.body.lets), (*rest.parts, *stacks), in_lanes=True)
    totals = [Var(value.name, value.type) for value in _reduced(rest.parts)]
    kept = [Var(var.name, ArrayType(var.type.dtype, (count, *var.type.shape))) for var in crossing]
    writer.lets.append(Let((*totals, *kept), in_lanes(lanes), let.span))
    behind = _Behind(expr.index, first, count, dict(zip(crossing, kept, strict=True)))
    writer.lets += [behind.nest(nest) for nest in sums]
    left_over = iter(totals)
    parts = [
        Part(part.item, tuple(next(left_over) for _ in part.takes)) if isinstance(part.item, Reduce) else part
        for part in expr.parts
    ]
    loop = ParFor.of(block, number, writer.lets, parts)
    return (*before.lets, Let(let.targets, loop, let.span))


def _most(crossing: Sequence[Var], writer: _Writer) -> Atom:
    """The iterations of a block: one where arrays of more would take more than `MEMORY`."""
    total: Atom = _number(0)
    for shape in (var.type.shape for var in crossing if var.type.shape):
        size = shape[0]
        for extent in shape[1:]:
            size = writer.apply("size", "mul", size, extent)
        total = writer.apply("size", "add", total, size)
    if isinstance(total, Const):
        return _number(BLOCK)
    fits = Var("fits", ArrayType(BOOL))
    writer.lets.append(Let((fits,), Apply(PRIMS["le"], (total, _number(MEMORY // BLOCK)))))
    return writer.apply("most", "select", fits, _number(BLOCK), _number(1))


def _reduced(parts: Sequence[Part]) -> list[Var]:
    """What reductions take of each iteration, as variables."""
    return [as_var(value) for part in parts if isinstance(part.item, Reduce) for value in part.takes]


def _crossing(rest: ParFor, sums: Sequence[Let]) -> tuple[Var, ...] | None:
    """What each iteration computes for the nests that add, none of it a size; None where it cannot be an
    array of a block."""
    made = {target for let in rest.body.lets for target in let.targets}
    if not all(isinstance(value, Var) for value in rest.body.results):
        return None
    found = [var for var in free_variables(Body(tuple(sums))) if var in made]
    sizes = {size for var in found for size in var.type.shape}
    loops = [
        let.expr for nest in sums for let in (nest, *all_lets(_body(nest))) if isinstance(let.expr, ParFor)
    ]
    sizes |= {loop.extent for loop in loops}
    varying = {rest.index, *found}
    for nest in sums:
        for let in all_lets(_body(nest)):
            if isinstance(let.expr, AddTo) and not varying.isdisjoint(let.expr.indices):
                return None
            if not varying.isdisjoint(expression_variables(let.expr)) and not isinstance(let.expr, ParFor):
                varying.update(let.targets)
    return None if not varying.isdisjoint(sizes) or sizes & made else tuple(found)


def _body(let: Let) -> Body:
    assert isinstance(let.expr, ParFor)
    return let.expr.body


class _Behind:
    """The nests that add, each to an element what all iterations of a block bring."""

    def __init__(self, index: Var, first: Atom, count: Atom, kept: dict[Var, Var]) -> None:
        self.index = index
        self.first = first
        self.count = count
        self.kept = kept

    def nest(self, let: Let) -> Let:
        """A nest, of which what differs between iterations is computed for all of them."""
        (made,) = self._level(let, (), {self.index, *self.kept})
        return made

    def _level(self, let: Let, moved: tuple[Let, ...], varying: set[Var]) -> tuple[Let, ...]:
        loop = let.expr
        assert isinstance(loop, ParFor)
        inner = _inner(loop)
        if inner is None:
            return self._iterations(let, loop, moved)
        same: list[Let] = []
        for scalar in loop.body.lets[:-1]:
            if varying.isdisjoint(expression_variables(scalar.expr)):
                same.append(scalar)
            else:
                moved = (*moved, scalar)
                varying = varying | set(scalar.targets)
        following = self._level(inner[0], moved, varying)
        body = Body((*same, *following), loop.body.results)
        return (Let(let.targets, replace(loop, body=body), let.span),)

    def _iterations(self, let: Let, loop: ParFor, moved: tuple[Let, ...]) -> tuple[Let, ...]:
        """The innermost loop in lanes, and in it the sums over the block; before it what it reads of each
        iteration, and the sums that are the same along the loop."""
        before = [target for scalar in moved for target in scalar.targets]
        varying = {self.index, *self.kept, *before}
        parts = _Parts(varying)
        for one in loop.body.lets:
            parts.add(one)
        ahead = [term for term in parts.terms if term.core in before or term.core in self.kept]
        behind = [term for term in parts.terms if term not in ahead]
        different = parts.needed(term.core for term in behind)
        read = free_variables(Body(tuple(different), tuple(term.core for term in behind)))
        given = [var for var in before if var in read]
        stacked = tuple(Var(var.name, ArrayType(var.type.dtype, (self.count,))) for var in given)
        lets: list[Let] = []
        if given or ahead:
            cores = tuple(term.core for term in ahead)
            inner = self._opened(self.kept, Body(moved, cores))
            body = (*inner.lets, *map(inner.let, moved))
            parts_ahead = [*(Stack.of(inner.atom(var)) for var in given), *map(inner.total, cores)]
            totals = tuple(term.total for term in ahead)
            stacks = ParFor.of(inner.own, self.count, body, parts_ahead)
            lets.append(Let((*stacked, *totals), stacks, let.span))
        same = list(parts.same)
        if behind:
            cores = tuple(term.core for term in behind)
            columns = {**self.kept, **dict(zip(given, stacked, strict=True))}
            inner = self._opened(columns, Body(tuple(different), cores))
            body = (*inner.lets, *map(inner.let, different))
            reduced = ParFor.of(inner.own, self.count, body, map(inner.total, cores))
            same.append(Let(tuple(term.total for term in behind), reduced, let.span))
        for term in parts.terms:
            same += term.contribution()
        body_behind = Body(tuple(same), loop.body.results)
        lets.append(Let(let.targets, replace(loop, body=body_behind, in_lanes=True), let.span))
        return tuple(lets)

    def _opened(self, columns: dict[Var, Var], body: Body) -> _OfBlock:
        """What an iteration of the block begins with: its index, and the numbers of it that a body reads."""
        inner, used = _OfBlock(columns, _index("l")), free_variables(body)
        if self.index in used:
            index = _index(self.index.name)
            inner.lets.append(Let((index,), Apply(PRIMS["add"], (self.first, inner.own))))
            inner.replace(self.index, index)
        for var, array in columns.items():
            if not var.type.shape and var in used:
                value = Var(var.name, var.type)
                inner.lets.append(Let((value,), Index(array, (inner.own,))))
                inner.replace(var, value)
        return inner


@dataclass(slots=True, eq=False)
class _Term:
    """A contribution Σ_l f·core_l = f·Σ_l core_l, of which `factors` are the operations outside of the sum,
    the last one first."""

    let: Let
    core: Atom
    factors: list[Let]
    total: Var

    def contribution(self) -> Iterator[Let]:
        """The operations on the sum over the block, and the contribution."""
        inner, now = self.core, self.total
        for let in reversed(self.factors):
            assert isinstance(let.expr, Apply)
            made = Var(let.targets[0].name, let.targets[0].type)
            args = tuple(now if arg is inner else arg for arg in let.expr.args)
            yield Let((made,), Apply(let.expr.prim, args), let.span)
            inner, now = let.targets[0], made
        assert isinstance(self.let.expr, AddTo)
        yield Let(self.let.targets, replace(self.let.expr, value=now), self.let.span)


class _Parts:
    """The statements of an innermost loop: those the same for all iterations of the block, others, terms."""

    def __init__(self, varying: set[Var]) -> None:
        self.varying = varying
        self.same: list[Let] = []
        self.terms: list[_Term] = []
        self._different: list[Let] = []

    def add(self, let: Let) -> None:
        """The next statement."""
        if isinstance(let.expr, AddTo):
            core, factors = self._factored(let.expr.value)
            self.terms.append(_Term(let, core, factors, Var("s", ArrayType(core.type.dtype))))
        elif self.varying.isdisjoint(expression_variables(let.expr)):
            self.same.append(let)
        else:
            self.varying.update(let.targets)
            self._different.append(let)

    def _factored(self, value: Atom) -> tuple[Atom, list[Let]]:
        """What differs of a product, and the operations that make the product of it."""
        made = {let.targets[0]: let for let in self._different}
        factors: list[Let] = []
        while isinstance(value, Var) and value in made:
            expr = made[value].expr
            if not isinstance(expr, Apply) or expr.prim.name not in LINEAR:
                break
            differing = [arg for arg in expr.args if arg in self.varying]
            if len(differing) != 1:
                break
            factors.append(made[value])
            (value,) = differing
        return value, factors

    def needed(self, cores: Iterable[Atom]) -> list[Let]:
        """The different statements that these need, in order."""
        return list(live_body(Body(tuple(self._different)), tuple(cores)).lets)


LINEAR = ("mul", "neg")
"""Operations that a sum may be taken before, in the one operand that differs."""


class _OfBlock(Substitution):
    """Reads of arrays of one iteration, as reads of those of a block."""

    def __init__(self, kept: dict[Var, Var], own: Var) -> None:
        super().__init__()
        self.kept = kept
        self.own = own
        self.lets: list[Let] = []

    def total(self, core: Atom) -> Part:
        """The sum over the block."""
        return Reduce.of("add", (self.atom(core),))

    def let(self, let: Let) -> Let:
        """A statement with such reads in it."""
        match let.expr:
            case Index(array=array, indices=indices) if array in self.kept:
                return Let(let.targets, Index(self.kept[array], (self.own, *self.atoms(indices))), let.span)
            case _:
                return super().let(let)


@dataclass(slots=True)
class _Writer:
    """Whole numbers, one after the other."""

    lets: list[Let] = field(default_factory=list)

    def apply(self, name: str, prim: str, *args: Atom) -> Var:
        """The result of an operation."""
        made = _index(name)
        self.lets.append(Let((made,), Apply(PRIMS[prim], args)))
        return made


def _index(name: str) -> Var:
    return Var(name, ArrayType(I64))


def _number(value: int) -> Const:
    return Const(value, I64)
