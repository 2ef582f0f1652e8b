"""What a staged program computes with: scalars, arrays as mutable cells, and the scopes cells live in.

A value of the front end is either *static*, any Python object, or *staged*: a `Scalar` or an `Array`. Static
containers (tuples, lists, dicts, dataclasses) may hold staged values; a `Complex` is such a container of two.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import CellType
from typing import Any, NoReturn, TypeGuard

import numpy as np

from anadrome.array_ir.build import Builder
from anadrome.array_ir.nodes import ArrayType, Atom, Size, Var
from anadrome.dtypes import DType
from anadrome.errors import Span
from anadrome.errors.frontend import BranchesDiffer, FrontendError, Undefined
from anadrome.frontend.modes import Mode, Modes
from anadrome.frontend.source import Source
from anadrome.prims.node import replace
from anadrome.printing import How

Value = object
"""Anything a name of the user's program can stand for."""

Weak = bool | None
"""Whether a number is Python's own, which adapts its type (NEP 50), or NumPy's. None: it is not known, of a
bool; another number is then NumPy's."""


def common_weak(one: Weak, two: Weak) -> Weak:
    """Whose number it is that is one of two: not known where these are Python's and NumPy's."""
    return one if one is two else None


class ReachedPythonError(TypeError):
    """Code that is not compiled met a value that is known at run time only."""

    help = (
        "Python ran this while compiling, and what it was given holds a value that only the run knows: write "
        "what it does in the compiled function, with NumPy"
    )


class _NotNative:
    """Staged values have no Python meaning outside the evaluator: native code that touches one must fail."""

    __slots__ = ()

    def _refuse(self, *_: object) -> NoReturn:
        raise ReachedPythonError("a value that is known at run time only reached plain Python code")

    __bool__ = __iter__ = __len__ = __getitem__ = __index__ = __int__ = __float__ = __array__ = _refuse
    __contains__ = __eq__ = __ne__ = __hash__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __neg__ = __pos__ = __abs__ = __invert__ = __round__ = __complex__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = (
        _refuse
    )


@dataclass(frozen=True, slots=True, eq=False)
class Scalar(_NotNative):
    """A number known at run time: immutable. `is_weak`: a Python number, which adapts its type (NEP 50)."""

    atom: Atom
    is_weak: Weak = None

    @property
    def dtype(self) -> DType:
        """The scalar type."""
        return self.atom.type.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        """()"""
        return ()


class ScopeKind(enum.Enum):
    """Which body of the IR a scope fills."""

    FUNCTION = "the function"
    BRANCH = "a run-time `if`"
    LOOP = "a run-time loop"
    CONDITION = "the condition of a run-time loop"
    PARFOR = "a comprehension"
    OPEN = "a function that is being transformed"
    RULE = "a function with a derivative of its own"
    KERNEL = "a kernel"


@dataclass(slots=True, eq=False)
class Scope:
    """One body under construction.

    `before` keeps, for every outer object that is changed in a branch, the state it had on entry. `carried`
    are the parts of outer objects that a loop carries; `further` are those that it changes and does not carry
    yet, with the state that the object had before. `equal` maps a size to one it is known to equal within
    this scope. `tick` is the reading clock when it was opened. `mode` is that of the transform that opened a
    function, `remaining` those that may differentiate a rule. `trip` is how often a counted loop runs and
    `index` the number of the iteration. `room` says of a growing list how many of the calls that append to it
    have room in it, `appended` how many there were. A loop that `is_counting` stores no rows: `counted` is
    what they are. `facts` are the conditions that are known here.
    """

    kind: ScopeKind
    builder: Builder
    parent: Scope | None = None
    before: dict[Holder, State] = field(default_factory=dict)
    carried: set[Part] = field(default_factory=set)
    further: dict[Part, State] = field(default_factory=dict)
    equal: dict[Size, Size] = field(default_factory=dict)
    tick: int = 0
    mode: Mode = Mode.EITHER
    remaining: Modes | None = None
    trip: Size | None = None
    index: Var | None = None
    room: dict[object, int] = field(default_factory=dict)
    appended: dict[object, int] = field(default_factory=dict)
    is_counting: bool = False
    counted: dict[object, object] = field(default_factory=dict)
    facts: dict[Atom, bool] = field(default_factory=dict)
    loop: Scope | None = None
    """The loop whose condition this is."""

    @property
    def depth(self) -> int:
        """How many scopes are around this one."""
        return 0 if self.parent is None else self.parent.depth + 1

    def is_inside(self, outer: Scope) -> bool:
        """Whether this is a scope or one in it; the condition of a loop is in the loop."""
        scope: Scope | None = self
        while scope is not None and scope is not outer:
            scope = scope.loop or scope.parent
        return scope is outer


