"""Random programs that update arrays in place in nested loops and branches: what the undo log has to get
right.

`nests()` gives `(Function, args)`. The states are a vector, a matrix and an array of integers that holds
places and trip counts; bodies read and write their present versions, now and then an earlier one, carry
floats and vectors that are made anew, and hold loops, `while`s, branches, scatters and sums. Indices are
taken modulo the size, floats pass through bounded functions.
"""

from __future__ import annotations

from collections.abc import Callable
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
    Function,
    Part,
    Scatter,
    Stack,
    Var,
    i64,
)
from anadrome.array_ir.text import show
from anadrome.dtypes import F64, I64

Draw = Callable[[st.SearchStrategy[Any]], Any]

REAL, INTEGER = ArrayType(F64), ArrayType(I64)
VECTOR, MATRIX, PLACES = range(3)


@st.composite
def nests(draw: Draw, statements: int = 4, depth: int = 3) -> tuple[Function, list[Any]]:
    """A program of nested in-place loops and arguments for it: x f64[n], a f64[n, n], p i64[n], s f64, k
    i64."""
    n = Var("n", INTEGER)
    x, a, p = Var("x", ArrayType(F64, (n,))), Var("a", ArrayType(F64, (n, n))), Var("p", ArrayType(I64, (n,)))
    s, k = Var("s", REAL), Var("k", INTEGER)
    builder = Builder()
    builder.bind(n, x, a, p, s, k)
    scope = _Scope(draw, builder, n, x, [x, a, p], [], [s], [i64(0), k])
    loops = draw(st.integers(1, 2))
    for _ in range(loops):
        scope.loop(depth)
    scope.statement(0)
    fn = Function("nest", (x, a, p, s, k), builder.body((*scope.states[:2], scope.reals[-1])))
    note(show(fn))
    size = draw(st.integers(1, 4))
    source = np.random.default_rng(draw(st.integers(0, 2**16)))
    args = [
        source.uniform(-1.5, 1.5, size),
        source.uniform(-1.5, 1.5, (size, size)),
        source.integers(0, 4, size),
        np.float64(source.uniform(-1.5, 1.5)),
        np.int64(draw(st.integers(0, 3))),
    ]
    return fn, args


