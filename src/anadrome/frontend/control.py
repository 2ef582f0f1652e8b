"""Run-time loops: what they carry, early exits, and staging the body."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from anadrome.array_ir.nodes import FALSE, ArrayType, Atom, Body, Const, Loop, Size, Var, i64
from anadrome.dtypes import BOOL, I64, DType
from anadrome.errors.frontend import ChangesType, FrontendError, StaticRequired, UnsupportedSyntax
from anadrome.frontend.arrays import atom, describe, promote, type_of
from anadrome.frontend.context import Context, RestartLoop
from anadrome.frontend.iterables import Iterated, has_run, iterate, unrolled
from anadrome.frontend.iterables import Unrolled as UnrollMark
from anadrome.frontend.liveness import assigned_names
from anadrome.frontend.merge import aliases, branch
from anadrome.frontend.operators import truth
from anadrome.frontend.sizes import give_range, retype
from anadrome.frontend.structures import flatten, has_staged, is_number
from anadrome.frontend.values import (
    BREAK,
    CONTINUE,
    FALLS_THROUGH,
    NEXT,
    RETURN,
    Array,
    Cell,
    Exit,
    Frame,
    Missing,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    is_staged,
)

STATIC_ITERATIONS = 10_000
"""A `while` whose condition is known while compiling is repeated at most this often."""


class RetypeLoop(Exception):
    """A carried Python number turned out to need another type: stage the loop once more with it."""

    def __init__(self, scope: Scope, key: tuple[str, int], dtype: DType) -> None:
        super().__init__()
        self.scope = scope
        self.key = key
        self.dtype = dtype


@dataclass(slots=True, eq=False)
class Carried:
    """The leaves of one carried name: the variables bound in the body and how to make the value of them."""

    name: str
    start: list[Value]
    variables: list[Var]
    weak: list[bool]
    rebuild: Callable[..., Value]
    value: Value


@dataclass(slots=True, eq=False)
class Plan:
    """What staging a loop has learned so far; kept when the body is staged again."""

    names: list[str]
    late: list[str]
    cells: list[Cell] = field(default_factory=list)
    types: dict[tuple[str, int], DType] = field(default_factory=dict)
    scope: Scope | None = None


# ---------------------------------------------------------------------------- for and while statements
def run_for(context: Context, frame: Frame, node: ast.For, assign: Callable[..., None]) -> Exit:
    """A `for`: over static items it is repeated now, over a run-time sequence it becomes a loop."""
    context.at(frame, node.iter)
    iterable = context.evaluate(frame, node.iter)
    items = unrolled(context, iterable) if isinstance(iterable, UnrollMark) else iterate(context, iterable)
    if isinstance(items, Iterated):
        extent = items.static_extent
        if extent is None or extent > context.config.unroll_limit:
            try:
                return _runtime_for(context, frame, node, items, assign)
            except StaticRequired:
                if extent is None or extent > 64 or context.scope.kind is not ScopeKind.FUNCTION:
                    raise
        items = unrolled(context, items)
    return _repeat(context, frame, node, items, assign)


def _repeat(
    context: Context, frame: Frame, node: ast.For, items: Sequence[Value], assign: Callable[..., None]
) -> Exit:
    """Iterations one after the other; where one may have ended the loop at run time, the rest is conditional."""
    frame.loop_live.append(frame.live_head.get(node, frozenset()) | frame.live[node])
    try:
        return _iterations(context, frame, node, list(items), assign)
    finally:
        frame.loop_live.pop()


def _iterations(
    context: Context, frame: Frame, node: ast.For, items: list[Value], assign: Callable[..., None]
) -> Exit:
    for position, item in enumerate(items):
        assign(context, frame, node.target, item)
        exit_ = context.evaluators.block(context, frame, node.body)
        if exit_.kinds <= {NEXT, CONTINUE}:
            continue
        if isinstance(exit_.code, int):
            return FALLS_THROUGH if exit_.code == BREAK else exit_
        rest = items[position + 1 :]
        is_over = _is_one_of(context, exit_.code, exit_.kinds & {BREAK, RETURN})
        live = frame.loop_live[-1]
        ended = Exit(exit_.code, exit_.kinds & {BREAK, RETURN}, exit_.value)
        return branch(
            context, frame, is_over,
            lambda: _after_break(context, ended),
            lambda: _iterations(context, frame, node, rest, assign),
            live,
        )
    return context.evaluators.block(context, frame, node.orelse)


def _after_break(context: Context, ended: Exit) -> Exit:
    """BREAK is an ordinary end for what follows the loop."""
    if ended.kinds == {BREAK}:
        return FALLS_THROUGH
    if ended.kinds == {RETURN}:
        return Exit(RETURN, ended.kinds, ended.value)
    assert not isinstance(ended.code, int)
    is_return = context.builder.apply("eq", ended.code, i64(RETURN))
    code = context.builder.select(is_return, i64(RETURN), i64(NEXT))
    return Exit(code, frozenset({NEXT, RETURN}), ended.value)


def _is_one_of(context: Context, code: Atom, kinds: Iterable[int]) -> Atom:
    found: Atom = FALSE
    for kind in kinds:
        test = context.builder.apply("eq", code, i64(kind))
        found = test if found is FALSE else context.builder.apply("or", found, test)
    return found


def _runtime_for(
    context: Context, frame: Frame, node: ast.For, items: Iterated, assign: Callable[..., None]
) -> Exit:
    def begin(index: Var) -> None:
        give_range(context, index, i64(0), items.extent)
        assign(context, frame, node.target, items.item(context, index))

    return _stage(context, frame, node, _plan(context, frame, node, has_run(context, items)), items.extent, None, begin)


def run_while(context: Context, frame: Frame, node: ast.While) -> Exit:
    """A `while`: a run-time loop, unless its condition depends on static objects alone that the body changes."""
    plan = _plan(context, frame, node, isinstance(node.test, ast.Constant) and bool(node.test.value))
    if not isinstance(node.test, ast.Constant) and _is_static_test(context, frame, node, plan):
        return _repeat_while(context, frame, node)
    return _stage(context, frame, node, plan, None, node.test, lambda index: None)


def _is_static_test(context: Context, frame: Frame, node: ast.While, plan: Plan) -> bool:
    """Whether the condition reads no run-time value and no number that the loop would carry."""
    read = {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
    if read & set(plan.names):
        return False
    with context.nested(ScopeKind.CONDITION):
        return not is_staged(context.evaluate(frame, node.test))


def _repeat_while(context: Context, frame: Frame, node: ast.While) -> Exit:
    for _ in range(STATIC_ITERATIONS):
        test = context.evaluate(frame, node.test)
        if is_staged(test):
            raise UnsupportedSyntax("a condition that is static at first and known at run time only later", context.span)
        if not test:
            return context.evaluators.block(context, frame, node.orelse)
        exit_ = context.evaluators.block(context, frame, node.body)
        if not isinstance(exit_.code, int):
            raise UnsupportedSyntax("a run-time exit from a loop that is repeated while compiling", context.span)
        if exit_.code == BREAK:
            return FALLS_THROUGH
        if exit_.code == RETURN:
            return exit_
    raise StaticRequired(f"a loop of more than {STATIC_ITERATIONS} iterations", context.span)


# ---------------------------------------------------------------------------- what is carried
def _plan(context: Context, frame: Frame, node: ast.For | ast.While, runs: bool) -> Plan:
    assigned = assigned_names(node.body) | (assigned_names([node.target]) if isinstance(node, ast.For) else frozenset())
    needed = assigned & (frame.live_head.get(node, frozenset()) | frame.live[node])
    names, late = [], []
    for name in sorted(needed):
        value = frame.names.get(name, Missing("not assigned before the loop"))
        if isinstance(value, Missing):
            late.append(name)
        elif _leaves(value)[0]:
            names.append(name)
    plan = Plan(names, late if runs else [])
    for name in _written_names(node.body) - set(names):
        value = frame.names.get(name)
        if isinstance(value, Array) and not value.cell.is_argument and value.cell not in plan.cells:
            plan.cells.append(value.cell)
    return plan


def _written_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names whose elements are assigned somewhere in the body."""
    found: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base: ast.expr = node.value
                while isinstance(base, ast.Subscript | ast.Attribute):
                    base = base.value
                if isinstance(base, ast.Name):
                    found.add(base.id)
    return found


