"""Walks of programs: statements are visited once."""

from __future__ import annotations

import pytest

from anadrome.array_ir import walk
from anadrome.array_ir.nodes import Expr
from anadrome.array_ir.overwriting import overwriting
from anadrome.array_ir.text import parse


def nested(depth: int) -> str:
    """Loops inside one another, with two statements beside each."""
    body = "p = mul x x\n return p"
    for level in range(depth):
        body = f"r{level} = loop (t{level} = x) for i{level} < 3 {{ {body} }}\n"
        body += f"v{level} = add r{level} x\n return v{level}"
    return f"fn f(x: f64) -> f64 {{ {body} }}"


def visits(depth: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often operands are asked for, while it is found what a program overwrites."""
    fn = parse(nested(depth))
    asked: list[Expr] = []
    operands = walk.operands

    def counted(expr: Expr) -> object:
        asked.append(expr)
        return operands(expr)

    with monkeypatch.context() as patch:
        patch.setattr(walk, "operands", counted)
        overwriting(fn.body)
    return len(asked)


@pytest.mark.interpreted
def test_statements_are_asked_for_their_variables_once(monkeypatch: pytest.MonkeyPatch) -> None:
    few, more, many = (visits(depth, monkeypatch) for depth in (4, 8, 16))
    assert few == 2 * 4 + 1
    assert many - more == 2 * (more - few)
