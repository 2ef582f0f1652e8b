"""What a search for a sparsity pattern must look at: the variables that carry dependence, and the integers,
conditions and sizes that must be known to follow it.

One walk writes down what feeds what. A variable is *reached* if dependence on a seed may flow into it. It is
*hidden* if its value depends on an input whose value is not to be used. It is *needed* if its value decides
where dependence goes: an index, a condition, a trip count, a size, a factor that may be zero. Everything
else is left out of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Carry,
    Check,
    Collective,
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
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Stack,
    SumType,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import bodies, operands, type_sizes
from anadrome.dtypes import BOOL


@dataclass(slots=True, eq=False)
class Flow:
    """Who feeds whom. `carried` are operands whose dependence flows on, `steered` those that only decide."""

    carried: dict[Var, list[Atom]] = field(default_factory=dict)
    steered: dict[Var, list[Atom]] = field(default_factory=dict)
    home: dict[Var, Let] = field(default_factory=dict)
    around: dict[int, Let | None] = field(default_factory=dict)

    @staticmethod
    def of(body: Body) -> Flow:
        """The flow in a body."""
        flow = Flow()
        _body(flow, body, None)
        return flow

    def feed(self, target: Var, carried: Iterable[Atom], steered: Iterable[Atom] = ()) -> None:
        """Note that the target is made of these. The accumulators of one sum are reached together: each one's
        contributions are found in the next."""
        known = self.carried.setdefault(target, [])
        for feed in carried:
            known.append(feed)
            if isinstance(feed, Var) and isinstance(feed.type, SumType):
                self.carried.setdefault(feed, []).append(target)
        self.steered.setdefault(target, []).extend(steered)

    def feed_each(
        self, targets: Sequence[Var], *carried: Sequence[Atom], steered: Iterable[Atom] = ()
    ) -> None:
        """Note that each target is made of what stands at its place in these."""
        for target, *feeds in zip(targets, *carried, strict=True):
            self.feed(target, feeds, steered)

    def downstream(self, starts: Iterable[Var], with_steered: bool) -> set[Var]:
        """Everything that the starts flow into."""
        readers: dict[Var, list[Var]] = {}
        tables = (self.carried, self.steered) if with_steered else (self.carried,)
        for table in tables:
            for target, feeds in table.items():
                for feed in feeds:
                    if isinstance(feed, Var):
                        readers.setdefault(feed, []).append(target)
        found = set(starts)
        pending = list(found)
        while pending:
            for reader in readers.get(pending.pop(), ()):
                if reader not in found:
                    found.add(reader)
                    pending.append(reader)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """The variables a search follows (`reached`), computes (`needed`) and must not compute (`hidden`)."""

    flow: Flow
    reached: set[Var]
    needed: set[Var]
    hidden: set[Var]

    def is_live(self, let: Let) -> bool:
        """Whether a statement has anything to do with the pattern."""
        return any(target in self.reached or target in self.needed for target in let.targets)


def relevance(fn: Function, seeds: Sequence[Var], hidden_params: Sequence[Var]) -> Relevance:
    """What matters for the dependence of the results on the seeds."""
    flow = Flow.of(fn.body)
    hidden = flow.downstream((*seeds, *hidden_params), with_steered=True)
    everywhere = flow.downstream(seeds, with_steered=False)
    reached = {var for var in everywhere if not _is_exact(var)}
    numbers = {param for param in fn.params if not _is_exact(param)}
    inexact = flow.downstream(numbers, with_steered=True) | hidden
    sizes = [size for atom in fn.body.results for size in type_sizes(atom.type)]
    return Relevance(flow, reached, _needed(flow, reached, hidden, inexact, sizes), hidden)


def _is_exact(var: Var) -> bool:
    """Whether a variable holds integers or booleans, which carry no derivative."""
    return var.type.dtype.is_integer or var.type.dtype is BOOL


def _needed(
    flow: Flow, reached: set[Var], hidden: set[Var], inexact: set[Var], sizes: Iterable[Var]
) -> set[Var]:
    needed: set[Var] = set()
    seen: set[int] = set()
    pending: list[Var] = []

    def want(atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom not in needed and atom not in hidden:
                needed.add(atom)
                pending.append(atom)

    def live(let: Let | None) -> None:
        while let is not None and id(let) not in seen:
            seen.add(id(let))
            want(_deciding(let, inexact))
            let = flow.around[id(let)]

    want(sizes)
    for var in reached:
        live(flow.home.get(var))
        want(type_sizes(var.type))
    while pending:
        var = pending.pop()
        live(flow.home.get(var))
        want(type_sizes(var.type))
        want(flow.carried.get(var, ()))
        want(flow.steered.get(var, ()))
    return needed


def _deciding(let: Let, inexact: set[Var]) -> list[Atom]:
    """The operands of a statement that decide where dependence goes."""
    found: list[Atom] = [size for target in let.targets for size in type_sizes(target.type)]
    match let.expr:
        case Apply(prim=prim, args=args):
            if prim.name == "select":
                found.append(args[0])
            elif prim.name == "mul":
                found += [arg for arg in args if arg not in inexact]
        case Index(indices=indices) | Update(indices=indices) | AddTo(indices=indices):
            found += indices
        case Full(shape=shape) | Reshape(shape=shape):
            found += shape
        case ParFor(extent=extent):
            found.append(extent)
            for part in let.expr.parts:
                found += part.at if isinstance(part.item, Accumulate | Scatter) else ()
        case Loop(trip=trip, condition=condition):
            found += [] if trip is None else [trip]
            found += [] if condition is None else condition.results
        case If(condition=condition):
            found.append(condition)
        case Literal() | Library() | WithSum() | Check() | Print() | Custom() | Launch() | Collective():
            pass
        case _:
            assert_never(let.expr)
    return found


# ---------------------------------------------------------------------------- who feeds whom
def _body(flow: Flow, body: Body, around: Let | None) -> None:
    for let in body.lets:
        flow.around[id(let)] = around
        for target in let.targets:
            flow.home[target] = let
        for binders, inner in bodies(let.expr):
            for binder in binders:
                flow.home.setdefault(binder, let)
            _body(flow, inner, let)
        _let(flow, let.targets, let.expr)


def _let(flow: Flow, targets: tuple[Var, ...], expr: Expr) -> None:
    for target in targets:
        flow.feed(target, ())
    match expr:
        case Apply(args=args) | Library(args=args):
            for target in targets:
                flow.feed(target, args)
        case Index(array=array, indices=indices):
            flow.feed(targets[0], (array,), indices)
        case Update(array=array, indices=indices, value=value):
            flow.feed(targets[0], (array, value), indices)
        case Full(shape=shape, value=value):
            flow.feed(targets[0], (value,), shape)
        case Literal(elements=elements):
            flow.feed(targets[0], elements)
        case Reshape(array=array, shape=shape):
            flow.feed(targets[0], (array,), shape)
        case AddTo(token=token, indices=indices, value=value):
            flow.feed(targets[0], (token, value), indices)
        case ParFor():
            _parfor(flow, targets, expr)
        case Loop(carried, init, body, index, trip, condition):
            decided = (() if trip is None else (trip,)) + (() if condition is None else condition.results)
            if index is not None:
                flow.feed(index, ())
            flow.feed_each(carried, init, body.results, steered=decided)
            flow.feed_each(targets, init, body.results, steered=decided)
        case If(condition=condition, then=then, other=other):
            flow.feed_each(targets, then.results, other.results, steered=(condition,))
        case WithSum(init=init, tokens=tokens, body=body):
            flow.feed_each(tokens, init)
            flow.feed_each(targets, body.results)
        case Custom(args=args, params=params, primal=primal):
            flow.feed_each(params, args)
            flow.feed_each(targets, primal.results)
        case Check() | Print():
            pass
        case Launch() | Collective():
            for target in targets:
                flow.feed(target, operands(expr))
        case _:
            assert_never(expr)


def _parfor(flow: Flow, targets: tuple[Var, ...], expr: ParFor) -> None:
    flow.feed(expr.index, ())
    for part, where in expr.slices():
        made = targets[where]
        match part.item:
            case Stack():
                flow.feed(made[0], (part.value,))
            case Reduce(operator=operator) | Scan(operator=operator):
                for target, value in zip(made, part.takes, strict=True):
                    flow.feed(target, (value,), (expr.extent,))
                _operator(flow, operator, made, part.takes)
            case Accumulate(operator=operator, init=init):
                flow.feed(made[0], (init, part.value), part.at)
                _operator(flow, operator, made, (part.value,))
            case Scatter(init=init):
                flow.feed(made[0], (init, part.value), part.at)
            case Carry(source=source):
                flow.feed(made[0], (source, part.value))
            case _:
                assert_never(part.item)


def _operator(flow: Flow, operator: Operator, made: tuple[Var, ...], values: tuple[Atom, ...]) -> None:
    """A lambda's operands are values or what it gave for others; what it gives goes into the results."""
    if not isinstance(operator, Lambda):
        return
    results = operator.body.results
    for position, target in enumerate(made):
        into = (values[position], results[position], operator.identity[position])
        flow.feed(operator.left[position], into)
        flow.feed(operator.right[position], into)
        flow.feed(target, into)


