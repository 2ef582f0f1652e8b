"""How much text a loop comes to where its iterations are written out, with the functions that it calls."""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType, MethodType

from anadrome.frontend.functions import StagedFunction
from anadrome.frontend.own import is_native
from anadrome.frontend.values import Frame

Find = Callable[[str], object]
"""name -> what it stands for; None where that is not known"""

RECURSIVE = 1_000_000
"""What a function counts that calls itself: it is written out for each of its calls."""


class TextSizes:
    """The sizes of loops and functions, in nodes of Python's syntax tree or instructions, which are about as
    many. Each is asked for once; what a name stands for later may be something else of about that size.

    `copies`: how often what is being staged is written out by the loops around it. `is_written_out`: whether
    all short loops are, since the loop around them cannot be staged otherwise.
    """

    def __init__(self) -> None:
        self.copies = 1
        self.is_written_out = False
        self._known: dict[ast.AST | CodeType, int] = {}

    def of_body(self, node: ast.For, frame: Frame) -> int:
        """What the body of a loop comes to, as often as loops over displays repeat its parts."""
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = sum([self._of_nodes(one, find_in(frame)) for one in node.body])
        return found

    def _of_nodes(self, node: ast.AST, find: Find) -> int:
        total = 0
        waiting: list[tuple[ast.AST, int]] = [(node, 1)]
        while waiting:
            one, times = waiting.pop()
            total += times
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
                total += times * self._of_function(find(one.func.id))
            within = times * repetitions(one.iter) if isinstance(one, ast.For) else times
            waiting += [(child, within) for child in ast.iter_child_nodes(one)]
        return total

    def _of_function(self, value: object) -> int:
        """What the text of a function of the user's comes to; nothing for what is none."""
        if isinstance(value, MethodType):
            value = value.__func__
        if not isinstance(value, FunctionType | StagedFunction):
            value = inspect.getattr_static(value, "__wrapped__", value)
        match value:
            case StagedFunction(text=text, frame=frame):
                return self._once(text.node, lambda: self._of_nodes(text.node, find_in(frame)))
            case FunctionType() if not is_native(value):
                return self._once(value.__code__, lambda: self._of_code(value))
            case _:
                return 0

    def _once(self, key: ast.AST | CodeType, count: Callable[[], int]) -> int:
        if key not in self._known:
            self._known[key] = RECURSIVE  # for whoever asks meanwhile
            self._known[key] = count()
        return self._known[key]

    def _of_code(self, function: FunctionType) -> int:
        around: Mapping[str, object] = function.__globals__
        total = 0
        for instruction in dis.get_instructions(function.__code__):
            total += 1
            if instruction.opname == "LOAD_GLOBAL" and isinstance(instruction.argval, str):
                total += self._of_function(around.get(instruction.argval))
        return total


def find_in(frame: Frame) -> Find:
    """What names stand for in a call, where no run decides it."""

    def find(name: str) -> object:
        scope: Frame | None = frame
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            if name in scope.closure:
                try:
                    return scope.closure[name].cell_contents
                except ValueError:
                    return None
            if scope.outer is None:
                return scope.globals.get(name)
            scope = scope.outer
        return None

    return find


def repetitions(iterable: ast.expr) -> int:
    """How often a loop over an expression is repeated while compiling, as far as its text says."""
    match iterable:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return max(len(elements), 1)
        case _:
            return 1
