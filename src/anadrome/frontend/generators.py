"""Generator functions: a loop over what one yields is its text, with the body of the loop for each `yield`.

    def g(a): s(a); yield e; t(a)          for v in g(x): body

    a_g = x; s(a_g); v = e; body; t(a_g)

The names of the generator get names of their own in the call that goes over it. A `break` of the body, and a
`return` of the generator, leave the whole text: a flag that the loops around ask. What takes all items at
once (`list`, `sum`) is a loop that appends them.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anadrome.errors.frontend import FrontendError, RecursionTooDeep, UnsupportedSyntax
from anadrome.frontend.context import Context
from anadrome.frontend.iterators import GeneratorCall, LazyGenerator
from anadrome.frontend.lists import new_list
from anadrome.frontend.liveness import INNER, analyse_block, assigned_names, own_nodes, reads
from anadrome.frontend.source import Source, from_source
from anadrome.frontend.values import Exit, Frame, Missing, Value

DEPTH_LIMIT = 60
"""Generators may go over generators this deep."""

_LOOP = ast.For | ast.While


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """The statements that a loop over a generator is, and the names that the generator's have there."""

    body: list[ast.stmt]
    names: dict[str, str]
    new: frozenset[str]


def run_generator(context: Context, frame: Frame, node: ast.For, generator: GeneratorCall) -> Exit:
    """`for target in generator: body`"""
    generator.check(context)
    if generator.is_left:
        raise UnsupportedSyntax(
            "going on with a generator that a loop has left",
            context.span,
            "go over it in one loop, or make a list of it first: `list(g(x))`",
        )
    if generator.is_spent:
        return context.evaluators.block(context, frame, node.orelse)
    context.change(generator, "a generator")
    generator.is_spent, generator.is_left = True, ends_with(node.body, ast.Break)
    is_inner = generator.frame.outer is frame
    key = (node, generator.node, is_inner)
    text: _Text | None = context.texts.get(key)
    if text is None:
        text = context.texts[key] = _text(frame, node, generator, is_inner)
    if len(context.call_names) >= DEPTH_LIMIT:
        raise RecursionTooDeep(generator.frame.name, DEPTH_LIMIT, context.span)
    frame.local_names |= text.new
    for name, new in text.names.items():
        frame.names[new] = _value_of(context, generator, name)
    found = analyse_block(text.body, frame.live.get(node, frozenset()))
    frame.live.update(found.after)
    frame.live_head.update(found.head)
    context.call_names.append(generator.frame.name)
    try:
        return context.evaluators.block(context, frame, text.body)
    finally:
        context.call_names.pop()


def expression_call(generator: LazyGenerator, frame: Frame) -> GeneratorCall:
    """A generator expression that is gone over as the generator function that it is; `frame`: of its own.

    (e for a in xs if p for b in ys)      def g(): for a in xs: if p: for b in ys: yield e
    """
    node = generator.node
    items = _unused(frame, "items")
    first: Any = node.generators[0].iter
    frame.names[items] = first.value
    frame.local_names |= {items}
    made: ast.stmt = ast.Expr(ast.Yield(node.elt))
    for clause in reversed(node.generators):
        for test in reversed(clause.ifs):
            made = ast.If(test, [made], [])
        source = _load(items) if clause is node.generators[0] else clause.iter
        made = ast.For(clause.target, source, [made], [])
    arguments = ast.arguments([], [], None, [], [], None, [])
    text = ast.FunctionDef("generator", arguments, [made], [], None)
    for part in ast.walk(text):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node.elt)
    return GeneratorCall(text, frame)


def is_filtered(node: ast.GeneratorExp) -> bool:
    """Whether the items of a generator expression cannot be found by an index."""
    return len(node.generators) > 1 or bool(node.generators[0].ifs)


def all_items(context: Context, generator: GeneratorCall) -> Value:
    """A list of what a generator yields, which is asked for at once."""
    frame, place = generator.frame, generator.node.body[0]
    made = new_list(context, [])
    items, item = (_unused(frame, name) for name in ("items", "item"))
    frame.names[items] = made
    frame.local_names |= {items, item}
    constant: Any = ast.Constant
    append = ast.Call(ast.Attribute(_load(items), "append", ast.Load()), [_load(item)], [])
    loop = ast.For(ast.Name(item, ast.Store()), constant(generator), [ast.Expr(append)], [])
    for part in ast.walk(loop):
        ast.copy_location(part, place)
    frame.live[loop] = frozenset()
    context.evaluators.block(context, frame, [loop])
    return made


