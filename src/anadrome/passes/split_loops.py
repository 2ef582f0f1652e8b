"""Loops of numbers leave the sequential loops that use what they find: they go into a parfor before those.

A loop carries values from one iteration to the next, and so its iterations wait for one another. A search in
it that asks nothing of what is carried need not wait: its iterations run together, in lanes and threads.
The loop reads what it found, and so does the return sweep, which then does not search again. What the search
is made of stays in the loop as well where the loop needs it.

A search is a `while` of numbers, or a long counted loop of numbers and short arrays that goes along no array.

That keeps a number for each iteration. So the loop stands in another one, whose iterations use the same
memory, or is as long as an array that is there anyway. A search stays where an earlier statement of the
iteration may fail by what is carried: that failure comes first. Where an iteration fails behind its search,
those of later iterations run all the same, as the iterations of a parfor do.

Before:
    fn f(x: f64[n], y: f64[n]) -> f64 {
      s = loop (s1 = 0.0) for i < n {
        u = x[i]
        r = loop (t = u) while { c = gt t 1.0; return c } do { h = mul t 0.5; return h }
        v = mul r u
        w = add s1 v
        return w
      }
      return s
    }
After:
    fn f(x: f64[n], y: f64[n]) -> f64 {
      a = parfor i < n {
        u = x[i]
        r = loop (t = u) while { c = gt t 1.0; return c } do { h = mul t 0.5; return h }
        yield stack r
      }
      s = loop (s1 = 0.0) for i1 < n {
        u1 = x[i1]
        r1 = a[i1]
        v = mul r1 u1
        w = add s1 v
        return w
      }
      return s
    }
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Body,
    Const,
    Function,
    Index,
    Let,
    Loop,
    ParFor,
    Stack,
    Var,
)
from anadrome.array_ir.rewrite import Renaming, remade, with_body
from anadrome.array_ir.walk import all_lets, has_effect, let_variables, map_bodies, prints
from anadrome.config import Config
from anadrome.prims.costs import SHORT


def split_loops(fn: Function, config: Config) -> Function:
    """The function with such searches in parfors; itself where there are none."""
    lengths = {size for param in fn.params for size in param.type.shape}
    return with_body(fn, _body(fn.body, lengths, False))


def _body(body: Body, lengths: set[Atom], is_inside: bool) -> Body:
    """A body with its loops split; itself where none is. `lengths`: of arrays that are there; `is_inside`:
    the body is an iteration."""
    lets: list[Let] = []
    for let in body.lets:
        lets += _let(let, lengths, is_inside)
        lengths |= {size for target in let.targets for size in target.type.shape}
    return remade(body, lets, body.results)


def _let(let: Let, lengths: set[Atom], is_inside: bool) -> Iterator[Let]:
    """A statement; for a loop that is split, those that take its place."""
    repeats = is_inside or isinstance(let.expr, ParFor | Loop)
    expr = map_bodies(let.expr, lambda body: _body(body, set(lengths), repeats))
    if expr is not let.expr:
        let = Let(let.targets, expr, let.span)
    if isinstance(expr, Loop) and (is_inside or expr.trip in lengths):
        yield from _split(let, expr)
    else:
        yield let


def _split(let: Let, loop: Loop) -> tuple[Let, ...]:
    """A loop and, before it, what its iterations find without one another."""
    searches = _searches(loop)
    if not searches:
        return (let,)
    assert loop.index is not None and loop.trip is not None
    results = tuple(target for search in searches for target in search.targets)
    builder = Builder()
    builder.span = searches[0].span
    needed, stacks = _needed(loop.body, searches), map(Stack.of, results)
    found = builder.let(ParFor.of(loop.index, loop.trip, needed, stacks))
    arrays = dict(zip(results, found, strict=True))
    rest: list[Let] = []
    for stmt in loop.body.lets:
        if stmt in searches:
            for target in stmt.targets:
                rest.append(Let((target,), Index(arrays[target], (loop.index,)), stmt.span))
        else:
            rest.append(stmt)
    remaining = Loop(
        loop.carried,
        loop.init,
        Body(tuple(rest), loop.body.results),
        loop.index,
        loop.trip,
        checkpoint=loop.checkpoint,
    )
    return (*builder.lets, Let(let.targets, Renaming({}).expr(remaining), let.span))


def _searches(loop: Loop) -> list[Let]:
    """Statements of an iteration that search by what no iteration before it has left."""
    if loop.trip is None or not any(_is_search(let) for let in loop.body.lets) or prints(loop):
        return []
    waiting = set(loop.carried)
    found: list[Let] = []
    for let in loop.body.lets:
        if not waiting.isdisjoint(let_variables(let)):
            waiting.update(let.targets)
            if has_effect(let.expr):
                break
        elif _is_search(let):
            found.append(let)
    return [] if any(_makes_arrays(let) for let in _needed(loop.body, found)) else found


def _is_search(let: Let) -> bool:
    """Whether a statement is a `while` of numbers, or a long loop of few numbers that goes along no array."""
    expr = let.expr
    if not isinstance(expr, Loop) or not all(map(_is_small, expr.carried)):
        return False
    if expr.condition is not None:
        return not any(var.type.shape for var in expr.carried)
    is_long = not isinstance(expr.trip, Const) or expr.trip.value > SHORT
    return is_long and expr.checkpoint is None and not _goes_along_arrays(expr)


def _is_small(var: Var) -> bool:
    """Whether a variable is a number, or a short array, whose elements become numbers."""
    shape = var.type.shape
    if not isinstance(var.type, ArrayType) or not all(isinstance(size, Const) for size in shape):
        return False
    return math.prod(int(size.value) for size in shape if isinstance(size, Const)) <= SHORT


def _goes_along_arrays(loop: Loop) -> bool:
    """Whether a loop reads other elements in each iteration, or makes arrays."""
    bound: set[Atom | None] = {loop.index, *loop.carried}
    for let in all_lets(loop.body):
        bound.update(let.targets)
        if not all(map(_is_small, let.targets)):
            return True
        if isinstance(let.expr, Index) and not bound.isdisjoint(let.expr.indices):
            return True
    return False


def _makes_arrays(let: Let) -> bool:
    """Whether doing a statement twice would be much more than reading what it gives."""
    return not _is_search(let) and any(True for _ in _nested(let))


def _nested(let: Let) -> Iterator[Let]:
    """The statements in a statement."""
    return (inner for inner in all_lets(Body((let,), ())) if inner is not let)


def _needed(body: Body, searches: list[Let]) -> tuple[Let, ...]:
    """The statements that searches need, these included, and the checks before them: reads behind a check
    may rely on it."""
    wanted: set[Var] = set()
    found: list[Let] = []
    is_before = False
    for let in reversed(body.lets):
        is_before |= let in searches
        is_wanted = let in searches or not wanted.isdisjoint(let.targets)
        if is_wanted or (is_before and has_effect(let.expr)):
            found.append(let)
            wanted.update(let_variables(let))
    return tuple(found[::-1])
