"""The part of docs/compiled.md on Python itself: what of it is compiled, and what is refused.

A construct is compiled if a program by hand of `tests/meaning/cases` has it and means what Python means. What
is refused is told by the bad programs of `tests/errors`, whose texts are expected to the letter.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator

from anadrome.errors import AnadromeError, frontend, objects, parallel
from tests.errors.corpus import EXPECTED, NAMES, PROGRAMS
from tests.meaning.test_cases import NOT_YET, RIGHT, name_of

Holds = Callable[[ast.AST], bool]


def _is(*kinds: type[ast.AST]) -> Holds:
    return lambda node: isinstance(node, kinds)


def _has_else(node: ast.AST) -> bool:
    return isinstance(node, ast.For | ast.While) and bool(node.orelse)


def _is_inner_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(inner, ast.FunctionDef) for inner in ast.walk(node) if inner is not node
    )


def _is_unpacking(node: ast.AST) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Tuple | ast.List) for target in targets)


def _is_chain(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) > 1


CONSTRUCTS: tuple[tuple[str, Holds, str], ...] = (
    ("`if`, `elif`, `else`", _is(ast.If), ""),
    ("`for`", _is(ast.For), ""),
    ("`while`", _is(ast.While), "loop_while_endless"),
    ("`else` of a loop", _has_else, ""),
    ("`break`, `continue`", _is(ast.Break, ast.Continue), ""),
    ("`match`", _is(ast.Match), "syntax_match"),
    ("`try`, `except`, `finally`", _is(ast.Try), "syntax_try"),
    ("`with`", _is(ast.With), "syntax_with"),
    ("`assert`", _is(ast.Assert), ""),
    ("`raise`", _is(ast.Raise), ""),
    ("`return`", _is(ast.Return), "branch_no_return"),
    ("`yield`, `yield from`", _is(ast.Yield, ast.YieldFrom), ""),
    ("`def` inside", _is_inner_function, ""),
    ("`lambda`", _is(ast.Lambda), ""),
    ("`class` inside", _is(ast.ClassDef), "syntax_class"),
    ("`global` that is bound", _is(ast.Global), "syntax_global"),
    ("`nonlocal`", _is(ast.Nonlocal), "syntax_nonlocal"),
    ("`import`", _is(ast.Import, ast.ImportFrom), ""),
    ("`del`", _is(ast.Delete), "syntax_delete_element"),
    ("`a, b = …`", _is_unpacking, ""),
    ("`x += …`", _is(ast.AugAssign), ""),
    ("`x: float = …`", _is(ast.AnnAssign), ""),
    ("`x := …`", _is(ast.NamedExpr), "syntax_walrus_comprehension"),
    ("`a if c else b`", _is(ast.IfExp), ""),
    ("`and`, `or`", _is(ast.BoolOp), ""),
    ("`a < b < c`", _is_chain, ""),
    ("`[… for …]`", _is(ast.ListComp), ""),
    ("`{… : … for …}`, `{… for …}`", _is(ast.DictComp, ast.SetComp), ""),
    ("`(… for …)`", _is(ast.GeneratorExp), ""),
    ("`a[i:j, k]`", _is(ast.Slice), ""),
    ("`*x`, `**x` in calls", _is(ast.Starred), ""),
    ("f-strings", _is(ast.JoinedStr), ""),
    ("`async`, `await`", _is(ast.AsyncFunctionDef, ast.Await), "syntax_async"),
)
"""What is written, how it is found in a program, and the bad program that tells what of it is refused."""

REFUSALS: tuple[type[AnadromeError], ...] = (
    frontend.UnsupportedSyntax,
    frontend.UnsupportedCall,
    frontend.UnsupportedArgument,
    frontend.UnsupportedType,
    frontend.ComplexRefused,
    frontend.StaticRequired,
    frontend.ChangesType,
    frontend.ChangesSize,
    frontend.ChangesStructure,
    frontend.UnknownRoom,
    frontend.BranchesDiffer,
    frontend.WritesArgument,
    frontend.WritesThroughView,
    frontend.ReadOnly,
    frontend.EscapingMutation,
    frontend.PrintsInParallel,
    parallel.DrawsInParallel,
    objects.ChangesItem,
    objects.LeftIterator,
    objects.ChangesMerged,
    objects.StaleMerge,
    frontend.RecursionTooDeep,
)
"""Errors that say what is not compiled, and not what is wrong."""


def constructs() -> str:
    """The statements and expressions, and what of each is refused."""
    trees = [
        ast.parse(textwrap.dedent(inspect.getsource(function)))
        for function in RIGHT
        if name_of(function) not in NOT_YET
    ]
    rows = []
    for title, holds, refused in CONSTRUCTS:
        count = sum(any(holds(node) for node in ast.walk(tree)) for tree in trees)
        remark = f"{_message(refused)}: {_help(refused)}" if refused else ""
        rows.append((title, f"yes ({count})" if count else "no", remark))
    return table(("construct", "compiled", "refused, and what to write"), rows)


def refusals() -> str:
    """What bad programs do, and what to write instead, under the error that says so."""
    parts: list[str] = []
    for kind in REFUSALS:
        names = [name for name in NAMES if _expected(name)[0].partition(" ")[0] == kind.__name__]
        rows = {_help(name): _does(name) for name in reversed(names)}
        if rows:
            title = f"### {kind.__name__}\n\n{inspect.getdoc(kind)}\n"
            told = [(what, instead) for instead, what in reversed(rows.items())]
            parts += [title, table(("in the program", "write instead"), told)]
    return "\n".join(parts)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [tuple(head), *map(tuple, rows)]
    lines.insert(1, tuple("---" for _ in lines[0]))
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


# ---------------------------------------------------------------------------- the bad programs
def _expected(name: str) -> list[str]:
    return (EXPECTED / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def _help(name: str) -> str:
    return next(line.removeprefix("help: ") for line in _expected(name) if line.startswith("help: "))


def _message(name: str) -> str:
    """What is not supported, without the place."""
    words = re.sub(r" \(\w+\.py:\d+:\d+\)", "", _expected(name)[2].removeprefix("error: "))
    return words.removesuffix(" is not supported in a compiled function").removesuffix(", which")


def _does(name: str) -> str:
    """What a bad program does, by its docstring."""
    tree = ast.parse((PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    return " ".join(str(ast.get_docstring(tree)).split()).removesuffix(".")


def sections() -> Iterator[str]:
    """The sections of the page."""
    yield "## Python: statements and expressions\n\nIn brackets: how many programs by hand have it.\n"
    yield constructs()
    yield "## Python: what is refused\n\nBad programs of the tests, under the errors that they end in.\n"
    yield refusals()