@dataclass(frozen=True, slots=True)
class Layout:
    """What is known of where the elements of an array are in memory.

    `is_contiguous`: they follow one another by rows; None where only the run knows. `order` are the axes from
    the one with the largest stride to that with the smallest; None where it is not known or by rows.
    `is_dense`: there is nothing between them.
    """

    is_contiguous: bool | None = None
    order: tuple[int, ...] | None = None
    is_dense: bool = False


BY_ROWS = Layout(is_contiguous=True, is_dense=True)
UNKNOWN_LAYOUT = Layout()


@dataclass(slots=True, eq=False)
class Cell:
    """The storage of one array: the IR variable it holds now.

    `partners` are cells that NumPy might have in one array with this one, depending on the path taken, and
    whether choices say how: then a write is passed on to them. Otherwise writing one makes the others
    unreadable (`poisoned`); it is refused where one belongs to the caller. `versions` are those in whose
    choices this one stands.
    `last_read`, `last_written` and `last_forgotten` are ticks, which tell what a loop has read so far, what
    it has written, and what it has written by another name perhaps.
    """

    var: Var
    home: Scope
    is_argument: bool = False
    partners: dict[Cell, bool] = field(default_factory=dict)
    lists: list[Record] = field(default_factory=list)
    """Lists that it holds copies of as rows, which cannot be read after a row was written."""
    selves: list[Record] = field(default_factory=list)
    """Lists that a loop carries as this array, which cannot be read after it was written."""
    regions: dict[Cell, Region] = field(default_factory=dict)
    """Of partners that this one holds a copy of a part of: which part."""
    choice: Choice | None = None
    versions: list[Cell] = field(default_factory=list)
    poisoned: Span | None = None
    last_read: int = 0
    last_written: int = 0
    last_forgotten: int = 0
    layout: Layout = field(default_factory=lambda: BY_ROWS)
    exchanges: int = 0
    """How often a row of a list, which other names may hold, was exchanged for another."""
    has_twins: bool = False
    """Whether two rows of a list may be one array, which a write into one of them would change in both."""

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.var.type.shape)

    def holds_items_of(self, others: Iterable[Cell]) -> None:
        """Say that the rows of other lists are rows of this one, which are arrays twice or lists as there."""
        for other in others:
            self.has_twins |= other.has_twins
            self.lists += other.lists
            self.selves += other.selves

    def lists_written(self, least_rank: int) -> list[Record]:
        """The lists that cannot be read after a write into items of at least so many dimensions."""
        return self.selves + (self.lists if self.rank > least_rank else [])

    def seen_by(self, region: Region, least_rank: int) -> dict[Cell, bool]:
        """The partners that may see a write into a part of it, of those of at least so many dimensions."""
        return {
            one: is_exact
            for one, is_exact in self.partners.items()
            if one.rank >= least_rank and not are_apart(one.regions.get(self, ()), region)
        }

    @property
    def is_empty(self) -> bool:
        """Whether it has no elements in any run."""
        return isinstance(self.var.type, ArrayType) and self.var.type.is_empty


@dataclass(slots=True, eq=False)
class Record:
    """What the heap knows of a list, dict, set, instance or iterator that the program made.

    An object that was merged from several, which run-time branches or iterations decide between, has no
    identity that is known: it is `merged`, can be read and copied, and cannot be changed. `versions` are the
    merged objects that stand for this one on some way: a change of this one makes them unreadable (`stale`).
    `items` counts the lists of run-time length that hold a copy of it, after which it cannot change.
    `site` is where it was made, and `changed` where it was changed last.
    `place` is what the loop carries that made a merged object.
    """

    owner: Any
    home: Scope
    site: Span | None = None
    is_merged: bool = False
    versions: list[Record] = field(default_factory=list)
    stale: Span | None = None
    items: int = 0
    changed: Span | None = None
    place: Place | None = None
    born: int = 0
    """The tick at which it was made."""
    is_chosen: bool = False
    """Whether a copy of it stands for one of two lists that a branch chooses."""
    last_read: int = 0
    """The tick at which it was read last."""

    def with_versions(self) -> list[Record]:
        """It, and all merged objects that stand for it on some way, or for one of those."""
        found: dict[int, Record] = {}
        waiting = [self]
        while waiting:
            one = waiting.pop()
            if id(one) not in found:
                found[id(one)] = one
                waiting += one.versions
        return list(found.values())


Holder = Cell | Record
"""An object with identity: the storage of an array, or an object of Python's own."""