def _leaves(value: Value) -> tuple[list[Value], Callable[..., Value]]:
    return flatten(value, lambda leaf: is_staged(leaf) or is_number(leaf))


def _carry(context: Context, plan: Plan, name: str, value: Value) -> Carried:
    start, rebuild = _leaves(value)
    variables, weak, inner = [], [], []
    for position, leaf in enumerate(start):
        own, is_weak = type_of(context, leaf)
        dtype = plan.types.get((name, position), own)
        shape = leaf.shape if isinstance(leaf, Array) else ()
        var = Var(name, ArrayType(dtype, shape))
        variables.append(var)
        weak.append(is_weak and (name, position) not in plan.types)
        inner.append(_bound_value(context, var, leaf, weak[-1]))
    return Carried(name, start, variables, weak, rebuild, rebuild(iter(inner)))


def _bound_value(context: Context, var: Var, leaf: Value, is_weak: bool) -> Value:
    if isinstance(leaf, Array):
        return Array(Cell(var, context.scope, may_alias=aliases((leaf,))), None, leaf.list_depth)
    return Scalar(var, is_weak)


# ---------------------------------------------------------------------------- staging
def _stage(
    context: Context, frame: Frame, node: ast.For | ast.While, plan: Plan, trip: Size | None,
    test: ast.expr | None, begin: Callable[[Var], None],
) -> Exit:
    """Stage the loop, again as often as its body shows that more must be carried."""
    names = dict(frame.names)
    span = context.span
    while True:
        held = {cell: cell.var for cell in plan.cells}
        try:
            for cell in plan.cells:
                context.write(cell, cell.var)  # the loop writes it, so whatever is around must know
            return _attempt(context, frame, node, plan, trip, test, begin)
        except RestartLoop as restart:
            if restart.scope is not plan.scope:
                raise
            plan.cells.append(restart.cell)
        except RetypeLoop as restart:
            if restart.scope is not plan.scope:
                raise
            plan.types[restart.key] = restart.dtype
        finally:
            _restore_if_failed(context, plan, held)
        frame.names = dict(names)
        context.span = span


