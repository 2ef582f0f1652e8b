"""The text of Python functions: where a function's syntax tree is, and the span of each of its nodes."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import CodeType, FunctionType
from typing import Any

from anadrome.errors import Span
from anadrome.errors.frontend import SourceUnavailable
from anadrome.errors.source_text import lines_of
from anadrome.frontend.matching import without_match
from anadrome.frontend.unfiled import UNFILED, is_made_by, text_of, why_none

STARTED = time.time()
"""When this process began, nearly. What was written before has not changed since it was imported."""

CHANGED = "its file has changed since it was imported"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One parsed file: its name, its lines, and its functions by the line they begin on."""

    file: str
    lines: tuple[str, ...]
    functions: dict[int, tuple[FunctionNode, ...]]

    def __deepcopy__(self, memo: object) -> Source:
        """Itself: the copy of a node stands in the same file."""
        return self

    def span(self, node: ast.stmt | ast.expr | ast.comprehension | ast.arg | ast.ExceptHandler) -> Span:
        """The source place of a node; one that goes over several lines is shown to the end of its first."""
        own = getattr(node, "anadrome_source", self)
        if own is not self:
            found: Span = own.span(node)
            return found
        line, column = node.lineno, node.col_offset  # type: ignore[union-attr]
        end = node.end_col_offset if node.end_lineno == line else None  # type: ignore[union-attr]
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not text.isascii():
            encoded = text.encode()
            column = len(encoded[:column].decode())
            end = None if end is None else len(encoded[:end].decode())
        return Span(self.file, line, column, len(text.rstrip("\n")) if end is None else end)


def from_source(node: Any, source: Source) -> Any:
    """Say that a node stands in this source, wherever it is evaluated."""
    if not hasattr(node, "anadrome_source"):
        node.anadrome_source = source
    return node


class SourceCache:
    """The files parsed in one staging run."""

    def __init__(self) -> None:
        self._files: dict[str, Source] = {}
        self._functions: dict[CodeType, tuple[Source, FunctionNode]] = {}

    def find(self, function: FunctionType, span: Span | None = None) -> tuple[Source, FunctionNode]:
        """The syntax tree of a Python function; raises `SourceUnavailable` where there is none."""
        code = function.__code__
        found = self._functions.get(code)
        if found is None:
            found = self._functions[code] = self._locate(function, span)
        return found

    def _locate(self, function: FunctionType, span: Span | None) -> tuple[Source, FunctionNode]:
        name, code = function.__qualname__, function.__code__
        source = self._source(function, span)
        nodes = [
            node for node in source.functions.get(code.co_firstlineno, ()) if _name(node) == code.co_name
        ]
        if len(nodes) > 1:
            nodes = _holding(nodes, code)
        if not nodes or _has_changed(function, source):
            raise SourceUnavailable(name, CHANGED, span, "reload the module, or start Python again")
        if len(nodes) > 1:
            raise SourceUnavailable(
                name, "several functions stand on its line", span, "give each function a line of its own"
            )
        return source, nodes[0]

    def _source(self, function: FunctionType, span: Span | None) -> Source:
        """The parsed file of a function."""
        file = function.__code__.co_filename
        if file in UNFILED:
            text = text_of(function.__code__)
        else:
            found = self._files.get(file)
            if found is not None:
                return found
            linecache.checkcache(file)
            text = file, lines_of(file, function.__globals__)
        if text is None or not text[1]:
            reason, help = why_none(file)
            raise SourceUnavailable(function.__qualname__, reason, span, help)
        try:
            source = self._files[text[0]] = _parsed(*text)
        except SyntaxError as error:
            reason = f"its file does not parse: {error.msg}"
            raise SourceUnavailable(function.__qualname__, reason, span, "mend the file") from None
        return source


def _has_changed(function: FunctionType, source: Source) -> bool:
    """Whether a file that was written since this process began has another text than was imported.

    Only what Python's own loader has read is compared: others may make other code of a text.
    """
    try:
        written = os.stat(source.file).st_mtime
    except OSError:
        return False
    loader = type(function.__globals__.get("__loader__"))
    return (
        written >= STARTED and loader is SourceFileLoader and not is_made_by(source.lines, function.__code__)
    )


@functools.lru_cache(maxsize=64)
def _parsed(file: str, lines: tuple[str, ...]) -> Source:
    """A file's functions: kept for as long as its text is the same, since no staging run changes them."""
    tree = without_match(ast.parse("".join(lines)))
    functions: dict[int, tuple[FunctionNode, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, FunctionNode):
            line = _first_line(node)
            functions[line] = (*functions.get(line, ()), node)
    return Source(file, lines, functions)


def _first_line(node: FunctionNode) -> int:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _name(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _holding(nodes: Sequence[FunctionNode], code: CodeType) -> list[FunctionNode]:
    """Those of the functions on one line in whose body all instructions of the code are; of nested ones the
    innermost. The body may be longer than the code: Python leaves out what a constant condition rules out.
    Without places in the code (that of a constant in Python 3.12, any with `python -X no_debug_ranges`) it is
    one of which Python makes the same code, or may be any of them."""
    places = list(_places(code))
    if not places:
        return [node for node in nodes if _makes(node, code)][:1] or list(nodes)
    begin, end = min(place[:2] for place in places), max(place[2:] for place in places)
    bodies = {node: _extent(node) for node in nodes}
    found = [node for node, (first, last) in bodies.items() if first <= begin and end <= last]
    return sorted(found, key=lambda node: bodies[node][0])[-1:]


def _makes(node: FunctionNode, code: CodeType) -> bool:
    """Whether Python makes this code of a lambda that stands alone."""
    if not isinstance(node, ast.Lambda):
        return False
    made = compile(ast.Expression(node), code.co_filename, "eval")
    own = next(const for const in made.co_consts if isinstance(const, CodeType))
    return all(  # as they are written: 1 is equal to 1.0 and to True, and 0.0 to -0.0
        repr(getattr(own, part)) == repr(getattr(code, part))
        for part in ("co_code", "co_consts", "co_names", "co_varnames")
    )


def _extent(node: FunctionNode) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the body of a function begins and ends."""
    first, last = (node.body, node.body) if isinstance(node, ast.Lambda) else (node.body[0], node.body[-1])
    assert last.end_lineno is not None and last.end_col_offset is not None
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)


def _places(code: CodeType) -> Iterator[tuple[int, int, int, int]]:
    for line, end_line, column, end_column in code.co_positions():
        if line and end_line and column is not None and end_column:  # the preamble has no columns
            yield line, column, end_line, end_column
