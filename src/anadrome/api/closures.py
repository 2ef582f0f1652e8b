"""A function staged into a body of its own, in the middle of another program, so that it can be
differentiated.

The function becomes an array-IR function of the values it is differentiated by. Everything else it reads,
arguments and surroundings alike, stands in the enclosing program; those variables become parameters as well,
so that differentiation sees a closed function, and are passed back when the derivative is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anadrome.api import pytree
from anadrome.api.pytree import Structure
from anadrome.array_ir.nodes import ArrayType, Atom, Body, Function, Var
from anadrome.array_ir.rewrite import silent
from anadrome.array_ir.walk import free_variables
from anadrome.compile import prepare
from anadrome.errors.api import SizeUnknown
from anadrome.frontend.arrays import as_array, atom, undecided, weakness
from anadrome.frontend.context import Context
from anadrome.frontend.generator_expressions import made_list
from anadrome.frontend.modes import Mode
from anadrome.frontend.stage import program_name
from anadrome.frontend.values import Array, Cell, Maybe, Scalar, ScopeKind, Staged, Value, Weak, is_staged
from anadrome.frontend.views import layout_of
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A leaf of the function's result: a static value, or one of the results of the IR function."""

    static: Value = None
    position: int | None = None
    is_weak: Weak = False
    list_depth: int = 0

    def value(self, context: Context, results: Sequence[Atom]) -> Value:
        """The leaf, with the IR function's results in the program."""
        if self.position is None:
            return self.static
        return like_leaf(context, results[self.position], self.is_weak, self.list_depth)


@dataclass(frozen=True, slots=True, eq=False)
class ClosureConverted:
    """A function of some leaves of its arguments.

    `outside` are the variables around it that it reads, which are its first parameters; `own_sizes` the
    results whose sizes are found inside it.
    """

    function: Function
    outside: tuple[Var, ...]
    active: tuple[bool, ...]
    structure: Structure
    results: tuple[Result, ...]
    own_sizes: frozenset[int]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """What the IR function gives, in its own variables."""
        return self.function.body.results

    def result_type(self, transform: str, position: int) -> ArrayType:
        """The type of a result, which must be known outside: that of a cotangent, say."""
        type_ = self.atoms[position].type
        if position in self.own_sizes:
            raise SizeUnknown(transform)
        assert isinstance(type_, ArrayType)
        return type_

    def prepared(self, context: Context) -> Function:
        """The function as it is differentiated."""
        return prepare(self.function, context.config, context.record, self.active)

    def call(self, context: Context, derivative: Function, args: Sequence[Atom]) -> tuple[Atom, ...]:
        """The results of a derivative on these arguments, as a part of the program."""
        return context.builder.call(derivative, (*self.outside, *args))

    def value(self, context: Context, results: Sequence[Atom]) -> Value:
        """The function's result as a value of the program, from the IR function's results."""
        return pytree.unflatten(self.structure, [leaf.value(context, results) for leaf in self.results])


def convert_closure(
    context: Context,
    function: object,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    leaves: Mapping[int, Staged],
    mode: Mode = Mode.EITHER,
) -> ClosureConverted:
    """Stage `function(*args, **kwargs)` as a function of some leaves, to be differentiated in this mode.

    A function that prints is run here once, for what it prints; the one that is converted prints nothing.

    `leaves` maps positions among the flattened arguments, those by name last, to the staged values there.
    """
    builder = context.builder.child()
    params = tuple(Var("x", atom(context, leaf).type) for leaf in leaves.values())
    builder.bind(*params)
    prints = context.prints
    with context.filling(builder, ScopeKind.OPEN, mode):
        given, arguments = pytree.flatten((tuple(args), dict(kwargs)))
        for (position, leaf), param in zip(leaves.items(), params, strict=True):
            given[position] = parameter_value(context, leaf, param)
        positional, named = pytree.unflatten(arguments, given)
        outcome = context.call(function, *positional, **named)
        outcome = made_list(context, outcome)
        leaves_out, structure = pytree.flatten(outcome)
        atoms: list[Atom] = []
        results = tuple([leaf_result(context, leaf, atoms) for leaf in leaves_out])
    own_sizes = frozenset(
        position
        for position, found in enumerate(atoms)
        if any(builder.owns(size) for size in found.type.shape)
    )
    body = builder.body(atoms)
    if context.prints > prints:
        primals = [atom(context, leaf) for leaf in leaves.values()]
        context.builder.inline(body, dict(zip(params, primals, strict=True)))
    return _closed(program_name(function), params, silent(body), structure, results, own_sizes)


def _closed(
    name: str,
    params: tuple[Var, ...],
    body: Body,
    structure: Structure,
    results: tuple[Result, ...],
    own_sizes: frozenset[int],
) -> ClosureConverted:
    free = [var for var in free_variables(body) if var not in params]
    sizes = {size for var in (*params, *free) for size in var.type.shape}
    outside = tuple(var for var in free if var not in sizes)
    active = (False,) * len(outside) + (True,) * len(params)
    return ClosureConverted(
        Function(name, (*outside, *params), body), outside, active, structure, results, own_sizes
    )


def parameter_value(context: Context, leaf: Staged, param: Var) -> Staged:
    """What a leaf is inside a body in which `param` stands for it: its arrays may be read only."""
    if isinstance(leaf, Scalar):
        return Scalar(param, leaf.is_weak)
    cell = Cell(param, context.scope, is_argument=True, layout=layout_of(leaf))
    return replace(leaf, cell=cell, view=None)


def leaf_result(context: Context, leaf: Value, atoms: list[Atom]) -> Result:
    """Remember a leaf of a function's result: the atom it is, or the static value."""
    if isinstance(leaf, Maybe):
        help = "return a number on every path, such as `np.nan` for none, or a flag beside it"
        raise undecided(leaf, context.last_span, "a result that a transform takes", help)
    staged = staged_leaf(context, leaf)
    if staged is None:
        return Result(static=leaf)
    atoms.append(atom(context, staged))
    is_weak = staged.is_weak if isinstance(staged, Scalar) else False
    return Result(position=len(atoms) - 1, is_weak=is_weak, list_depth=list_depth(staged))


# ---------------------------------------------------------------------------- leaves
def staged_leaf(context: Context, leaf: Value) -> Staged | None:
    """A leaf as a staged value; None for what is neither a number nor an array."""
    if is_staged(leaf):
        return leaf  # type: ignore[return-value]
    if isinstance(leaf, bool | int | float):
        return Scalar(atom(context, leaf), weakness(leaf))
    if isinstance(leaf, np.ndarray | np.generic):
        return as_array(context, leaf)
    return None


def like_leaf(context: Context, found: Atom, is_weak: Weak, depth: int) -> Value:
    """An IR value as a value of the program with what the leaf it stands for says of itself."""
    wrapped = context.wrap(found, is_weak)
    return replace(wrapped, list_depth=depth) if depth and isinstance(wrapped, Array) else wrapped


def like(context: Context, found: Atom, leaf: Staged) -> Value:
    """An IR value as a value of the program, a Python number where `leaf` is one."""
    return like_leaf(context, found, isinstance(leaf, Scalar) and leaf.is_weak, list_depth(leaf))


def list_depth(value: Staged) -> int:
    """How many leading dimensions of an array the program made as lists."""
    return value.list_depth if isinstance(value, Array) else 0


def float_positions(atoms: Iterable[Atom]) -> list[int]:
    """Which of the atoms are floats: those carry tangents and cotangents."""
    return [position for position, found in enumerate(atoms) if found.type.dtype.is_float]