class _Scope:
    """One body being written: the present versions of the states, earlier ones, floats and integers in
    scope."""

    def __init__(
        self,
        draw: Draw,
        builder: Builder,
        size: Var,
        source: Var,
        states: list[Var],
        earlier: list[Var],
        reals: list[Atom],
        integers: list[Atom],
    ) -> None:
        self.draw, self.builder, self.size, self.source = draw, builder, size, source
        self.states, self.earlier, self.reals, self.integers = states, earlier, reals, integers

    def nested(self, builder: Builder, states: list[Var], *integers: Atom) -> _Scope:
        """The scope of a body nested here."""
        return _Scope(
            self.draw,
            builder,
            self.size,
            self.source,
            states,
            list(self.earlier),
            list(self.reals),
            [*self.integers, *integers],
        )

    def one(self, *options: Any) -> Any:
        """One of the options."""
        return self.draw(st.sampled_from(options))

    # ------------------------------------------------------------------ values
    def place(self) -> Atom:
        """An index inside every dimension."""
        index = self.one(*self.integers)
        if self.draw(st.integers(0, 3)) == 0:
            index = self.builder.index(self.states[PLACES], (self.inside(index),))
        return self.inside(self.builder.apply("add", index, i64(self.draw(st.integers(0, 2)))))

    def inside(self, index: Atom) -> Atom:
        """An integer modulo the size."""
        return self.builder.apply("mod", index, self.size)

    def element(self) -> Atom:
        """An element of a state, now and then of an earlier version, or of an array that nobody writes."""
        choice = self.draw(st.integers(0, 9))
        if choice == 0 and self.earlier:
            return self.builder.index(self.one(*self.earlier), (self.place(),))
        if choice == 1:
            return self.builder.index(self.source, (self.place(),))
        if choice <= 4:
            return self.builder.index(self.states[MATRIX], (self.place(), self.place()))
        return self.builder.index(self.states[VECTOR], (self.place(),))

    def value(self) -> Atom:
        """A float between -1.5 and 1.5 that depends on what is in scope."""
        left = self.element() if self.draw(st.booleans()) else self.one(*self.reals)
        right = self.element() if self.draw(st.booleans()) else self.one(*self.reals)
        combined = self.builder.apply(self.one("add", "mul", "sub"), left, right)
        result = self.builder.apply(self.one("sin", "tanh", "atan"), combined)
        self.reals.append(result)
        return result

    def condition(self) -> Atom:
        """A comparison of floats, or of integers."""
        if self.draw(st.booleans()):
            return self.builder.apply("gt", self.value(), number(0.1, F64))
        return self.builder.apply("lt", self.place(), i64(self.draw(st.integers(1, 2))))

    def trip(self) -> Atom:
        """A trip count: fixed, of the loop around, or found in the state of integers."""
        return self.one(
            self.size,
            self.integers[-1],
            i64(2),
            self.builder.index(self.states[PLACES], (self.place(),)),
        )

    # ------------------------------------------------------------------ statements
    def statement(self, depth: int) -> None:
        """One statement."""
        simple = [self.value, self.write, self.write, self.write_place, self.swap, self.row, self.scatter]
        nested = [self.loop, self.loop, self.loop, self.while_loop, self.branch, self.total]
        chosen = self.one(*simple, *nested) if depth else self.one(*simple)
        chosen(depth - 1) if chosen in nested else chosen()

    def some(self, depth: int, most: int = 3) -> None:
        """A few statements."""
        for _ in range(self.draw(st.integers(1, most))):
            self.statement(depth)

    def replace(self, position: int, new: Var) -> None:
        """The next version of a state."""
        if position != PLACES and self.states[position].type.rank == 1:
            self.earlier.append(self.states[position])
        self.states[position] = new

    def write(self) -> None:
        """An element of a state."""
        position = self.one(VECTOR, VECTOR, MATRIX)
        at = (self.place(),) if position == VECTOR else (self.place(), self.place())
        value, bounds = self.value(), self.one(Bounds.PROVED, Bounds.PROVED, Bounds.CHECKED, Bounds.IGNORED)
        if bounds is Bounds.IGNORED:
            at = (self.builder.apply("add", at[0], self.one(i64(0), self.size)), *at[1:])
        self.replace(position, self.builder.update(self.states[position], at, value, bounds))

    def write_place(self) -> None:
        """An element of the state of integers."""
        array = self.builder.update(self.states[PLACES], (self.place(),), self.inside(self.place()))
        self.replace(PLACES, array)

    def swap(self) -> None:
        """Two elements exchanged."""
        vector, one, other = self.states[VECTOR], self.place(), self.place()
        left, right = self.builder.index(vector, (one,)), self.builder.index(vector, (other,))
        after = self.builder.update(vector, (one,), right)
        self.replace(VECTOR, self.builder.update(after, (other,), left))

    def row(self) -> None:
        """A row of the matrix made of another one."""
        matrix, source, factor = self.states[MATRIX], self.place(), self.value()

        def element(inner: Builder, index: Var) -> Atom:
            return inner.mul(inner.index(matrix, (source, index)), factor)

        new = self.builder.stack(self.size, element)
        self.replace(MATRIX, self.builder.update(matrix, (self.place(),), new))

    def scatter(self) -> None:
        """Many elements at once, of values that read the state."""
        vector, shift, factor = self.states[VECTOR], self.place(), self.value()
        kind = self.draw(st.integers(0, 2))

        def body(inner: Builder, index: Var) -> list[Part]:
            value = inner.mul(inner.index(vector, (self.inside_of(inner, index),)), factor)
            at = self.inside_of(inner, inner.apply("add", index, shift))
            if kind == 0:
                return [Accumulate.of("add", vector, (at,), value)]
            if kind == 1:
                return [Scatter.of(vector, (inner.index(self.states[PLACES], (at,)),), value, Bounds.IGNORED)]
            return [Scatter.of(vector, (at,), value)]

        self.replace(
            VECTOR,
            self.builder.parfor(self.one(self.size, self.integers[-1]) if kind else self.size, body)[0],
        )

    def inside_of(self, builder: Builder, index: Atom) -> Atom:
        """An integer modulo the size, in another body."""
        return builder.apply("mod", index, self.size)

    def total(self, depth: int) -> None:
        """A float that a loop sums up, reading the states it does not write."""
        states = list(self.states)

        def body(builder: Builder, index: Var, carried: tuple[Var, ...]) -> list[Atom]:
            inner = self.nested(builder, list(states), index)
            inner.reals.append(carried[0])
            term = inner.value()
            return [builder.apply("tanh", builder.add(carried[0], term))]

        self.reals += self.builder.loop(self.trip(), [self.one(*self.reals)], body)

    # ------------------------------------------------------------------ nests
    def carried(self) -> list[int]:
        """Which states a nested body takes on."""
        positions = [VECTOR, MATRIX, PLACES]
        return [position for position in positions if self.draw(st.integers(0, 3))]

    def loop(self, depth: int) -> None:
        """A `for` that takes states on, and some of the time a float and a vector made anew."""
        positions, has_float, has_vector = (
            self.carried(),
            self.draw(st.booleans()),
            self.draw(st.integers(0, 4)) == 0,
        )
        init: list[Atom] = [self.states[position] for position in positions]
        init += [self.one(*self.reals)] if has_float else []
        init += [self.source] if has_vector else []

        def body(builder: Builder, index: Var, carried: tuple[Var, ...]) -> list[Atom]:
            inner = self.entered(builder, positions, carried, index)
            rest = carried[len(positions) :]
            if has_float:
                inner.reals.append(rest[0])
            if has_vector:
                inner.source = rest[-1]
            inner.some(depth)
            results: list[Atom] = [inner.states[position] for position in positions]
            if has_float:
                results.append(inner.value())
            if has_vector:
                results.append(inner.anew(rest[-1]))
            return results

        results = self.builder.loop(self.trip(), init, body)
        self.left(positions, results)
        if has_float:
            self.reals.append(results[len(positions)])

    def anew(self, vector: Var) -> Atom:
        """A vector made of another one."""
        factor = self.value()

        def body(inner: Builder, index: Var) -> list[Part]:
            return [Stack.of(inner.apply("sin", inner.mul(inner.index(vector, (index,)), factor)))]

        return self.builder.parfor(self.size, body)[0]

    def entered(
        self, builder: Builder, positions: list[int], carried: tuple[Var, ...], *integers: Atom
    ) -> _Scope:
        """The scope of a loop's body."""
        states = list(self.states)
        for position, var in zip(positions, carried, strict=False):
            states[position] = var
        return self.nested(builder, states, *integers)

    def left(self, positions: list[int], results: tuple[Var, ...]) -> None:
        """The states after a statement that took them on."""
        for position, result in zip(positions, results, strict=False):
            self.replace(position, result)

    def while_loop(self, depth: int) -> None:
        """A `while` over a counter that stops early where an element says so."""
        positions, limit = self.carried(), self.trip()

        def condition(builder: Builder, carried: tuple[Var, ...]) -> Atom:
            test = builder.apply("lt", carried[0], limit)
            if VECTOR not in positions:
                return test
            vector = carried[1 + positions.index(VECTOR)]
            first = builder.index(vector, (i64(0),))
            return builder.apply("and", test, builder.apply("lt", first, number(0.9, F64)))

        def body(builder: Builder, carried: tuple[Var, ...]) -> list[Atom]:
            inner = self.entered(builder, positions, carried[1:], carried[0])
            inner.some(depth, 2)
            return [builder.apply("add", carried[0], i64(1)), *(inner.states[p] for p in positions)]

        init = [i64(0), *(self.states[position] for position in positions)]
        self.left(positions, self.builder.while_loop(init, condition, body)[1:])

    def branch(self, depth: int) -> None:
        """A branch that takes states on, on one side perhaps unchanged, and a float."""
        positions, is_empty = self.carried(), self.draw(st.booleans())

        def side(builder: Builder, has_statements: bool) -> list[Atom]:
            inner = self.nested(builder, list(self.states))
            if has_statements:
                inner.some(depth, 2)
            return [*(inner.states[position] for position in positions), inner.value()]

        results = self.builder.branch(
            self.condition(), lambda inner: side(inner, True), lambda inner: side(inner, not is_empty)
        )
        self.left(positions, results)
        self.reals.append(results[-1])
