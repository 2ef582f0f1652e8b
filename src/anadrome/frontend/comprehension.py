"""Comprehensions and generator reductions: nests of the parallel construct.

[e for x in xs]                  parfor i < n { …; yield stack e }
sum(e for x in xs if p)          parfor i < n { …; v = if p { e } else { 0 }; yield reduce add v }
[e for x in xs if p]             positions by a scan of p, then parfor i < n { …; yield scatter … }
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import (
    ArrayType,
    Atom,
    Bounds,
    Full,
    ParFor,
    Part,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Stack,
    Var,
    i64,
)
from anadrome.dtypes import BOOL, I64
from anadrome.errors.frontend import (
    RUN_TEXT,
    EscapingMutation,
    PrintsInParallel,
    StaticRequired,
    UnsupportedSyntax,
    UnsupportedType,
    WritesThroughView,
)
from anadrome.errors.parallel import DrawsInParallel
from anadrome.frontend.arrays import as_array, atom, type_of, undecided, weakness
from anadrome.frontend.complex_numbers.parts import has_complex, is_complex
from anadrome.frontend.context import Context
from anadrome.frontend.generators import all_items
from anadrome.frontend.growing import growing_list, plain_list
from anadrome.frontend.iterables import Iterated, Unrolled
from anadrome.frontend.iterators import (
    GeneratorCall,
    known_items,
    source_of,
    taken,
    unrolled,
)
from anadrome.frontend.iterators import Iterator as FrontIterator
from anadrome.frontend.list_methods import ListMethod, run_time_list
from anadrome.frontend.lists import new_list, pooled
from anadrome.frontend.liveness import assigned_names
from anadrome.frontend.merge import branch
from anadrome.frontend.operators import truth
from anadrome.frontend.overloads import own_truth
from anadrome.frontend.restarts import NotParallel, RunTimeFilter
from anadrome.frontend.rows import (
    complex_row,
    holds_instances,
    is_made_apart,
    refuse_shared_list,
    row_leaves,
    row_parts,
)
from anadrome.frontend.sharing import aliases
from anadrome.frontend.sizes import give_range, multiply_sizes
from anadrome.frontend.structures import Rebuild, RowList, first_maybe, flatten, has_text
from anadrome.frontend.values import (
    BY_ROWS,
    RETURN,
    Array,
    Complex,
    Exit,
    Fixed,
    Frame,
    Missing,
    Range,
    Value,
    is_staged,
    link,
)
from anadrome.frontend.views import layout_of, region_of, view_of
from anadrome.frontend.writing import objects_become_items
from anadrome.prims.node import replace

Comprehension = ast.ListComp | ast.GeneratorExp
Keyed = ast.DictComp | ast.SetComp
RETURNED = frozenset({RETURN})


BOUND_INSIDE = Missing(
    "`:=` in a comprehension binds it, for the same item alone",
    "write a `for` loop with assignments where another item or a later statement reads it",
)
"""What a name is for whom `:=` in a comprehension has not bound it."""


def clause_frame(frame: Frame, node: Comprehension | Keyed) -> Frame:
    """The scope of a comprehension: its targets are its own, and so are the names that `:=` binds, which the
    function around it cannot read afterwards."""
    targets, bound = assigned_names([clause.target for clause in node.generators]), assigned_names([node])
    frame.names.update(dict.fromkeys(bound, BOUND_INSIDE))
    names: dict[str, Value] = dict.fromkeys(bound, BOUND_INSIDE)
    own = targets | bound
    return replace(
        frame,
        names=names,
        local_names=own,
        closure={},
        outer=frame,
        loop_live=[],
        assigned={},
        is_class=False,
    )


def enter(context: Context, frame: Frame, node: Comprehension, target: ast.expr, item: Value) -> None:
    """Bind the target of a clause where the items are in no order: nothing is left of another item."""
    frame.names.update(dict.fromkeys(assigned_names([node]), BOUND_INSIDE))
    bind_target(context, frame, target, item)


def clause_items(context: Context, frame: Frame, clause: ast.comprehension) -> Iterated | Iterable[Value]:
    """What a `for` clause goes over; short static sequences are repeated now."""
    if clause.is_async:
        raise UnsupportedSyntax("an asynchronous comprehension", context.span)
    value = context.evaluate(frame, clause.iter)
    return short_items(context, value)


def short_items(context: Context, value: Value) -> Iterated | Iterable[Value]:
    """A run-time sequence, or the items where there are few and their number is known."""
    if isinstance(value, Unrolled):
        return known_items(context, source_of(context, value.iterable))
    whole = value.sequence.static_extent if isinstance(value, FrontIterator) and value.sequence else None
    if isinstance(value, FrontIterator) and whole is not None and whole <= context.config.unroll_limit:
        return taken(context, value)  # who leaves them early leaves the iterator where it is
    items = source_of(context, value)
    extent = items.static_extent if isinstance(items, Iterated) else None
    return items if extent is None or extent > context.config.unroll_limit else known_items(context, items)


def bind_target(context: Context, frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind the target of a clause: a name or a nest of names."""
    if isinstance(target, ast.Name):
        frame.names[target.id] = value
        return
    if isinstance(target, ast.Tuple | ast.List):
        parts = unrolled(context, value)
        if len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in target.elts):
            for part, item in zip(target.elts, parts, strict=True):
                bind_target(context, frame, part, item)
            return
    raise UnsupportedSyntax("this target of a comprehension", context.span)


