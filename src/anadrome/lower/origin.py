"""Which array a result is an updated version of: the chain of updates, loops, branches and sums to it."""

from __future__ import annotations

from collections.abc import Mapping

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.affine import affine, goes_over
from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import Bounds
from anadrome.lower.memory import Facts


def origin(facts: Facts, body: array_ir.Body, atom: array_ir.Atom | None) -> array_ir.Var | None:
    """The variable bound around (or on entering) a body whose array `atom` is, with places replaced.

    None where the array is made anew.
    """
    definitions = facts.body(body).definitions
    while isinstance(atom, array_ir.Var):
        let = definitions.get(atom)
        if let is None:
            return atom
        atom = predecessor(facts, let, let.targets.index(atom))
    return None


def predecessor(facts: Facts, let: array_ir.Let, position: int) -> array_ir.Var | None:
    """The operand of which a result of a statement is an updated version."""
    match let.expr:
        case array_ir.Update(array=array):
            return array
        case array_ir.If(then=then, other=other):
            first = origin(facts, then, then.results[position])
            second = origin(facts, other, other.results[position])
            return first if first is second else None
        case array_ir.Loop(init=init):
            start = init[position]
            is_kept = isinstance(start, array_ir.Var) and is_updated_in_place(facts, let.expr, position)
            return start if is_kept and isinstance(start, array_ir.Var) else None
        case array_ir.Collective(arrays=arrays):
            behind = len(arrays) - (len(let.targets) - position)
            return arrays[behind] if behind >= 0 else None
        case array_ir.Launch(kernel=kernel, args=args):
            found = args[written_places(kernel, len(args))[position]]
            return found if isinstance(found, array_ir.Var) else None
        case array_ir.WithSum(init=init, body=body):
            is_sum = position < len(init)
            return init[position] if is_sum else origin(facts, body, body.results[position])
        case array_ir.ParFor() as parfor:
            item = parfor.part_of(position).item
            return item.init if isinstance(item, array_ir.Accumulate | array_ir.Scatter) else None
        case _:
            return None


def turned(let: array_ir.Let, definitions: Mapping[array_ir.Var, array_ir.Expr]) -> array_ir.Var | None:
    """The array of which a statement gives the rows from the last to the first, and does nothing else."""
    match let.expr:
        case array_ir.ParFor(index=index, extent=extent, yields=(array_ir.Stack(),), in_lanes=False):
            (value,) = let.expr.body.results
            lets = let.expr.body.lets
        case _:
            return None
    read = next((inner.expr for inner in reversed(lets) if value in inner.targets), None)
    if not isinstance(read, array_ir.Index) or len(read.indices) != 1:
        return None
    made = {target: inner.expr for inner in lets for target in inner.targets if target is not value}
    if read.array in made:
        return None
    is_all = all(isinstance(expr, array_ir.Apply) for expr in made.values())
    place, size = read.indices[0], read.array.type.shape[0]
    is_forwards = affine(place, definitions) == affine(index, definitions)
    is_backwards = goes_over(place, index, extent, size, definitions) and not is_forwards
    return read.array if is_all and is_backwards else None


def is_updated_in_place(facts: Facts, loop: array_ir.Loop, position: int) -> bool:
    """Whether an iteration of a loop gives back the carried array it was given, with places replaced."""
    return origin(facts, loop.body, loop.body.results[position]) is loop.carried[position]


def is_written_by_rows(
    facts: Facts, loop: array_ir.Loop, position: int, definitions: Mapping[array_ir.Var, array_ir.Expr]
) -> bool:
    """Whether a loop writes every row of an array that it carries, one in each iteration from the first on or
    from the last, and reads none, neither before it writes nor after: then nobody sees what the array held
    before. The stacks of what a return sweep needs are such arrays, and the adjoints of what it reads."""
    carried, result, body = loop.carried[position], loop.body.results[position], loop.body
    if loop.index is None or loop.trip is None or not carried.type.shape:
        return False
    uses, end = facts.body(body).uses, len(body.lets)
    states = [state for state in {carried, result} if isinstance(state, array_ir.Var)]
    readers = sorted(place for state in states for place in uses.get(state, ()))
    if len(readers) != 2 or not readers[0] < readers[1] == end:
        return False
    let = body.lets[readers[0]]
    match let.expr:
        case array_ir.Update(array=array, indices=(place,), value=value, bounds=Bounds.PROVED):
            is_put = array is carried and value is not carried and let.targets[0] is result
            return is_put and goes_over(place, loop.index, loop.trip, carried.type.shape[0], definitions)
        case _:
            return False
