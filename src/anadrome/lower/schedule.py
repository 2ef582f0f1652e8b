"""What runs a parfor: the calling thread, or worker threads. All rules of that decision stand here.

1. Only a parfor at host level is given to threads: one that is inside no other parfor. Sequential loops and
   branches around it do not matter.
2. A scan or a scatter keeps its order, so its parfor stays on one thread; so does a histogram of rows by a
   lambda. A histogram of numbers by a lambda has private bins as others do, combined in the order of workers.
3. A histogram or an accumulator inside a sequential loop stays on one thread: private copies would cost as
   much as the whole array in every iteration of that loop.
4. How many workers pay is decided at run time: the work (extent × estimated cost of the body) must exceed
   `LEAST_WORK`, and by several times the elements of the private copies of all workers, so that there may be
   fewer of them than there are threads. If two do not pay, one worker runs the same code.
5. What reads the prefixes of a scan one by one, and does little else, stays with it (`schedule.fuse`).
6. Loops that stay on one thread are maps (`PARALLEL`) where each iteration writes only its own elements and
   holds no check, inner loop or shared scratch.
"""

from __future__ import annotations

from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir.walk import all_lets, same_atom
from anadrome.dtypes import BOOL, I64
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir.arithmetic import (
    ONE,
    add,
    at_least,
    compute,
    divide,
    known,
    least,
    multiply,
    product,
    subtract,
)
from anadrome.kernel_ir.nodes import Expr, Workers, i64
from anadrome.lower.lowering import Lowering
from anadrome.prims.costs import COPY_FACTOR, EXPENSIVE, LEAST_WORK, UNKNOWN_EXTENT

UNCOUNTED = 64
"""Copies of a known size are not counted where so many workers' cost less than `LEAST_WORK`."""
LIBRARY_COST = 1000


def workers(low: Lowering, let: array_ir.Let, expr: array_ir.ParFor) -> Expr | None:
    """How many workers a parfor is given (an i64 variable of at least 1), or None for a plain loop."""
    if low.config.workers == 1 or low.is_in_parfor or not low.emit.is_host or low.emit.is_kernel:
        return None
    if any(isinstance(found.expr, array_ir.Launch) for found in all_lets(expr.body)):
        return None  # the threads of the launch are given to the workers instead
    if not all(_is_splittable(low, part) for part in expr.parts):
        return None
    cost = _body_cost(low, expr.body)
    if (known(cost) or LEAST_WORK) < EXPENSIVE and _goes_along_scan(low, expr):
        return None
    work = multiply(low.scalar(expr.extent), cost)
    if isinstance(work, kernel_ir.Const) and int(work.value) <= LEAST_WORK:
        return None
    pays = low.emit.let("pays", BOOL, compute("gt", work, i64(LEAST_WORK)))
    most: Expr = compute("min", Workers(), low.scalar(expr.extent))
    copied = multiply(_copied_elements(low, let, expr), i64(COPY_FACTOR))
    count = known(copied)
    if count is None or count * UNCOUNTED > LEAST_WORK:
        most = least(most, divide(subtract(work, i64(LEAST_WORK)), at_least(1, copied)))
    return low.emit.let("workers", I64, compute("select", pays, at_least(1, most), ONE))


def _goes_along_scan(low: Lowering, expr: array_ir.ParFor) -> bool:
    """Whether a parfor reads at its own index what a scan of the same extent has left in this body."""
    facts = low.live.frames[-1].facts
    for let in expr.body.lets:
        if not isinstance(let.expr, array_ir.Index) or let.expr.indices != (expr.index,):
            continue
        made = facts.definitions.get(let.expr.array)
        if made is None or not isinstance(made.expr, array_ir.ParFor):
            continue
        part = made.expr.part_of(made.targets.index(let.expr.array))
        if isinstance(part.item, array_ir.Scan) and same_atom(made.expr.extent, expr.extent):
            return True
    return False


def _is_splittable(low: Lowering, part: array_ir.Part) -> bool:
    match part.item:
        case array_ir.Stack():
            return True
        case array_ir.Reduce():
            return low.config.reordered
        case array_ir.Accumulate(operator=operator):
            is_number = isinstance(operator, str) or not part.value.type.shape
            return is_number and not low.emit.is_in_loop and low.config.reordered
        case array_ir.Carry():
            return not low.emit.is_in_loop and low.config.reordered
        case _:
            return False


def _copied_elements(low: Lowering, let: array_ir.Let, expr: array_ir.ParFor) -> Expr:
    """The elements of one worker's private copies."""
    total: Expr = i64(0)
    for part, where in expr.slices():
        if not isinstance(part.item, array_ir.Stack):
            for target in let.targets[where]:
                total = add(total, product(low.scalars(target.type.shape)))
    return total


def _body_cost(low: Lowering, body: array_ir.Body) -> Expr:
    """Estimated scalar operations of one run of a body."""
    fixed, rest = 1, i64(0)
    total: Expr = rest
    for let in body.lets:
        match let.expr:
            case array_ir.Apply(prim=prim):
                fixed += prim.cost
            case array_ir.Index() | array_ir.Check() | array_ir.Print() | array_ir.Reshape():
                fixed += 1
            case array_ir.Full() | array_ir.Literal() | array_ir.Update() | array_ir.AddTo():
                fixed += 2
            case array_ir.Library() | array_ir.Launch() | array_ir.Collective():
                fixed += LIBRARY_COST
            case array_ir.Custom(primal=inner):
                total = add(total, _body_cost(low, inner))
            case array_ir.ParFor(extent=extent, body=inner):
                total = add(total, multiply(_known_size(low, extent), _body_cost(low, inner)))
            case array_ir.Loop(trip=trip, body=inner):
                times = i64(UNKNOWN_EXTENT) if trip is None else _known_size(low, trip)
                total = add(total, multiply(times, _body_cost(low, inner)))
            case array_ir.If(then=then, other=other):
                total = add(total, add(_body_cost(low, then), _body_cost(low, other)))
            case array_ir.WithSum(body=inner):
                total = add(total, _body_cost(low, inner))
    return add(i64(fixed), total)


def _known_size(low: Lowering, size: array_ir.Size) -> Expr:
    if isinstance(size, array_ir.Var) and size not in low.env:
        return i64(UNKNOWN_EXTENT)
    return low.scalar(size)