# ---------------------------------------------------------------------------- lists
def evaluate_list(context: Context, frame: Frame, node: Comprehension) -> Value:
    """A list comprehension: a static list where its items are, else arrays of the run-time extent."""
    inner = clause_frame(frame, node)
    context.at(frame, node)
    result = _list_level(context, inner, node, 0)
    context.at(frame, node)
    result = pooled(context, result)
    return new_list(context, result) if isinstance(result, list) else run_time_list(context, result)


def _list_level(context: Context, frame: Frame, node: Comprehension, depth: int) -> Value:
    clause = node.generators[depth]
    value = context.evaluate(frame, clause.iter)
    if clause.is_async:
        raise UnsupportedSyntax("an asynchronous comprehension", context.span)
    if isinstance(value, GeneratorCall):
        value = all_items(context, value)
    is_short = isinstance(value, list | tuple | dict | range | Array | np.ndarray)
    try:
        return list_of_items(context, frame, node, depth, short_items(context, value))
    except (RunTimeFilter, NotParallel) as error:
        if depth or not is_short:
            raise error.instead from None
    return _one_after_the_other(context, frame, node, value)


def list_of_items(
    context: Context, frame: Frame, node: Comprehension, depth: int, items: Iterated | Iterable[Value]
) -> Value:
    if isinstance(items, Iterated):
        is_serial = False
        try:
            return _parallel_list(context, frame, node, depth, items)
        except _NotStackable:
            is_serial = items.static_extent is None
            if is_serial and depth + 1 == len(node.generators):
                context.at(frame, node.elt)
                what = "an object that is no number or array"
                raise UnsupportedType("an item of a run-time list", what, context.span) from None
        except StaticRequired:
            if items.static_extent is None or items.static_extent > context.config.static_repeats:
                raise
        except (WritesThroughView, EscapingMutation, PrintsInParallel, DrawsInParallel, NotParallel):
            if depth:
                raise
            is_serial = True
        if is_serial and depth:
            raise NotParallel(context.span)
        if is_serial:
            return _one_after_the_other(context, frame, node, items)
        items = known_items(context, items)
    return _static_list(context, frame, node, depth, items)


def _static_list(
    context: Context, frame: Frame, node: Comprehension, depth: int, items: Iterable[Value]
) -> list[Value]:
    clause = node.generators[depth]
    found: list[Value] = []
    for item in items:
        bind_target(context, frame, clause.target, item)
        if not all(static_filter(context, frame, test) for test in clause.ifs):
            continue
        if depth + 1 == len(node.generators):
            found.append(context.evaluate(frame, node.elt))
        else:
            found += unrolled(context, _list_level(context, frame, node, depth + 1))
    return found


