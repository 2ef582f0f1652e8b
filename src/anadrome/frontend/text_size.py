"""How much text a loop comes to where its iterations are written out."""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=1024)
def written_nodes(node: ast.For) -> int:
    """The nodes of Python's syntax tree in a loop's body, as often as loops over displays repeat them."""
    return sum(map(_nodes, node.body))


def _nodes(node: ast.AST) -> int:
    if isinstance(node, ast.For):
        return repetitions(node.iter) * written_nodes(node)
    return 1 + sum(map(_nodes, ast.iter_child_nodes(node)))


def repetitions(iterable: ast.expr) -> int:
    """How often a loop over an expression is repeated while compiling, as far as its text says."""
    match iterable:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return max(len(elements), 1)
        case _:
            return 1
