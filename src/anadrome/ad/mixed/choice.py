"""Which bodies mixed mode can take, what each way costs, and which way is taken.

The cost of one iteration is counted in scalar operations, from the rows of the table, with

    F  the operations of the body          P  those of the partials of each operation
    E  the varied operands                 D  the sum over them of the directions that reach the operand
    M  one value stored and loaded again   S  the values a loop of the body carries
    B  the branches that are not cheap     L  one product added to a sum: less than an operation of the table,
                                              or several where 0·∞ is kept from it at a pole

What the derivative adds to the program is then, with the terms of loops counted `ITERATIONS` times,

    reverse     F + P + L·E + C·B + [loops: F + M·S] + [while: F]   run again, branch again, store, count
    store       P + L·D + M·(k + 1)                                 duals beside the value, partials kept
    recompute   F + P + L·D                                         duals in the return sweep

Reverse mode of straight code is never dearer than duals in the return sweep (E ≤ D). A branch changes that,
since the return sweep takes it once more (at a cost C), and so does a loop, whose iterations are stored for
the way back: dual numbers take every branch once and store nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anadrome.ad.mixed.duals import Duals
from anadrome.array_ir.nodes import (
    Accumulate,
    Apply,
    Body,
    Carry,
    If,
    Index,
    Let,
    Loop,
    ParFor,
    Part,
    Reduce,
    Scan,
    Scatter,
    Stack,
    Var,
)
from anadrome.array_ir.walk import bodies, expression_variables
from anadrome.config import Mixed as Mode
from anadrome.errors import Span
from anadrome.prims.costs import EXPENSIVE

Way = Literal["reverse", "store", "recompute"]

ITERATIONS = 8
"""How often a loop of a body is taken to run, where only the run can know."""
MEMORY = 12
"""Scalar operations that storing one value of every iteration and loading it again is worth."""
SCRATCH = 4
"""The same for a value that stays in the cache."""
BRANCHING = 16
"""Scalar operations that taking a branch once more is worth."""
LINEAR = 0.25
"""Scalar operations that a product added to a sum is worth: in registers, and often one instruction."""
GUARD = 4
"""How many more at the pole of a function (`partials.chain_product`): two tests, their conjunction, a choice.

Not so at that of a quotient, which costs more than its row says itself, and often has a divisor that is
proved other than zero."""
LIMIT = 16
"""The most inputs whose partials are computed together: their tangents are in registers."""


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A body from scalars to scalars: the varied scalars that enter it and the varied values it yields."""

    expr: ParFor
    inputs: tuple[Var, ...]
    values: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """How one body is differentiated, where it is, and what each way was estimated at."""

    span: Span | None
    inputs: int
    mode: Way
    costs: dict[Way, int]
    is_forced: bool


# ---------------------------------------------------------------------------- which bodies
def kernel_of(expr: ParFor, varied: set[Var]) -> Kernel | None:
    """The scalar body of a parfor, or None where it holds more than scalar code.

    Varied arrays are read element by element in the body itself; everything varied behind that is scalar.
    """
    inputs: dict[Var, None] = {}
    local: set[Var] = {expr.index}
    interior: set[Var] = set()
    for let in expr.body.lets:
        if not varied.isdisjoint(let.targets):
            if isinstance(let.expr, Index):
                if let.expr.array in local or let.targets[0].type.shape:
                    return None
                inputs[let.targets[0]] = None
            elif _is_scalar_code(let, varied):
                read = [var for var in expression_variables(let.expr) if var in varied]
                if any(var.type.shape for var in read):
                    return None
                inputs.update(dict.fromkeys(var for var in read if var not in local))
                interior.update(let.targets)
            else:
                return None
        local.update(let.targets)
    values = _values(expr.parts, varied, interior)
    if not values or not inputs or len(inputs) > LIMIT:
        return None
    return Kernel(expr, tuple(inputs), values)


