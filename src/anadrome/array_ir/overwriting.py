"""Which statement ends the life of an array by writing into its memory.

An array that is bound in a body and needed for the last time by an update, a scatter, a loop or a sum lives
on as what that statement makes of it, in the same memory; so does one that is bound around a branch, or the
body of a sum, and needed nowhere behind that. A pass that lets a later statement read the old array would
have the whole of it copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import (
    Accumulate,
    Atom,
    Body,
    Collective,
    Expr,
    If,
    Launch,
    Let,
    Loop,
    ParFor,
    Scatter,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import all_lets, bodies, let_variables

Reads = Callable[[Let], Iterable[Var]]
"""The variables that a statement reads, as `let_variables` says; a pass that asks often may remember them."""


def overwriting(body: Body) -> dict[Let, tuple[Var, ...]]:
    """The arrays that each statement overwrites, in this body and those nested in it."""
    found: dict[Let, tuple[Var, ...]] = {}
    _collect(body, (), found)
    return found


def overwriting_at_once(body: Body) -> dict[Let, tuple[Var, ...]]:
    """The same of what a thread of a kernel does: no array of it can be copied, so each lives on as what is
    made of it wherever that is made."""
    found: dict[Let, tuple[Var, ...]] = {}
    for let in all_lets(body):
        found[let] = tuple(atom for atom in written(let.expr) if isinstance(atom, Var) and atom.type.shape)
    return found


def overwritten_here(
    body: Body, binders: Sequence[Var], reads: Reads = let_variables
) -> dict[Let, tuple[Var, ...]]:
    """The arrays that each statement of a body, which binds these on entering, overwrites."""
    found: dict[Let, tuple[Var, ...]] = {}
    own = {*binders, *(target for let in body.lets for target in let.targets)}
    last = last_reads(body, reads)
    for let in body.lets:
        if operands := written(let.expr):
            ended = tuple(
                atom
                for atom in operands
                if isinstance(atom, Var) and atom.type.shape and atom in own and last.get(atom) is let
            )
            if ended:
                found[let] = ended
    return found


def overwritten_around(let: Let) -> set[Var]:
    """The arrays bound around a statement of which it makes other versions, in a branch of it too."""
    found = {atom for atom in written(let.expr) if isinstance(atom, Var) and atom.type.shape}
    if isinstance(let.expr, If | WithSum):
        for binders, body in bodies(let.expr):
            inner = {var for one in body.lets for var in overwritten_around(one)}
            found |= inner.difference(binders, *(one.targets for one in body.lets))
    return found


def only_written(let: Let, ended: Sequence[Var]) -> tuple[Var, ...]:
    """Of the arrays that a statement overwrites those that nothing in its body may come to read: the body of
    a loop or a sum runs in their memory, iterations of a parfor write where others would read. A reader that
    became part of it would have them copied, however few elements it writes."""
    expr = let.expr
    if not ended or not isinstance(expr, ParFor):
        return tuple(ended) if isinstance(expr, Loop | WithSum) else ()
    read = {var for _, body in bodies(expr) for inner in body.lets for var in let_variables(inner)}
    return tuple(var for var in ended if var not in read)


def last_reads(body: Body, reads: Reads = let_variables) -> dict[Var, Let | None]:
    """The statement that reads a variable last; None where it is a result."""
    last: dict[Var, Let | None] = {}
    for let in body.lets:
        last.update(dict.fromkeys(reads(let), let))
    last.update((atom, None) for atom in body.results if isinstance(atom, Var))
    return last


def _collect(body: Body, binders: Sequence[Var], found: dict[Let, tuple[Var, ...]]) -> None:
    found.update(overwritten_here(body, binders))
    if not any(isinstance(let.expr, If | WithSum) for let in body.lets):
        last: dict[Var, Let | None] = {}
    else:
        own = {*binders, *(target for let in body.lets for target in let.targets)}
        last = {var: let for var, let in last_reads(body).items() if var in own}
    for let in body.lets:
        runs_once = isinstance(let.expr, If | WithSum)
        ended = [var for var in let_variables(let) if last.get(var) is let] if runs_once else []
        for inner_binders, inner in bodies(let.expr):
            _collect(inner, (*inner_binders, *ended), found)


def written(expr: Expr) -> tuple[Atom, ...]:
    """The arrays that an expression makes other versions of."""
    match expr:
        case Update(array=array):
            return (array,)
        case Loop(init=init) | WithSum(init=init):
            return init
        case ParFor(yields=yields):
            return tuple(item.init for item in yields if isinstance(item, Scatter | Accumulate))
        case Launch(kernel=kernel, args=args):
            return tuple(args[place] for place in written_places(kernel, len(args)))
        case Collective(arrays=arrays):
            return arrays
        case _:
            return ()
