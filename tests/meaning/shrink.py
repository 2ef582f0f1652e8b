"""Make a program that is judged wrong as short as it can be and still be judged the same."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from anadrome.config import Config
from tests.meaning.judge import NUMBERS, Judgement, Program, Value, is_ending, judge, parts


def shrunk(program: Program, config: Config | None = None) -> Program:
    """The program with statements, parts of results, definitions and operands left out while its verdict
    stays."""
    first = judge(program, config)

    def is_same(candidate: Program) -> bool:
        try:
            if not is_ending(candidate):
                return False
            found = judge(candidate, config)
        except Exception:  # a block without a statement, a definition that fails, no program any more
            return False
        alike = (found.verdict, type(found.python), type(found.ours))
        return alike == (first.verdict, type(first.python), type(first.ours)) and is_told(found)

    while True:
        shorter = next(filter(is_same, candidates(program)), None)
        if shorter is None:
            return program
        program = shorter


def is_told(judgement: Judgement) -> bool:
    """Whether what Python gave is numbers, arrays and containers of them."""
    return not isinstance(judgement.python, Value) or is_plain(judgement.python.result)


def is_plain(value: object) -> bool:
    found = parts(value)
    if found is None:
        return isinstance(value, np.ndarray | NUMBERS)
    return all(map(is_plain, found.values()))


def candidates(program: Program) -> Iterator[Program]:
    """Programs with one thing less."""
    for smaller in smaller_arguments(program.args):
        yield replace(program, args=smaller)
    tree = ast.parse(program.text)
    whole = ast.unparse(tree)
    for position in range(len(edits(tree))):
        changed = copy.deepcopy(tree)
        edits(changed)[position]()
        text = ast.unparse(changed)
        if len(text) < len(whole):
            yield replace(program, text=text)


def smaller_arguments(args: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The arguments of a statement program at a smaller size."""
    if len(args) == 3 and args[1].isdigit():
        for size in (2, 3, 5, 17):
            if size < int(args[1]):
                yield (args[0].replace(args[1], str(size)), str(size), args[2])


Edit = Callable[[], None]


def edits(tree: ast.Module) -> list[Edit]:
    """Everything that can be left out of a tree, the largest things first."""
    found: list[Edit] = []
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                found += [_without(block, statement) for statement in block]
                found += [_opened(block, statement) for statement in block if hasattr(statement, "body")]
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.expr) and len(value) > 1:
                found += [_without(value, part) for part in value]
            if isinstance(value, ast.expr) and field != "func":
                inner = [child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)]
                found += [_instead(node, field, child) for child in inner]
                if not isinstance(value, ast.Constant | ast.Name):
                    found.append(_instead(node, field, ast.Constant(1.0)))
    return found


def _without(those: list[ast.AST], one: ast.AST) -> Edit:
    return lambda: those.remove(one)


def _opened(block: list[ast.AST], statement: ast.AST) -> Edit:
    def edit() -> None:
        position = block.index(statement)
        block[position : position + 1] = statement.body  # type: ignore[attr-defined]

    return edit


def _instead(node: ast.AST, field: str, value: ast.expr) -> Edit:
    return lambda: setattr(node, field, value)
