"""What one staging run knows: the body being filled, the scopes around it, cells, facts about sizes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import getitem
from types import CellType
from typing import Any, TypeGuard

import numpy as np

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Let, Size, Var, i64
from anadrome.config import Config
from anadrome.dtypes import BOOL, F64, I64, DType, from_numpy
from anadrome.errors import Span
from anadrome.errors.frontend import NumberTooLarge, UnsupportedType, WritesArgument, WritesThroughView
from anadrome.frontend.modes import Mode, Modes
from anadrome.frontend.source import SourceCache
from anadrome.frontend.structures import flatten
from anadrome.frontend.surroundings import LITERAL_LIMIT, Surroundings
from anadrome.frontend.values import (
    Array,
    Cell,
    Complex,
    Exit,
    Frame,
    Magnitude,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    View,
    is_staged,
)

StagedCall = Callable[..., Value]
"""A compiled form of a Python callable: (context, *args, **kwargs) of values -> value."""


@dataclass(frozen=True, slots=True)
class Evaluators:
    """The parts of the evaluator that call one another, so that their files need not import one another."""

    call: Callable[[Context, Value, Sequence[Value], Mapping[str, Value]], Value]
    """(context, callable, args, kwargs) -> value"""
    expression: Callable[[Context, Frame, ast.expr], Value]
    """(context, frame, node) -> value"""
    block: Callable[[Context, Frame, Sequence[ast.stmt]], Exit]
    """(context, frame, statements) -> how they ended"""


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """An array around the program that is passed to it: the hidden parameter, and how it is fetched."""

    place: object
    example: np.ndarray
    fetch: Callable[[], object]
    value: Array

    @property
    def var(self) -> Var:
        """The parameter."""
        return self.value.cell.var


class RestartLoop(Exception):
    """A loop's body wrote an outer cell that was not carried yet: stage the loop once more, carrying it."""

    def __init__(self, scope: Scope, cell: Cell) -> None:
        super().__init__()
        self.scope = scope
        self.cell = cell


