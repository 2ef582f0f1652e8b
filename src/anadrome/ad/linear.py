"""Whether a program is linear in some of its inputs: what a rule must be before it is transposed.

Every value gets a degree in the inputs: zero, constant, linear, or other. With c constant and l linear,

    l ± l, c·l, l/c, −l, l[c], Σ l, matmul(c, l), solve(c, l)    are linear
    c ± l, l·l, c/l, f(l), l where a condition depends on l       are other

A loop's carried values have the least degrees that its start and its body agree on. The answer is safe: what
is called linear is.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import assert_never

from anadrome.array_ir.launch import written_places
from anadrome.array_ir.nodes import (
    Accumulate,
    AddTo,
    Apply,
    Atom,
    Body,
    Carry,
    Check,
    Collective,
    Const,
    Custom,
    Expr,
    Full,
    If,
    Index,
    Launch,
    Let,
    Library,
    Literal,
    Loop,
    ParFor,
    Part,
    Print,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Stack,
    Update,
    Var,
    WithSum,
)
from anadrome.array_ir.walk import expression_variables
from anadrome.library.record import LibraryOperation
from anadrome.library.table import LIBRARY


class Degree(enum.Enum):
    """How a value depends on the inputs."""

    ZERO = "zero"
    CONSTANT = "constant"
    LINEAR = "linear"
    OTHER = "other"


ZERO, CONSTANT, LINEAR, OTHER = Degree

FREE = (ZERO, CONSTANT)
"""The degrees of what does not depend on the inputs."""


def is_linear(body: Body, inputs: Iterable[Var], results: Sequence[Atom]) -> bool:
    """Whether these results of a body are surely linear in the inputs, which are bound around it."""
    degrees = _Degrees(inputs)
    degrees.body(body)
    return all(degrees.of(atom) in (ZERO, LINEAR) for atom in results)


def _sum(degrees: Iterable[Degree]) -> Degree:
    found = {degree for degree in degrees if degree is not ZERO}
    if not found:
        return ZERO
    return found.pop() if len(found) == 1 else OTHER


def _product(left: Degree, right: Degree) -> Degree:
    if OTHER in (left, right):
        return OTHER
    if ZERO in (left, right):
        return ZERO
    if left is right:
        return CONSTANT if left is CONSTANT else OTHER
    return LINEAR


class _Degrees:
    """The degrees found so far; what is not there does not depend on the inputs."""

    def __init__(self, inputs: Iterable[Var]) -> None:
        self.known: dict[Var, Degree] = dict.fromkeys(inputs, LINEAR)

    def of(self, atom: Atom) -> Degree:
        """The degree of an atom."""
        if isinstance(atom, Const):
            return CONSTANT if atom.value else ZERO
        return self.known.get(atom, CONSTANT)

    def all_of(self, atoms: Iterable[Atom]) -> list[Degree]:
        """Several."""
        return [self.of(atom) for atom in atoms]

    def are_free(self, atoms: Iterable[Atom]) -> bool:
        """Whether none of these depends on the inputs."""
        return all(degree in FREE for degree in self.all_of(atoms))

    def body(self, body: Body) -> None:
        """Find the degrees of everything bound in a body."""
        for let in body.lets:
            self.let(let)

    def let(self, let: Let) -> None:
        """Find the degrees of a statement's targets."""
        for target, degree in zip(let.targets, self.results(let.expr), strict=True):
            self.known[target] = degree

    def results(self, expr: Expr) -> list[Degree]:
        """The degrees of what an expression results in."""
        match expr:
            case Apply():
                return [self.apply(expr)]
            case Index(array=array, indices=indices):
                return [self.of(array) if self.are_free(indices) else OTHER]
            case Update(array=array, indices=indices, value=value):
                return [_sum(self.all_of((array, value))) if self.are_free(indices) else OTHER]
            case AddTo(token=token, indices=indices, value=value):
                return [_sum(self.all_of((token, value))) if self.are_free(indices) else OTHER]
            case Full(value=value):
                return [self.of(value)]
            case Literal(elements=elements):
                return [_sum(self.all_of(elements))]
            case Reshape(array=array):
                return [self.of(array)]
            case Library(operation=operation, args=args):
                row = LIBRARY[operation]
                return [self.library(row, args)] * len(row.results)
            case Check() | Print():
                return []
            case Launch(kernel=kernel, args=args):
                return [OTHER] * len(written_places(kernel, len(args)))
            case Collective():
                raise AssertionError("threads stand in kernels alone")
            case ParFor():
                return self.parfor(expr)
            case Loop():
                return self.loop(expr)
            case If(condition=condition, then=then, other=other):
                self.body(then)
                self.body(other)
                is_free = self.are_free((condition,))
                pairs = zip(then.results, other.results, strict=True)
                return [_sum(self.all_of(pair)) if is_free else OTHER for pair in pairs]
            case WithSum(init=init, tokens=tokens, body=body):
                self.known.update(zip(tokens, self.all_of(init), strict=True))
                self.body(body)
                return self.all_of(body.results)
            case Custom(primal=primal):
                is_free = self.are_free(expression_variables(expr))
                return [CONSTANT if is_free else OTHER] * len(primal.results)
            case _:
                assert_never(expr)

    def apply(self, expr: Apply) -> Degree:
        """The degree of a scalar operation."""
        name, degrees = expr.prim.name, self.all_of(expr.args)
        if all(degree in FREE for degree in degrees):
            return ZERO if name in ("neg", "mul") and ZERO in degrees else CONSTANT
        if name in ("add", "sub"):
            return _sum(degrees)
        if name == "neg":
            return degrees[0]
        if name == "mul":
            return _product(degrees[0], degrees[1])
        if name == "div":
            return degrees[0] if degrees[1] in FREE else OTHER
        if name == "select":
            return _sum(degrees[1:]) if degrees[0] in FREE else OTHER
        wide = expr.prim.converts_to
        return degrees[0] if wide is not None and wide.is_float else OTHER

    def library(self, row: LibraryOperation, args: Sequence[Atom]) -> Degree:
        """The degree of a library call: Π over the groups it is linear in, where nothing else depends."""
        degrees = {
            argument.name: degree
            for argument, degree in zip(row.read(row.arguments), self.all_of(row.read(args)), strict=True)
        }
        if all(degree in FREE for degree in degrees.values()):
            return CONSTANT
        groups = [_sum([degrees.pop(name) for name in group]) for group in row.groups]
        if not groups or not all(degree in FREE for degree in degrees.values()):
            return OTHER
        return reduce(_product, groups)

    def parfor(self, expr: ParFor) -> list[Degree]:
        """The degrees of the results of every yield."""
        self.body(expr.body)
        is_free = self.are_free((expr.extent,))
        found: list[Degree] = []
        for part, where in expr.slices():
            degree = self.part(part) if is_free else OTHER
            found += [degree] * (where.stop - where.start)
        return found

    def part(self, part: Part) -> Degree:
        """The degree of what a yield makes."""
        match part.item:
            case Stack():
                return self.of(part.value)
            case Reduce(operator=operator) | Scan(operator=operator):
                degrees = self.all_of(part.takes)
            case Accumulate(operator=operator, init=init):
                degrees = self.all_of((init, part.value))
                if not self.are_free(part.at):
                    return OTHER
            case Scatter(init=init):
                return _sum(self.all_of((init, part.value))) if self.are_free(part.at) else OTHER
            case Carry(source=source):
                return _sum(self.all_of((source, part.value)))
            case _:
                return OTHER
        if operator == "add":
            return _sum(degrees)
        is_free = isinstance(operator, str) and all(degree in FREE for degree in degrees)
        return CONSTANT if is_free else OTHER

    def loop(self, expr: Loop) -> list[Degree]:
        """The least degrees that the start and an iteration agree on."""
        self.known.update(zip(expr.carried, self.all_of(expr.init), strict=True))
        while True:
            before = self.all_of(expr.carried)
            if expr.condition is not None:
                self.body(expr.condition)
            self.body(expr.body)
            after = [_sum(pair) for pair in zip(before, self.all_of(expr.body.results), strict=True)]
            if after == before:
                break
            self.known.update(zip(expr.carried, after, strict=True))
        decided = () if expr.condition is None else expr.condition.results
        is_free = self.are_free((*decided, *(() if expr.trip is None else (expr.trip,))))
        return before if is_free else [OTHER] * len(before)
