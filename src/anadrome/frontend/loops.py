"""Staging a run-time loop: what it carries, its condition, early exits, and its results.

The body is staged once with the names that are assigned in it and read again, and the arrays written in
it, as carried variables. Where the body shows that more must be carried (a called function wrote an array),
it is staged once more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, ArrayType, Atom, Body, Loop, Size, Var, i64
from anadrome.dtypes import F64, I64
from anadrome.errors.base import Span
from anadrome.errors.frontend import (
    ChangesSize,
    ChangesType,
    FrontendError,
    ShapeMismatch,
    UnsupportedSyntax,
    WritesThroughView,
)
from anadrome.frontend.arrays import atom, describe, type_of
from anadrome.frontend.carried import (
    RetypeLoop,
    becomes_float,
    follow_start,
    is_python_number,
)
from anadrome.frontend.complex_numbers.parts import complex_of, lifted
from anadrome.frontend.context import Context, RestartLoop
from anadrome.frontend.evaluate import condition
from anadrome.frontend.loop_plan import LoopNode, Plan, leaves_of
from anadrome.frontend.merge import aliases, branch, link_shared
from anadrome.frontend.operators import truth
from anadrome.frontend.sizes import differ_always, retype
from anadrome.frontend.structures import is_same_structure
from anadrome.frontend.values import (
    BREAK,
    CONTINUE,
    FALLS_THROUGH,
    NEXT,
    RETURN,
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Missing,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    is_staged,
    link,
    value_at_break,
)


@dataclass(slots=True, eq=False)
class Carried:
    """One carried name: its leaves before the loop, the variables bound in the body, and its value there."""

    name: str
    start: list[Value]
    atoms: list[Atom]
    variables: list[Var]
    weak: list[bool]
    rebuild: Callable[..., Value]
    value: Value
    cells: list[Cell] = field(default_factory=list)
    ends: list[Array] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Part:
    """One group of a loop's carried values: variables, starts, ends, and what to do with the results."""

    variables: list[Var]
    starts: list[Atom]
    ends: list[Atom]
    settle: Callable[[list[Atom]], None]


# ---------------------------------------------------------------------------- staging
def stage_loop(
    context: Context,
    frame: Frame,
    node: LoopNode,
    plan: Plan,
    trip: Size | None,
    begin: Callable[[Var], None],
) -> Exit:
    """Stage the loop, again where its body shows that more must be carried. `begin` binds the target."""
    names, span = dict(frame.names), context.span
    live_depth, poisoned = len(frame.loop_live), len(context.poisonings)
    while True:
        held = {cell: cell.var for cell in plan.cells}
        try:
            return _LoopStage(context, frame, node, plan, trip, begin).run()
        except (RestartLoop, RetypeLoop, FrontendError) as stopped:
            for cell, var in held.items():
                cell.var = var
            frame.names = dict(names)
            del frame.loop_live[live_depth:]
            while len(context.poisonings) > poisoned:
                context.poisonings.pop().poisoned = None
            if isinstance(stopped, FrontendError) or stopped.scope is not plan.scope:
                raise
            context.span = span
            if isinstance(stopped, RestartLoop):
                plan.cells.append(stopped.cell)
            elif stopped.dtype is None:
                names[stopped.key[0]] = complex_of(context, names[stopped.key[0]])
                frame.names = dict(names)
            elif stopped.is_weak:
                plan.floats[stopped.key] = stopped.instead
            else:
                plan.types[stopped.key] = stopped.dtype


