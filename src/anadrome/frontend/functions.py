"""Functions that a program defines inside itself."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CellType, MethodType

from anadrome.frontend.liveness import Liveness
from anadrome.frontend.source import FunctionNode, Source
from anadrome.frontend.values import Frame, Value


class CalledByPythonError(TypeError):
    """Code that is not compiled called a function of the program."""


@dataclass(frozen=True, slots=True, eq=False)
class FunctionText:
    """What is known of a function from its text alone."""

    source: Source
    node: FunctionNode
    liveness: Liveness
    local_names: frozenset[str]
    nonlocals: frozenset[str]
    shared: frozenset[str]
    yields: bool
    """Whether it is a generator."""


class StagedFunction:
    """A function or lambda defined inside the program: its text, its defaults, and the names around it."""

    python_name = "function"

    def __init__(
        self, text: FunctionText, frame: Frame, defaults: Sequence[Value], kw_defaults: Mapping[str, Value]
    ):
        self.text = text
        self.frame = frame
        self.defaults = defaults
        self.kw_defaults = kw_defaults
        self.closure: dict[str, CellType] = {}
        self.__module__ = str(frame.globals.get("__name__"))
        node = text.node
        self.__name__ = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        self.__qualname__ = self.__name__
        self.__doc__ = None

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args: object, **kwargs: object) -> object:
        raise CalledByPythonError(
            f"`{self.__name__}` belongs to a program being compiled; plain Python code called it"
        )
