"""Random well-typed programs of the array IR with arguments: the shared oracle's input.

`programs()` gives `(Function, args)`. Sizes and index arrays are such that no check fails and nothing leaves
its array; values stay small, so results are finite and of the size of the inputs. Sizes start at one, since a
`min` of nothing is infinite. A failing test prints the program's text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import note
from hypothesis import strategies as st

from anadrome.array_ir.build import Builder, number
from anadrome.array_ir.nodes import (
    Accumulate,
    ArrayType,
    Atom,
    Bounds,
    Carry,
    Check,
    Full,
    Function,
    Lambda,
    Library,
    Part,
    Reduce,
    Scan,
    Scatter,
    Size,
    Stack,
    Var,
    i64,
)
from anadrome.array_ir.rewrite import Renaming
from anadrome.array_ir.text import show
from anadrome.dtypes import F64, I64

Draw = Callable[[st.SearchStrategy[Any]], Any]

UNARY = ("sin", "cos", "tanh", "neg", "abs", "sigmoid", "atan")
BINARY = ("add", "sub", "mul", "min", "max")
COMPARISONS = ("lt", "le", "gt", "ge")
REAL, INTEGER = ArrayType(F64), ArrayType(I64)


@st.composite
def programs(
    draw: Draw, statements: int = 5, depth: int = 2, library: bool = True, largest: int = 4
) -> tuple[Function, list[Any]]:
    """A program of up to this many statements and this deep, and arguments for it.

    Parameters: two vectors and a matrix of floats, an array of indices into the vectors, a float, a small
    trip count. The vectors have up to `largest` elements, the rows of the matrix one less.
    """
    n, m = Var("n", INTEGER), Var("m", INTEGER)
    params = (
        Var("x", ArrayType(F64, (n,))),
        Var("y", ArrayType(F64, (n,))),
        Var("a", ArrayType(F64, (n, m))),
        Var("p", ArrayType(I64, (n,))),
        Var("s", REAL),
        Var("k", INTEGER),
    )
    builder = Builder()
    builder.bind(n, m, *params)
    x, y, a, p, s, k = params
    scope = _Scope(draw, builder, [s], [x, y, a], {}, p, k, library)
    for _ in range(draw(st.integers(1, statements))):
        scope.statement(depth)
    candidates = [*scope.reals, *(array for array in scope.arrays if array not in params)]
    count = draw(st.integers(1, min(3, len(candidates))))
    fn = Function("program", params, builder.body(candidates[-count:]))
    note(show(fn))
    return fn, _arguments(draw, largest)


def at_constant_sizes(fn: Function, args: Sequence[Any]) -> Function:
    """The program for arguments of these shapes alone: its sizes are numbers."""
    sizes = {
        size: i64(extent)
        for param, arg in zip(fn.params, args, strict=True)
        for size, extent in zip(param.type.shape, np.shape(arg), strict=True)
        if isinstance(size, Var)
    }
    renaming = Renaming(dict(sizes))
    return Function(fn.name, renaming.all_bound(fn.params), renaming.body(fn.body))


def _arguments(draw: Draw, largest: int) -> list[Any]:
    n, m = draw(st.integers(1, largest)), draw(st.integers(1, largest - 1))
    source = np.random.default_rng(draw(st.integers(0, 2**16)))
    return [
        source.uniform(-1.5, 1.5, n),
        source.uniform(-1.5, 1.5, n),
        source.uniform(-1.5, 1.5, (n, m)),
        source.integers(0, n, n),
        np.float64(source.uniform(-1.5, 1.5)),
        np.int64(draw(st.integers(0, 3))),
    ]


class _Scope:
    """One body being written: what may be read in it, and the indices known to be inside a dimension."""

    def __init__(
        self,
        draw: Draw,
        builder: Builder,
        reals: list[Atom],
        arrays: list[Var],
        indices: dict[Size, list[Atom]],
        places: Var,
        trips: Var,
        library: bool,
    ) -> None:
        self.draw, self.builder, self.reals, self.arrays = draw, builder, reals, arrays
        self.indices, self.places, self.trips, self.library = indices, places, trips, library

    def nested(self, builder: Builder, size: Size | None = None, index: Var | None = None) -> _Scope:
        """The scope of a body nested here."""
        indices = {key: list(known) for key, known in self.indices.items()}
        if size is not None and index is not None:
            indices.setdefault(size, []).append(index)
        inner = _Scope(
            self.draw,
            builder,
            list(self.reals),
            list(self.arrays),
            indices,
            self.places,
            self.trips,
            self.library,
        )
        if index is not None and size is self.places.type.shape[0]:
            indices[size].append(builder.index(self.places, (index,)))
        return inner

    # ------------------------------------------------------------------ drawing
    def one(self, *options: Any) -> Any:
        """One of the options."""
        return self.draw(st.sampled_from(options))

    def real(self) -> Atom:
        """A float in scope, or read from an array at a known index, or a constant."""
        choice = self.draw(st.integers(0, 5))
        if choice == 0:
            return number(self.one(0.5, -0.75, 1.0, 0.0), F64)
        readable = [array for array in self.arrays if all(size in self.indices for size in array.type.shape)]
        if choice >= 3 and readable:
            array = self.one(*readable)
            return self.builder.index(array, [self.index(size) for size in array.type.shape], self.bounds())
        return self.one(*self.reals)

    def index(self, size: Size) -> Atom:
        """An index inside this dimension."""
        return self.one(*self.indices[size])

    def bounds(self) -> Bounds:
        """What is said of an index that is inside."""
        return self.one(Bounds.PROVED, Bounds.PROVED, Bounds.CHECKED)

    def scalar(self) -> Atom:
        """A scalar operation on floats in scope."""
        kind = self.draw(st.integers(0, 3))
        if kind == 0:
            value = self.builder.apply(self.one(*UNARY), self.real())
        elif kind == 1:
            value = self.builder.select(self.condition(), self.real(), self.real())
        else:
            value = self.builder.apply(self.one(*BINARY), self.real(), self.real())
        self.reals.append(value)
        return value

    def condition(self) -> Atom:
        """A comparison of floats in scope."""
        return self.builder.apply(self.one(*COMPARISONS), self.real(), self.real())

    def bounded(self) -> Atom:
        """A float between -1 and 1: what a loop may carry around."""
        return self.builder.apply("tanh", self.scalar())

    def size(self) -> Size:
        """A dimension of an array in scope."""
        return self.one(*self.arrays[0].type.shape, *self.arrays[-1].type.shape)

    # ------------------------------------------------------------------ statements
    def statement(self, depth: int) -> None:
        """One statement of any kind, its results put in scope."""
        simple = [self.scalar, self.full, self.update, self.check]
        nested = [
            self.parfor,
            self.parfor,
            self.accumulation,
            self.loop,
            self.while_loop,
            self.branch,
            self.sums,
        ]
        outer = [self.reshape, self.matmul] if self.library and len(self.arrays) > 2 else []
        if depth == 0:
            self.one(*simple)()
            return
        chosen = self.one(*nested, *simple, *outer)
        chosen(depth - 1) if chosen in nested else chosen()

    def some(self, depth: int) -> None:
        """A few statements."""
        for _ in range(self.draw(st.integers(0, 2))):
            self.statement(depth)

    def full(self) -> None:
        """An array of one value, or of two given ones."""
        if self.draw(st.booleans()):
            self.arrays.append(self.builder.let_one(Full((self.size(),), self.real())))
        else:
            self.builder_literal()

    def builder_literal(self) -> None:
        """A literal, of which one element is read."""
        array = self.builder.literal([self.real(), self.real()])
        self.reals.append(self.builder.index(array, (i64(self.draw(st.integers(0, 1))),)))

    def update(self) -> None:
        """A vector with one place replaced."""
        found = [
            array for array in self.arrays if array.type.rank == 1 and array.type.shape[0] in self.indices
        ]
        if not found:
            self.scalar()
            return
        array = self.one(*found)
        new = self.builder.update(array, (self.index(array.type.shape[0]),), self.real(), self.bounds())
        self.arrays.append(new)

    def check(self) -> None:
        """A check that holds."""
        value = self.real()
        holds = self.builder.apply("le", self.builder.apply("tanh", value), number(1.5, F64))
        self.builder.let(Check(holds, "assert", "too large: {0}", (value,)))

    def reshape(self) -> None:
        """A matrix as a vector."""
        matrices = [array for array in self.arrays if array.type.rank == 2]
        array = self.one(*matrices)
        count = self.builder.size("mul", *array.type.shape)
        self.arrays.append(self.builder.reshape(array, (count,)))

    def matmul(self) -> None:
        """A product of a matrix with its transpose."""
        array = self.one(*(array for array in self.arrays if array.type.rank == 2))
        is_left = self.draw(st.booleans())
        self.arrays.append(self.builder.let_one(Library("matmul", (array, array), (is_left, not is_left))))

    def parfor(self, depth: int) -> None:
        """A parfor with one to three yields that need nothing around it."""
        size = self.size()

        def body(builder: Builder, index: Var) -> list[Part]:
            inner = self.nested(builder, size, index)
            inner.some(depth)
            return [inner.item() for _ in range(self.draw(st.integers(1, 3)))]

        for result in self.builder.parfor(size, body):
            self.keep(result)

    def keep(self, result: Var) -> None:
        """Put a result in scope."""
        if result.type == REAL:
            self.reals.append(result)
        elif result.type.dtype is F64:
            self.arrays.append(result)

    def item(self) -> Part:
        """A yield of floats (or of rows) in scope."""
        kind = self.draw(st.integers(0, 5))
        rows = [array for array in self.arrays if self.builder.owns(array) and array.type.rank == 1]
        if kind == 0 and rows and not any(self.builder.owns(size) for size in rows[-1].type.shape):
            return self.one(Stack.of, lambda row: Reduce.of("add", (row,)))(rows[-1])
        value = self.scalar()
        if kind <= 2:
            return Stack.of(value)
        if kind == 3:
            return Reduce.of(self.one("add", "mul", "min", "max"), (self.bounded(),))
        if kind == 4:
            if self.draw(st.booleans()):
                return Scan.of(self.one("add", "mul"), (self.bounded(),), exclusive=True)
            return Scan.of(self.one("add", "mul", "min", "max"), (self.bounded(),))
        operator = linear_composition()
        values = (self.bounded(), value)
        return self.one(
            Reduce.of(operator, values), Scan.of(operator, values, True), Scan.of(operator, values)
        )

    def accumulation(self, depth: int) -> None:
        """A histogram or a scatter by the index array, over a vector made for it."""
        size = self.places.type.shape[0]
        init = self.builder.let_one(Full((size,), self.real()))

        def body(builder: Builder, index: Var) -> list[Part]:
            inner = self.nested(builder, size, index)
            inner.some(depth)
            value = inner.bounded()
            at, bounds = inner.index(size), self.bounds()
            if self.draw(st.booleans()):
                at, bounds = builder.apply("add", at, i64(1)), Bounds.IGNORED
            if self.draw(st.integers(0, 3)) == 0:
                return [Scatter.of(init, (at,), value, bounds)]
            return [Accumulate.of(self.one("add", "mul", "min", "max"), init, (at,), value, bounds)]

        self.arrays += self.builder.parfor(size, body)

    def loop(self, depth: int) -> None:
        """A `for` that carries a float and, some of the time, a vector it updates."""
        vectors = [array for array in self.arrays if array.type.rank == 1]
        array = self.one(None, *vectors)
        init = [self.real()] if array is None else [self.real(), array]
        trip = self.trips if array is None else self.one(self.trips, array.type.shape[0])

        def body(builder: Builder, index: Var, carried: tuple[Var, ...]) -> list[Atom]:
            inner = self.nested(builder, trip, index) if trip is not self.trips else self.nested(builder)
            inner.reals.append(carried[0])
            inner.arrays += carried[1:]
            inner.some(depth)
            if array is None:
                return [inner.bounded()]
            if trip is not self.trips:
                inner.update()
            last = [found for found in inner.arrays if found.type == array.type][-1]
            return [inner.bounded(), last]

        for result in self.builder.loop(trip, init, body):
            self.keep(result)

    def while_loop(self, depth: int) -> None:
        """A `while` over a counter and a float."""

        def condition(builder: Builder, carried: tuple[Var, ...]) -> Atom:
            return builder.apply("lt", carried[0], self.trips)

        def body(builder: Builder, carried: tuple[Var, ...]) -> list[Atom]:
            inner = self.nested(builder)
            inner.reals.append(carried[1])
            inner.some(depth)
            return [builder.apply("add", carried[0], i64(1)), inner.bounded()]

        self.keep(self.builder.while_loop([i64(0), self.real()], condition, body)[1])

    def branch(self, depth: int) -> None:
        """An `if` that results in a float."""

        def side(builder: Builder) -> list[Atom]:
            inner = self.nested(builder)
            inner.some(depth)
            return [inner.scalar()]

        self.keep(self.builder.branch(self.condition(), side, side)[0])

    def sums(self, depth: int) -> None:
        """An accumulator that a parfor carries in, with contributions under a branch or in a loop."""
        size = self.places.type.shape[0]
        init = self.builder.let_one(Full((size,), self.real()))

        def iteration(builder: Builder, index: Var, token: Var) -> list[Part]:
            inner = self.nested(builder, size, index)
            inner.some(depth)
            return [Carry.of(token, inner.contribution(token, size))]

        def opened(builder: Builder, tokens: tuple[Var, ...]) -> list[Atom]:
            return list(builder.parfor(size, lambda inner, index: iteration(inner, index, tokens[0])))

        self.arrays += self.builder.with_sum([init], opened)

    def contribution(self, token: Var, size: Size) -> Var:
        """The accumulator after one contribution, perhaps under a branch or several times in a loop."""
        value, place, bounds = self.scalar(), self.index(size), self.bounds()
        match self.draw(st.integers(0, 2)):
            case 0:
                return self.builder.add_to(token, (place,), value, bounds)
            case 1:
                (after,) = self.builder.branch(
                    self.condition(),
                    lambda then: [then.add_to(token, (place,), value, bounds)],
                    lambda other: [token],
                )
                return after
            case _:
                (after,) = self.builder.loop(
                    self.trips,
                    [token],
                    lambda inner, index, carried: [inner.add_to(carried[0], (place,), value, bounds)],
                )
                return after


def linear_composition() -> Lambda:
    """The monoid of x ↦ a·x + b: (a, b) ⊕ (c, d) = (a·c, b·c + d), with identity (1, 0)."""
    left, right = (Var("a", REAL), Var("b", REAL)), (Var("c", REAL), Var("d", REAL))
    builder = Builder()
    builder.bind(*left, *right)
    (a, b), (c, d) = left, right
    results = (builder.mul(a, c), builder.add(builder.mul(b, c), d))
    return Lambda(left, right, builder.body(results), (number(1.0, F64), number(0.0, F64)))
