"""Programs that another process has compiled, found again before anything is staged.

Staging leaves a trail: what it has read of the function and of what stands around it
(`frontend/portable.py`). Two entries of the disk cache are kept for it. Under the function itself, its
transforms, the signature of the call and all settings stand its trails; under that and the digest of what
stood along the trail, the *outline*: what a caller must know beside the program's machine code. A process
that calls the function follows the trail to the same digest, or stages.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anadrome.api import pytree
from anadrome.api.pytree import Leaf, Node, Structure
from anadrome.api.signature import ArrayKey, NumberKey, Signature, StaticKey
from anadrome.compile import settings_key
from anadrome.config import Config
from anadrome.frontend.guards import Guards
from anadrome.frontend.portable import Trail, Unportable, Walk, followed, guards_of, trail_of
from anadrome.frontend.stage import Staged
from anadrome.frontend.values import Complex
from anadrome.targets.cache import key_of
from anadrome.targets.cpu import keep, kept, kept_program
from anadrome.targets.cpu_call import Executable

Rebuild = Callable[[Iterator[Any]], Any]

_TYPES: dict[type, str] = {
    tuple: "tuple",
    list: "list",
    dict: "dict",
    type(None): "None",
    Complex: "complex",
}
MOST_TRAILS = 8
"""Trails kept for one function: what is read may depend on what was read before."""

_NAMED = {name: kind for kind, name in _TYPES.items()}


@dataclass(frozen=True, slots=True)
class Held:
    """A dimension that an annotation has fixed: it must be `size`, or equal the one at another leaf and
    axis."""

    leaf: int
    axis: int
    size: int | tuple[int, int]
    name: str


@dataclass(frozen=True, slots=True)
class Part:
    """A container of a result: the name of its type, or the number of the user's class on the trail."""

    kind: str | int
    names: tuple[object, ...]
    parts: tuple[Part | str | bytes | int, ...]
    """Parts, static texts, and the places of the results."""


@dataclass(frozen=True, slots=True)
class Outline:
    """How a program is called: its key, where its sizes are found, what is held, which results are plain
    numbers of Python, what they are put into, and how much room is tried."""

    program_key: str
    sizes: tuple[tuple[int, int], ...]
    held: tuple[Held, ...]
    plain: tuple[bool, ...]
    result: Part | str | bytes | int
    rooms: int


@dataclass(frozen=True, slots=True)
class Found:
    """A program that another process has left, and its surroundings in this one."""

    executable: Executable
    outline: Outline
    rebuild: Rebuild
    guards: Guards


class Memory:
    """Where the programs of one function for calls of one signature are looked for, and kept.

    What cannot be said to another process is not, and its program is staged in each: a wrong digest would be
    a wrong result.
    """

    def __init__(
        self, function: object, signature: Signature, config: Config, donated: Collection[int]
    ) -> None:
        self._config = config
        statics = [key.value for key in signature.keys if isinstance(key, StaticKey)]
        self._roots = (function, _said(signature.structure), *map(_key_said, signature.keys), *statics)
        self._key = ""
        settings = settings_key(config, donated)
        if settings:
            try:
                digest, _ = followed(Trail(), (*self._roots, signature.equal))
            except Unportable:
                return
            raising = [one for one in warnings.filters if one[0] == "error"]
            around = repr((np.geterr(), np.get_printoptions(), sys.flags, raising))
            self._key = key_of("calls", digest, settings, around)

    def find(self) -> Found | None:
        """The program, if another process has left one for surroundings that are as they are here."""
        return next(filter(None, map(self._along, self._trails())), None)

    def _trails(self) -> tuple[Trail, ...]:
        """The trails that earlier processes have left, the newest first."""
        data = kept(self._key, self._config) if self._key else None
        trails: tuple[Trail, ...] = () if data is None else pickle.loads(data)
        return trails

    def _along(self, trail: Trail) -> Found | None:
        """The program that was staged along a trail with what stands there now."""
        try:
            digest, walk = followed(trail, self._roots)
            data = kept(key_of(self._key, digest), self._config)
            if data is None:
                return None
            outline: Outline = pickle.loads(data)
            guards = guards_of(walk, self._config.literal_limit)
        except Unportable:
            return None
        executable = kept_program(outline.program_key, self._config)
        if executable is None:
            return None
        return Found(executable, outline, _rebuilding(outline.result, walk.objects), guards)

    def keep(
        self,
        staged: Staged,
        program_key: str,
        sizes: tuple[tuple[int, int], ...],
        held: tuple[Held, ...],
        plain: tuple[bool, ...],
    ) -> None:
        """Leave a program that this process has staged to others, if it can be said to them."""
        is_drawing = len(staged.draws) > len(staged.rooms)
        if not self._key or not program_key or is_drawing or staged.record is None:
            return
        try:
            trail, digest, walk = trail_of(staged.record, self._roots)
            result = _template(staged.rebuild, len(plain), walk)
        except Unportable:
            return
        if staged.surroundings.read() is None:  # what was read has changed meanwhile
            return
        outline = Outline(program_key, sizes, held, plain, result, len(staged.rooms))
        others = [one for one in self._trails() if one != trail]
        trails = (trail, *others[: MOST_TRAILS - 1])
        keep(self._key, pickle.dumps(trails, pickle.HIGHEST_PROTOCOL), self._config)
        keep(key_of(self._key, digest), pickle.dumps(outline, pickle.HIGHEST_PROTOCOL), self._config)