Key = Hashable
"""A part of an object: the position in a list, the key of a dict, the name of an attribute."""

WHOLE = object()
"""The part that stands for all of an object, and for which parts it has."""

Part = tuple[Holder, Key]
"""A part of an object, which a loop carries; of a cell it is `WHOLE`."""

State = Var | dict[Key, Value]
"""What an object holds: the variable of a cell, or the values of the parts in order."""

Place = str | Part
"""What a loop carries: a name of the call, or a part of an object."""


Region = tuple[int | None, ...]
"""A part of an array: the index of each of its first dimensions, where it is one number."""


def are_apart(one: Region, two: Region) -> bool:
    """Whether two parts of an array have no element in common."""
    pairs = zip(one, two, strict=False)
    return any(mine != theirs for mine, theirs in pairs if mine is not None and theirs is not None)


def link(cell: Cell, others: Iterable[Cell], is_exact: bool = False) -> None:
    """Say that a cell may share memory with each of these; `is_exact`: choices say how. Without elements it
    shares none."""
    for other in others:
        if other is not cell and not cell.is_empty and not other.is_empty:
            cell.regions.pop(other, None)
            other.regions.pop(cell, None)
            cell.partners[other] = other.partners[cell] = is_exact and cell.partners.get(other, True)


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a version of an array is: one array where the condition holds, the other one where it does not.
    None is storage of its own, which may share memory with `others`."""

    condition: Atom
    one: Array | None
    two: Array | None
    others: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Magnitude:
    """What is known of a value |x| (parts: x), |z| (the real and the imaginary part), or √s (s, a root)."""

    parts: tuple[Atom, ...]
    is_root: bool


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """An index into one dimension that takes the dimension away."""

    atom: Atom
    is_proved: bool


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A slice of one dimension: elements start, start + step, …; None stands for the whole dimension."""

    start: Atom
    step: Atom
    extent: Size
    is_whole: bool = False


