"""Which leaves of the arguments a transform differentiates by, and what it says of those it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anadrome.api import pytree
from anadrome.api.opened import staged_leaf
from anadrome.api.pytree import Structure
from anadrome.errors.api import ArgumentNumbers, IntegerArgument, NothingToDifferentiate
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.values import Staged, Value

Argnums = int | Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The arguments a transform differentiates by.

    `leaves` are their numbers and arrays by position among all flattened arguments. `structure` is that of
    the derivative, whose leaves stand in the order of `leaves`, with `statics` kept: strings and their like,
    and the pattern of a sparse matrix.
    """

    leaves: Mapping[int, Staged]
    structure: Structure
    statics: Mapping[int, Value]

    def derivative(self, parts: Sequence[Value]) -> Value:
        """One part for each active leaf, in the form of the arguments."""
        supply = iter(parts)
        count = len(self.leaves) + len(self.statics)
        found = [self.statics[place] if place in self.statics else next(supply) for place in range(count)]
        return pytree.unflatten(self.structure, found)


def active_arguments(
    context: Context, transform: str, args: Sequence[Value], argnums: Argnums, names: Sequence[str] = ()
) -> Active:
    """The leaves of the arguments that `argnums` names; they must all be floats. `names` are for messages."""
    numbers = normal_argnums(transform, argnums, len(args))
    leaves: dict[int, Staged] = {}
    statics: dict[int, Value] = {}
    structures: list[Structure] = []
    places = [position for position, arg in enumerate(args) for _ in pytree.flatten(arg)[0]]
    for number in numbers:
        found, structure = pytree.flatten(args[number])
        start = places.index(number) if found else 0
        name = names[number] if number < len(names) else str(number)
        paths, places_only = pytree.leaf_paths(structure, name), pytree.pattern_places(structure)
        taken = 0
        for offset, (leaf, path) in enumerate(zip(found, paths, strict=True)):
            staged = staged_leaf(context, leaf)
            if staged is None or places_only[offset]:
                statics[len(leaves) + len(statics)] = leaf
                continue
            if not staged.dtype.is_float:
                raise IntegerArgument(transform, path, describe(staged))
            leaves[start + offset] = staged
            taken += 1
        if not taken:
            raise NothingToDifferentiate(transform, name)
        structures.append(structure)
    if isinstance(argnums, int):
        return Active(leaves, structures[0], statics)
    return Active(leaves, pytree.Node(tuple, (), tuple(structures)), statics)


def normal_argnums(transform: str, argnums: Argnums, count: int) -> tuple[int, ...]:
    """Argument numbers from 0, each at most once."""
    given = tuple(argnums) if isinstance(argnums, tuple | list) else (argnums,)
    if not all(isinstance(number, int) for number in given):
        raise ArgumentNumbers(transform, argnums, count)
    numbers = tuple(number + count if number < 0 else number for number in given)
    if not numbers or len(set(numbers)) < len(numbers) or not all(0 <= number < count for number in numbers):
        raise ArgumentNumbers(transform, argnums, count)
    return numbers
