"""What one staging run knows: the body being filled, the scopes around it, cells, facts about sizes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import getitem
from types import CellType
from typing import Any, NoReturn

import numpy as np

from anadrome.array_ir.affine import Affine
from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import ArrayType, Atom, Const, Let, Size, Var, i64
from anadrome.config import Config
from anadrome.dtypes import BOOL, F64, I64, DType, from_numpy
from anadrome.errors import Span
from anadrome.errors.frontend import (
    CALLER,
    EscapingMutation,
    FrontendError,
    NumberTooLarge,
    UnsupportedSyntax,
    UnsupportedType,
    WritesArgument,
    WritesThroughView,
)
from anadrome.errors.objects import ChangesMerged, stale
from anadrome.frontend.captured import Surroundings, complex_array, is_complex_passed, is_passed
from anadrome.frontend.facts import Facts
from anadrome.frontend.heap import changes_item, is_unknown, learned_of, state_of
from anadrome.frontend.identity import Identities
from anadrome.frontend.modes import Mode, Modes
from anadrome.frontend.own import CALLED_MODULES
from anadrome.frontend.reading import Reading
from anadrome.frontend.restarts import OnePool, Restage, RestartByReference, RestartLoop
from anadrome.frontend.source import SourceCache
from anadrome.frontend.sparse_matrices import kind_of, made_of
from anadrome.frontend.sparse_program import Sparse
from anadrome.frontend.structures import Pool, Reference, reference_of
from anadrome.frontend.text_size import TextSizes
from anadrome.frontend.values import (
    BY_ROWS,
    UNKNOWN_LAYOUT,
    WHOLE,
    Array,
    Captured,
    Cell,
    Complex,
    Exit,
    Frame,
    Holder,
    Key,
    Magnitude,
    Maybe,
    Missing,
    Place,
    Record,
    Region,
    Scalar,
    Scope,
    ScopeKind,
    Value,
    python_name,
)

SECOND_TRIES = 16
"""How many loops of a program may be staged in another way after they were refused."""

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
    generator: Callable[..., Value]
    """(context, generator, whether all is asked for now) -> what it has left, to be gone over"""
    source: Callable[[Context, Value], Any]
    """(context, value) -> what a `for` takes its items from"""
    stepped: Callable[[Context, Value], Value]
    """(context, object of the user's) -> what a `for` over it goes over"""
    advance: Callable[[Context, Value], Value]
    """(context, iterator) -> its next item in a tuple, or None behind the last one"""
    attribute: Callable[[Context, Value, str], Value]
    """(context, value, name) -> the attribute"""
    spread: Callable[[Context, Cell], bool]
    """(context, cell) -> writes what else may be the array that was written; whether all of it is known"""
    looked_at: Callable[[Context, Value, Reference], Value]
    """(context, object of a pool, which it is) -> it with its attributes as they are now"""


class Context:
    """The state of one staging run. The builder of the innermost open body is `builder`."""

    def __init__(
        self,
        config: Config,
        evaluators: Evaluators,
        calls: Mapping[object, StagedCall],
        changing: Collection[object] = (),
        grown: Collection[Span | str | OnePool] = (),
        record: Callable[[str, Any], None] | None = None,
    ) -> None:
        self.config, self.record, self.grown = config, record, grown
        self.met, self.copied = set[str](), set[str]()
        self.pools: dict[object, Pool] = {}
        self.evaluators, self.calls, self.changing = evaluators, calls, changing
        self.sources = SourceCache()
        self.scope = Scope(ScopeKind.FUNCTION, Builder())
        self.ranges: dict[Var, tuple[Affine, Affine]] = {}
        self.nonnegative: set[Var] = set()
        self.least: dict[Var, int] = {}
        self.most: dict[Var, tuple[Affine, ...]] = {}
        self.complements: dict[frozenset[Size], Size] = {}
        self.captured: dict[object, Captured] = {}
        self.sparse: dict[int, Any] = {}
        self.surroundings = Surroundings(config.literal_limit)
        self.call_names: list[str] = []
        self.tick, self.stepping, self.is_narrow = 0, 0, False
        self.hazards: list[tuple[tuple[type[BaseException], ...], str, Span | None]] = []
        self.trying: list[tuple[Scope, tuple[type[BaseException], ...]]] = []
        self.handled: list[Exception] = []
        self.peeling: list[ast.stmt] = []
        self.text_sizes, self.reading = TextSizes(), Reading()
        self.list_sites: dict[Cell, Span | None] = {}
        self.last_span: Span | None = None
        self.poisonings: list[Cell] = []
        self.records: dict[int, Record] = {}
        self.identities = Identities(self.records)
        self.staled, self.made_items = list[Record](), list[Record]()
        self.texts: dict[object, Any] = {}
        self.notes: list[Any] = []
        self.whole_starts: dict[Var, tuple[Scope, tuple[Place, int]]] = {}
        self.magnitudes: dict[Var, Magnitude] = {}
        self.draws: list[Any] = []
        self.tried: list[Any] = []  # those of the draws that are room, also where they were taken back
        self.generators: dict[int, tuple[object, Any]] = {}
        self.inputs: set[Var] = set()
        self.facts = Facts()
        self.prints, self.second_tries, self.widenings = 0, 0, 0
        self.is_silent, self.unprintable = False, ""
        self.thread: Any = None

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

    @contextmanager
    def silent(self) -> Iterator[None]:
        """A second run of what has printed already: it prints nothing."""
        before, self.is_silent = self.is_silent, True
        try:
            yield
        finally:
            self.is_silent = before

    @contextmanager
    def unprinted(self, reason: str) -> Iterator[None]:
        """A part of the program that may not print, for this reason."""
        before, self.unprintable = self.unprintable, reason
        try:
            yield
        finally:
            self.unprintable = before

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

    def call(self, function: object, *args: Value, **kwargs: Value) -> Value:
        """Call any callable of the user's program on values."""
        return self.evaluators.call(self, function, args, kwargs)

    # ------------------------------------------------------------------ values
    def wrap(self, atom: Atom, is_weak: bool | None = None) -> Scalar | Array:
        """An IR value as a value of the program; an array gets a cell of its own."""
        if atom.type.dtype not in (BOOL, I64, F64):
            self.is_narrow = True
        if atom.type.shape:
            assert isinstance(atom, Var)
            return Array(Cell(atom, self.scope))
        return Scalar(atom, is_weak)

    def read(self, array: Array) -> Var:
        """The variable that holds the array now; a view whose base has changed is made anew."""
        cell = array.cell
        if cell.poisoned is not None:
            words = f"this array may share memory with one that was changed ({cell.poisoned})"
            raise WritesThroughView(words, self.span)
        self.tick += 1
        cell.last_read, view = self.tick, array.view
        self.reading.notice(cell)
        if view is None:
            return cell.var
        if view.born < cell.exchanges:
            words, help = "this item of a list was exchanged for another since", "copy it before: `a.copy()`"
            raise WritesThroughView(words, self.span, help)
        return view.var if view.key is cell.var else view.read(cell.var)

    def write(
        self, cell: Cell, var: Var, is_new: bool = False, least_rank: int = 0, region: Region = ()
    ) -> None:
        """Let a cell hold another variable: a write, into a part of it; `is_new`: where nobody could see it.
        Where a list gets another item, what has fewer dimensions than `least_rank` sees nothing of it."""
        if cell.is_empty and var.type == cell.var.type:
            return
        seen = cell.seen_by(region, least_rank)
        if cell.is_argument or any(partner.is_argument for partner in seen):
            raise WritesArgument(self.span)
        self._mark(cell, WHOLE)
        self._write_items([] if is_new else cell.lists_written(least_rank))
        partners = {} if is_new else seen
        for partner in [partner for partner, is_exact in partners.items() if not is_exact]:
            begun = self._loop_begin(partner)
            if begun is not None and partner.last_read > begun:
                raise WritesThroughView("another name of this array was read in the same loop", self.span)
            self.forget(partner)
        is_other, last = var is not cell.var, cell.last_written
        self.hold(cell, var)
        cell.last_written = last if is_new else self.tick
        if is_other and any(partners.values()) and not self.evaluators.spread(self, cell):
            for partner in partners:
                self.forget(partner)

    def hold(self, cell: Cell, var: Var) -> None:
        """Let a cell hold another variable, whatever may share memory with it."""
        self._mark(cell, WHOLE)
        self.tick += 1
        cell.last_written = self.tick
        cell.var = var

    def forget(self, cell: Cell) -> None:
        """Make an array unreadable, which the statement at hand may have changed or not."""
        self.tick = cell.last_forgotten = self.tick + 1
        cell.poisoned = self.span
        self.poisonings.append(cell)

    def _write_items(self, lists: Sequence[Record]) -> None:
        """Make lists unreadable of which a copy is written as a row of another list."""
        for record in lists:
            begun = self._loop_begin(record)
            if begun is not None and record.last_read > begun:
                raise WritesThroughView("a list that is an item was read in the same loop", self.span)
        self.make_stale(lists)

    def _loop_begin(self, cell: Holder) -> int | None:
        """The tick at which the outermost loop inside the scope of an array or object began."""
        begun = None
        for scope in self.scopes():
            if scope is cell.home:
                break
            if scope.kind is ScopeKind.LOOP:
                begun = scope.tick
        return begun

    # ------------------------------------------------------------------ objects of Python's own
    def made(self, value: Any, home: Scope | None = None) -> None:
        """An object that the program makes itself: it may be changed."""
        self.records[id(value)] = Record(value, home or self.scope, self.span, born=self.tick)
        self.surroundings.made(value)

    def grows(self, owner: object, error: FrontendError) -> NoReturn:
        """Stage the program once more with this list or array as one of the run; else raise the error."""
        record = self.records.get(id(owner))
        site = record.site if record is not None and isinstance(owner, list | np.ndarray) else None
        if site is None or site in self.grown:
            raise error
        raise Restage(site, error)

    def merged(self, value: Any, sources: Sequence[object], place: Place | None = None) -> None:
        """An object that stands for one of several, which is decided at run time."""
        record = self.records[id(value)] = Record(value, self.scope, is_merged=True, place=place)
        for source in sources:
            origin = self.records.get(id(source))
            if origin is not None:
                origin.versions.append(record)
        self.surroundings.made(value)

    def may_try_again(self) -> bool:
        """Whether a loop that was refused may be staged in another way: not without end in nests of loops."""
        self.second_tries += 1
        return self.second_tries <= SECOND_TRIES

    def marks(self) -> tuple[int, int, int, int]:
        """How many arrays and objects were made unreadable so far, draws made, and objects made items."""
        return len(self.poisonings), len(self.staled), len(self.draws), len(self.made_items)

    def take_back(self, marks: tuple[int, int, int, int]) -> None:
        """Make readable again what was made unreadable since then, and forget draws and items."""
        del self.draws[marks[2] :]
        while len(self.made_items) > marks[3]:
            self.made_items.pop().items -= 1
        while len(self.poisonings) > marks[0]:
            self.poisonings.pop().poisoned = None
        while len(self.staled) > marks[1]:
            self.staled.pop().stale = None

    def is_made(self, value: object) -> bool:
        """Whether an object is one that the program made or merged."""
        return id(value) in self.records

    def change(self, owner: object, what: str, key: Key = WHOLE) -> Record:
        """Say that a part of an object is about to change, `WHOLE` where that may add or remove parts.

        Raises `EscapingMutation` where the object belongs to the caller or has no identity that is known.
        """
        record = self.records.get(id(owner))
        if record is None:
            raise EscapingMutation(what, CALLER, self.span, type(owner))
        if any(one.items for one in record.with_versions()):
            self.refuse(owner, changes_item(owner, self.span, what, record.is_chosen))
        if record.is_merged:
            self.pool_items(owner, ChangesMerged(what, self.span))
            if record.place is not None and any(scope is record.home for scope in self.scopes()):
                raise RestartByReference(record.home, record.place, ChangesMerged(what, self.span))
            raise ChangesMerged(what, self.span)
        self._mark(record, key, what)
        record.changed = self.span
        self.make_stale(record.versions)
        return record

    def refuse(self, owner: object, error: FrontendError) -> NoReturn:
        """Raise an error of an object that lists hold, if they can see no more of it."""
        self.pool_items(owner, error)
        raise error

    def pool_items(self, owner: object, error: FrontendError) -> None:
        """Stage the program once more, so that lists see the change of an object that they hold."""
        for site in learned_of(owner, self.records.values()):
            if site not in self.grown:
                raise Restage(site, error)
            self.met.update([site] if isinstance(site, str) else [])

    def make_stale(self, records: Sequence[Record]) -> None:
        """Make objects unreadable, which the statement at hand may have changed or not."""
        for record in (one for origin in records for one in origin.with_versions() if one.stale is None):
            record.stale = self.span
            self.staled.append(record)

    def _mark(self, holder: Holder, key: Key, what: str = "an array made outside") -> None:
        """Let every scope between here and that in which an object was made know that it changes."""
        for scope in self.scopes():
            if scope is holder.home:
                return
            match scope.kind:
                case ScopeKind.FUNCTION:
                    pass
                case ScopeKind.BRANCH:
                    if holder not in scope.before:
                        scope.before[holder] = state_of(holder)
                case ScopeKind.LOOP:
                    if (holder, key) not in scope.carried and (holder, WHOLE) not in scope.carried:
                        scope.further.setdefault((holder, key), state_of(holder))
                        if not is_unknown(holder, key):
                            raise RestartLoop(scope, scope.further)
                case _:
                    if isinstance(holder, Record):
                        raise EscapingMutation(what, scope.kind.value, self.span)
                    help = "use a `for` loop, or return the values and write them outside"
                    raise WritesThroughView(f"{what} is written inside {scope.kind.value}", self.span, help)

    def may_raise(self, what: str, *kinds: type[BaseException]) -> None:
        """Python may raise this here, where the compiled program gives NaN, an infinity or 0."""
        if self.trying:
            self.hazards.append((kinds, what, self.span))

    def refuse_stop(self, what: str) -> None:
        """Refuse what ends an iterator class where `__next__` calls a function: its own text ends it."""
        if self.stepping:
            help = "raise `StopIteration` in `__next__` itself"
            raise UnsupportedSyntax(f"{what} in a function that `__next__` calls", self.span, help)

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
    def seen(self, value: Value) -> Value:
        """A value that a name or an item stands for: one that may be None is what it is known to be here; a
        large array becomes an argument."""
        value = self.settled(value, self.scope)
        record = self.records.get(id(value))
        if record is not None and record.stale is not None:
            self.refuse(value, stale(python_name(value), record.stale, self.span))
        if record is not None:
            self.tick = record.last_read = self.tick + 1
            self.reading.notice(record)
        if is_passed(value, self.config.literal_limit):
            return self.captured_array(value)
        if is_complex_passed(value, self.config.literal_limit):
            return self.captured_complex(value)
        if hasattr(type(value), "__anadrome_value__"):  # it means something in kernels alone
            return type(value).__anadrome_value__(value, self)  # type: ignore[attr-defined]
        self.surroundings.see(value)
        reference = reference_of(value)
        return self.evaluators.looked_at(self, value, reference) if reference else self.sparse_or_same(value)

    def settled(self, value: Value, scope: Scope) -> Value:
        """What a value is in a scope that may be None, or a name that may not be bound, where it is known."""
        maybe = value.there if isinstance(value, Missing) else value
        if not isinstance(maybe, Maybe):
            return value
        is_there = self.facts.knows(scope, maybe.is_there.atom)
        if is_there is None:
            return value
        if is_there:
            return self.settled(maybe.value, scope)
        return value if isinstance(value, Missing) else maybe.other

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
            self.surroundings.without_place(base, name)
            return self.seen(value)
        if isinstance(value, np.ndarray):
            return self._array_at((id(base), name), partial(getattr, base, name), value)
        self.surroundings.attribute(base, name, value)
        self.surroundings.class_of(base)
        return self.seen(value)

    def _array_at(self, place: object, fetch: Callable[[], object], array: np.ndarray) -> Value:
        """An array that stands at a place: passed, or written into the program where it is small and has not
        been found changed before."""
        if is_complex_passed(array, self.config.literal_limit) or (
            place in self.changing and array.dtype.kind == "c"
        ):
            return self.captured_complex(array, place, fetch)
        is_changing = place in self.changing and array.dtype.kind == "f"
        if is_passed(array, self.config.literal_limit) or (
            is_changing and from_numpy(array.dtype) is not None
        ):
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
            # another array may stand at its place at the next call
            layout = BY_ROWS if array.ndim < 2 else UNKNOWN_LAYOUT
            value = Array(Cell(var, root, is_argument=True, layout=layout))
            found = self.captured[key] = Captured(key, array, fetch or (lambda: array), value)
        return found.value

    def captured_complex(
        self, array: np.ndarray, place: object = None, fetch: Callable[[], object] | None = None
    ) -> Complex:
        """A complex NumPy array around the program as two hidden parameters, its parts."""
        key = id(array) if place is None else place
        whole = fetch or (lambda: array)
        real = self.captured_array(array.real, ("real", key), lambda: complex_array(whole()).real)
        imag = self.captured_array(array.imag, ("imag", key), lambda: complex_array(whole()).imag)
        return Complex(real, imag)

    def sparse_or_same(self, matrix: Any) -> Value:
        """A sparse matrix of SciPy's as one of the program, whose parts are hidden parameters; other values
        as they are."""
        kind = None if isinstance(matrix, Sparse) else kind_of(matrix)
        if kind is None:
            return matrix
        found = self.sparse.get(id(matrix))
        if found is None:
            self.surroundings.attribute(matrix, "shape", matrix.shape)
            parts = [self._part(matrix, name) for name in kind.names]
            found = self.sparse[id(matrix)] = made_of(kind, [*parts, *matrix.shape])
            self.surroundings.made(found)
        return found

    def _part(self, matrix: Any, name: str) -> Array | Complex:
        array, place, fetch = getattr(matrix, name), (id(matrix), name), partial(getattr, matrix, name)
        if array.dtype.kind == "c":
            return self.captured_complex(array, place, fetch)
        return self.captured_array(array, place, fetch)

    def at(self, frame: Frame, node: ast.stmt | ast.expr | ast.ExceptHandler) -> None:
        """Say that this node is being evaluated: errors and statements point at it, or at the user's call."""
        if frame.globals.get("__name__") in CALLED_MODULES:
            return
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
