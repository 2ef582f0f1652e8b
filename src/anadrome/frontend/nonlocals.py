"""`nonlocal`: a name of the function around it that an inner function binds.

The name belongs to the call of the outer function. Its loops carry it wherever their body calls anything
(`liveness` takes it for read everywhere), and its branches join it. What binds it must therefore stand where
the outer function's own statement stands: in no loop, branch or parallel part of another function's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from anadrome.errors.frontend import UnsupportedSyntax
from anadrome.frontend.context import Context
from anadrome.frontend.liveness import INNER
from anadrome.frontend.values import Frame


def declared(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names that these statements declare `nonlocal`, nested functions left out."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Nonlocal):
            found.update(node.names)
        elif not isinstance(node, INNER):
            found |= declared(list(ast.iter_child_nodes(node)))
    return frozenset(found)


def declared_inside(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names that functions defined in these statements declare `nonlocal`."""
    inner = [part for node in nodes for part in ast.walk(node) if isinstance(part, INNER)]
    names = (part.names for one in inner for part in ast.walk(one) if isinstance(part, ast.Nonlocal))
    return frozenset(name for several in names for name in several)


def rebound_by_calls(frame: Frame, body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names of a call that its inner functions may bind while these statements run."""
    if not frame.shared or not any(isinstance(part, ast.Call) for node in body for part in ast.walk(node)):
        return frozenset()
    return frame.shared


def owner(context: Context, frame: Frame, name: str) -> Frame:
    """The call whose name is bound where `name` is in this one; refused where it would not be followed."""
    if name not in frame.nonlocals:
        return frame
    found = frame.outer
    while found is not None and (name not in found.local_names or name in found.nonlocals):
        found = found.outer
    if found is None:
        raise UnsupportedSyntax(
            f"binding `{name}`, a `nonlocal` name of a function that is not compiled with this one,",
            context.span,
            "return the value instead",
        )
    if found.block is not context.scope:
        raise UnsupportedSyntax(
            f"binding the `nonlocal` name `{name}` under a run-time loop or branch of another function",
            context.span,
            f"return the value, and bind `{name}` in `{found.name}`",
        )
    return found