def _one_after_the_other(context: Context, frame: Frame, node: Comprehension, items: Value) -> Value:
    """A list whose items change what is outside, or whose filters only the run knows: a loop that appends.

    [e for x in xs if p]      out = []; for x in xs: if p: out.append(e)
    """
    made = growing_list(context, ())
    constant: Any = ast.Constant

    def place(new: Any) -> Any:
        return ast.copy_location(new, node.elt)

    append = place(ast.Call(place(constant(ListMethod("append", made))), [node.elt], []))
    body: ast.stmt = place(ast.Expr(append))
    first = node.generators[0]
    for clause in reversed(node.generators):
        for test in reversed(clause.ifs):
            body = place(ast.If(test, [body], []))
            frame.live[body] = frozenset()
        source = place(constant(items)) if clause is first else clause.iter
        body = place(ast.For(clause.target, source, [body], []))
        frame.live[body] = frame.live_head[body] = frozenset()
    for part in ast.walk(body):
        if isinstance(part, ast.stmt):
            frame.live.setdefault(part, frozenset())
    context.evaluators.block(context, frame, [body])
    return made


def passes(context: Context, frame: Frame, tests: Sequence[ast.expr]) -> bool:
    """Whether filters let an item pass, where they must be known now."""
    try:
        return all(static_filter(context, frame, test) for test in tests)
    except RunTimeFilter as error:
        raise error.instead from None


def static_filter(context: Context, frame: Frame, test: ast.expr) -> bool:
    """Whether a filter lets an item pass; raises `RunTimeFilter` where only the run knows."""
    value = own_truth(context, context.evaluate(frame, test))
    if is_staged(value):
        context.at(frame, test)
        error = StaticRequired("the filter of a comprehension over static items", context.span)
        raise RunTimeFilter(error)
    return bool(value)


# ---------------------------------------------------------------------------- lists of run-time length
class _NotStackable(Exception):
    """The items are not numbers or arrays of one shape."""


def _parallel_list(context: Context, frame: Frame, node: Comprehension, depth: int, items: Iterated) -> Value:
    clause = node.generators[depth]
    if clause.ifs:
        return _filtered_list(context, frame, node, depth, items)

    def element(item: Value) -> Value:
        enter(context, frame, node, clause.target, item)
        return _element(context, frame, node, depth)

    return _rows(context, items, element, is_flattened=depth + 1 < len(node.generators))


def list_of(context: Context, items: Iterated) -> Value:
    """The items of a run-time sequence as a list."""
    return _rows(context, items, lambda item: item, is_flattened=False)


def _rows(context: Context, items: Iterated, element: Callable[[Value], Value], is_flattened: bool) -> Value:
    """One parfor that stacks what `element` makes of every item."""
    rows: list[tuple[list[Value], Rebuild, Value, bool]] = []
    indices: list[Var] = []

    def body(inner: Builder, index: Var) -> Sequence[Part]:
        indices.append(index)
        with context.filling(inner):
            give_range(context, index, i64(0), items.extent)
            row = element(items.item(context, index))
            if items.static_extent is not None and holds_instances(context, row):
                raise _NotStackable  # each is an object of its own, which may change
            leaves, rebuild = _row(context, row)
            rows.append((leaves, rebuild, row, is_made_apart(context, row)))
            parts = [Stack.of(atom(context, leaf)) for leaf in leaves]
        if is_flattened and _is_ragged(context, leaves):
            raise NotParallel(context.span)
        return parts

    results = context.builder.parfor(items.extent, body)
    ((leaves, rebuild, example, is_apart),) = rows
    columns = [
        _column(context, var, leaf, items.extent, indices[0])
        for var, leaf in zip(results, leaves, strict=True)
    ]
    if is_flattened:
        columns = [_flattened(context, column) for column in columns]
    _refuse_ragged(context, columns)
    return _assembled(context, columns, rebuild, example, is_apart)


def _element(context: Context, frame: Frame, node: Comprehension, depth: int) -> Value:
    if depth + 1 == len(node.generators):
        return context.evaluate(frame, node.elt)
    return _list_level(context, frame, node, depth + 1)


