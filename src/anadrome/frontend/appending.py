"""A list that a run-time `for` appends to once in every iteration: an array with a row for each.

    out = []                                out = an array of n rows
    for x in xs:                    →       for i, x in enumerate(xs):
        out.append(f(x))                        out[i] = f(x)

That is what Python does where nobody looks at the list in between, which the text shows: the name is bound by
`out = []` alone, and up to the end of the loop it is read only to append. The type of a row is found by
staging the body once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anadrome.array_ir.nodes import ArrayType, Size, Var
from anadrome.errors import Span
from anadrome.errors.frontend import EscapingMutation, FrontendError
from anadrome.frontend.arrays import as_array, atom
from anadrome.frontend.complex_numbers.parts import complex_of, has_complex, is_complex
from anadrome.frontend.context import Context
from anadrome.frontend.iterables import RowList
from anadrome.frontend.structures import flatten, is_number
from anadrome.frontend.values import Array, Complex, Exit, Frame, Scalar, Value, is_staged
from anadrome.frontend.writing import put

ATTEMPTS = 4
"""How often a loop is staged anew because its rows turned out to be of another type."""

StageLoop = Callable[[ast.For, Callable[[Var], None]], Exit]
"""(the loop's text, what is told of its index) -> how it ends"""


class _TypeFound(FrontendError):
    """The type of the rows is known now: stage the loop again."""

    def __init__(self, span: Span | None) -> None:
        super().__init__("a list changes its type while it grows", span, label="this row differs")


@dataclass(slots=True, eq=False)
class Rows:
    """The list being filled: an array for each leaf of a row, once their types are known."""

    index: Var | None = None
    types: tuple[ArrayType, ...] = ()
    depths: tuple[int, ...] = ()
    arrays: list[Array] = field(default_factory=list)
    rebuild: Callable[..., Value] = next

    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """`out.append(value)`"""
        (value,) = args
        if isinstance(value, list):
            value = complex_of(context, value) if has_complex(value) else as_array(context, value)
        if is_complex(value):
            value = complex_of(context, value)
        leaves, rebuild = flatten(value, lambda leaf: is_staged(leaf) or is_number(leaf))
        if not leaves or isinstance(value, RowList):
            raise EscapingMutation("a list, by `append`,", "a run-time loop", context.span)
        types = tuple(atom(context, leaf).type for leaf in leaves)
        if types != self.types:
            self.types, self.rebuild = types, rebuild  # type: ignore[assignment]  # a leaf is no accumulator
            self.depths = tuple(leaf.list_depth if isinstance(leaf, Array) else 0 for leaf in leaves)
            raise _TypeFound(context.span)
        assert self.index is not None
        for array, leaf in zip(self.arrays, leaves, strict=True):
            put(context, array, Scalar(self.index), leaf)
        return None


def appending_loop(
    context: Context, frame: Frame, node: ast.For, extent: Size, stage: StageLoop
) -> Exit | None:
    """Stage a loop that appends to a list once in every iteration; None where it is none."""
    found = _append_of(context, frame, node)
    if found is None:
        return None
    name, statement = found
    rows = Rows()
    loop = _rewritten(frame, node, statement, rows)
    for _ in range(ATTEMPTS):
        if rows.types and not _make_arrays(context, rows, extent):
            return None
        try:
            exit_ = stage(loop, lambda index: setattr(rows, "index", index))
        except _TypeFound:
            continue
        columns = tuple(
            Array(one.cell, None, 1 + depth) for one, depth in zip(rows.arrays, rows.depths, strict=True)
        )
        whole = rows.rebuild(iter(columns))
        is_one = rows.rebuild is next or isinstance(whole, Complex)
        frame.names[name] = whole if is_one else RowList(extent, columns, rows.rebuild)
        return exit_
    return None


def _make_arrays(context: Context, rows: Rows, extent: Size) -> bool:
    """Arrays for the rows; False where the size of a row is found inside the loop."""
    sizes = [size for type_ in rows.types for size in type_.shape if isinstance(size, Var)]
    if any(not any(scope.builder.binds(size) for scope in context.scopes()) for size in sizes):
        return False
    made = [
        context.wrap(context.builder.zeros(ArrayType(type_.dtype, (extent, *type_.shape))))
        for type_ in rows.types
    ]
    rows.arrays = [one for one in made if isinstance(one, Array)]
    return True


# ---------------------------------------------------------------------------- what the text says
def _append_of(context: Context, frame: Frame, node: ast.For) -> tuple[str, ast.stmt] | None:
    """The name of the list and the statement that appends to it, where nothing else looks at the list."""
    found = [(called, one) for one in node.body if (called := _appended(one)) is not None]
    if len(found) != 1 or node.orelse:
        return None
    name, statement = found[0]
    if any(
        isinstance(inner, ast.Break | ast.Continue | ast.Return)
        for one in node.body
        for inner in ast.walk(one)
    ):
        return None
    value = frame.names.get(name)
    record = context.records.get(id(value))
    if not isinstance(value, list) or value or record is None or record.home is not context.scope:
        return None
    return (name, statement) if _is_unseen(frame, node, name, statement) else None


def _appended(statement: ast.stmt) -> str | None:
    """`name` of a statement `name.append(value)`."""
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[argument], keywords=[]
            )
        ) if not isinstance(argument, ast.Starred):
            return name
        case _:
            return None


def _is_unseen(frame: Frame, node: ast.For, name: str, append: ast.stmt) -> bool:
    """Whether up to the loop's end the name is written by `name = []` alone, and read only to append."""
    end = node.end_lineno or node.lineno
    appends = {id(one) for one in ast.walk(append) if isinstance(one, ast.Name) and one.id == name}
    known = appends.union(*(_empty_list_targets(statement) for statement in frame.live))
    seen = (
        one
        for statement in frame.live
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and one.id == name and one.lineno <= end
    )
    return len(appends) == 1 and all(id(one) in known for one in seen)


def _empty_list_targets(statement: ast.stmt) -> set[int]:
    """The target of `name = []`."""
    match statement:
        case ast.Assign(targets=[ast.Name() as target], value=ast.List(elts=[])):
            return {id(target)}
        case ast.AnnAssign(target=ast.Name() as target, value=ast.List(elts=[])):
            return {id(target)}
        case _:
            return set()


def _rewritten(frame: Frame, node: ast.For, append: ast.stmt, rows: Rows) -> ast.For:
    """The loop with `rows(value)` in place of `name.append(value)`."""
    assert isinstance(append, ast.Expr) and isinstance(append.value, ast.Call)
    callee: Any = ast.copy_location(ast.Constant(rows), append.value.func)  # type: ignore[arg-type]
    call = ast.copy_location(ast.Call(callee, append.value.args, []), append.value)
    statement = ast.copy_location(ast.Expr(call), append)
    body = [statement if one is append else one for one in node.body]
    loop = ast.copy_location(ast.For(node.target, node.iter, body, node.orelse), node)
    frame.live[loop] = frame.live[node]
    frame.live[statement] = frame.live.get(append, frozenset())
    if node in frame.live_head:
        frame.live_head[loop] = frame.live_head[node]
    return loop