def _value_of(context: Context, generator: GeneratorCall, name: str) -> Value:
    """A name as the generator finds it: its argument, or what it stands for around it."""
    frame, span = generator.frame, context.span
    around = frame.outer
    while around is not None and name not in frame.local_names:
        if name in around.shared:
            raise UnsupportedSyntax(
                f"a generator over which another function goes, and whose `{name}` others may bind,",
                span,
                "go over it where it is defined, or make a list of it first: `list(g(x))`",
            )
        around = around.outer
    if name in frame.local_names and name not in frame.names:
        return Missing("not bound yet")
    try:
        return context.evaluate(frame, ast.copy_location(_load(name), generator.node.body[0]))
    except FrontendError:
        return Missing("not defined")
    finally:
        context.span = span


# ---------------------------------------------------------------------------- the text
def _text(frame: Frame, node: ast.For, generator: GeneratorCall, is_inner: bool) -> _Text:
    body, source = generator.node.body, generator.frame.source
    own = generator.frame.local_names
    used = own | (frozenset() if is_inner else reads(generator.node))
    maker = _Maker(source, node, frame)
    for name in sorted(used):
        maker.names[name] = _unused(frame, f"{name}_{generator.node.name}")
    for flag in ("is_left", "is_broken", "once"):
        maker.flags[flag] = _unused(frame, f"{flag}_{generator.node.name}")
    inner = maker.block(body)
    whole = [maker.assign("is_left", False), maker.assign("is_broken", False), maker.once(inner)]
    if node.orelse:
        whole += maker.unless("is_broken", copy.deepcopy(node.orelse))
    for statement in whole:
        for part in ast.walk(statement):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node.iter)
    new = frozenset((*maker.names.values(), *maker.flags.values(), *maker.new))
    return _Text(whole, dict(maker.names), new)


def _unused(frame: Frame, name: str) -> str:
    while name in frame.local_names:
        name += "_"
    return name


@dataclass(slots=True, eq=False)
class _Maker:
    """Makes the text: `names` are those of the generator, `flags` say how it was left."""

    source: Source
    loop: ast.For
    frame: Frame
    new: set[str] = field(default_factory=set)
    names: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of the generator."""
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Expr(value=ast.Yield(value=value)):
                return self._yielded(ast.Constant(None) if value is None else self._renamed(value), node)
            case ast.Expr(value=ast.YieldFrom(value=value)):
                item = _unused(self.frame, f"item_{self.flags['once']}")
                self.new.add(item)
                self.frame.local_names |= {item}
                body = self._yielded(_load(item), node)
                loop = ast.For(ast.Name(item, ast.Store()), self._renamed(value), body, [])
                return [self._placed(loop, node), *self._leaving(body, node)]
            case ast.Return():
                return [self._placed(self.assign("is_left", True), node), self._placed(ast.Break(), node)]
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                made = self.block(body)
                one: ast.stmt = ast.For(
                    self._renamed(target), self._renamed(iterable), made, self.block(orelse)
                )
                return [self._placed(one, node), *self._leaving(made, node)]
            case ast.While(test=test, body=body, orelse=orelse):
                made = self.block(body)
                two: ast.stmt = ast.While(self._renamed(test), made, self.block(orelse))
                return [self._placed(two, node), *self._leaving(made, node)]
            case ast.If(test=test, body=body, orelse=orelse):
                three = ast.If(self._renamed(test), self.block(body), self.block(orelse))
                return [self._placed(three, node)]
            case ast.Nonlocal() | ast.Global():
                raise UnsupportedSyntax(
                    f"`{type(node).__name__.lower()}` in a generator", self.source.span(node)
                )
            case _:
                asked = [part for part in own_nodes([node]) if isinstance(part, ast.Yield | ast.YieldFrom)]
                if asked:
                    raise UnsupportedSyntax(
                        "`yield` as a part of another statement",
                        self.source.span(asked[0]),
                        "let it be a statement of its own",
                    )
                return [self._renamed(node)]

    def _yielded(self, value: ast.expr, place: ast.stmt) -> list[ast.stmt]:
        """The body of the loop, for a value that is yielded."""
        target = copy.deepcopy(self.loop.target)
        body = copy.deepcopy(self.loop.body)
        for statement in body:
            for part in ast.walk(statement):
                from_source(part, self.frame.source)
        bound = self._placed(ast.Assign([target], value), place)
        has_break, has_continue = (ends_with(body, kind) for kind in (ast.Break, ast.Continue))
        if not has_break and not has_continue:
            return [bound, *body]
        leaves = _Breaks(self).block(body) if has_break else body
        made: list[ast.stmt] = [bound, self.once(leaves)]
        return [*made, self._placed(self._if_left(), place)] if has_break else made

    def _leaving(self, body: Sequence[ast.stmt], place: ast.stmt) -> list[ast.stmt]:
        """After a loop that may have been left for good: leave what is around it as well."""
        flag = self.flags["is_left"]
        sets = any(isinstance(part, ast.Name) and part.id == flag for one in body for part in ast.walk(one))
        return [self._placed(self._if_left(), place)] if sets else []

    def _if_left(self) -> ast.stmt:
        return ast.If(_load(self.flags["is_left"]), [ast.Break()], [])

    def assign(self, flag: str, value: bool) -> ast.stmt:
        """`flag = value`"""
        return ast.Assign([ast.Name(self.flags[flag], ast.Store())], ast.Constant(value))

    def unless(self, flag: str, body: list[ast.stmt]) -> list[ast.stmt]:
        """`if not flag: body`"""
        return [ast.If(ast.UnaryOp(ast.Not(), _load(self.flags[flag])), body, [])]

    def once(self, body: list[ast.stmt]) -> ast.stmt:
        """A loop that runs once, so that `break` leaves it."""
        constant: Any = ast.Constant
        return ast.For(ast.Name(self.flags["once"], ast.Store()), constant((None,)), body, [])

    def _renamed(self, node: Any) -> Any:
        """A copy with the names that the generator has in the call that goes over it."""
        made = _Renaming(self.names).visit(copy.deepcopy(node))
        for part in ast.walk(made):
            from_source(part, self.source)
        return made

    def _placed(self, node: Any, place: ast.stmt) -> Any:
        """New nodes stand where one of the generator does."""
        for part in ast.walk(node):
            if not hasattr(part, "lineno"):
                from_source(ast.copy_location(part, place), self.source)
        return node


class _Renaming(ast.NodeTransformer):
    """Other names for some; functions inside have names of their own."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._names.get(node.name, node.name)
        node.decorator_list = [self.visit(one) for one in node.decorator_list]
        inner = self._inside(node, assigned_names(node.body))
        node.body = [inner.visit(one) for one in node.body]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.body = self._inside(node, frozenset()).visit(node.body)
        return node

    def _inside(self, node: ast.FunctionDef | ast.Lambda, bound: frozenset[str]) -> _Renaming:
        arguments = node.args
        arguments.defaults = [self.visit(one) for one in arguments.defaults]
        arguments.kw_defaults = [None if one is None else self.visit(one) for one in arguments.kw_defaults]
        own = bound | {part.arg for part in ast.walk(arguments) if isinstance(part, ast.arg)}
        return _Renaming({name: new for name, new in self._names.items() if name not in own})


