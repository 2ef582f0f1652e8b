"""`match` written with `if`, before anything else looks at a function's text.

    match s:                                 subject = s
        case 0 | 1:            A             if subject == 0 or subject == 1:    A
        case (x, 2) if x > 0:  B     →       elif isinstance(subject, (tuple, list)) and len(subject) == 2
        case P(a=y):           C                 and subject[1] == 2 and subject[0] > 0:    x = subject[0]; B
        case z:                D             elif isinstance(subject, P):    y = subject.a; C
                                             else:    z = subject; D

So a case is chosen while compiling where its subject is known then, at run time otherwise, as `if` is. In a
guard the place stands for the name, which is bound in the case that is taken. Not written with `if`, and
refused: `*rest`, mappings, positional patterns of classes, and names bound under `|`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anadrome.frontend.liveness import kinds

CONTAINERS = (tuple, list, dict, set)
"""What is not compared with a number or a word: what is in them may be known at run time only."""


@dataclass(frozen=True, slots=True)
class _Case:
    """What a pattern asks of its subject, in order, and the names it binds to parts of it."""

    tests: tuple[ast.expr, ...] = ()
    names: tuple[tuple[str, ast.expr], ...] = ()

    def and_then(self, other: _Case) -> _Case:
        """Both patterns."""
        return _Case((*self.tests, *other.tests), (*self.names, *other.names))


def without_match(tree: ast.Module) -> ast.Module:
    """The module with every `match` that can be written with `if` written so."""
    if ast.Match in kinds([tree]):
        _rewrite(tree)
    return tree


def _rewrite(node: ast.AST) -> None:
    for child in ast.iter_child_nodes(node):
        _rewrite(child)
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and any(isinstance(part, ast.Match) for part in value):
            pieces = [_written(part) if isinstance(part, ast.Match) else [part] for part in value]
            value[:] = [statement for piece in pieces for statement in piece]


def _written(node: ast.Match) -> Sequence[ast.stmt]:
    name = f"the subject of line {node.lineno}"
    found = [_case(case.pattern, ast.Name(name, ast.Load())) for case in node.cases]
    rest: list[ast.stmt] = []
    for case, parts in zip(reversed(node.cases), reversed(found), strict=True):
        if parts is None:
            return [node]
        tests = list(parts.tests)
        if case.guard is not None:
            tests.append(_placed(copy.deepcopy(case.guard), dict(parts.names)))
        bound: list[ast.stmt] = [
            ast.copy_location(ast.Assign([ast.Name(own, ast.Store())], copy.deepcopy(place)), case.pattern)
            for own, place in parts.names
        ]
        body = [*bound, *case.body]
        if not tests:
            rest = body
            continue
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        rest = [ast.copy_location(ast.If(ast.copy_location(test, case.pattern), body, rest), case.pattern)]
    first = ast.Assign([ast.Name(name, ast.Store())], node.subject)
    written = [ast.copy_location(first, node), *rest]
    if isinstance(written[-1], ast.If):
        ast.copy_location(written[-1], node)
    return [ast.fix_missing_locations(one) for one in written]


def _placed(node: Any, places: Mapping[str, ast.expr]) -> Any:
    """An expression with the places in it that these names stand for."""
    if isinstance(node, ast.Name) and node.id in places:
        return ast.copy_location(copy.deepcopy(places[node.id]), node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(node, field, _placed(value, places))
        elif isinstance(value, list):
            value[:] = [_placed(part, places) if isinstance(part, ast.AST) else part for part in value]
    return node


def _call(function: object, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Constant(function), list(args), [])  # type: ignore[arg-type]


def _case(pattern: ast.pattern, where: ast.expr) -> _Case | None:
    """What a pattern asks and binds; None for one that is not written with `if`."""
    subject = copy.deepcopy(where)
    match pattern:
        case ast.MatchValue(value=value):
            is_container = _call(isinstance, copy.deepcopy(where), ast.Constant(CONTAINERS))  # type: ignore[arg-type]
            equal = ast.Compare(subject, [ast.Eq()], [value])
            return _Case((ast.UnaryOp(ast.Not(), is_container), equal) if _is_plain(value) else (equal,))
        case ast.MatchSingleton(value=value):
            return _Case((ast.Compare(subject, [ast.Is()], [ast.Constant(value)]),))
        case ast.MatchAs(pattern=None, name=name):
            return _Case() if name is None else _Case((), ((name, subject),))
        case ast.MatchAs(pattern=inner, name=name) if inner is not None and name is not None:
            found = _case(inner, subject)
            return None if found is None else found.and_then(_Case((), ((name, subject),)))
        case ast.MatchOr(patterns=patterns):
            return _one_of([_case(one, subject) for one in patterns])
        case ast.MatchSequence(patterns=patterns) if not any(isinstance(p, ast.MatchStar) for p in patterns):
            is_sequence = _call(isinstance, copy.deepcopy(where), ast.Constant((tuple, list)))  # type: ignore[arg-type]
            length = ast.Compare(_call(len, copy.deepcopy(where)), [ast.Eq()], [ast.Constant(len(patterns))])
            parts: list[ast.expr] = [
                ast.Subscript(subject, ast.Constant(place), ast.Load()) for place in range(len(patterns))
            ]
            return _all_of(_Case((is_sequence, length)), patterns, parts)
        case ast.MatchClass(cls=cls, patterns=[], kwd_attrs=attributes, kwd_patterns=patterns):
            parts = [ast.Attribute(subject, name, ast.Load()) for name in attributes]
            return _all_of(_Case((_call(isinstance, subject, cls),)), patterns, parts)
        case _:
            return None


def _is_plain(value: ast.expr) -> bool:
    """Whether a value is a number or a word, which no container equals."""
    literal = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(literal, ast.Constant)


def _all_of(first: _Case, patterns: Sequence[ast.pattern], parts: Sequence[ast.expr]) -> _Case | None:
    for pattern, part in zip(patterns, parts, strict=True):
        found = _case(pattern, part)
        if found is None:
            return None
        first = first.and_then(found)
    return first


def _one_of(cases: Sequence[_Case | None]) -> _Case | None:
    tests: list[ast.expr] = []
    for case in cases:
        if case is None or case.names:
            return None
        if not case.tests:
            return _Case()
        tests.append(case.tests[0] if len(case.tests) == 1 else ast.BoolOp(ast.And(), list(case.tests)))
    return _Case((ast.BoolOp(ast.Or(), tests),))
