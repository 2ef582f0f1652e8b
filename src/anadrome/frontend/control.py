"""`for` and `while`: repeated now where they go over static things, else staged as run-time loops."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Sized
from functools import partial

from anadrome.array_ir.nodes import FALSE, Atom, Var, i64
from anadrome.errors.frontend import (
    ChangesSize,
    ChangesStructure,
    ChangesType,
    EscapingMutation,
    FrontendError,
    StaticRequired,
    StaticTypeError,
    UnknownRoom,
    UnsupportedSyntax,
    WritesThroughView,
)
from anadrome.errors.objects import ChangesItem, ChangesMerged
from anadrome.frontend.comprehension import clause_frame
from anadrome.frontend.context import Context
from anadrome.frontend.evaluate import condition
from anadrome.frontend.generator_expressions import spend
from anadrome.frontend.generators import ends_with, expression_call, is_filtered, run_generator
from anadrome.frontend.iterables import Iterated, Unrolled, has_run, plain_number, read_for
from anadrome.frontend.iterators import (
    GeneratorCall,
    Iterator,
    LazyGenerator,
    begun,
    by_position,
    known_items,
    source_of,
    taken,
    while_items,
)
from anadrome.frontend.liveness import assigned_names, own_nodes, unread_names
from anadrome.frontend.loop_plan import Plan, make_plan
from anadrome.frontend.loops import after_break, stage_loop
from anadrome.frontend.merge import branch
from anadrome.frontend.restarts import TRIES_ROOMS, Restage
from anadrome.frontend.sizes import give_range
from anadrome.frontend.values import (
    BREAK,
    CONTINUE,
    FALLS_THROUGH,
    NEXT,
    RETURN,
    Exit,
    Frame,
    ScopeKind,
    Value,
    after_no_break,
    is_staged,
    value_at_break,
)
from anadrome.prims.node import replace

STATIC_ITERATIONS = 1_000
"""A `while` whose condition is known while compiling is repeated at most this often."""
REPEATED_INSTEAD = (
    ChangesItem,
    ChangesMerged,
    ChangesSize,
    ChangesStructure,
    ChangesType,
    EscapingMutation,
    StaticRequired,
    StaticTypeError,
    WritesThroughView,
)
"""What a run-time loop cannot do, and a short loop that is repeated while compiling can."""


# ---------------------------------------------------------------------------- for and while statements
def run_for(context: Context, frame: Frame, node: ast.For, assign: Callable[..., None]) -> Exit:
    """A `for`: over static items it is repeated now, over a run-time sequence it becomes a loop."""
    context.at(frame, node.iter)
    context.tick = begun_at = context.tick + 1
    iterable = context.evaluate(frame, node.iter)
    iterable = context.evaluators.stepped(context, iterable)
    record = context.records.get(id(iterable))
    is_new = record is not None and record.born >= begun_at  # so nothing else can go on with it
    text = _as_text(context, node, iterable, is_new) if isinstance(iterable, LazyGenerator) else None
    if text is not None:
        context.make_stale([context.records[id(iterable)]])  # who asks it for an item meanwhile is refused
        exit_ = run_generator(context, frame, node, text)
        context.records[id(iterable)].stale = None
        return exit_
    if isinstance(iterable, GeneratorCall):
        return run_generator(context, frame, node, iterable)
    if isinstance(iterable, LazyGenerator) and not is_new:
        iterable = begun(context, iterable)
    walked = None if is_new else _shared_iterator(iterable)
    if walked is not None:
        return _walk_iterator(context, frame, node, walked, assign)
    if isinstance(iterable, Unrolled):
        iterable = iterable.iterable
        items = _known(context, iterable)
        return _repeat(context, frame, node, by_position(context, iterable, items), assign, items)
    items = source_of(context, iterable)
    if not isinstance(iterable, Iterator):
        return _over_items(context, frame, node, iterable, items, assign)
    iterable.hold(context)
    exit_ = _over_items(context, frame, node, iterable, items, assign)
    if not any(isinstance(inner, ast.Break | ast.Return) for inner in own_nodes(node.body)):
        iterable.release(context)
    return exit_


def _as_text(context: Context, node: ast.For, generator: LazyGenerator, is_new: bool) -> GeneratorCall | None:
    """A generator expression whose items have no index as the text that it is, where the loop goes over all
    of it or nothing else can: each item is then evaluated when it is asked for."""
    is_begun = isinstance(generator, GeneratorCall) or generator.begun is not None or generator.is_spent
    if is_begun or not is_filtered(generator.node):
        return None
    is_left = any(isinstance(inner, ast.Break | ast.Return) for inner in own_nodes(node.body))
    if is_left and not is_new:
        return None
    text = spend(context, generator)
    assert text is not None
    made = expression_call(generator, clause_frame(generator.frame, text))
    context.made(made)
    return made


def _over_items(
    context: Context,
    frame: Frame,
    node: ast.For,
    iterable: Value,
    items: Iterated | Iterable[Value],
    assign: Callable[..., None],
) -> Exit:
    if not isinstance(items, Iterated):
        return _repeat(context, frame, node, by_position(context, iterable, items), assign, items)
    items = _as_read(frame, node, items)
    extent = items.static_extent
    is_long = extent is None or extent > context.config.static_repeats
    if is_long or not _is_written_out(context, frame, node, extent):
        try:
            return _runtime_for(context, frame, node, items, assign)
        except REPEATED_INSTEAD as error:
            if is_long or items.checkpoint is not None:
                return _in_another_way(context, frame, node, items, assign, error)
    return _repeat(context, frame, node, by_position(context, iterable, items), assign, items)


def _in_another_way(
    context: Context,
    frame: Frame,
    node: ast.For,
    items: Iterated,
    assign: Callable[..., None],
    error: Exception,
) -> Exit:
    """A loop that was refused: with the short loops in it written out, so that each array of a list is known
    that they change, or with its first iteration before it."""
    sizes = context.text_sizes
    has_loops = any(isinstance(inner, ast.For) for part in node.body for inner in ast.walk(part))
    is_writing = isinstance(error, WritesThroughView) and has_loops and not sizes.is_written_out
    if is_writing and context.may_try_again():
        sizes.is_written_out = True
        try:
            return _runtime_for(context, frame, node, items, assign)
        except REPEATED_INSTEAD:
            context.at(frame, node)  # the first error is the one that says what the text did
        finally:
            sizes.is_written_out = False
    return _peeled(context, frame, node, items, assign, error)


MOST_WRITTEN = 4_000
"""Nodes of Python's syntax tree that a short loop may come to where it is written out, with the loops around
it and in it and the functions that it calls: beyond that it is staged as a loop, if it can be."""


def _is_written_out(context: Context, frame: Frame, node: ast.For, extent: int | None) -> bool:
    """Whether the iterations of a short loop are written out: where that is not much text."""
    sizes = context.text_sizes
    if extent is None or sizes.is_written_out:
        return extent is not None
    is_much = sizes.copies * extent * sizes.of_body(node, frame) > MOST_WRITTEN
    return extent <= context.config.unroll_limit and not is_much


def _as_read(frame: Frame, node: ast.For, items: Iterated) -> Iterated:
    """A run-time sequence of which a loop reads what its body does: other rows may be written meanwhile."""
    unused = unread_names(node, frame.live, frame.live_head.get(node, frozenset()))
    lazy = items.lazy
    if lazy is None or not unused:
        return items
    return replace(items, item=lambda inner, index: read_for(inner, node.target, lazy(inner, index), unused))


PEELED_INSTEAD = (ChangesStructure, ChangesType, StaticTypeError, WritesThroughView)
"""What a loop cannot carry from before its first iteration, and perhaps can from the second on."""


def _peeled(
    context: Context,
    frame: Frame,
    node: ast.For,
    items: Iterated,
    assign: Callable[..., None],
    error: Exception,
) -> Exit:
    """The first iteration, and a loop over the others: names may have other types or be other arrays before.
    A name that has another type before cannot be read after a loop that may not run.

    for x in xs: body      if xs: x = xs[0]; body; for x in xs[1:]: body
    """
    runs = has_run(context, items)
    is_simple = items.checkpoint is None and node not in context.peeling
    is_possible = runs or (isinstance(error, WritesThroughView) and context.may_try_again())
    if not isinstance(error, PEELED_INSTEAD) or not is_simple or not is_possible:
        raise error
    others = items.through(
        context.builder.size("sub", items.extent, i64(1)),
        lambda item: lambda inner, index: item(inner, inner.builder.size("add", index, i64(1))),
    )

    def whole() -> Exit:
        assign(context, frame, node.target, plain_number(items.item(context, i64(0))))
        exit_ = context.evaluators.block(context, frame, node.body)
        rest = partial(_runtime_for, context, frame, node, others, assign)
        if exit_.kinds <= {NEXT, CONTINUE}:
            return rest()
        if isinstance(exit_.code, int):
            return FALLS_THROUGH if exit_.code == BREAK else exit_
        return _conditional_rest(context, frame, exit_, rest)

    frame.loop_live.append(frame.live_head.get(node, frozenset()) | frame.live[node])
    context.peeling.append(node)
    try:
        if runs:
            return whole()
        is_first = context.builder.apply("gt", items.extent, i64(0))
        ended = partial(context.evaluators.block, context, frame, node.orelse)
        return branch(context, frame, is_first, whole, ended, frame.live[node])
    except FrontendError:
        raise error from None
    finally:
        frame.loop_live.pop()
        context.peeling.pop()


def _may_peel(context: Context, node: ast.For, items: Iterated) -> bool:
    """Whether the first iteration of a loop may be taken by itself."""
    return items.checkpoint is None and node not in context.peeling and has_run(context, items)


def _known(context: Context, iterable: Value) -> Iterated | Iterable[Value]:
    """What is unrolled: its length must be known."""
    items = source_of(context, iterable)
    known_items(context, items)
    return items


def _shared_iterator(iterable: Value) -> Iterator | None:
    """The iterator over a run-time sequence that a loop goes over and something else may go on with."""
    return iterable if isinstance(iterable, Iterator) and iterable.sequence is not None else None


def _walk_iterator(
    context: Context, frame: Frame, node: ast.For, iterator: Iterator, assign: Callable[..., None]
) -> Exit:
    """A `for` over an iterator that others can move as well: it takes the next item while there is one.

    for x in it: body      while has_item(it): x = take(it); body
    """
    sequence = iterator.sequence
    assert sequence is not None
    extent = sequence.static_extent
    if extent is not None and extent <= context.config.static_repeats and isinstance(iterator.position, int):
        return _repeat(context, frame, node, by_position(context, None, taken(context, iterator)), assign)
    loop = while_items(frame, node, iterator)
    return stage_loop(context, frame, loop, make_plan(context, frame, loop, False), None, lambda index: None)


Taking = Callable[[int], tuple[Value, ...]]
"""position -> the item there, or nothing behind the last one"""


def _repeat(
    context: Context,
    frame: Frame,
    node: ast.For,
    take: Taking,
    assign: Callable[..., None],
    items: Iterated | Iterable[Value] = (),
) -> Exit:
    """Iterations one after the other; after one that may end the loop at run time the rest is conditional."""
    frame.loop_live.append(frame.live_head.get(node, frozenset()) | frame.live[node])
    sizes, copies = context.text_sizes, context.text_sizes.copies
    count = (
        items.static_extent if isinstance(items, Iterated) else len(items) if isinstance(items, Sized) else 1
    )
    sizes.copies *= count or 1
    try:
        return _iterations(context, frame, node, take, 0, assign)
    finally:
        frame.loop_live.pop()
        sizes.copies = copies


def _iterations(
    context: Context, frame: Frame, node: ast.For, take: Taking, first: int, assign: Callable[..., None]
) -> Exit:
    for position in itertools.count(first):
        context.at(frame, node.iter)
        found = take(position)
        if not found:
            break
        assign(context, frame, node.target, found[0])
        exit_ = context.evaluators.block(context, frame, node.body)
        if exit_.kinds <= {NEXT, CONTINUE}:
            continue
        if isinstance(exit_.code, int):
            return FALLS_THROUGH if exit_.code == BREAK else exit_
        rest = partial(_iterations, context, frame, node, take, position + 1, assign)
        return _conditional_rest(context, frame, exit_, rest)
    return context.evaluators.block(context, frame, node.orelse)


def _conditional_rest(context: Context, frame: Frame, exit_: Exit, rest: Callable[[], Exit]) -> Exit:
    assert not isinstance(exit_.code, int)
    kinds = exit_.kinds & {BREAK, RETURN}
    is_over = _is_one_of(context, exit_.code, kinds)

    def over() -> Exit:
        found = {name: value_at_break(value) for name, value in frame.names.items()}
        frame.names.update({name: value for name, value in found.items() if value is not None})
        return after_break(context, Exit(exit_.code, kinds, exit_.value))

    def further() -> Exit:
        frame.names = after_no_break(frame.names)
        return rest()

    return branch(context, frame, is_over, over, further, frame.loop_live[-1])


def _is_one_of(context: Context, code: Atom, kinds: Iterable[int]) -> Atom:
    found: Atom = FALSE
    for kind in kinds:
        test = context.builder.apply("eq", code, i64(kind))
        found = test if found is FALSE else context.builder.apply("or", found, test)
    return found


def _runtime_for(
    context: Context,
    frame: Frame,
    node: ast.For,
    items: Iterated,
    assign: Callable[..., None],
) -> Exit:
    def begin(index: Var) -> None:
        give_range(context, index, i64(0), items.extent)
        assign(context, frame, node.target, items.item(context, index))

    plan = make_plan(context, frame, node, has_run(context, items))
    plan.checkpoint = items.checkpoint
    plan.may_be_optional = not _may_peel(context, node, items)
    extent = items.static_extent
    plan.may_resize = extent is None or extent > context.config.static_repeats or plan.checkpoint is not None
    return stage_loop(context, frame, node, plan, items.extent, begin)


def run_while(context: Context, frame: Frame, node: ast.While) -> Exit:
    """A `while`: a run-time loop, unless its condition depends on static objects alone."""
    if assigned_names([node.test]):
        node = _endless(context, frame, node)
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    plan = make_plan(context, frame, node, is_endless)
    plan.is_endless = is_endless
    may_repeat = not isinstance(node.test, ast.Constant) and _site(context, frame, node) not in context.grown
    if may_repeat and _is_static_test(context, frame, node, plan):
        return _repeat_while(context, frame, node)
    try:
        return stage_loop(context, frame, node, plan, None, lambda index: None)
    except FrontendError as error:
        first = None if is_endless else _known_at_first(context, frame, node)
        is_repeated = first is False or isinstance(error, (*REPEATED_INSTEAD, UnknownRoom))
        if first is None or not is_repeated:
            raise
        try:
            return _repeat_while(context, frame, node, error)
        except FrontendError:
            if isinstance(error, UnknownRoom) and TRIES_ROOMS not in context.grown:
                raise error from None  # room is tried then
            raise


def _site(context: Context, frame: Frame, node: ast.While) -> str:
    """What a loop is called that the run repeats, though its condition is known when it begins."""
    span = context.span
    context.at(frame, node.test)
    site, context.span = f"a loop of the run: {context.span}", span
    return site


def _known_at_first(context: Context, frame: Frame, node: ast.While) -> bool | None:
    """The condition when the loop begins where it is known, as that of a counter that only the program
    changes; None where only the run knows."""
    with context.nested(ScopeKind.CONDITION):
        first = condition(context, frame, node.test)
    return None if is_staged(first) else bool(first)


def _endless(context: Context, frame: Frame, node: ast.While) -> ast.While:
    """A `while` whose condition binds names, with the condition in its body.

    while (v := f(v)) > e: body      while True: if not (v := f(v)) > e: break; body
    """
    if any(ends_with(node.orelse, kind) for kind in (ast.Break, ast.Continue)):
        context.at(frame, node.orelse[0])
        raise UnsupportedSyntax(
            "an `else` that breaks or continues, of a `while` whose condition has `:=`,", context.span
        )
    leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [*node.orelse, ast.Break()], [])
    loop = ast.While(ast.Constant(True), [leave, *node.body], [])
    for part in (leave, leave.test, leave.body[-1], loop, loop.test):
        ast.copy_location(part, node.test if part is not loop else node)
    head = frame.live_head.get(node, frozenset())
    frame.live[loop], frame.live_head[loop] = frame.live[node], head
    frame.live[leave] = head | assigned_names([node.test])
    frame.live[leave.body[-1]] = frame.live[node]
    return loop


def _is_static_test(context: Context, frame: Frame, node: ast.While, plan: Plan) -> bool:
    """Whether the condition reads no run-time value and no number that the loop would carry."""
    read = {name.id for name in ast.walk(node.test) if isinstance(name, ast.Name)}
    if read & set(plan.names):
        return False
    with context.nested(ScopeKind.CONDITION):
        return not is_staged(condition(context, frame, node.test))


def _repeat_while(
    context: Context, frame: Frame, node: ast.While, refusal: FrontendError | None = None
) -> Exit:
    """Iterations one after the other, as long as the condition is known. `refusal`: why this is no run-time
    loop; then there may be few iterations, and their number is known."""
    for _ in range(STATIC_ITERATIONS if refusal is None else context.config.static_repeats):
        test = condition(context, frame, node.test)
        if is_staged(test) and refusal is not None:
            raise refusal
        if is_staged(test):  # from here on the run decides
            plan = make_plan(context, frame, node, runs=False)
            return stage_loop(context, frame, node, plan, None, lambda index: None)
        if not test:
            return context.evaluators.block(context, frame, node.orelse)
        exit_ = context.evaluators.block(context, frame, node.body)
        if not isinstance(exit_.code, int):
            what = "a run-time exit from a loop that is repeated while compiling"
            error = refusal or UnsupportedSyntax(what, context.span)
            site = _site(context, frame, node)
            if refusal is None and site not in context.grown:
                raise Restage(site, error)
            raise error
        if exit_.code == BREAK:
            return FALLS_THROUGH
        if exit_.code == RETURN:
            return exit_
    context.at(frame, node.test)
    if refusal is not None:
        raise refusal
    raise UnsupportedSyntax(
        f"a `while` of more than {STATIC_ITERATIONS} iterations whose condition is known while compiling",
        context.span,
        "it may never end; let the condition depend on an argument",
    )