def _row(context: Context, value: Value) -> tuple[list[Value], Rebuild]:
    """The leaves of one item: an inner list becomes a row; a tuple makes several columns."""
    refuse_shared_list(context, value)
    value = plain_list(context, value)
    maybe = first_maybe(value)
    if maybe is not None:
        raise undecided(maybe, context.span, "an item of a run-time list")
    if is_complex(value) or (isinstance(value, list) and value and has_complex(value)):
        return complex_row(context, value)
    if isinstance(value, list) and value:
        found = as_array(context, value)
        assert isinstance(found, Array)
        link(found.cell, aliases(flatten(value, is_staged)[0]))
        if not is_made_apart(context, value):
            objects_become_items(context, (found.cell,), value)
        return [Array(found.cell, found.view, 1)], next
    leaves, rebuild = row_leaves(context, value)
    scopes = list(context.scopes())
    for leaf in leaves:
        if isinstance(leaf, Array) and not leaf.shape and leaf.cell.home in scopes[1:]:
            kind, help = "an array of no dimensions that others hold", "take the number, `float(a)`"
            raise UnsupportedType("an item of a run-time list", kind, context.span, help)
    if has_text(value):
        help = "print one after the other in a `for` loop, or make the strings outside"
        raise UnsupportedType("an item of a run-time list", RUN_TEXT, context.span, help)
    if not leaves:
        raise _NotStackable
    objects_become_items(context, (), value)
    return leaves, rebuild


def _column(
    context: Context, var: Var, leaf: Value, extent: Size | None = None, index: Var | None = None
) -> Array:
    """The array of one leaf of every item.

    Items that are arrays from outside are no copies of these: where they are the rows of one array, in order,
    the list looks into that array; else the copy that is read shares memory with what it was taken from.
    """
    depth = 1 + (leaf.list_depth if isinstance(leaf, Array) else 0)
    wrapped = context.wrap(var)
    assert isinstance(wrapped, Array)
    if not isinstance(leaf, Array):
        return Array(wrapped.cell, None, depth)
    wrapped.cell.holds_items_of((leaf.cell,))
    scopes = list(context.scopes())
    outer = [cell for cell in (leaf.cell, *leaf.cell.partners) if any(scope is cell.home for scope in scopes)]
    is_row = index is not None and extent is not None and _is_row_of(leaf, index, extent)
    if leaf.cell in outer and is_row:
        base = Array(leaf.cell)
        whole = view_of(context, base, base.shape, lambda _, at: list(at), layout_of(base))
        return Array(whole.cell, whole.view, depth)
    wrapped.cell.has_twins |= bool(outer)
    link(wrapped.cell, outer)
    wrapped.cell.regions.update({cell: region_of(context, leaf) for cell in outer if cell is leaf.cell})
    view = leaf.view
    if view is not None and not view.is_writable:
        wrapped = view_of(context, wrapped, wrapped.shape, lambda _, at: list(at), BY_ROWS, is_writable=False)
    return Array(wrapped.cell, wrapped.view, depth)


def _is_row_of(leaf: Array, index: Var, extent: Size) -> bool:
    """Whether an array is the row at an index of a whole array that has as many rows as there are indices."""
    place = None if leaf.view is None else leaf.view.place
    if not place or leaf.cell.var.type.shape[0] != extent:
        return False
    first, *rest = place
    is_row = isinstance(first, Fixed) and first.atom is index
    return is_row and all(isinstance(item, Range) and item.is_whole for item in rest)


def _flattened(context: Context, column: Array) -> Array:
    """Two nested `for` clauses make one list."""
    outer, inner, *rest = column.shape
    total = multiply_sizes(context, (outer, inner))
    var = context.builder.let_one(Reshape(context.read(column), (total, *rest)))
    wrapped = context.wrap(var)
    assert isinstance(wrapped, Array)
    return Array(wrapped.cell, None, column.list_depth - 1)


def _refuse_ragged(context: Context, columns: Sequence[Array]) -> None:
    """The rows of a list have one length, or the list is no array."""
    for column in columns:
        if _is_ragged(context, [column]):
            raise UnsupportedType(
                "an item of a run-time list",
                "a row whose length differs from item to item",
                context.span,
                "reduce each row where it is made, or give all rows one length and fill them up",
            )