class _Breaks:
    """The body of a loop that has become a part of another: its `break` says so."""

    def __init__(self, maker: _Maker) -> None:
        self._maker = maker

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements in which a `break` sets the flags first."""
        return [made for statement in body for made in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Break):
            flags = [self._maker.assign(flag, True) for flag in ("is_left", "is_broken")]
            for flag in flags:
                for part in ast.walk(flag):
                    ast.copy_location(part, node)
            return [*flags, node]
        if not isinstance(node, (_LOOP, *INNER)):
            for name in ("body", "orelse", "finalbody"):
                if getattr(node, name, None):
                    setattr(node, name, self.block(getattr(node, name)))
            for case in (*getattr(node, "cases", ()), *getattr(node, "handlers", ())):
                case.body = self.block(case.body)
        return [node]


def ends_with(body: Sequence[ast.stmt], kind: type[ast.Break] | type[ast.Continue]) -> bool:
    """Whether statements of a loop's body end its iteration so."""
    for node in body:
        if isinstance(node, kind):
            return True
        if isinstance(node, INNER):
            continue
        inner: list[Any] = [getattr(node, "orelse", ())]
        if not isinstance(node, _LOOP):
            inner += [getattr(node, name, ()) for name in ("body", "finalbody")]
            inner += [one.body for one in (*getattr(node, "cases", ()), *getattr(node, "handlers", ()))]
        if any(ends_with(one, kind) for one in inner if one):
            return True
    return False


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def over(node: ast.GeneratorExp, value: Value) -> ast.GeneratorExp:
    """A generator expression over what its first iterable has been evaluated to."""
    first, *rest = node.generators
    constant: Any = ast.Constant
    source = ast.copy_location(constant(value), first.iter)
    clause = ast.comprehension(first.target, source, first.ifs, first.is_async)
    return ast.copy_location(ast.GeneratorExp(node.elt, [clause, *rest]), node)
