"""Staging a run-time loop: what it carries, its condition, early exits, and its results.

The body is staged once with the names that are assigned in it and read again, and the arrays written in
it, as carried variables. Where the body shows that more must be carried (a called function wrote an array),
it is staged once more.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import FALSE, TRUE, ArrayType, Atom, Body, Loop, Size, Var, i64
from anadrome.errors.frontend import FrontendError, UnknownRoom, UnsupportedSyntax, WritesThroughView
from anadrome.errors.objects import stale
from anadrome.frontend.arrays import atom, convert, weakness
from anadrome.frontend.complex_numbers.parts import lifted
from anadrome.frontend.context import Context
from anadrome.frontend.drawing import refuse_early_end
from anadrome.frontend.evaluate import condition
from anadrome.frontend.exchanged import holds_itself, leaves_of, made_in, merge, refuse_stale
from anadrome.frontend.growing import make_counted_room, make_room
from anadrome.frontend.heap import contents, describe_part, in_containers, refill, set_state, state_of
from anadrome.frontend.loop_carrying import Carrying
from anadrome.frontend.loop_plan import LoopNode, Part, Plan
from anadrome.frontend.merge import branch
from anadrome.frontend.operators import truth
from anadrome.frontend.resizing import with_tried
from anadrome.frontend.restarts import (
    RESTARTS,
    Counted,
    RestartGrown,
    RestartLoop,
    RestartResized,
    RestartWidened,
    RestartWindow,
)
from anadrome.frontend.run_time_lists import begin_window
from anadrome.frontend.sharing import Turn, Turns
from anadrome.frontend.values import (
    BREAK,
    CONTINUE,
    FALLS_THROUGH,
    NEXT,
    RETURN,
    WHOLE,
    Array,
    Cell,
    Exit,
    Frame,
    Missing,
    Scope,
    ScopeKind,
    Value,
    is_staged,
    python_name,
    value_at_break,
)


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
    live_depth, marks = len(frame.loop_live), context.marks()
    appended = [(scope, dict(scope.appended)) for scope in context.scopes()]
    while True:
        held = {holder: state_of(holder) for holder in plan.holders()}
        try:
            exit_ = _LoopStage(context, frame, node, plan, trip, begin).run()
            if not plan.is_counting:
                return exit_
            raise Counted(plan.scope)
        except (*RESTARTS, FrontendError) as stopped:
            counts = {owner: contents(owner)["count"] for owner in plan.counted}
            assert plan.scope is not None
            further = plan.scope.further
            for (holder, _), state in reversed(further.items()):
                set_state(holder, state)
            for holder, state in held.items():
                set_state(holder, state)
            frame.names = dict(names)
            del frame.loop_live[live_depth:]
            context.take_back(marks)
            for scope, before in appended:
                scope.appended = dict(before)
            if further and not (isinstance(stopped, RESTARTS) and stopped.scope is not plan.scope):
                plan.learn(RestartLoop(plan.scope, further))
                further.clear()
                context.span = span
                continue
            if isinstance(stopped, UnknownRoom) and stopped.scope is plan.scope and not plan.is_counting:
                plan.is_counting = True
                continue
            if isinstance(stopped, WritesThroughView) and context.may_try_again():
                context.span = span
                if plan.keep_arrays(frame, stopped):
                    continue
            if isinstance(stopped, FrontendError) and plan.refusal is not None:
                raise plan.refusal from None
            if isinstance(stopped, FrontendError) or stopped.scope is not plan.scope:
                raise
            context.span = span
            match stopped:
                case Counted():
                    make_counted_room(context, plan.counted, counts)
                case RestartGrown():
                    make_room(context, stopped)
                    marks = context.marks()
                case RestartResized():
                    stopped.rooms = with_tried(context, stopped.rooms)
                    marks = context.marks()
                case RestartWindow():
                    begin_window(context, stopped)
                case RestartWidened(cell=cell, dtype=dtype):
                    widened = convert(context, cell.var, dtype)
                    assert isinstance(widened, Var)
                    context.write(cell, widened)
                case _:
                    pass
            plan.learn(stopped)


class _LoopStage(Carrying):
    """One attempt at staging a loop."""

    def run(self) -> Exit:
        """Stage body and condition, emit the loop, and say how it ends."""
        context, span, begun = self.context, self.context.span, len(self.context.staled)
        for cell in self.plan.cells:
            context.hold(cell, cell.var)  # whatever is around the loop must know that it writes here
        for record, key in self.plan.parts:
            context.change(record.owner, describe_part(record, key), key)
        cells, records = list(self.plan.cells), list(dict.fromkeys(record for record, _ in self.plan.parts))
        starts = [cell.var for cell in cells]
        contents_before = {record: contents(record.owner) for record in records}
        cell_vars = [Var(cell.var.name, cell.var.type) for cell in cells]
        with context.reopened(self.scope):
            self.scope.builder.bind(self.index, self.code)
            carried = [self._carry(place) for place in self.plan.places()]
            variables = [var for one in carried for var in one.variables] + cell_vars
            variables += self.resizing.variables
            self.scope.builder.bind(*variables)
            self.scope.carried.update((cell, WHOLE) for cell in cells)
            self.scope.carried.update(self.plan.parts)
        self.scope.tick = context.tick
        for cell, var in zip(cells, cell_vars, strict=True):
            cell.var = var
        for one in carried:
            self._set(one.place, one.value)
        test, test_body = self._condition(variables)
        context.facts.assume(self.scope, test, True)
        with context.reopened(self.scope):
            exit_ = self._body()
            if self.scope.further:
                raise RestartLoop(self.scope, self.scope.further)
            self._refuse_new_parts(contents_before)
            parts = [self._place_part(one, exit_) for one in carried]
            context.identities.closed(self.scope)
            self._follow_numpys(carried)
            self._find_rooms(carried, exit_)
            parts.insert(0, self.resizing.part())
            self._refuse_shared_writes(carried)
            self._refuse_shared_changes(carried)
            self._refuse_left(begun)
            ends: list[Atom] = [self._cell_end(cell, var) for cell, var in zip(cells, cell_vars, strict=True)]
            parts.append(Part(cell_vars, list(starts), ends, lambda results: _settle_cells(cells, results)))
            parts += self._late_parts(exit_)
            returned: list[Value] = []
            if RETURN in exit_.kinds:
                parts.append(self._return_part(exit_.value, returned))
            final_code = self._final_code(exit_)
        for cell, start in zip(cells, starts, strict=True):
            cell.var = start
        for record, before in contents_before.items():
            refill(record.owner, before)
        context.span = span
        self._forget_names(carried)
        code = self._emit(parts, final_code, exit_, test, test_body)
        self._link()
        return self._ending(exit_, code, returned[0] if returned else None)

    def _refuse_left(self, begun: int) -> None:
        """What became unreadable in the body was not to be read there: the next iteration reads it too."""
        for record in self.context.staled[begun:]:
            is_outer = not record.home.is_inside(self.scope)
            if is_outer and record.stale is not None and record.last_read > self.scope.tick:
                raise stale(python_name(record.owner), record.stale, self.context.span)

    def _link(self) -> None:
        """Say what the arrays that the loop leaves may share memory with."""
        builder, trip = self.context.builder, self.trip
        ran = TRUE if self.plan.runs else None if trip is None else builder.apply("gt", trip, i64(0))
        Turns(self.turns, self._is_outer).link(self.context, ran, self.plan.runs)

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
            scope.loop = self.scope
            scope.builder.bind(self.index, self.code, *variables)
            if test is None:
                assert self.trip is not None
                return context.builder.apply("lt", self.index, self.trip), scope
            self.resizing.enter_condition()
            value = condition(context, self.frame, test)
            self.resizing.leave_condition()
            if is_staged(value):
                return truth(context, value), scope
            return (TRUE if value else FALSE), scope

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
            leaves, rebuild = self._left(value)
            if leaves and not any(self._has_inner_size(leaf) for leaf in leaves):
                parts.append(self._slots(name, leaves, rebuild, done))
        return parts

    def _left(self, value: Value) -> tuple[list[Value], Callable[..., Value]]:
        """The leaves of a value that an iteration leaves, and the value after the loop made of them."""
        inside = made_in(self.context, self.scope)
        if holds_itself(value, inside):
            inside = in_containers
        refuse_stale(self.context, value, inside)
        whole = lifted(self.context, value, inside)
        if whole is not value:
            merge(self.context, whole, (value,), inside)
        leaves, rebuild = leaves_of(whole, inside)

        def rebuilt(results: Iterator[Value]) -> Value:
            made = rebuild(results)
            merge(self.context, made, (value,), inside)
            return made

        return leaves, rebuilt

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
        leaves, rebuild = self._left(value)
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
        weak = [weakness(leaf) for leaf in leaves]
        types = [ArrayType(end.type.dtype, end.type.shape) for end in ends]
        with context.reopened(self._outer):
            starts = [context.builder.zeros(type_) for type_ in types]

        def settle(results: list[Atom]) -> None:
            values = [
                self._result(found, is_weak, Turn(None, None, leaf))
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
        if leaves:
            refuse_early_end(context, self.scope)
        is_counted = self.trip is not None
        inner, hint = self.scope.builder, self.plan.checkpoint
        if is_counted and not leaves:
            body = inner.body(ends)
            loop = Loop(tuple(variables), tuple(starts), body, self.index, self.trip, checkpoint=hint)
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
            loop = Loop(tuple(variables), tuple(starts), body, condition=condition, checkpoint=hint)
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