def _is_ragged(context: Context, arrays: Sequence[Value]) -> bool:
    """Whether an array has a size that only one item of a list has."""
    sizes = [size for array in arrays if isinstance(array, Array) for size in array.shape]
    scopes = list(context.scopes())
    return any(
        isinstance(size, Var) and not any(scope.builder.binds(size) for scope in scopes) for size in sizes
    )


def _assembled(
    context: Context, columns: list[Array], rebuild: Rebuild, example: Value, is_apart: bool = False
) -> Value:
    if rebuild is next:
        return columns[0]
    whole = rebuild(iter(columns))
    if isinstance(whole, Complex):
        return whole
    return RowList(tuple(columns), rebuild, example, row_parts(context), is_apart)


def _filtered_list(context: Context, frame: Frame, node: Comprehension, depth: int, items: Iterated) -> Value:
    """The items that pass, in order; how many there are is known at run time.

    keep_i = [p(i)],  place_i = Σ_{j<i} keep_j,  result = scatter of e(i) at place_i where keep_i
    """
    if len(node.generators) > 1:
        raise NotParallel(context.span)
    clause, builder = node.generators[depth], context.builder

    def tests(inner: Builder, index: Var) -> Sequence[Part]:
        with context.filling(inner):
            give_range(context, index, i64(0), items.extent)
            enter(context, frame, node, clause.target, items.item(context, index))
            keep = _all_of(context, frame, clause.ifs)
            count = inner.convert(keep, I64)
        return [Stack.of(keep), Scan.of("add", (count,), exclusive=True), Reduce.of("add", (count,))]

    keeps, places, total = builder.parfor(items.extent, tests)
    context.nonnegative.add(total)
    context.most[total] = (builder.affine(items.extent),)
    rows: list[tuple[list[Value], Rebuild, Value, bool]] = []
    inner, index = builder.child(), Var("i", ArrayType(I64))
    inner.bind(index)
    with context.filling(inner):
        give_range(context, index, i64(0), items.extent)
        keep = inner.index(keeps, (index,))

        def value() -> Exit:
            enter(context, frame, node, clause.target, items.item(context, index))
            if assigned_names(clause.ifs):
                with context.silent():
                    context.facts.assume(context.scope, _all_of(context, frame, clause.ifs), True)
            row = context.evaluate(frame, node.elt)
            rows.append((*_row(context, row), row, is_made_apart(context, row)))
            return Exit(RETURN, RETURNED, tuple(rows[0][0]))

        found = branch(context, frame, keep, value, lambda: _zeros_like(context, rows[0][0])).value
        assert isinstance(found, tuple)
        atoms = [atom(context, leaf) for leaf in found]
        at = inner.select(keep, inner.index(places, (index,)), total)
    zeros = [builder.let_one(Full((total, *one.type.shape), builder.constant(0, one))) for one in atoms]
    parts = [Scatter.of(zero, (at,), one, Bounds.IGNORED) for zero, one in zip(zeros, atoms, strict=True)]
    results = builder.let(ParFor.of(index, items.extent, inner.lets, parts))
    columns = [_column(context, var, leaf) for var, leaf in zip(results, rows[0][0], strict=True)]
    _refuse_ragged(context, columns)
    return _assembled(context, columns, *rows[0][1:])


def _zeros_like(context: Context, leaves: Sequence[Value]) -> Exit:
    zeros: list[Value] = []
    for leaf in leaves:
        dtype = type_of(context, leaf)[0]
        shape = leaf.shape if isinstance(leaf, Array) else ()
        zeros.append(context.wrap(context.builder.zeros(ArrayType(dtype, shape)), weakness(leaf)))
    return Exit(RETURN, RETURNED, tuple(zeros))


def _all_of(context: Context, frame: Frame, tests: Sequence[ast.expr]) -> Atom:
    """The conjunction of the filters, each evaluated only where those before it hold."""
    value = own_truth(context, _conjunction(context, frame, tests))
    return truth(context, value) if is_staged(value) else context.constant(bool(value), BOOL)


def _conjunction(context: Context, frame: Frame, tests: Sequence[ast.expr]) -> Value:
    if len(tests) == 1:
        return context.evaluate(frame, tests[0])
    return context.evaluate(frame, ast.copy_location(ast.BoolOp(ast.And(), list(tests)), tests[0]))