# ---------------------------------------------------------------------------- the call
def _said(structure: Structure) -> tuple[object, ...]:
    """A structure as a tuple of types, names and parts."""
    if isinstance(structure, Leaf):
        return ()
    return (structure.type, structure.names, *map(_said, structure.parts))


def _key_said(key: object) -> tuple[object, ...]:
    """What the signature says of a leaf, but for the value of a static one."""
    match key:
        case NumberKey(dtype=dtype, is_weak=is_weak):
            return "number", dtype.name, is_weak
        case ArrayKey(dtype=dtype, shape=shape, is_contiguous=is_contiguous):
            return "array", dtype.name, shape, is_contiguous
        case StaticKey():
            return ("static",)
        case _:
            return "other", key


# ---------------------------------------------------------------------------- the result
class _Mark:
    """Stands for a result; whoever asks it what it is depends on the run."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __bool__(self) -> bool:
        raise Unportable("the form of the result is known at run time")


def _template(rebuild: Rebuild, count: int, walk: Walk) -> Part | str | bytes | int:
    """What the results of a program are put into, in words."""
    leaves, structure = pytree.flatten(rebuild(iter([_Mark(place) for place in range(count)])))
    supply = iter(leaves)

    def part_of(part: Structure) -> Part | str | bytes | int:
        if isinstance(part, Node):
            number = walk.numbers.get(id(part.type), -1)
            kind: str | int = _TYPES.get(part.type, number)
            if kind == -1 or not all(type(name) in (str, int, bool) for name in part.names):
                raise Unportable("the result is of a type that no name leads to")
            return Part(kind, part.names, tuple([part_of(one) for one in part.parts]))
        leaf = next(supply)
        if isinstance(leaf, _Mark):
            return leaf.place
        if type(leaf) in (str, bytes):
            return leaf  # type: ignore[no-any-return]
        raise Unportable("a part of the result is an object")

    return part_of(structure)


def _rebuilding(result: Part | str | bytes | int, objects: Sequence[object]) -> Rebuild:
    """What puts results into their containers again."""
    if result == 0 and isinstance(result, int):
        return next
    statics: list[object] = []

    def structure_of(part: Part | str | bytes | int) -> Structure:
        if isinstance(part, Part):
            kind: Any = _NAMED[part.kind] if isinstance(part.kind, str) else objects[part.kind]
            return Node(kind, part.names, tuple([structure_of(one) for one in part.parts]))
        statics.append(part)
        return Leaf()

    return partial(_rebuilt, structure_of(result), statics)


def _rebuilt(structure: Structure, statics: Sequence[object], results: Iterator[Any]) -> Any:
    found = list(results)
    leaves = [found[one] if isinstance(one, int) else one for one in statics]
    return pytree.unflatten(structure, leaves)