def _restore_if_failed(context: Context, plan: Plan, held: dict[Cell, Var]) -> None:
    """After a restart the cells hold again what they held before the loop."""
    if plan.scope is not None:
        for cell, var in held.items():
            cell.var = var


def _attempt(
    context: Context, frame: Frame, node: ast.For | ast.While, plan: Plan, trip: Size | None,
    test: ast.expr | None, begin: Callable[[Var], None],
) -> Exit:
    may_leave = _leaves_early(node.body)
    index, code = Var("i", ArrayType(I64)), Var("code", ArrayType(I64))
    outer_values = {name: frame.names[name] for name in plan.names}
    with context.nested(ScopeKind.LOOP) as scope:
        plan.scope = scope
        scope.carried.update(plan.cells)
        scope.tick = context.tick
        carried = [_carry(context, plan, name, value) for name, value in outer_values.items()]
        cell_vars = [Var(cell.var.name, cell.var.type) for cell in plan.cells]
        scope.builder.bind(index, code, *cell_vars, *(var for one in carried for var in one.variables))
        starts = [cell.var for cell in plan.cells]
        for cell, var in zip(plan.cells, cell_vars, strict=True):
            cell.var = var
        for one in carried:
            frame.names[one.name] = one.value
        condition, is_endless = _condition(context, frame, test)
        frame.loop_live.append(frame.live_head.get(node, frozenset()) | frame.live[node])
        begin(index)
        exit_ = context.evaluators.block(context, frame, node.body)
        frame.loop_live.pop()
        ends = _Ends(context, frame, plan, carried, exit_)
        finals = ends.finals()
        final_cells = [cell.var for cell in plan.cells]
    raise NotImplementedError