def is_updated_only(carried: Var, body: Body, position: int) -> bool:
    """Whether an array that a loop carries is only written into: read by nothing but updates of it, by the
    branches that pass it on, and by the end of the iteration."""
    chain: set[Atom] = {carried}
    return _passes_on(body, chain) and all(
        (result in chain) == (place == position) for place, result in enumerate(body.results)
    )


def _passes_on(body: Body, chain: set[Atom]) -> bool:
    for let in body.lets:
        expr = let.expr
        match expr:
            case Update(array=array, indices=indices, value=value):
                if value in chain or any(index in chain for index in indices):
                    return False
                if array in chain:
                    chain.add(let.targets[0])
            case If(then=then, other=other):
                if not (_passes_on(then, chain) and _passes_on(other, chain)):
                    return False
                for target, left, right in zip(let.targets, then.results, other.results, strict=True):
                    if (left in chain) != (right in chain):
                        return False
                    if left in chain:
                        chain.add(target)
            case Loop(init=init) if any(atom in chain for atom in init):
                if not _loop_passes_on(let, expr, chain):
                    return False
            case _:
                if any(atom in chain for atom in _everything_read(let)):
                    return False
    return True


def _loop_passes_on(let: Let, expr: Loop, chain: set[Atom]) -> bool:
    """The same of an inner loop that carries the array on."""
    inside = set(chain)
    for target, var, start in zip(let.targets, expr.carried, expr.init, strict=True):
        if start in chain:
            inside.add(var)
            chain.add(target)
    is_read = expr.condition is not None and any(
        atom in inside for one in expr.condition.lets for atom in _everything_read(one)
    )
    return (
        not is_read
        and _passes_on(expr.body, inside)
        and all(
            (result in inside) == (start in inside)
            for result, start in zip(expr.body.results, expr.init, strict=True)
        )
    )


def _everything_read(let: Let) -> set[Atom]:
    """Every variable read in a statement, in the bodies nested in it as well."""
    flow = Flow.of(Body((let,)))
    tables = (flow.carried, flow.steered)
    found: set[Atom] = {atom for table in tables for feeds in table.values() for atom in feeds}
    for _, body in bodies(let.expr):
        found.update(body.results)
    return found
