"""The text of Python functions: where a function's syntax tree is, and the span of each of its nodes."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType

from anadrome.errors import Span
from anadrome.errors.frontend import SourceUnavailable
from anadrome.frontend.matching import without_match

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One parsed file: its name, its lines, and its functions by the line they begin on."""

    file: str
    lines: tuple[str, ...]
    functions: dict[int, tuple[FunctionNode, ...]]

    def span(self, node: ast.stmt | ast.expr | ast.comprehension | ast.arg) -> Span:
        """The source place of a node; one that goes over several lines is shown to the end of its first."""
        line, column = node.lineno, node.col_offset  # type: ignore[union-attr]
        end = node.end_col_offset if node.end_lineno == line else None  # type: ignore[union-attr]
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not text.isascii():
            encoded = text.encode()
            column = len(encoded[:column].decode())
            end = None if end is None else len(encoded[:end].decode())
        return Span(self.file, line, column, len(text.rstrip("\n")) if end is None else end)


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
            found = self._functions[code] = self._locate(function.__qualname__, code, span)
        return found

    def _locate(self, name: str, code: CodeType, span: Span | None) -> tuple[Source, FunctionNode]:
        source = self._files.get(code.co_filename)
        if source is None:
            source = self._files[code.co_filename] = _parse(name, code.co_filename, span)
        nodes = [
            node for node in source.functions.get(code.co_firstlineno, ()) if _name(node) == code.co_name
        ]
        if len(nodes) > 1:
            nodes = _holding(nodes, code)
        if len(nodes) != 1:
            reason = (
                "its file has changed since it was imported"
                if not nodes
                else "several functions stand on its line"
            )
            raise SourceUnavailable(name, reason, span)
        return source, nodes[0]


def _parse(name: str, file: str, span: Span | None) -> Source:
    lines = tuple(linecache.getlines(file))
    if not lines:
        raise SourceUnavailable(name, f"no text for {file}", span)
    try:
        return _parsed(file, lines)
    except SyntaxError as error:
        raise SourceUnavailable(name, f"its file does not parse: {error.msg}", span) from None


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
    Without places in the code (`python -X no_debug_ranges`) it may be any of them."""
    places = list(_places(code))
    if not places:
        return list(nodes)
    begin, end = min(place[:2] for place in places), max(place[2:] for place in places)
    bodies = {node: _extent(node) for node in nodes}
    found = [node for node, (first, last) in bodies.items() if first <= begin and end <= last]
    return sorted(found, key=lambda node: bodies[node][0])[-1:]


def _extent(node: FunctionNode) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where the body of a function begins and ends."""
    first, last = (node.body, node.body) if isinstance(node, ast.Lambda) else (node.body[0], node.body[-1])
    assert last.end_lineno is not None and last.end_col_offset is not None
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)


def _places(code: CodeType) -> Iterator[tuple[int, int, int, int]]:
    for line, end_line, column, end_column in code.co_positions():
        if line and end_line and column is not None and end_column:  # the preamble has no columns
            yield line, column, end_line, end_column
