"""How much text a loop comes to where its iterations are written out."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=1024)
def written_nodes(node: ast.For) -> int:
    """The nodes of Python's syntax tree in a loop's body, as often as loops over displays repeat them."""
    total = 0
    waiting: list[tuple[ast.AST, int]] = [(one, 1) for one in node.body]
    while waiting:
        one, times = waiting.pop()
        total += times
        within = times * repetitions(one.iter) if isinstance(one, ast.For) else times
        waiting += [(child, within) for child in ast.iter_child_nodes(one)]
    return total


def repetitions(iterable: ast.expr) -> int:
    """How often a loop over an expression is repeated while compiling, as far as its text says."""
    match iterable:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return max(len(elements), 1)
        case _:
            return 1
