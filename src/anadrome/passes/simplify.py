"""Folding, algebra, common subexpressions, forwarding of reads, copies, constant branches, dead code.

One forward walk; every rule sees operands that are already simplified. Equal expressions share a number in
the scope where the first stands (`identity`), a nest counting as one expression. Scalar algebra is a table
(`algebra`), reads of arrays whose making is known are answered without the array (`forwarding`). Two
additions to one element of an accumulator become one. Floats stay bit for bit what they were, save in these
sums, and that `reduce add` and its like over equal constants are not taken one by one.

Before:
    fn f(x: f64[n], y: f64[n]) -> f64[n] {
      a = parfor i < n { u = x[i]; yield stack u }
      b = parfor i < n {
        u = a[i]
        v = y[i]
        p = mul u v
        q = mul v u
        s = add p q
        t = mul s 1.0
        yield stack t
      }
      return b
    }
After:
    fn f(x: f64[n], y: f64[n]) -> f64[n] {
      b = parfor i < n { u = x[i]; v = y[i]; p = mul u v; s = add p p; yield stack s }
      return b
    }
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import assert_never

from anadrome.array_ir.affine import Affine, affine
from anadrome.array_ir.dead import remove_dead
from anadrome.array_ir.induction import induction_steps, value_at
from anadrome.array_ir.infer import result_types
from anadrome.array_ir.nodes import (
    FALSE,
    TRUE,
    AddTo,
    Apply,
    ArrayType,
    Atom,
    Body,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    Function,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Part,
    Print,
    Reduce,
    Reshape,
    Scan,
    Stack,
    SumType,
    Update,
    Var,
    WithSum,
    i64,
)
from anadrome.array_ir.overwriting import overwriting, overwriting_at_once
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import same_atom, type_sizes
from anadrome.config import Config
from anadrome.dtypes import I64
from anadrome.errors import Span
from anadrome.passes.algebra import Context, is_number, simplify_apply
from anadrome.passes.forwarding import Versions, forward_index, row_of_stack
from anadrome.passes.value_numbering import expression_key
from anadrome.prims.node import replace
from anadrome.prims.table import PRIMS


def simplify(fn: Function, config: Config) -> Function:
    """The function with what can be known of it at compile time used, and without what is then dead."""
    sizes = {size for param in fn.params for size in type_sizes(param.type)}
    walk = _Simplifier(overwriting(fn.body), sizes)
    return remove_dead(with_body(fn, walk.body(fn.body)))


def simplify_thread(fn: Function, config: Config) -> Function:
    """The same for what a thread of a kernel does, whose memory lowering cannot copy."""
    walk = _Simplifier(overwriting_at_once(fn.body))
    return remove_dead(with_body(fn, walk.body(fn.body)))


MOST_BETWEEN = 8
"""An addition to the same element is looked for before so many others."""


class _Simplifier:
    """One walk: what stands for each variable, who made it, and which expressions have been seen."""

    def __init__(self, ends: dict[Let, tuple[Var, ...]], sizes: Iterable[Var] = ()) -> None:
        self.ends = ends
        self.sizes = frozenset(sizes)
        self.trips: dict[Var, Atom] = {}
        """Of the indices of loops, outer ones first, how many iterations there are."""
        self.overwritten: set[Var] = set()
        self.known = Substitution()
        self.definitions: dict[Var, Expr] = {}
        self.versions = Versions()
        self.seen: dict[Hashable, tuple[Var, ...]] = {}
        self.trail: list[Hashable] = []
        self.lets: list[Let] = []
        self.additions: dict[Var, Let] = {}
        """What the additions of the body being written make of their accumulators."""
        self.span: Span | None = None
        self.context = Context(self.definitions, self.apply, self.is_count)

    # ------------------------------------------------------------------ bodies
    def body(self, body: Body) -> Body:
        """A body simplified in a scope of its own: what is seen inside is forgotten outside."""
        ended: list[Var] = []
        with self.scope():
            for let in body.lets:
                now = self.known.variables(self.ends.get(let, ()))
                ended += now
                if isinstance(let.expr, WithSum | Loop):  # its body runs in the memory of what it begins with
                    self.overwritten.update(now)
                self.statement(let)
                self.overwritten.update(now)
            # the other side of a branch may read what this one ends
            self.overwritten.difference_update(ended)
            return remade(body, self.lets, self.known.atoms(body.results))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Statements are written into a body of their own."""
        lets, additions, mark = self.lets, self.additions, len(self.trail)
        self.lets, self.additions = [], {}
        yield
        self.lets, self.additions = lets, additions
        while len(self.trail) > mark:
            del self.seen[self.trail.pop()]

    def statement(self, let: Let) -> None:
        """Simplify a statement into the body being written."""
        self.span = let.span
        expr = let.expr
        match expr:
            case Apply():
                value = self.apply(expr.prim.name, *self.known.atoms(expr.args), let=let)
                self.stand(let.targets[0], value)
            case Index(array=array, indices=indices):
                self.read(let, remade(expr, self.known.variable(array), self.known.atoms(indices)))
            case If():
                self.branch(let, expr)
            case Loop():
                self.loop(let, expr)
            case ParFor():
                self.parfor(let, expr)
            case Check():
                self.check(let, expr)
            case WithSum(tokens=(), body=body):
                self.inline(let, body)
            case Print() | Launch() | Collective():
                self.emit(let, self.known.expr(expr, self.body))
            case Update():
                self.update(let, self.known.expr(expr, self.body))
            case AddTo():
                self.add_to(let, self.known.expr(expr, self.body))
            case Full() | Literal() | Reshape() | WithSum() | Custom() | Library():
                self.emit(let, self.known.expr(expr, self.body))
            case _:
                assert_never(expr)

    def stand(self, target: Var, atom: Atom) -> None:
        """Let `atom` stand for `target`, unless it is the target."""
        if atom is not target:
            self.known.replace(target, atom)

    # ------------------------------------------------------------------ emission
    def emit(self, let: Let, expr: Expr) -> tuple[Atom, ...]:
        """Write a statement, or find that its expression has been seen."""
        targets = self.known.all_bound(let.targets)
        is_linear = any(isinstance(target.type, SumType) for target in targets)
        if not is_linear and not isinstance(expr, Full):  # an array to be changed in place is made afresh
            key = expression_key(expr)
            before = self.seen.get(key)
            if before is not None and all(a.type == b.type for a, b in zip(before, targets, strict=True)):
                for target, atom in zip(let.targets, before, strict=True):
                    self.stand(target, atom)
                return before
            if before is None:
                self.seen[key] = targets
                self.trail.append(key)
        self.lets.append(remade(let, targets, expr))
        if isinstance(expr, Update):
            self.versions.enter(targets[0], expr)
        if len(targets) == 1:
            self.definitions[targets[0]] = expr
        elif isinstance(expr, ParFor):
            self.definitions.update(dict.fromkeys(targets, expr))
        return targets

    def apply(self, name: str, *args: Atom, let: Let | None = None) -> Atom:
        """A scalar operation, simplified; written in the place of `let` where it has to be written."""
        prim = PRIMS[name]
        found = simplify_apply(prim, args, self.context)
        if found is not None:
            return found
        if let is None:
            dtype = prim.types(tuple(arg.type.dtype for arg in args))
            assert dtype is not None, f"{name} is not defined on {args}"
            let = Let((Var("v", ArrayType(dtype)),), Apply(prim, args), self.span)
        return self.emit(let, remade(let.expr, prim, args))[0]

    def read(self, let: Let, expr: Index) -> None:
        """A read, of the array that holds the element in the first place."""
        found = forward_index(expr, self.definitions, self.versions, self.context)
        target = let.targets[0]
        if isinstance(found, Index) and found.array in self.overwritten:
            self.emit(let, expr)  # the array would have to be copied for a read that comes late
        elif isinstance(found, Index):
            self.emit(let, found)
        elif found.type == self.known.type(target.type):
            self.stand(target, found)
        else:
            self.emit(let, expr)

    def update(self, let: Let, expr: Expr) -> None:
        """An update; the array itself where its own element is put back."""
        assert isinstance(expr, Update)
        put = self.definitions.get(expr.value) if isinstance(expr.value, Var) else None
        if isinstance(put, Index) and put.array is expr.array and self.is_one_place(put, expr):
            self.stand(let.targets[0], expr.array)
        else:
            self.emit(let, expr)

    def is_one_place(self, read: Index, written: Update) -> bool:
        """Whether a read and an update name the same element or row."""
        return len(read.indices) == len(written.indices) and all(
            same_atom(one, two) or affine(one, self.definitions) == affine(two, self.definitions)
            for one, two in zip(read.indices, written.indices, strict=True)
        )

    def add_to(self, let: Let, expr: Expr) -> None:
        """An addition to an element, with one to the same element before it: where only additions to other
        elements of the accumulator stand between them, they are one."""
        assert isinstance(expr, AddTo)
        token, between = expr.token, list[Let]()
        while token in self.additions and len(between) < MOST_BETWEEN:
            made = self.additions[token]
            before = made.expr
            assert isinstance(before, AddTo)
            if (before.indices, before.bounds) == (expr.indices, expr.bounds) and not expr.value.type.shape:
                expr = self.joined_additions(made, before, between, expr)
                break
            between.append(made)
            token = before.token
        (target,) = self.emit(let, expr)
        assert isinstance(target, Var)
        self.additions[target] = self.lets[-1]

    def joined_additions(self, made: Let, before: AddTo, between: Sequence[Let], expr: AddTo) -> AddTo:
        """Take the earlier addition away; the later one with what both add."""
        token = expr.token if between else before.token
        self.lets.remove(made)
        if between:
            last = between[-1]
            assert isinstance(last.expr, AddTo)
            moved = Let(last.targets, replace(last.expr, token=before.token), last.span)
            self.lets[self.lets.index(last)] = moved
            self.additions[last.targets[0]] = moved
        return replace(expr, token=token, value=self.apply("add", before.value, expr.value))

    # ------------------------------------------------------------------ control
    def inline(self, let: Let, body: Body) -> None:
        """The statements of a body that runs once and binds nothing, in place of the statement it is in."""
        for inner in body.lets:
            self.statement(inner)
        for target, atom in zip(let.targets, self.known.atoms(body.results), strict=True):
            self.stand(target, atom)

    def check(self, let: Let, expr: Check) -> None:
        """A check that cannot fail, or that has been made, goes."""
        condition = self.known.atom(expr.condition)
        if not (isinstance(condition, Const) and condition.value):
            values = self.known.atoms(expr.values)
            self.emit(let, remade(expr, condition, expr.error, expr.message, values))

    def branch(self, let: Let, expr: If) -> None:
        """A branch on a constant is its body; a result both branches agree on needs no branch."""
        condition = self.known.atom(expr.condition)
        if isinstance(condition, Const):
            self.inline(let, expr.then if condition.value else expr.other)
            return
        then = self.assuming(expr.condition, condition, TRUE, expr.then)
        other = self.assuming(expr.condition, condition, FALSE, expr.other)
        if not then.lets and not other.lets and not let.targets:
            return
        self.emit(let, remade(expr, condition, then, other))
        for target, left, right in zip(let.targets, then.results, other.results, strict=True):
            if isinstance(left.type, SumType):  # the branch goes on using it, and it is used once
                continue
            if same_atom(left, right) and (isinstance(left, Const) or not _is_bound_in(left, then)):
                self.stand(target, left)

    def assuming(self, original: Atom, condition: Var, value: Const, body: Body) -> Body:
        """A branch, in which the condition is known."""
        names = {name for name in (original, condition) if isinstance(name, Var)}
        before = {name: self.known.mapping.get(name) for name in names}
        for name in names:
            self.known.replace(name, value)
        new = self.body(body)
        for name, atom in before.items():
            if atom is None:
                del self.known.mapping[name]
            else:
                self.known.mapping[name] = atom
        return new

    def loop(self, let: Let, expr: Loop) -> None:
        """A carried value that never changes is its start; a loop of no or one iteration is no loop."""
        trip = None if expr.trip is None else self.known.atom(expr.trip)
        init = self.known.atoms(expr.init)
        if isinstance(trip, Const) and trip.value <= 1:
            self.unrolled(let, expr, init, bool(trip.value == 1))
            return
        keep = []
        slots = zip(let.targets, expr.carried, init, expr.body.results, strict=True)
        for position, (target, carried, start, after) in enumerate(slots):
            is_fixed = after is carried and start.type == self.known.type(carried.type)
            if is_fixed:
                self.stand(carried, start)
                self.stand(target, start)
            else:
                keep.append(position)
        if expr.index is not None and trip is not None:
            self.trips[expr.index] = trip
        carried_vars = self.known.all_bound(tuple(expr.carried[position] for position in keep))
        condition = None if expr.condition is None else self.body(expr.condition)
        results = [expr.body.results[position] for position in keep]
        body = self.body(remade(expr.body, expr.body.lets, results))
        starts = tuple(init[position] for position in keep)
        if not keep and condition is None and not body.lets:
            return
        new = remade(expr, carried_vars, starts, body, expr.index, trip, condition)
        targets = [let.targets[position] for position in keep]
        if trip is not None:
            new, targets = self.without_induction(new, trip, targets)
        self.emit(remade(let, targets), new)

    def without_induction(self, loop: Loop, trip: Atom, targets: list[Var]) -> tuple[Loop, list[Var]]:
        """A loop without the integers that follow from the number of the iteration."""
        steps = induction_steps(loop)
        if not steps:
            return loop, targets
        index, known = loop.index or Var("i", ArrayType(I64)), Substitution()
        with self.scope():
            for position, step in steps.items():
                value = value_at(self.apply, known, loop.init[position], step, index)
                known.replace(loop.carried[position], value)
            values = tuple(self.lets)
        count = self.apply("max", trip, i64(0))
        for position, step in steps.items():
            self.stand(targets[position], value_at(self.apply, known, loop.init[position], step, count))
        keep = [position for position in range(len(targets)) if position not in steps]
        rest = known.body(Body(loop.body.lets, tuple(loop.body.results[position] for position in keep)))
        body = Body((*values, *rest.lets), rest.results)
        carried = tuple(loop.carried[position] for position in keep)
        init = tuple(loop.init[position] for position in keep)
        new = Loop(carried, init, body, index, loop.trip, None, loop.checkpoint)
        return new, [targets[position] for position in keep]

    def is_count(self, atom: Atom) -> bool:
        """Whether an integer is known not to be negative, as sizes and the numbers of iterations are."""
        least = affine(atom, self.definitions)
        while falling := [(var, factor) for var, factor in least.terms if factor < 0]:
            index, factor = falling[0]
            if index not in self.trips:
                return False
            last = affine(self.trips[index], self.definitions).plus(Affine((), -1))
            least = least.without(index).plus(last, factor)
        return least.constant >= 0 and all(self.is_size(var) for var, _ in least.terms)

    def is_size(self, var: Var) -> bool:
        """Whether a variable is a size, the number of an iteration, or the greater one of something and 0."""
        greater = self.context.definition(var, "max")
        return (
            var in self.sizes
            or var in self.trips
            or (greater is not None and any(is_number(arg, 0) for arg in greater.args))
        )

    def unrolled(self, let: Let, expr: Loop, init: tuple[Atom, ...], runs: bool) -> None:
        """A loop of one iteration, or of none."""
        results = init
        if runs:
            if expr.index is not None:
                self.stand(expr.index, i64(0))
            for carried, start in zip(expr.carried, init, strict=True):
                self.stand(carried, start)
            for inner in expr.body.lets:
                self.statement(inner)
            results = self.known.atoms(expr.body.results)
        for target, atom in zip(let.targets, results, strict=True):
            self.stand(target, atom)

    # ------------------------------------------------------------------ parfors
    def parfor(self, let: Let, expr: ParFor) -> None:
        """The body, then the yields without those that repeat another, copy an array or are constant."""
        extent = self.known.atom(expr.extent)
        self.trips[expr.index] = extent
        with self.scope():
            for inner in expr.body.lets:
                self.statement(inner)
            body = remade(expr.body, self.lets, self.known.atoms(expr.body.results))
        yields = [self.known.item(item, self.body) for item in expr.yields]
        new = remade(expr, expr.index, extent, body, yields)
        first: dict[Hashable, Var] = {}
        repeated: dict[Var, Var] = {}
        kept: list[tuple[Part, slice]] = []
        for part, where in new.slices():
            if not self.replaced(new, part, let.targets[where], first, repeated):
                kept.append((part, where))
        if kept or body.lets:
            if len(kept) < len(yields):
                new = new.yielding(part for part, _ in kept)
            remaining = [target for _, where in kept for target in let.targets[where]]
            self.emit(remade(let, remaining), new)
        for target, original in repeated.items():  # whose variable may be new: a size in its type may be
            self.stand(target, self.known.atom(original))

    def replaced(
        self,
        expr: ParFor,
        part: Part,
        targets: tuple[Var, ...],
        first: dict[Hashable, Var],
        repeated: dict[Var, Var],
    ) -> bool:
        """Whether the results of a yield have been found elsewhere; those of another yield are `repeated`."""
        item, value = part.item, part.value
        if not isinstance(item, Stack | Reduce | Scan) or len(targets) != 1:
            return False
        (target,) = targets
        if isinstance(item, Stack):
            found = self.stacked(expr, value, target)
            if found is not None:
                self.stand(target, found)
                return True
        elif not isinstance(item.operator, str):
            return False
        if isinstance(item, Reduce) and isinstance(value, Const) and item.operator in ("min", "max"):
            return False
        is_exclusive = isinstance(item, Scan) and item.exclusive
        operator = "" if isinstance(item, Stack) else item.operator
        key = (type(item).__name__, operator, is_exclusive, value.key if isinstance(value, Const) else value)
        if key in first:
            repeated[target] = first[key]
            return True
        first[key] = target
        return False

    def stacked(self, expr: ParFor, value: Atom, target: Var) -> Atom | None:
        """A stack that is an array there is, or one value everywhere."""
        if isinstance(value, Const):
            shape = (expr.extent,)
            full, filled = Full(shape, value), Var(target.name, ArrayType(value.dtype, shape))
            return self.emit(Let((filled,), full, self.span), full)[0]
        found = row_of_stack(expr, value, self.definitions)
        type_ = self.known.type(target.type)
        if not isinstance(found, Index):
            return found if found is not None and found.type == type_ else None
        if result_types(found) != (type_,):
            return None
        return self.emit(Let((Var(target.name, type_),), found, self.span), found)[0]


def _is_bound_in(atom: Atom, body: Body) -> bool:
    return any(atom is target for let in body.lets for target in let.targets)
