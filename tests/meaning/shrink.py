"""Make a program that is judged wrong as short as it can be and still be judged the same."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from anadrome.config import Config
from tests.meaning.comparing import NUMBERS, parts
from tests.meaning.judge import Broken, Judgement, Program, Raised, Refused, Run, Value, is_ending, judge


def shrunk(program: Program, config: Config | None = None, is_compiled: bool = False) -> Program:
    """The program with statements, parts of results, definitions and operands left out while its verdict
    stays."""
    first = judge(program, config, is_compiled)

    def is_same(candidate: Program) -> bool:
        try:
            if not is_ending(candidate):
                return False
            found = judge(candidate, config, is_compiled)
        except Exception:  # a block without a statement, a definition that fails, no program any more
            return False
        return form(found) == form(first) and is_told(found)

    while True:
        shorter = next(filter(is_same, candidates(program)), None)
        if shorter is None:
            return program
        program = shorter


def form(judgement: Judgement) -> tuple[str, str, str]:
    """What stays: the verdict, and of either side whether there is a value, or which class of error."""

    def of_run(run: Run) -> str:
        match run:
            case Raised(error=error) | Broken(error=error):
                return error.partition(":")[0]
            case Refused(message=message):
                return message.partition("(")[0]
        return type(run).__name__

    return judgement.verdict, of_run(judgement.python), of_run(judgement.ours)


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
    """The arguments of a random program at a smaller size, and in the plainest layout."""
    old = args[-2]
    for size in (2, 3, 5, 17):
        if size < int(old):
            yield tuple(re.sub(rf"\b{old}\b", str(size), text) for text in args)
    plain = (*PLAIN[len(args)], old, args[-1])
    if sum(map(len, plain)) < sum(map(len, args)):
        yield tuple(text.replace("{n}", old) for text in plain)


PLAIN = {3: ("np.arange({n}) + 1.0",), 4: ("np.arange({n}) + 1.0", "np.ones(({n}, 3))")}
"""How many arguments there are -> the arrays among them at their plainest."""

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
