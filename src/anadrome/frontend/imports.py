"""Imports inside a compiled function: they are done while compiling."""

from __future__ import annotations

import ast
import importlib
from types import ModuleType

from anadrome.errors.frontend import NoAttribute, StaticCallFailed
from anadrome.frontend.context import Context
from anadrome.frontend.evaluate import attribute
from anadrome.frontend.nonlocals import owner
from anadrome.frontend.values import Frame


def run_import(context: Context, frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    """An import binds modules, or what is in them; they are imported while compiling."""
    if isinstance(node, ast.ImportFrom):
        package = str(frame.globals.get("__package__") or "")
        module = _imported(context, "." * node.level + (node.module or ""), package)
        for alias in node.names:
            where = owner(context, frame, alias.asname or alias.name)
            try:
                where.names[alias.asname or alias.name] = attribute(context, module, alias.name)
            except NoAttribute:
                inner = _imported(context, f"{module.__name__}.{alias.name}", package)
                where.names[alias.asname or alias.name] = inner
        return
    for alias in node.names:
        whole = _imported(context, alias.name, "")
        first = alias.name.partition(".")[0]
        name = alias.asname or first
        owner(context, frame, name).names[name] = whole if alias.asname else _imported(context, first, "")


def _imported(context: Context, name: str, package: str) -> ModuleType:
    try:
        return importlib.import_module(name, package or None)
    except ImportError as error:
        raise StaticCallFailed("this import", error, context.span) from error
