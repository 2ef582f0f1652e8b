"""Iterator classes: objects whose `__next__` gives the next item or raises `StopIteration`.

`__next__` is evaluated inline with another text, in which it gives the item in a tuple of its own, and None
where it raises: so whether there is an item may be decided by the run. A loop over such an object is one over
a generator function that takes items as long as there are some (`library.python_program.iterated`).

    def __next__(self):                        def __next__(self):
        if self.k >= self.n:                       if self.k >= self.n:
            raise StopIteration           →            return None
        self.k += 1                                self.k += 1
        return self.k * 2                          return (self.k * 2,)
                                                   return (None,)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import Any

from anadrome.errors.frontend import UnsupportedSyntax, UnsupportedType
from anadrome.frontend.arrays import describe
from anadrome.frontend.calls import analysed, call_function, function_text
from anadrome.frontend.context import Context
from anadrome.frontend.functions import FunctionText, StagedFunction
from anadrome.frontend.iterators import ADVANCE, HAS_ITEM, TAKE, Iterator, LazyGenerator, iterator_of
from anadrome.frontend.library import python_program
from anadrome.frontend.overloads import own_method
from anadrome.frontend.source import Source
from anadrome.frontend.values import Value

WHERE = "write `v = next(it)` as a statement of its own, outside of `try`"


def stepped(context: Context, value: Value) -> Value:
    """What a loop goes over in place of an object: a generator that takes the items of an iterator class.

    `__iter__` is called; anything else is gone over as it is.
    """
    method = own_method(context, value, "__iter__")
    if method is None:
        return value
    found = context.call(method, value)
    if own_method(context, found, "__next__") is None:
        return found
    return context.call(python_program.iterated, ADVANCE, found)


def advance(context: Context, iterator: Value) -> Value:
    """The next item in a tuple of its own, or None behind the last one, which the run may decide."""
    method = own_method(context, iterator, "__next__")
    if method is None:
        return _advance_own(context, iterator)
    changed = _text_of(context, method)
    context.stepping += 1
    try:
        if isinstance(method, StagedFunction):
            called = copy.copy(method)
            called.text = changed
            return context.call(called, iterator)
        return call_function(context, method, (iterator,), {}, changed)
    finally:
        context.stepping -= 1


def _advance_own(context: Context, value: Value) -> Value:
    """The same of an iterator of the front end's own."""
    if not isinstance(value, Iterator | LazyGenerator):
        raise UnsupportedType("the argument of `next`", describe(value), context.span, "use `iter(x)`")
    found = iterator_of(context, value)
    if found.sequence is None:
        return found.pull(context) or None
    return context.call(python_program.taken, HAS_ITEM, TAKE, found)


# ---------------------------------------------------------------------------- the text
def _text_of(context: Context, method: Any) -> FunctionText:
    text = method.text if isinstance(method, StagedFunction) else function_text(context, method)
    key = ("stepping", text.node)
    if key not in context.texts:
        context.texts[key] = analysed(context, text.source, _stopping(text.node, text.source))
    found: FunctionText = context.texts[key]
    return found


def _stopping(node: Any, source: Source) -> ast.FunctionDef:
    made: ast.FunctionDef = copy.deepcopy(node)
    end = _placed([ast.Return(_alone(ast.Constant(None)))], made.body[-1])
    made.body = [*_Stopping(source).block(made.body), *end]
    return made


class _Stopping:
    """The text of `__next__` that gives its item in a tuple, and None where it raises `StopIteration`."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._count = 0

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements."""
        return [made for node in body for made in self._statement(node)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Return(value=value) if value is not None and _taken_from(value) is not None:
                taken, name = self._taken(_taken_from(value), node)
                return [*taken, *_placed([ast.Return(_load(name))], node)]
            case ast.Return(value=value):
                self._refuse(value)
                return _placed([ast.Return(_alone(value or ast.Constant(None)))], node)
            case ast.Raise(exc=ast.Name(id="StopIteration") | ast.Call(func=ast.Name(id="StopIteration"))):
                return _placed([ast.Return(ast.Constant(None))], node)
            case ast.Assign(targets=targets, value=value) if _taken_from(value) is not None:
                taken, name = self._taken(_taken_from(value), node)
                return [*taken, *_placed([ast.Assign(targets, _first(name))], node)]
            case ast.Expr(value=value) if _taken_from(value) is not None:
                return self._taken(_taken_from(value), node)[0]
            case ast.FunctionDef() | ast.ClassDef():
                return [node]
            case ast.Try(handlers=[_, *_]):
                self._refuse(*node.body)
            case ast.If() | ast.While() | ast.With() | ast.For() | ast.Try():
                self._refuse(*(part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)))
            case _:
                self._refuse(node)
        for name in ("body", "orelse", "finalbody"):
            if getattr(node, name, None) and not (isinstance(node, ast.Try) and node.handlers):
                setattr(node, name, self.block(getattr(node, name)))
        return [node]

    def _taken(self, iterator: ast.expr | None, place: ast.stmt) -> tuple[list[ast.stmt], str]:
        """`found = advance(iterator)`, and the end of the text where there is no item."""
        name, constant = f"item_{self._count}__", ast.Constant
        self._count += 1
        step: Any = constant(ADVANCE)  # type: ignore[arg-type]
        test = ast.Compare(_load(name), [ast.Is()], [ast.Constant(None)])
        made: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], ast.Call(step, [iterator], [])),  # type: ignore[list-item]
            ast.If(test, [ast.Return(ast.Constant(None))], []),
        ]
        return _placed(made, place), name

    def _refuse(self, *nodes: ast.AST | None) -> None:
        """Refuse what may stop in the midst of an expression, or where a handler could see it."""
        for node in (part for one in nodes if one is not None for part in ast.walk(one)):
            stops = isinstance(node, ast.Raise) and _is_stop(node)
            if stops or (isinstance(node, ast.expr) and _taken_from(node) is not None):
                what = "`next` or `raise StopIteration` in a part of a statement or a `try` of `__next__`"
                raise UnsupportedSyntax(what, self._source.span(node), WHERE)  # type: ignore[arg-type]


def _taken_from(node: ast.expr | None) -> ast.expr | None:
    """The iterator whose next item an expression takes."""
    match node:
        case ast.Call(func=ast.Name(id="next"), args=[iterator], keywords=[]):
            return iterator
        case ast.Call(func=ast.Attribute(value=iterator, attr="__next__"), args=[], keywords=[]):
            return iterator
        case _:
            return None


def _is_stop(node: ast.Raise) -> bool:
    exc = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(exc, ast.Name) and exc.id == "StopIteration"


def _alone(value: ast.expr) -> ast.expr:
    return ast.Tuple([value], ast.Load())


def _first(name: str) -> ast.expr:
    return ast.Subscript(_load(name), ast.Constant(0), ast.Load())


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _placed(nodes: list[ast.stmt], place: ast.stmt) -> list[ast.stmt]:
    """New nodes stand where an old one does."""
    for part in (inner for node in nodes for inner in ast.walk(node)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return nodes