def _values(parts: Sequence[Part], varied: set[Var], interior: set[Var]) -> tuple[Var, ...]:
    """The values computed in the body that are yielded; none where a yield takes more than scalars."""
    found: dict[Var, None] = {}
    for part in parts:
        taken = [atom for atom in part.takes if isinstance(atom, Var) and atom in varied]
        match part.item:
            case Stack() | Reduce(operator="add") | Scan(operator="add") | Accumulate(operator="add"):
                if any(atom.type.shape for atom in taken):
                    return ()
                found.update(dict.fromkeys(atom for atom in taken if atom in interior))
            case Reduce() | Scan() | Accumulate() | Scatter() if taken:
                return ()
            case Carry():
                return ()
            case _:
                pass
    return tuple(found)


def _is_scalar_code(let: Let, varied: set[Var]) -> bool:
    """Whether what is varied in a statement, at any depth, is scalar arithmetic, branches and loops."""
    match let.expr:
        case Apply():
            return True
        case If() | Loop():
            if any(target in varied and target.type.shape for target in let.targets):
                return False
            return all(
                _is_scalar_code(inner, varied)
                for _, body in bodies(let.expr)
                for inner in body.lets
                if not varied.isdisjoint(inner.targets)
            )
        case _:
            return False


# ---------------------------------------------------------------------------- which way
def choose(kernel: Kernel, let: Let, mode: Mode) -> Choice:
    """The way one body is differentiated: the user's, or the cheapest."""
    costs = _costs(kernel)
    best = min(costs, key=lambda way: costs[way])
    return Choice(let.span, len(kernel.inputs), best if mode == "auto" else mode, costs, mode != "auto")


@dataclass(slots=True)
class _Count:
    """The letters of the formulas above."""

    operations: int = 0
    partials: int = 0
    operand_products: float = 0
    """L·E"""
    direction_products: float = 0
    """L·D"""
    looped: int = 0
    counted: int = 0
    carried: int = 0
    branches: int = 0


def _costs(kernel: Kernel) -> dict[Way, int]:
    duals = Duals.of(Body(kernel.expr.body.lets, kernel.values), kernel.inputs)
    count = _Count()
    _body(Body(kernel.expr.body.lets), duals, count, 1)
    again = count.operations + count.partials
    kept = len(kernel.values) + sum(len(duals.directions(value)) for value in kernel.values)
    loops = count.looped + SCRATCH * count.carried + count.counted
    return {
        "reverse": round(again + count.operand_products + BRANCHING * count.branches + loops),
        "store": round(count.partials + count.direction_products + MEMORY * kept),
        "recompute": round(again + count.direction_products),
    }


def _body(body: Body, duals: Duals, count: _Count, times: int) -> None:
    """Add what a body holds; `times` is how often it runs."""
    for let in body.lets:
        match let.expr:
            case Apply(prim=prim, args=args):
                count.operations += times * prim.cost
                reached = (
                    [len(duals.directions(arg)) for arg in args] if duals.directions(let.targets[0]) else []
                )
                operands = sum(1 for number in reached if number)
                count.partials += times * (prim.cost if prim.cost >= EXPENSIVE else operands)
                is_guarded = "pole" in prim.facts and prim.cost >= EXPENSIVE
                product = LINEAR + (GUARD if is_guarded else 0)
                count.operand_products += times * product * operands
                count.direction_products += times * product * sum(reached)
            case Loop(carried=carried, condition=condition) as loop:
                before = count.operations
                for _, inner in bodies(loop):
                    _body(inner, duals, count, times * ITERATIONS)
                run = count.operations - before
                if any(duals.directions(var) for var in carried):
                    count.looped += run
                    count.carried += times * ITERATIONS * len(carried)
                    count.counted += run if condition is not None else 0
            case _:
                before = count.operations
                for _, inner in bodies(let.expr):
                    _body(inner, duals, count, times)
                is_varied = any(duals.directions(target) for target in let.targets)
                if isinstance(let.expr, If) and is_varied and count.operations - before >= times * EXPENSIVE:
                    count.branches += times