Item = Fixed | Range
"""What a view takes of one dimension of its base."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """An array that looks into a cell.

    `key` is the variable the cell held when the view was made and `var` what the view was then. Where the
    cell has changed since, `read` makes it anew. `place` says which elements a slice holds, one item for each
    dimension of the base; for any other view `at` gives the indices in the base of an element. Some views are
    read-only in NumPy.
    """

    key: Var
    var: Var
    read: Callable[[Var], Var]
    place: tuple[Item, ...] | None = None
    at: Callable[[Builder, tuple[Atom, ...]], list[Atom]] | None = None
    is_writable: bool = True
    layout: Layout = field(default_factory=lambda: BY_ROWS)
    born: int = 0
    """How often a row had been exchanged when the view was made."""
    stands_for: Array | None = None
    """The array that Python has in its place: the same object."""
    is_item: bool = False
    """Whether it is an item of a list: one object, however often it is read."""


@dataclass(frozen=True, slots=True, eq=False)
class Array(_NotNative):
    """An array known at run time: a cell, or a view into one. Aliases share the cell, as in NumPy.

    `list_depth` counts the leading dimensions that Python knows as a list (the result of a comprehension):
    on those, `+` and `*` do not mean arithmetic.
    """

    cell: Cell
    view: View | None = None
    list_depth: int = 0

    @property
    def type(self) -> ArrayType:
        """Scalar type and shape."""
        var = self.cell.var if self.view is None else self.view.var
        assert isinstance(var.type, ArrayType)
        return var.type

    @property
    def dtype(self) -> DType:
        """The scalar type of the elements."""
        return self.type.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        """The dimensions."""
        return self.type.shape


Staged = Scalar | Array


def is_staged(value: object) -> bool:
    """Whether a value is known at run time only (containers are not looked into)."""
    return isinstance(value, Scalar | Array)


@dataclass(frozen=True, slots=True, eq=False)
class Complex(_NotNative):
    """A complex number or array known at run time: two real values of one shape and one float type.

    Parts are of float32 for complex64 and float64 for complex128; two Python floats make a Python complex,
    which adapts its type. To what takes values apart (branches, loops, results, transforms) this is a
    container of two. `complex_numbers.parts` has `complex_of`, which makes one of any number or array, and
    `from_parts`, which makes one of two real values.
    """

    real: Staged
    imag: Staged

    @property
    def dtype(self) -> DType:
        """The scalar type of either part."""
        return self.real.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        """The dimensions; () for a number."""
        return self.real.shape

    @property
    def is_weak(self) -> bool:
        """Whether this is a Python complex number, which adapts its type (NEP 50)."""
        return isinstance(self.real, Scalar) and bool(self.real.is_weak)

    @property
    def list_depth(self) -> int:
        """The leading dimensions that Python knows as a list."""
        return self.real.list_depth if isinstance(self.real, Array) else 0


@dataclass(frozen=True, slots=True, eq=False)
class TextField:
    """A run-time value in a string, or another such string, and how it is written: as in `printing.Field`."""

    how: How
    value: Staged | Complex | RunText
    spec: str | RunText = ""


@dataclass(frozen=True, slots=True, eq=False)
class TextChoice:
    """One of several strings: that whose number the selector is, as a branch has chosen it."""

    selector: Scalar
    options: tuple[str | RunText, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RunText(_NotNative):
    """A string that holds run-time values, in its parts: it is made outside compiled code."""

    parts: tuple[str | TextField | TextChoice, ...]

    __str__ = __repr__ = __format__ = _NotNative._refuse
    __eq__, __hash__ = object.__eq__, object.__hash__  # type: ignore[assignment]


def is_choice(text: RunText) -> bool:
    """Whether a string is one of several that branches have chosen, with nothing else in it."""
    return all(isinstance(part, TextChoice) for part in text.parts)


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


def python_name(value: object) -> str:
    """What Python calls the type of a value."""
    kind = type(value)
    is_ours = kind.__module__.startswith("anadrome.frontend.") and kind.__name__[0].isupper()
    return str(getattr(kind, "python_name", "value that cannot be used here" if is_ours else kind.__name__))


def is_numpy_array(value: object) -> TypeGuard[Array | Complex]:
    """Whether a value known at run time only is what Python has as a NumPy array, and no list or number."""
    return isinstance(value, Array | Complex) and bool(value.shape) and not value.list_depth


@dataclass(frozen=True, slots=True, eq=False)
class Maybe(_NotNative):
    """A value of which only the run knows what it is: `value` where `is_there` holds, else `other`: None, or
    a number of a type that does not go together with that of `value`. The one that it is not is zeros, which
    nothing reads."""

    is_there: Scalar
    value: Value
    other: Scalar | None = None

    __str__ = __repr__ = __format__ = _NotNative._refuse
    __eq__, __hash__ = object.__eq__, object.__hash__  # type: ignore[assignment]


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """What a name stands for where it has no value that can be used: reading it raises `reason`.

    `differs` holds what it is on either way of a branch, where these do not go together. `at_break` is what
    it is where the block is left by `break`, if it has a value on every way that leads there. `there` is what
    it is where a part of an expression has bound it.
    """

    reason: str
    help: str = ""
    differs: tuple[str, str] | None = None
    at_break: Value = None
    there: Maybe | None = None

    def error(self, name: str, span: Span | None) -> FrontendError:
        """What reading the name says."""
        if self.differs is not None:
            return BranchesDiffer(name, *self.differs, span)
        return Undefined(name, span, self.reason, self.help)


def value_at_break(value: Value) -> Value:
    """What a name is where a loop is left by `break`; None where it has no value there."""
    return value.at_break if isinstance(value, Missing) else value


def after_no_break(names: Mapping[str, Value]) -> dict[str, Value]:
    """The names where a statement that may have left the loop has not."""
    forgotten = {
        name: replace(value, at_break=None)
        for name, value in names.items()
        if isinstance(value, Missing) and value.at_break is not None
    }
    return {**names, **forgotten}


NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
"""How a block of statements ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Exit:
    """How a block ended: a code known now, or an i64 atom, and the codes it can be; `value` is returned."""

    code: int | Atom
    kinds: frozenset[int]
    value: Value = None


FALLS_THROUGH = Exit(NEXT, frozenset({NEXT}))


@dataclass(slots=True, eq=False)
class Frame:
    """One call of a Python function: its names, where other names come from, and its source."""

    name: str
    source: Source
    names: dict[str, Value]
    local_names: frozenset[str]
    globals: dict[str, Value]
    closure: dict[str, CellType]
    outer: Frame | None
    live: dict[ast.stmt, frozenset[str]]
    live_head: dict[ast.stmt, frozenset[str]]
    nonlocals: frozenset[str] = frozenset()
    """The names it declares `nonlocal`."""
    shared: frozenset[str] = frozenset()
    """Its names that functions inside it declare `nonlocal`."""
    loop_live: list[frozenset[str]] = field(default_factory=list)
    assigned: dict[str, Span] = field(default_factory=dict)
    block: Scope | None = None
    """The scope that the statement being evaluated stands in."""
    is_class: bool = False
    """Whether it is the body of a class, whose names functions in it do not see."""