class Context:
    """The state of one staging run. The builder of the innermost open body is `builder`."""

    def __init__(
        self,
        config: Config,
        evaluators: Evaluators,
        calls: Mapping[object, StagedCall],
        changing: Collection[object] = (),
    ) -> None:
        self.config = config
        self.evaluators = evaluators
        self.calls = calls
        self.changing = changing
        self.sources = SourceCache()
        self.scope = Scope(ScopeKind.FUNCTION, Builder())
        self.ranges: dict[Var, tuple[Affine, Affine]] = {}
        self.nonnegative: set[Var] = set()
        self.least: dict[Var, int] = {}
        self.complements: dict[frozenset[Size], Size] = {}
        self.captured: dict[object, Captured] = {}
        self.surroundings = Surroundings()
        self.call_names: list[str] = []
        self.tick = 0
        self.is_narrow = False
        self.last_span: Span | None = None
        self.poisonings: list[Cell] = []
        self.texts: dict[object, Any] = {}
        self.notes: list[Any] = []
        self.whole_starts: dict[Var, tuple[Scope, tuple[str, int]]] = {}
        self.magnitudes: dict[Var, Magnitude] = {}

    # ------------------------------------------------------------------ where we are
    @property
    def builder(self) -> Builder:
        """The builder of the innermost open body."""
        return self.scope.builder

    @property
    def span(self) -> Span | None:
        """The user's source place being evaluated."""
        return self.scope.builder.span

    @span.setter
    def span(self, span: Span | None) -> None:
        self.scope.builder.span = span

    def scopes(self) -> Iterator[Scope]:
        """The open scopes, innermost first."""
        scope: Scope | None = self.scope
        while scope is not None:
            yield scope
            scope = scope.parent

    @contextmanager
    def nested(self, kind: ScopeKind, remaining: Modes | None = None) -> Iterator[Scope]:
        """Open a scope with a child builder; whatever is learned in it is forgotten at its end."""
        outer = self.scope
        self.scope = Scope(kind, outer.builder.child(), outer, remaining=remaining)
        try:
            yield self.scope
        finally:
            self.scope = outer

    @contextmanager
    def reopened(self, scope: Scope) -> Iterator[Scope]:
        """Make a scope that was left the innermost one again."""
        outer = self.scope
        self.scope = scope
        try:
            yield scope
        finally:
            self.scope = outer

    @contextmanager
    def filling(
        self, builder: Builder, kind: ScopeKind = ScopeKind.PARFOR, mode: Mode = Mode.EITHER
    ) -> Iterator[Scope]:
        """Make `builder` (the inner one a `parfor` callback was handed) the innermost body for a while."""
        outer = self.scope
        self.scope = Scope(kind, builder, outer, mode=mode)
        try:
            yield self.scope
        finally:
            self.scope = outer

    def derivatives(self) -> Modes:
        """How what is staged here may still be differentiated: by each transform around it, innermost first,
        save those that are spent on the rule being staged."""
        found: list[Mode] = []
        for scope in self.scopes():
            if scope.kind is ScopeKind.OPEN:
                found.append(scope.mode)
            elif scope.remaining is not None:
                return (*found, *scope.remaining)
        return tuple(found)

    def runtime_scope(self) -> ScopeKind | None:
        """The innermost run-time construct around this point, if there is one."""
        return None if self.scope.kind is ScopeKind.FUNCTION else self.scope.kind

    def call(self, function: object, *args: Value, **kwargs: Value) -> Value:
        """Call any callable of the user's program on values."""
        return self.evaluators.call(self, function, args, kwargs)

    # ------------------------------------------------------------------ values
    def wrap(self, atom: Atom, is_weak: bool = False) -> Scalar | Array:
        """An IR value as a value of the program; an array gets a cell of its own."""
        if atom.type.dtype not in (BOOL, I64, F64):
            self.is_narrow = True
        if atom.type.shape:
            assert isinstance(atom, Var)
            return Array(Cell(atom, self.scope))
        return Scalar(atom, is_weak and atom.type.dtype is not BOOL)

    def view(self, base: Array, read: Callable[[Var], Var]) -> Array:
        """A view of `base` that NumPy would share with it and that we cannot write through (a transpose)."""
        key = base.cell.var
        inner = base.view

        def through(var: Var) -> Var:
            return read(var if inner is None else inner.read(var))

        return Array(base.cell, View(key, read(self.read(base)), through))

    def read(self, array: Array) -> Var:
        """The variable that holds the array now; a view whose base has changed is made anew."""
        cell = array.cell
        if cell.poisoned is not None:
            raise WritesThroughView(
                f"this array may share memory with one that was changed ({cell.poisoned})", self.span
            )
        self.tick += 1
        cell.last_read = self.tick
        view = array.view
        if view is None:
            return cell.var
        return view.var if view.key is cell.var else view.read(cell.var)

    def write(self, cell: Cell, var: Var) -> None:
        """Let a cell hold another variable from here on: an in-place write."""
        if cell.is_argument or any(partner.is_argument for partner in cell.partners):
            raise WritesArgument(self.span)
        for scope in self.scopes():
            if scope is cell.home:
                break
            self._leave_mark(scope, cell)
        for partner in cell.partners:
            begun = self._loop_begin(partner)
            if begun is not None and partner.last_read > begun:
                raise WritesThroughView("another name of this array was read in the same loop", self.span)
            partner.poisoned = self.span
            self.poisonings.append(partner)
        self.tick += 1
        cell.last_written = self.tick
        cell.var = var

    def _loop_begin(self, cell: Cell) -> int | None:
        """The tick at which the outermost loop inside the cell's scope began."""
        begun = None
        for scope in self.scopes():
            if scope is cell.home:
                break
            if scope.kind is ScopeKind.LOOP:
                begun = scope.tick
        return begun

    def _leave_mark(self, scope: Scope, cell: Cell) -> None:
        match scope.kind:
            case ScopeKind.BRANCH:
                scope.before.setdefault(cell, cell.var)
            case ScopeKind.LOOP:
                if cell not in scope.carried:
                    raise RestartLoop(scope, cell)
            case ScopeKind.PARFOR | ScopeKind.CONDITION | ScopeKind.OPEN | ScopeKind.RULE:
                raise WritesThroughView(
                    f"an array made outside is written inside {scope.kind.value}",
                    self.span,
                    "use a `for` loop, or return the values and write them outside",
                )
            case ScopeKind.FUNCTION:
                pass

    def constant(self, value: object, dtype: DType) -> Const:
        """A static number as a constant of a scalar type; refuses one that does not fit."""
        plain = value.item() if isinstance(value, np.generic) else value
        assert isinstance(plain, bool | int | float)
        if dtype.is_integer:
            info = np.iinfo(dtype.numpy_name)
            if not info.min <= plain <= info.max:
                raise NumberTooLarge(plain, dtype.numpy_name, self.span)
        return number(plain, dtype)

    # ------------------------------------------------------------------ surroundings
    def made(self, value: object) -> None:
        """A static object that the program makes itself: in this scope it may be changed."""
        self.scope.created[id(value)] = value
        self.surroundings.made(value)

    def seen(self, value: Value) -> Value:
        """A static value that a name or an item stands for; a large array becomes an argument."""
        if is_passed(value):
            return self.captured_array(value)
        if is_complex_passed(value):
            return self.captured_complex(value)
        self.surroundings.see(value)
        return value

    def found_in(self, mapping: dict[str, Any], name: str) -> Value:
        """A value that the globals of a module hold now."""
        value = mapping[name]
        if isinstance(value, np.ndarray):
            return self._array_at((id(mapping), name), partial(getitem, mapping, name), value)
        self.surroundings.item(mapping, name, value)
        return self.seen(value)

    def found_in_cell(self, cell: CellType) -> Value:
        """A value that a name of an enclosing function stands for now."""
        value = cell.cell_contents
        if isinstance(value, np.ndarray):
            return self._array_at(id(cell), partial(getattr, cell, "cell_contents"), value)
        self.surroundings.cell(cell, value)
        return self.seen(value)

    def attribute_of(self, base: Value, name: str) -> Value:
        """An attribute of a static object, as Python gives it."""
        value = getattr(base, name)
        if not self.surroundings.has_place(base, value):
            return self.seen(value)
        if isinstance(value, np.ndarray):
            return self._array_at((id(base), name), partial(getattr, base, name), value)
        self.surroundings.attribute(base, name, value)
        return self.seen(value)

    def _array_at(self, place: object, fetch: Callable[[], object], array: np.ndarray) -> Value:
        """An array that stands at a place: passed, or written into the program where it is small and has not
        been found changed before."""
        if is_complex_passed(array) or (place in self.changing and array.dtype.kind == "c"):
            return self.captured_complex(array, place, fetch)
        is_changing = place in self.changing and array.dtype.kind == "f"
        if is_passed(array) or (is_changing and from_numpy(array.dtype) is not None):
            return self.captured_array(array, place, fetch)
        self.surroundings.array(place, fetch, array)
        return array

    def captured_array(
        self, array: np.ndarray, place: object = None, fetch: Callable[[], object] | None = None
    ) -> Array:
        """A NumPy array around the program as a hidden parameter, fetched from its place at every call."""
        key = id(array) if place is None else place
        found = self.captured.get(key)
        if found is None:
            dtype = dtype_of(array.dtype, self.span)
            var = Var("captured", ArrayType(dtype, tuple(i64(size) for size in array.shape)))
            root = list(self.scopes())[-1]
            root.builder.bind(var)
            self.is_narrow = self.is_narrow or dtype not in (BOOL, I64, F64)
            value = Array(Cell(var, root, is_argument=True))
            found = self.captured[key] = Captured(key, array, fetch or (lambda: array), value)
        return found.value

    def captured_complex(
        self, array: np.ndarray, place: object = None, fetch: Callable[[], object] | None = None
    ) -> Complex:
        """A complex NumPy array around the program as two hidden parameters, its parts."""
        key = id(array) if place is None else place
        whole = fetch or (lambda: array)
        real = self.captured_array(array.real, (key, "real"), lambda: _complex_array(whole()).real)
        imag = self.captured_array(array.imag, (key, "imag"), lambda: _complex_array(whole()).imag)
        return Complex(real, imag)

    def without_passing(self, value: Any) -> Any:
        """A tree whose only staged leaves are arrays around the program, with these arrays as they are now,
        so that plain Python can read them; None where anything else is staged."""
        leaves, rebuild = flatten(value, is_staged)
        passed = {one.value.cell: one for one in self.captured.values()}
        plain: list[Value] = []
        for leaf in leaves:
            found = passed.get(leaf.cell) if isinstance(leaf, Array) and leaf.view is None else None
            if found is None:
                return None
            self.surroundings.array(found.place, found.fetch, found.example)
            plain.append(found.example)
        return rebuild(iter(plain))

    def at(self, frame: Frame, node: ast.stmt | ast.expr) -> None:
        """Say that this node is being evaluated: errors and statements point at it."""
        self.scope.builder.span = self.last_span = frame.source.span(node)

    def evaluate(self, frame: Frame, node: ast.expr) -> Value:
        """The value of an expression."""
        return self.evaluators.expression(self, frame, node)

    def emit(self, lets: Sequence[Let]) -> None:
        """Append finished statements of a child body to the innermost body."""
        for let in lets:
            self.builder.emit(let)


def dtype_of(numpy_dtype: object, span: Span | None) -> DType:
    """The scalar type of a NumPy dtype (or Python type, or its name); refuses one Anadrome has not."""
    try:
        found = from_numpy(numpy_dtype)
    except TypeError:
        found = None
    if found is None:
        raise UnsupportedType("the scalar type of an array", str(numpy_dtype), span)
    return found


def _complex_array(found: object) -> np.ndarray:
    """What stands at the place of a complex array now, which must be one still."""
    if not isinstance(found, np.ndarray) or found.dtype.kind != "c":
        raise TypeError("no complex array stands there any more")
    return found


def is_complex_passed(value: Value) -> TypeGuard[np.ndarray]:
    """Whether a value around the program is a complex array whose parts are passed to it."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "c" and value.size > LITERAL_LIMIT


def is_passed(value: Value) -> TypeGuard[np.ndarray]:
    """Whether a value around the program is an array that is passed to it rather than written into it."""
    return (
        isinstance(value, np.ndarray) and value.size > LITERAL_LIMIT and from_numpy(value.dtype) is not None
    )