class _LoopStage:
    """One attempt at staging a loop."""

    def __init__(
        self,
        context: Context,
        frame: Frame,
        node: LoopNode,
        plan: Plan,
        trip: Size | None,
        begin: Callable[[Var], None],
    ) -> None:
        self.context, self.frame, self.node, self.plan = context, frame, node, plan
        self.trip, self.begin = trip, begin
        self.index, self.code = Var("i", ArrayType(I64)), Var("code", ArrayType(I64))
        self.before = dict(frame.names)
        self.scope = Scope(ScopeKind.LOOP, context.builder.child(), context.scope, tick=context.tick)
        self.results: list[tuple[Value, Sequence[Value]]] = []
        self.broken: dict[str, Value] = {}
        plan.scope = self.scope

    def run(self) -> Exit:
        """Stage body and condition, emit the loop, and say how it ends."""
        context, frame, span = self.context, self.frame, self.context.span
        for cell in self.plan.cells:
            context.write(cell, cell.var)  # whatever is around the loop must know that it writes here
        cells = list(self.plan.cells)
        starts = [cell.var for cell in cells]
        cell_vars = [Var(cell.var.name, cell.var.type) for cell in cells]
        with context.reopened(self.scope):
            carried = [self._carry(name) for name in self.plan.names]
            variables = [var for one in carried for var in one.variables] + cell_vars
            self.scope.builder.bind(self.index, self.code, *variables)
            self.scope.carried.update(cells)
        self.scope.tick = context.tick
        for cell, var in zip(cells, cell_vars, strict=True):
            cell.var = var
        frame.names.update({one.name: one.value for one in carried})
        test, test_body = self._condition(variables)
        with context.reopened(self.scope):
            exit_ = self._body()
            parts = [self._name_part(one) for one in carried]
            self._refuse_shared_writes(carried)
            ends: list[Atom] = [cell.var for cell in cells]
            parts.append(Part(cell_vars, list(starts), ends, lambda results: _settle_cells(cells, results)))
            parts += self._late_parts(exit_)
            returned: list[Value] = []
            if RETURN in exit_.kinds:
                parts.append(self._return_part(exit_.value, returned))
            final_code = self._final_code(exit_)
        for cell, start in zip(cells, starts, strict=True):
            cell.var = start
        context.span = span
        self._forget_names(carried)
        code = self._emit(parts, final_code, exit_, test, test_body)
        link_shared(self.results)
        return self._ending(exit_, code, returned[0] if returned else None)

    def _body(self) -> Exit:
        frame, node = self.frame, self.node
        frame.loop_live.append(frame.live_head.get(node, frozenset()) | frame.live[node])
        try:
            self.begin(self.index)
            exit_ = self.context.evaluators.block(self.context, frame, node.body)
        except FrontendError as error:  # as a float the number cannot do what the body does with it
            raise next((one for one in self.plan.floats.values() if one is not None), error) from None
        frame.loop_live.pop()
        return exit_

    def _condition(self, variables: Sequence[Var]) -> tuple[Atom, Scope]:
        context, test = self.context, self.node.test if isinstance(self.node, ast.While) else None
        with context.nested(ScopeKind.CONDITION) as scope:
            scope.builder.bind(self.index, self.code, *variables)
            if test is None:
                assert self.trip is not None
                return context.builder.apply("lt", self.index, self.trip), scope
            if any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(test)):
                help = "assign before the loop, and again at the end of its body"
                raise UnsupportedSyntax("`:=` in the condition of a run-time `while`", context.span, help)
            value = condition(context, self.frame, test)
            if is_staged(value):
                return truth(context, value), scope
            return (TRUE if value else FALSE), scope

    # -------------------------------------------------------------------- carried names
    def _carry(self, name: str) -> Carried:
        start, rebuild = leaves_of(self.before[name])
        carried = Carried(name, start, [], [], [], rebuild, None)
        inner: list[Value] = []
        for position, leaf in enumerate(start):
            own, is_weak = type_of(self.context, leaf)
            key = (name, position)
            own = self.plan.types.get(key, F64 if key in self.plan.floats else own)
            var = Var(name, ArrayType(own, leaf.shape if isinstance(leaf, Array) else ()))
            follow_start(self.context, var, self.scope, key, leaf)
            carried.variables.append(var)
            with self.context.reopened(self._outer):
                carried.atoms.append(atom(self.context, leaf, var.type.dtype))
            carried.weak.append(is_weak and key not in self.plan.types)
            if isinstance(leaf, Array):
                cell = Cell(var, self.scope)
                link(cell, aliases((leaf,)))
                carried.cells.append(cell)
                inner.append(Array(cell, None, leaf.list_depth))
            else:
                inner.append(Scalar(var, carried.weak[-1]))
        carried.value = rebuild(iter(inner))
        return carried

    def _name_part(self, carried: Carried) -> Part:
        """The carried name: before the loop, at the end of an iteration, and after the loop."""
        context, name = self.context, carried.name
        value = self.frame.names.get(name, Missing("deleted in the loop"))
        value = lifted(context, value)
        before = self.before[name]
        if isinstance(value, Complex) and not value.shape and is_python_number(before):
            raise RetypeLoop(self.scope, (name, 0), None)
        if isinstance(before, Complex) and not before.shape and is_python_number(value):
            value = complex_of(context, value)
        if isinstance(value, Missing):
            raise value.error(name, self.frame.assigned.get(name, context.span))
        if not is_same_structure(before, value):
            raise self._changes(name, describe(before), describe(value))
        leaves = leaves_of(value)[0]
        ends = [self._fit(carried, position, leaf) for position, leaf in enumerate(leaves)]
        carried.ends = [leaf for leaf in leaves if isinstance(leaf, Array)]
        weak = [mine and _is_weak(context, leaf) for mine, leaf in zip(carried.weak, leaves, strict=True)]

        def settle(results: list[Atom]) -> None:
            values = [
                self._result(found, is_weak, start, leaf)
                for found, is_weak, start, leaf in zip(results, weak, carried.start, leaves, strict=True)
            ]
            self.frame.names[name] = carried.rebuild(iter(values))

        return Part(carried.variables, carried.atoms, ends, settle)

    @property
    def _outer(self) -> Scope:
        assert self.scope.parent is not None
        return self.scope.parent

    def _result(self, found: Atom, is_weak: bool, start: Value, end: Value) -> Value:
        """What a name is after the loop: its array may be that before the loop, or one made elsewhere."""
        wrapped = self.context.wrap(found, is_weak)
        self.results.append((wrapped, (end,) if self.plan.runs else (start, end)))
        if not isinstance(wrapped, Array) or not isinstance(end, Array):
            return wrapped
        sources = (end,) if self.plan.runs else (start, end)
        link(wrapped.cell, [cell for cell in aliases(sources) if self._is_outer(cell)])
        return Array(wrapped.cell, None, end.list_depth)

    def _is_outer(self, cell: Cell) -> bool:
        return cell.home is not self.scope and cell.home.depth <= self._outer.depth

    def _refuse_shared_writes(self, carried: Sequence[Carried]) -> None:
        """In the next iteration a name holds what it ends with now. Two that end with one array, or one that
        ends with an array from outside, are only carried apart if nothing writes them."""
        ends = [(cell, end) for one in carried for cell, end in zip(one.cells, one.ends, strict=True)]
        for position, (cell, end) in enumerate(ends):
            roots = set(aliases((end,))) - {cell}
            for root in roots:
                if self._is_outer(root) and root not in cell.partners:
                    self._meets_outer(cell, root)
            partners: list[Cell] = []
            if end.cell is not cell:
                partners += [other for other, theirs in ends[:position] if roots & set(aliases((theirs,)))]
            partners += [o for o, theirs in ends[position + 1 :] if theirs.cell is end.cell and o is not cell]
            if any(one.last_written > self.scope.tick for partner in partners for one in (cell, partner)):
                raise self._shared_write()

    def _meets_outer(self, cell: Cell, root: Cell) -> None:
        """From the next iteration on `cell` may be the array `root` of outside."""
        tick = self.scope.tick
        if root.last_written > tick or (cell.last_written > tick and root.last_read > tick):
            raise self._shared_write()
        if cell.last_written > tick:
            root.poisoned = self.context.span
            self.context.poisonings.append(root)

    def _shared_write(self) -> WritesThroughView:
        reason = "two names hold one array after an iteration, and one of them is written in the loop"
        return WritesThroughView(reason, self.context.span)

    def _fit(self, carried: Carried, position: int, leaf: Value) -> Atom:
        """The value at the end of an iteration under the type it is carried with, or an error."""
        context, var = self.context, carried.variables[position]
        assert isinstance(var.type, ArrayType)
        dtype, is_weak = type_of(context, leaf)
        shape = leaf.shape if isinstance(leaf, Array) else ()
        words = (_words(var.type, carried.start[position]), describe(leaf))
        if len(shape) != var.type.rank:
            raise self._changes(carried.name, *words)
        key = (carried.name, position)
        if var.type.dtype is I64 and dtype.is_float and not shape:
            becomes_float(context, var, self.scope, key, self._changes(carried.name, *words))
        if (
            carried.weak[position]
            and not is_weak
            and dtype is not var.type.dtype
            and dtype.kind == var.type.dtype.kind
        ):
            raise RetypeLoop(self.scope, key, dtype)
        if carried.weak[position] and not is_weak and dtype is var.type.dtype and context.is_narrow:
            raise RetypeLoop(self.scope, key, dtype)
        is_number_into_float = is_weak and not shape and (var.type.dtype.is_float or dtype is var.type.dtype)
        if dtype is not var.type.dtype and not is_number_into_float:
            raise self._changes(carried.name, *words)
        found = atom(context, leaf, var.type.dtype)
        if not shape:
            return found
        assert isinstance(found, Var)
        if any(differ_always(context, *sizes) for sizes in zip(shape, var.type.shape, strict=True)):
            raise ChangesSize(carried.name, *self._places(carried.name))
        name = carried.name
        changes = f"`{name}` changes its size inside the loop: {{1}} before an iteration, {{0}} after it"
        try:
            return retype(context, found, var.type, f"`{name}`", changes)
        except ShapeMismatch:
            label = f"{words[0]} before the loop, {words[1]} after one iteration"
            raise ChangesSize(name, *self._places(name), label) from None

    def _changes(self, name: str, before: str, after: str) -> ChangesType:
        help, start = "", self.before[name]
        if (before, after) == ("int64", "float64"):
            help = (
                f"start it as a float: `{name} = float({name})`"
                if is_staged(start)
                else f"it is used as an integer: round it, `{name} = int(...)`, or take another name"
            )
        elif after.startswith("complex") and not before.startswith("complex"):
            made = f"complex({name})" if "(" not in after else f"{name}.astype(complex)"
            help = f"start it as a complex one: `{name} = {made}`"
        span, since = self._places(name)
        return ChangesType(name, before, after, span, help, since)

    def _places(self, name: str) -> tuple[Span | None, int]:
        """Where a name is assigned in the loop, and the line from which on it has the type before it."""
        span = self.frame.assigned.get(name, self.context.span)
        return span, self.plan.started.get(name, self.node.lineno)

    def _forget_names(self, carried: Sequence[Carried]) -> None:
        """Names the body assigned have no value after the loop, save those it carries."""
        frame, plan = self.frame, self.plan
        kept = {one.name for one in carried}
        after = frame.names
        frame.names = dict(self.before)
        for name in plan.assigned - kept:
            old, new = self.before.get(name), after.get(name)
            if name in self.before and old is new:
                continue
            is_read = name in frame.live_head.get(self.node, frozenset()) and name in self.before
            if is_read and not isinstance(old, Missing):
                raise self._changes(name, describe(old), describe(new))
            frame.names[name] = Missing(
                "assigned inside a loop that may not run at all", f"give `{name}` a value before the loop"
            )

    # -------------------------------------------------------------------- further results
    def _late_parts(self, exit_: Exit) -> list[Part]:
        """Names first assigned inside the loop: the value of the last iteration, where it is known to run, or
        what they are at a `break`, where the statements after it are reached so, or by way of `else`."""
        parts = []
        for name in self.plan.late:
            value, done = self.frame.names.get(name), partial(self._define, name)
            if not self.plan.runs or value is None or isinstance(value, Missing):
                is_told = bool(self.node.orelse) or self.plan.is_endless
                value = value_at_break(value) if is_told and BREAK in exit_.kinds else None
                done = partial(self.broken.__setitem__, name)
            if value is None:
                continue
            leaves, rebuild = leaves_of(lifted(self.context, value))
            if leaves and not any(self._has_inner_size(leaf) for leaf in leaves):
                parts.append(self._slots(name, leaves, rebuild, done))
        return parts

    def _define(self, name: str, value: Value) -> None:
        self.frame.names[name] = value

    def _broken_off(self, ended: Exit) -> Exit:
        """The exit where the loop was left: names have the values they had there."""
        self.frame.names.update(self.broken)
        return after_break(self.context, ended)

    def _has_inner_size(self, leaf: Value) -> bool:
        sizes = leaf.shape if isinstance(leaf, Array) else ()
        return any(isinstance(size, Var) and self.scope.builder.binds(size) for size in sizes)

    def _return_part(self, value: Value, returned: list[Value]) -> Part:
        leaves, rebuild = leaves_of(lifted(self.context, value))
        if any(self._has_inner_size(leaf) for leaf in leaves):
            raise UnsupportedSyntax(
                "returning an array whose size is known only inside the loop", self.context.span
            )
        return self._slots("result", leaves, rebuild, returned.append)

    def _slots(
        self, name: str, leaves: list[Value], rebuild: Callable[..., Value], done: Callable[[Value], None]
    ) -> Part:
        """Results that no iteration reads: they start as zeros."""
        context = self.context
        ends = [atom(context, leaf) for leaf in leaves]
        weak = [_is_weak(context, leaf) for leaf in leaves]
        types = [ArrayType(end.type.dtype, end.type.shape) for end in ends]
        with context.reopened(self._outer):
            starts = [context.builder.zeros(type_) for type_ in types]

        def settle(results: list[Atom]) -> None:
            values = [
                self._result(found, is_weak, leaf, leaf)
                for found, is_weak, leaf in zip(results, weak, leaves, strict=True)
            ]
            done(rebuild(iter(values)))

        return Part([Var(name, type_) for type_ in types], starts, ends, settle)

    def _final_code(self, exit_: Exit) -> Atom:
        """0 goes on, else BREAK or RETURN."""
        builder = self.context.builder
        if isinstance(exit_.code, int):
            return i64(exit_.code if exit_.code in (BREAK, RETURN) else NEXT)
        if CONTINUE not in exit_.kinds:
            return exit_.code
        return builder.select(builder.apply("eq", exit_.code, i64(CONTINUE)), i64(NEXT), exit_.code)

    # -------------------------------------------------------------------- the loop itself
    def _emit(self, parts: list[Part], final_code: Atom, exit_: Exit, test: Atom, test_scope: Scope) -> Atom:
        """The `Loop`; results go to where the parts settle them, and the exit code is given back."""
        context = self.context
        variables = [var for part in parts for var in part.variables]
        starts = [start for part in parts for start in part.starts]
        ends = [end for part in parts for end in part.ends]
        leaves = not exit_.kinds <= {NEXT, CONTINUE}
        is_counted = self.trip is not None
        inner, wish = self.scope.builder, self.plan.checkpoint
        if is_counted and not leaves:
            body = inner.body(ends)
            loop = Loop(tuple(variables), tuple(starts), body, self.index, self.trip, checkpoint=wish)
        else:
            extra: list[tuple[Var, Atom, Atom]] = []
            if is_counted:
                with context.reopened(self.scope):
                    extra.append((self.index, i64(0), inner.apply("add", self.index, i64(1))))
            if leaves:
                extra.append((self.code, i64(NEXT), final_code))
            variables += [var for var, _, _ in extra]
            starts += [start for _, start, _ in extra]
            condition = self._test_body(test, test_scope, leaves)
            body = inner.body([*ends, *(end for _, _, end in extra)])
            loop = Loop(tuple(variables), tuple(starts), body, condition=condition, checkpoint=wish)
        results = (
            list(context.builder.let(loop)) if variables or loop.condition is not None or body.lets else []
        )
        position = 0
        for part in parts:
            part.settle(list(results[position : position + len(part.variables)]))
            position += len(part.variables)
        return results[-1] if leaves else i64(NEXT)

    def _test_body(self, test: Atom, scope: Scope, leaves: bool) -> Body:
        """The condition; after an early exit it is not evaluated any more."""
        if not leaves:
            return scope.builder.body((test,))
        outer = self._outer.builder.child()
        goes_on = outer.apply("eq", self.code, i64(NEXT))
        if test is TRUE:
            return outer.body((goes_on,))

        def evaluated(inner: Builder) -> tuple[Atom, ...]:
            for let in scope.builder.lets:
                inner.emit(let)
            return (test,)

        return outer.body(outer.branch(goes_on, evaluated, lambda inner: (FALSE,)))

    def _ending(self, exit_: Exit, code: Atom, returned: Value) -> Exit:
        """How the loop ends for the statements after it; `else` runs where there was no early exit."""
        context, node = self.context, self.node
        kinds = exit_.kinds & {BREAK, RETURN}
        if kinds == {RETURN} and isinstance(node, ast.While) and self.plan.is_endless:
            return Exit(RETURN, kinds, returned)
        if not kinds:
            return context.evaluators.block(context, self.frame, node.orelse)
        if not node.orelse and self.plan.is_endless:
            return self._broken_off(Exit(code, kinds | {NEXT}, returned))
        if not node.orelse:
            return after_break(context, Exit(code, kinds | {NEXT}, returned))
        is_over = context.builder.apply("ne", code, i64(NEXT))
        live = self.frame.live[node]
        return branch(
            context,
            self.frame,
            is_over,
            lambda: self._broken_off(Exit(code, kinds, returned)),
            lambda: context.evaluators.block(context, self.frame, node.orelse),
            live,
        )


def after_break(context: Context, ended: Exit) -> Exit:
    """A loop's exit as the statements after the loop see it: BREAK is an ordinary end."""
    if RETURN not in ended.kinds:
        return FALLS_THROUGH
    if ended.kinds == {RETURN}:
        return Exit(RETURN, ended.kinds, ended.value)
    assert not isinstance(ended.code, int)
    is_return = context.builder.apply("eq", ended.code, i64(RETURN))
    code = context.builder.select(is_return, i64(RETURN), i64(NEXT))
    return Exit(code, frozenset({NEXT, RETURN}), ended.value)


def _settle_cells(cells: Sequence[Cell], results: list[Atom]) -> None:
    for cell, result in zip(cells, results, strict=True):
        assert isinstance(result, Var)
        cell.var = result


def _is_weak(context: Context, leaf: Value) -> bool:
    return type_of(context, leaf)[1]


def _words(type_: ArrayType, start: Value) -> str:
    return describe(start) if type_.rank else type_.dtype.numpy_name
