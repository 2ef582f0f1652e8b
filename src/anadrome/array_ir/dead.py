"""Dropping what nobody reads: statements, yields, carried values, results of branches and sums.

One forward walk writes down who needs whom, one search from the results and the effects marks what lives,
one walk rebuilds; each is linear in the size of the program, however deep it nests. The needs are:

* a target of a simple statement needs its operands and the sizes in its type;
* the targets of a yield need what it takes of each iteration and around it, and one another;
* a carried value needs its start and its value after an iteration (so one that only it reads is dead);
  the loop needs its trip count or what its condition reads;
* a result of a branch needs the result of both branches, the branch its condition;
* an accumulator is linear: what becomes of it lives when it lives, and the other way round, so a sum whose
  result is unread goes with all of its contributions (unless one of them is checked).

Before:
    a, b = parfor i < n { v = x[i]; w = exp v; yield stack v; yield reduce add w }
    return a
After:
    a = parfor i < n { v = x[i]; yield stack v }
    return a
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar, assert_never

from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    Atom,
    Body,
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
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Print,
    Reshape,
    SumType,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import (
    expression_variables,
    has_effect,
    is_checked,
    map_operator,
    operands,
    operator_of,
    outer_operands,
)

Item = TypeVar("Item")
Node = Var | Const | Let
"""What can be needed: a variable, a statement as such (a structured one, or a check)."""

STRUCTURED = (ParFor, Loop, If, WithSum)
"""The expressions that hold bodies."""


def remove_dead(fn: Function) -> Function:
    """The function without what its results and run-time checks do not need."""
    body = live_body(fn.body)
    return fn if body is fn.body else Function(fn.name, fn.params, body)


def live_body(body: Body, wanted: Sequence[Atom] = ()) -> Body:
    """The body without what its results, the `wanted` atoms and its run-time checks do not need.

    Kept statements keep their variables; a statement of which nothing is dropped is the same object.
    """
    needs = _Needs()
    needs.body(body, None)
    needs.roots += (*body.results, *wanted)
    return _Sweep(needs.living()).body(body, body.results)


class _Needs:
    """The graph of who needs whom, and what is needed in any case."""

    def __init__(self) -> None:
        self.edges: dict[Node, list[Node]] = {}
        self.roots: list[Node] = []

    def living(self) -> set[Node]:
        """Everything the roots need, directly or not."""
        live: set[Node] = set()
        stack = self.roots
        edges = self.edges
        while stack:
            node = stack.pop()
            if type(node) is not Const and node not in live:
                live.add(node)
                if node in edges:
                    stack += edges[node]
        return live

    def need(self, node: Node, *needed: Node) -> None:
        """Write down that `node` needs these."""
        self.edges.setdefault(node, []).extend(needed)

    def linear(self, atom: Atom, consumer: Node) -> None:
        """An accumulator that lives is consumed: its consumer lives as well."""
        if isinstance(atom, Var) and isinstance(atom.type, SumType):
            self.need(atom, consumer)

    def body(self, body: Body, around: Node | None) -> None:
        """The needs of every statement of a body that stands in `around`."""
        for let in body.lets:
            self.statement(let, around)

    def statement(self, let: Let, around: Node | None) -> None:
        """The needs of one statement."""
        expr = let.expr
        match expr:
            case Apply():
                self.simple(let, expr)
            case ParFor():
                self.parfor(let, expr)
            case Loop():
                self.loop(let, expr)
            case If(condition=condition, then=then, other=other):
                self.need(let, condition)
                self.body(then, let)
                self.body(other, let)
                for target, left, right in zip(let.targets, then.results, other.results, strict=True):
                    self.need(target, let, left, right, *target.type.shape)
                    self.linear(left, target)
                    self.linear(right, target)
            case WithSum():
                self.with_sum(let, expr)
            case AddTo(token=token):
                self.effect(let, expr, around)
                self.linear(token, let.targets[0])
            case Full() | Literal() | Reshape() | Library():
                self.simple(let, expr)
            case Index() | Update() | Check() | Print() | Launch() | Collective():
                self.effect(let, expr, around)
            case Custom():
                self.effect(let, expr, around)
                self.need(let.targets[0], *expression_variables(expr))
            case _:
                assert_never(expr)
        if around is not None and isinstance(expr, STRUCTURED):
            self.need(let, around)

    def root(self, node: Node, around: Node | None) -> None:
        """Something that stays whoever reads it, and with it what it stands in."""
        self.roots.append(node)
        if around is not None:
            self.roots.append(around)

    def effect(self, let: Let, expr: Expr, around: Node | None) -> None:
        """A statement without bodies that may have to stay."""
        self.simple(let, expr)
        if has_effect(expr):
            self.root(let.targets[0] if let.targets else let, around)

    def simple(self, let: Let, expr: Expr) -> None:
        """A statement without bodies."""
        if not let.targets:
            self.need(let, *operands(expr))
            return
        first = let.targets[0]
        self.edges[first] = [*operands(expr), *first.type.shape]  # nothing else has named it before
        for target in let.targets[1:]:
            self.need(target, first)
            self.need(first, target, *target.type.shape)

    def parfor(self, let: Let, expr: ParFor) -> None:
        """A parfor and its yields."""
        self.need(let, expr.extent)
        self.body(expr.body, let)
        for part, where in expr.slices():
            item, (first, *others) = part.item, let.targets[where]
            self.need(first, let, *part.takes, *outer_operands(item), *first.type.shape)
            for target in others:
                self.need(target, first)
                self.need(first, target, *target.type.shape)
            operator = operator_of(item)
            for body in () if operator is None else (operator.body, operator.inverse):
                if body is not None:
                    self.need(first, *body.results)
                    self.body(body, first)
            if isinstance(item, Carry):
                self.linear(item.source, first)
                self.linear(part.takes[0], first)
            if is_checked(item):
                self.root(first, let)

    def loop(self, let: Let, expr: Loop) -> None:
        """A loop: a carried value and the result of its last iteration need one another."""
        if expr.trip is not None:
            self.need(let, expr.trip)
        if expr.condition is not None:
            self.need(let, *expr.condition.results)
            self.body(expr.condition, let)
        self.body(expr.body, let)
        slots = zip(let.targets, expr.carried, expr.init, expr.body.results, strict=True)
        for target, carried, start, after in slots:
            self.need(target, carried)
            self.need(carried, let, target, start, after, *target.type.shape)
            self.linear(start, carried)
            self.linear(after, carried)

    def with_sum(self, let: Let, expr: WithSum) -> None:
        """Accumulators with their sums, then the results that are passed through."""
        self.body(expr.body, let)
        count = len(expr.tokens)
        results = expr.body.results
        for target, token, start, after in zip(let.targets, expr.tokens, expr.init, results, strict=False):
            self.need(target, token)
            self.need(token, let, target, start, after, *target.type.shape)
            self.linear(after, token)
        for target, after in zip(let.targets[count:], results[count:], strict=True):
            self.need(target, let, after, *target.type.shape)
            self.linear(after, target)


class _Sweep:
    """The program again, of the living parts alone."""

    def __init__(self, live: set[Node]) -> None:
        self.live = live

    def body(self, body: Body, results: tuple[Atom, ...]) -> Body:
        """A body whose results are now these; the same object where nothing changed."""
        lets: list[Let] = []
        is_same = len(results) == len(body.results)
        for let in body.lets:
            new = self.statement(let)
            if new is not None:
                lets.append(new)
            is_same = is_same and new is let
        return body if is_same else Body(tuple(lets), results)

    def statement(self, let: Let) -> Let | None:
        """A statement with its living targets, or None where it goes."""
        expr = let.expr
        if not isinstance(expr, STRUCTURED):
            return let if (let.targets[0] if let.targets else let) in self.live else None
        if let not in self.live:
            return None
        targets = tuple(target for target in let.targets if target in self.live)
        match expr:
            case ParFor():
                new: Expr = self.parfor(let, expr)
            case Loop():
                new = self.loop(expr)
            case If():
                new = self.branch(let, expr)
            case WithSum():
                new = self.with_sum(let, expr)
            case _:
                assert_never(expr)
        return let if new is expr else Let(targets, new, let.span)

    def parfor(self, let: Let, expr: ParFor) -> ParFor:
        """A parfor with its living yields."""
        living = [part for part, where in expr.slices() if let.targets[where.start] in self.live]
        body = self.body(expr.body, tuple([atom for part in living for atom in part.takes]))
        yields = tuple([map_operator(part.item, self.whole) for part in living])
        if body is expr.body and all(one is other for one, other in zip(yields, expr.yields, strict=False)):
            return expr
        return ParFor(expr.index, expr.extent, body, yields, expr.in_lanes)

    def whole(self, body: Body) -> Body:
        """A body with all of its results."""
        return self.body(body, body.results)

    def loop(self, expr: Loop) -> Loop:
        """A loop with its living carried values."""
        keep = [carried in self.live for carried in expr.carried]
        body = self.body(expr.body, _kept(expr.body.results, keep))
        condition = expr.condition
        if condition is not None:
            condition = self.whole(condition)
        if all(keep) and body is expr.body and condition is expr.condition:
            return expr
        carried, init = _kept(expr.carried, keep), _kept(expr.init, keep)
        return Loop(carried, init, body, expr.index, expr.trip, condition, expr.checkpoint)

    def branch(self, let: Let, expr: If) -> If:
        """A branch with its living results."""
        keep = [target in self.live for target in let.targets]
        then = self.body(expr.then, _kept(expr.then.results, keep))
        other = self.body(expr.other, _kept(expr.other.results, keep))
        if all(keep) and then is expr.then and other is expr.other:
            return expr
        return If(expr.condition, then, other)

    def with_sum(self, let: Let, expr: WithSum) -> WithSum:
        """Accumulators that live, and the living results passed through."""
        keep = [target in self.live for target in let.targets]
        body = self.body(expr.body, _kept(expr.body.results, keep))
        if all(keep) and body is expr.body:
            return expr
        return WithSum(_kept(expr.init, keep), _kept(expr.tokens, keep), body)


def _kept(items: tuple[Item, ...], keep: Iterable[bool]) -> tuple[Item, ...]:
    """The items at the places that are kept; further places are none of theirs."""
    return tuple(item for item, is_kept in zip(items, keep, strict=False) if is_kept)
