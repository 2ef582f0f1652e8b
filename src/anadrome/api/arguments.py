"""Which leaves of the arguments a transform differentiates by, and what it says of those it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anadrome.api import pytree
from anadrome.api.opened import staged_leaf
from anadrome.api.pytree import Structure
from anadrome.errors.api import ArgumentNumbers, IntegerArgument, NothingToDifferentiate, SettingMismatch
from anadrome.frontend.arrays import describe
from anadrome.frontend.context import Context
from anadrome.frontend.values import Staged, Value

Argnums = int | str | Sequence[int | str]
"""Positions and names of arguments."""

Selection = int | str | tuple[int | str, ...]
"""Positions and names of arguments, as a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """The arguments a transform differentiates by.

    `leaves` are their numbers and arrays by position among all flattened arguments. `structure` is that of
    the derivative, whose leaves stand in the order of `leaves`, with static leaves (strings and their like)
    kept.
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
    context: Context,
    transform: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    argnums: Argnums,
    names: Sequence[str] = (),
) -> Active:
    """The leaves of the arguments that `argnums` chooses; they must all be floats.

    `names` are those of the positional parameters.
    """
    leaves: dict[int, Staged] = {}
    statics: dict[int, Value] = {}
    structures: list[Structure] = []
    for chosen in chosen_arguments(transform, args, kwargs, argnums, names):
        found, structure = pytree.flatten(chosen.value)
        paths = pytree.leaf_paths(structure, chosen.name)
        taken = 0
        for offset, (leaf, path) in enumerate(zip(found, paths, strict=True)):
            staged = staged_leaf(context, leaf)
            if staged is None:
                statics[len(leaves) + len(statics)] = leaf
                continue
            if not staged.dtype.is_float:
                raise IntegerArgument(transform, path, describe(staged))
            leaves[chosen.start + offset] = staged
            taken += 1
        if not taken:
            raise NothingToDifferentiate(transform, chosen.name)
        structures.append(structure)
    if isinstance(argnums, int | str):
        return Active(leaves, structures[0], statics)
    return Active(leaves, pytree.Node(tuple, (), tuple(structures)), statics)


# ---------------------------------------------------------------------------- which arguments
@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """An argument that is differentiated by: its name, and where its leaves start among those of all."""

    name: str
    value: Value
    start: int


def selection(transform: str, argnums: Argnums | None, argnames: str | Sequence[str] | None) -> Selection:
    """What a user has chosen to differentiate by, as a value; the first argument where nothing is said.

    What is no position and no name is refused when the transform is called.
    """
    if argnames is None:
        given = 0 if argnums is None else argnums
        return tuple(given) if isinstance(given, list | tuple | range) else given  # type: ignore[return-value]
    if argnums is not None:
        help = "`argnums` takes names as well: `argnums=(0, 'scale')`"
        raise SettingMismatch(transform, "argnames", "left out where `argnums` is given", argnames, help)
    several = argnames if isinstance(argnames, list | tuple) else (argnames,)
    if not all(isinstance(name, str) for name in several):
        help = "write `argnames='scale'`, or `argnames=('scale', 'shift')`"
        raise SettingMismatch(transform, "argnames", "a name, or a tuple of names", argnames, help)
    return argnames if isinstance(argnames, str) else tuple(argnames)


def chosen_arguments(
    transform: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    argnums: Argnums,
    names: Sequence[str] = (),
) -> list[Chosen]:
    """The arguments that `argnums` chooses, each at most once; one passed by name has its position too."""
    starts = [0]
    for value in (*args, *kwargs.values()):
        starts.append(starts[-1] + len(pytree.flatten(value)[0]))
    labels = [names[place] if place < len(names) else str(place) for place in range(len(args))]
    places = {label: place for place, label in enumerate((*labels, *kwargs))}
    given = tuple(argnums) if isinstance(argnums, tuple | list) else (argnums,)
    found = [_place(one, len(args), names, places) for one in given]
    if not found or None in found or len(set(found)) < len(found):
        raise ArgumentNumbers(transform, argnums, [*labels, *kwargs])
    values = (*args, *kwargs.values())
    spelled = (*labels, *kwargs)
    return [Chosen(spelled[place], values[place], starts[place]) for place in found if place is not None]


def _place(one: object, count: int, names: Sequence[str], places: Mapping[str, int]) -> int | None:
    """Where an argument stands, those by position first; `count` are given by position."""
    if isinstance(one, str):
        return places.get(one) if one.isidentifier() else None
    if not isinstance(one, int):
        return None
    given = [place for place, name in enumerate(names) if place >= count and name in places]
    number = one + max((*given, count - 1)) + 1 if one < 0 else one
    if 0 <= number < count:
        return number
    return places[names[number]] if number in given else None
