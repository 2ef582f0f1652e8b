"""Which names are read later: what a run-time branch has to merge and a run-time loop has to carry.

A backward analysis of one function body. A name that a nested function, lambda or class refers to counts as
read everywhere, because it may be called at any time.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Names = frozenset[str]
_NONE: Names = frozenset()

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""What has names of its own and stands in a function."""


@dataclass(slots=True)
class Liveness:
    """`after[statement]` are the names live after it; for a loop `head[statement]` those live at its test."""

    after: dict[ast.stmt, Names] = field(default_factory=dict)
    head: dict[ast.stmt, Names] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Targets:
    at_break: Names
    at_continue: Names


def analyse(body: Sequence[ast.stmt], captured: Names) -> Liveness:
    """The liveness of a function's body; `captured` names are always live."""
    found = Liveness()
    _block(found, body, captured, _Targets(_NONE, _NONE), captured)
    return found


def analyse_block(body: Sequence[ast.stmt], after: Names) -> Liveness:
    """The liveness of statements, before names that are live after them."""
    found = Liveness()
    _block(found, body, after, _Targets(_NONE, _NONE), _NONE)
    return found


def kinds(nodes: Sequence[ast.AST]) -> frozenset[type[ast.AST]]:
    """The classes of all nodes in these statements: most questions about a text need no other look at it."""
    return frozenset(type(inner) for node in nodes for inner in ast.walk(node))


def own_nodes(body: Sequence[ast.AST]) -> list[ast.AST]:
    """All nodes of these statements but those of functions defined in them."""
    found: list[ast.AST] = []
    pending = list(body)
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, INNER):
            pending += list(ast.iter_child_nodes(node))
    return found


def assigned_names(nodes: Sequence[ast.AST]) -> Names:
    """Names these statements bind themselves; nested functions and comprehensions have their own."""
    return frozenset(name for node in nodes for name in _stores(node))


def captured_names(nodes: Sequence[ast.AST]) -> Names:
    """Names that functions and lambdas defined in these statements refer to."""
    found: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, INNER):
                found.update(name.id for name in ast.walk(inner) if isinstance(name, ast.Name))
    return frozenset(found)


def _stores(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Lambda():
            return []
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            return [n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
        case _:
            return [name for child in ast.iter_child_nodes(node) for name in _stores(child)]


def reads(node: ast.AST | None) -> Names:
    """Names an expression refers to."""
    if node is None:
        return _NONE
    return frozenset(
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
    )


def _block(
    found: Liveness, body: Sequence[ast.stmt], after: Names, targets: _Targets, captured: Names
) -> Names:
    for statement in reversed(body):
        found.after[statement] = after
        after = _statement(found, statement, after, targets, captured)
    return after


def _statement(found: Liveness, node: ast.stmt, after: Names, targets: _Targets, captured: Names) -> Names:
    match node:
        case ast.Return(value=value) | ast.Raise(exc=value):
            return reads(value) | captured
        case ast.Break():
            return targets.at_break
        case ast.Continue():
            return targets.at_continue
        case ast.If(test=test, body=body, orelse=orelse):
            then = _block(found, body, after, targets, captured)
            return then | _block(found, orelse, after, targets, captured) | reads(test)
        case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
            after_loop = _block(found, orelse, after, targets, captured)
            head = _loop(
                found, node, body, assigned_names([target]), reads(target), after, after_loop, captured
            )
            return head | reads(iterable)
        case ast.While(test=test, body=body, orelse=orelse):
            after_loop = _block(found, orelse, after, targets, captured)
            return _loop(found, node, body, _NONE, reads(test), after, after_loop, captured)
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
            last = _block(found, finalbody, after, targets, captured)
            kept = captured | last if finalbody else captured
            ways = _Targets(targets.at_break | last, targets.at_continue | last) if finalbody else targets
            caught = _NONE
            for handler in handlers:
                caught |= _block(found, handler.body, last, ways, kept) | reads(handler.type)
            end = _block(found, orelse, last, ways, kept) | caught
            return _block(found, body, end, ways, kept) | caught
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            return after | reads(value) | {name}
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return after | reads(node)
        case _:  # a part of an expression may bind a name and need not be evaluated
            parts = {one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr)}
            return (after - (assigned_names([node]) - captured - parts)) | reads(node)


def _loop(
    found: Liveness,
    node: ast.stmt,
    body: list[ast.stmt],
    bound: Names,
    test: Names,
    after: Names,
    done: Names,
    captured: Names,
) -> Names:
    """The names live at the head of a loop, by iteration to the fixed point."""
    head = done | test
    while True:
        inner = _block(found, body, head, _Targets(after, head), captured)
        new = head | (inner - bound)
        if new == head:
            break
        head = new
    found.head[node] = head
    return head


def unread_names(node: ast.For, live: Mapping[ast.stmt, Names], head: Names) -> Names:
    """Names that a loop binds, its body does not read before it binds them again or ends, and nothing reads
    after the loop."""
    found: set[str] = set()
    left = set(assigned_names([node.target])) - reads(node.target) - live[node] - head
    for statement in node.body:
        used = {inner.id for inner in ast.walk(statement) if isinstance(inner, ast.Name)}
        bound = {
            target.id
            for target in (statement.targets if isinstance(statement, ast.Assign) else ())
            if isinstance(target, ast.Name)
        }
        left -= (used - bound) | reads(statement)
        found |= left & bound | left - live.get(statement, frozenset(left))
    return frozenset(found)


def written_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names whose elements are assigned somewhere in the body."""
    found: set[str] = set()
    for node in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base: ast.expr = node.value
            while isinstance(base, ast.Subscript | ast.Attribute):
                base = base.value
            if isinstance(base, ast.Name):
                found.add(base.id)
    return found


def augmented_only(node: ast.For | ast.While) -> frozenset[str]:
    """Names the body changes by `x += v` alone: on an array that is a change in place."""
    augmented: set[str] = set()
    bound = set(assigned_names([node.target])) if isinstance(node, ast.For) else set()
    for inner in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            augmented.add(inner.target.id)
            continue
        parts = ast.iter_child_nodes(inner) if not isinstance(inner, ast.AugAssign) else iter(())
        bound.update(p.id for p in parts if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store))
    return frozenset(augmented - bound)
