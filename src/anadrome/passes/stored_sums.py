"""A sum to which each iteration of a loop adds once, at a place of its own, is an array that the loop writes.

The adjoint of `x` in `for i in range(len(x)): state = f(state, x[i])` gets one term for each element. Where
the loop goes over all of them, from either end, and the sum starts from zeros, the loop carries the array and
puts the terms there: nothing is read back, and lowering need not write the zeros.

Before:
    fn f(x: f64[n], w: f64[n]) -> f64[n], f64 {
      z = full [n] 0.0
      e = sub n 1
      a, b = with_sum (t = z) {
        c, d = loop (s = t, q = 1.0) for i < n {
          k = sub e i
          v = x[k]
          p = mul q v
          u = add_to s[k] p
          return u, p
        }
        return c, d
      }
      return a, b
    }
After:
    fn f(x: f64[n], w: f64[n]) -> f64[n], f64 {
      z = full [n] 0.0
      e = sub n 1
      c, d = loop (s = z, q = 1.0) for i < n {
        k = sub e i
        v = x[k]
        p = mul q v
        u = update s[k] p
        return u, p
      }
      return c, d
    }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anadrome.array_ir.affine import goes_over
from anadrome.array_ir.nodes import (
    AddTo,
    Apply,
    ArrayType,
    Body,
    Bounds,
    Const,
    Expr,
    Full,
    Function,
    Let,
    Loop,
    SumType,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.rewrite import Substitution, remade, with_body
from anadrome.array_ir.walk import all_lets, let_variables
from anadrome.config import Config
from anadrome.prims.node import replace


def stored_sums(fn: Function, config: Config) -> Function:
    """The function with such sums as arrays; itself where there are none."""
    if not any(isinstance(let.expr, WithSum) for let in all_lets(fn.body)):
        return fn
    return with_body(fn, _Stored(fn).body(fn.body))


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """Which of the sums of a statement it is, where a loop carries it, and the statement that adds to it."""

    position: int
    loop: Let
    carried: int
    adds: Let


class _Stored(Substitution):
    """One walk over the program."""

    def __init__(self, fn: Function) -> None:
        super().__init__()
        self.definitions: dict[Var, Expr] = {
            target: let.expr
            for let in all_lets(fn.body)
            if isinstance(let.expr, Apply | Full)
            for target in let.targets
        }

    def body(self, body: Body) -> Body:
        """A body, with what is left of statements that sum."""
        lets: list[Let] = []
        for let in body.lets:
            terms = list(self.terms(let)) if isinstance(let.expr, WithSum) else []
            lets += self.stored(let, terms) if terms else [self.let(let)]
        return remade(body, lets, self.atoms(body.results))

    def terms(self, let: Let) -> Iterator[_Term]:
        """The sums of a statement that one of its loops goes over."""
        assert isinstance(let.expr, WithSum)
        for position, (source, token) in enumerate(zip(let.expr.init, let.expr.tokens, strict=True)):
            made = self.definitions.get(source)
            users = [inner for inner in let.expr.body.lets if token in let_variables(inner)]
            if not _is_zero(made) or len(users) != 1:
                continue
            (user,) = users
            found = self.added(user, token) if isinstance(user.expr, Loop) else None
            if found is not None and user.targets[found[0]] is let.expr.body.results[position]:
                yield _Term(position, user, *found)

    def added(self, let: Let, token: Var) -> tuple[int, Let] | None:
        """Where a loop carries a sum, and its one statement that adds to it, each time at another place."""
        loop = let.expr
        assert isinstance(loop, Loop)
        if (
            loop.index is None
            or loop.trip is None
            or loop.condition is not None
            or loop.checkpoint is not None
        ):
            return None
        if loop.init.count(token) != 1:
            return None
        position = loop.init.index(token)
        state, result = loop.carried[position], loop.body.results[position]
        users = [inner for inner in loop.body.lets if not {state, result}.isdisjoint(let_variables(inner))]
        if len(users) != 1:
            return None
        match users[0].expr:
            case AddTo(token=base, indices=(place,), bounds=Bounds.PROVED) if base is state:
                is_result = users[0].targets[0] is result and loop.body.results.count(result) == 1
                extent, trip = state.type.shape[0], loop.trip
                is_whole = goes_over(place, loop.index, trip, extent, self.definitions)
                return (position, users[0]) if is_result and is_whole else None
            case _:
                return None

    def stored(self, let: Let, terms: list[_Term]) -> Iterator[Let]:
        """The statements in the place of one that sums; a statement that sums the rest stands last."""
        expr = let.expr
        assert isinstance(expr, WithSum)
        loops = {term.loop for term in terms}
        gone = {term.position for term in terms}
        inner = Body(tuple(self.carrying(one, terms) if one in loops else one for one in expr.body.lets), ())
        for term in terms:
            self.replace(expr.tokens[term.position], self.variable(expr.init[term.position]))
        kept = [position for position in range(len(expr.init)) if position not in gone]
        order = [*kept, *(p for p in range(len(let.targets)) if p not in kept)]
        new = self.body(inner)
        results = self.atoms(expr.body.results[position] for position in order)
        targets = tuple(let.targets[position] for position in order)
        if not kept:
            yield from new.lets
            for target, result in zip(targets, results, strict=True):
                self.replace(target, result)
            return
        sums = self.variables(expr.init[position] for position in kept)
        tokens = self.all_bound(tuple(expr.tokens[position] for position in kept))
        yield Let(self.all_bound(targets), WithSum(sums, tokens, Body(new.lets, results)), let.span)

    def carrying(self, let: Let, terms: list[_Term]) -> Let:
        """A loop that carries the arrays of some sums."""
        loop, targets = let.expr, list(let.targets)
        assert isinstance(loop, Loop)
        change = Substitution()
        carried, own = list(loop.carried), {term.adds: term for term in terms if term.loop is let}
        for term in own.values():
            for variables in (carried, targets):
                variables[term.carried] = self.array(variables[term.carried], change)
        lets: list[Let] = []
        for inner in loop.body.lets:
            new = change.let(inner)
            if inner in own:
                assert isinstance(new.expr, AddTo)
                put = Update(new.expr.token, new.expr.indices, new.expr.value, new.expr.bounds)
                new = Let((self.array(inner.targets[0], change),), put, inner.span)
            lets.append(new)
        body = Body(tuple(lets), change.atoms(loop.body.results))
        self.mapping.update(change.mapping)
        return Let(tuple(targets), replace(loop, carried=tuple(carried), body=body), let.span)

    def array(self, var: Var, change: Substitution) -> Var:
        """The array in the place of a sum."""
        assert isinstance(var.type, SumType)
        new = Var(var.name, ArrayType(var.type.dtype, var.type.shape))
        change.replace(var, new)
        return new


def _is_zero(expr: Expr | None) -> bool:
    return isinstance(expr, Full) and isinstance(expr.value, Const) and expr.value.value == 0
