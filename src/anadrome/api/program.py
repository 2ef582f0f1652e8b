"""One compiled program of a compiled function: how a call's leaves become native arguments, and results
values.

Native arguments are the sizes of large dimensions, then the leaves that are numbers and arrays, then the
NumPy arrays of the function's surroundings that it reads. Static leaves are in the program.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from anadrome.api import pytree
from anadrome.api.donation import CLOSED, Donated, give_away, refuse_closed
from anadrome.api.draws import Draws, Integer, draws_of
from anadrome.api.progress import announced
from anadrome.api.remembered import Held, Memory, Rebuild
from anadrome.api.signature import (
    LARGE,
    ArrayKey,
    GeneratorKey,
    Key,
    NumberKey,
    Signature,
    StaticKey,
    argument_names,
    is_passed,
)
from anadrome.array_ir.nodes import ArrayType, Const, Size, Var
from anadrome.compile import Recorder, Statistics, compile_function, uncollected
from anadrome.config import Config
from anadrome.dtypes import BOOL, I64
from anadrome.errors.api import UnsupportedResult
from anadrome.errors.base import AnadromeError
from anadrome.errors.frontend import AnnotationMismatch
from anadrome.errors.runtime import IN_LOOP, ON_TWO_WAYS, RoomUsedUp, SizeMismatch
from anadrome.frontend.drawing import MORE_ROOM, GeneratorSpec, TriedRoom, room_draw, rooms_of
from anadrome.frontend.guards import Guards
from anadrome.frontend.iterables import Iterated
from anadrome.frontend.stage import ArgumentSpec, Shared, Staged, stage
from anadrome.frontend.structures import RowList
from anadrome.targets.cpu_call import Executable


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """An executable with what it takes of a call's leaves and what it gives.

    `sizes` says where the size arguments are found: (leaf, axis). `taken` are the positions of the leaves
    that are passed (None: all), `arrays` the places among the passed ones that hold arrays. `rebuild` puts
    results into their containers, and `present` makes Python's numbers of those that are such. `guards` look
    at the surroundings: `arrays_around` gives the arrays there, or None where something has changed and
    another program is needed. `staged` is what the front end has made; where another process did, that is
    done when it is asked for.
    `leaf_count` is the number of leaves of a call: complex arguments have two each. `draws` are the random
    numbers that are drawn for each call; a size at leaf `leaf_count + k` is one of the k-th draw. `names` are
    those of the leaves, of which the arrays `donated` are given away.
    """

    executable: Executable
    staged: Callable[[], Staged]
    rebuild: Rebuild
    guards: Guards
    sizes: tuple[tuple[int, int], ...]
    held: tuple[Held, ...]
    taken: tuple[int, ...] | None
    arrays: tuple[int, ...]
    present: Callable[[list[Any]], Any]
    statistics: Statistics
    arrays_around: Callable[[], list[np.ndarray] | None]
    leaf_count: int
    draws: Draws | None = None
    names: tuple[str, ...] = ()
    donated: tuple[Donated, ...] = ()
    rooms: Mapping[int, TriedRoom] = field(default_factory=dict)
    """The draws that are room for lists: a call runs again where one of them was too small."""
    again: Callable[[], Program] | None = None
    """Makes a program of the same calls for which arrays change their sizes in loops, where a call may run
    again: it draws nothing and prints nothing. It is made when this one finds that one does."""
    instead: list[Program] = field(default_factory=list)
    """That program, once it is made."""

    @property
    def first_draw(self) -> int:
        """The place of the first draw among the native arguments."""
        passed = self.leaf_count if self.taken is None else len(self.taken)
        return len(self.sizes) + passed

    def run(self, leaves: Sequence[Any], arrays: Sequence[np.ndarray] = ()) -> Any:
        """The result for the leaves of a call whose signature is this program's, and the arrays around it.

        Raises `DonatedArray` where one of them was given away.
        """
        if self.instead:
            return self._run_instead(leaves)
        if CLOSED:
            refuse_closed(self.executable.name, leaves, self.names)
            refuse_closed(self.executable.name, arrays, ())
        values = self.arguments(leaves, arrays)
        if self.donated:
            taken = self.executable.donated
            give_away(self.executable.name, leaves, values, self.donated, taken, self.names)
        while True:
            try:
                return self.present(self.executable(values))
            except RoomUsedUp as stopped:
                place = self.first_draw + stopped.number
                more = MORE_ROOM * int(values[place])
                values[place] = np.int64(self.rooms[stopped.number].at_least(more))
            except SizeMismatch as error:
                may_differ = any(words in error.diagnostic.message for words in (IN_LOOP, ON_TWO_WAYS))
                if self.again is None or not may_differ:
                    raise
                try:
                    self.instead.append(self.again())
                except AnadromeError:
                    raise error from None
                return self._run_instead(leaves)

    def _run_instead(self, leaves: Sequence[Any]) -> Any:
        """The result of the program in which arrays change their sizes, with the arrays around it."""
        program = self.instead[-1]
        arrays = program.arrays_around()
        if arrays is None and self.again is not None:
            program = self.instead[-1] = self.again()
            arrays = program.arrays_around()
        return program.run(leaves, program.staged().captured if arrays is None else arrays)

    def arguments(
        self, leaves: Sequence[Any], arrays: Sequence[np.ndarray] = (), is_looking: bool = False
    ) -> list[Any]:
        """The native arguments of a call; who is only looking leaves random generators as they are."""
        drawn = [] if self.draws is None else self.draws.make(leaves, is_looking)
        values: list[Any] = (
            list(leaves) if self.taken is None else [leaves[position] for position in self.taken]
        )
        for place in self.arrays:
            flags = values[place].flags
            if not (flags.c_contiguous and flags.aligned):
                values[place] = np.array(values[place], order="C", copy=True, subok=False)
        if self.held:
            self._hold(leaves)
        if drawn:
            values += drawn
            leaves = [*leaves, *drawn]
        if self.sizes:
            values[:0] = [leaves[leaf].shape[axis] for leaf, axis in self.sizes]
        if arrays:
            values += [_native(array) for array in arrays]
        return values

    def _hold(self, leaves: Sequence[Any]) -> None:
        for held in self.held:
            got = leaves[held.leaf].shape[held.axis]
            size = held.size if isinstance(held.size, int) else leaves[held.size[0]].shape[held.size[1]]
            if got != size:
                raise AnnotationMismatch(held.name, f"size {size} in dimension {held.axis}", f"{got}")


def _native(array: np.ndarray) -> np.ndarray:
    """The array in the memory order and byte order that compiled code reads; a copy only where it must be."""
    return np.require(array, array.dtype.newbyteorder("="), ("C_CONTIGUOUS", "ALIGNED"))


def make_program(
    function: object,
    name: str,
    names: Sequence[str],
    signature: Signature,
    config: Config,
    record: Recorder | None = None,
    statistics: Statistics | None = None,
    changing: Collection[object] = (),
    donated: Collection[int] = (),
    *,
    tries_rooms: bool = False,
) -> Program:
    """Stage and compile a callable for the calls of one signature; arrays at `changing` places are passed,
    the arrays among the leaves `donated` given away. With `tries_rooms` arrays change sizes in loops."""
    times = statistics or Statistics()
    labels = tuple(argument_names(signature.structure, names))
    taken = tuple(place for place, key in enumerate(signature.keys) if is_passed(key))
    arrays = [place for place, leaf in enumerate(taken) if isinstance(signature.keys[leaf], ArrayKey)]
    given = [place for place in arrays if taken[place] in donated]
    staging = partial(staged_program, function, signature, config, tries_rooms=tries_rooms)
    with announced(repr(function), config), uncollected():
        with times.timing("remember"):
            memory = None if record or changing or tries_rooms else Memory(function, signature, config, given)
            found = memory and memory.find()
        if found:
            executable, rebuild, guards = found.executable, found.rebuild, found.guards
            tried = [room_draw(Var("room", ArrayType(I64))) for _ in range(found.outline.rooms)]
            rooms, draws = rooms_of(tried), draws_of(tried, {}, {}) if tried else None
            sizes, held, plain = found.outline.sizes, found.outline.held, found.outline.plain
        else:
            with times.timing("stage"):
                staged = staging(changing, record)
            rooms = staged.rooms
            executable = compile_function(staged.function, config, times, record, () if rooms else given)
            _refuse_unfinished(staged)
            sizes, held = _sizes(staged, signature, taken, labels)
            rebuild, guards, plain = staged.rebuild, staged.surroundings, _plain_results(staged)
            draws = _draws(staged, taken, dict(zip(staged.function.sizes, sizes, strict=True)))
            if memory:
                with times.timing("remember"):
                    memory.keep(staged, executable.key, sizes, held, plain)
            staging = partial(_itself, replace(staged, record=None))
    if rooms:
        given = []  # a call that runs again needs its arguments
    is_drawing = draws is not None and len(draws.shapes) > len(rooms)
    may_run_again = not (tries_rooms or given or is_drawing or executable.prints)
    of_function = weakref.ref(function)  # whose program this is: it would live until it is searched for
    anew = partial(_made_anew, of_function, name, names, signature, config, changing)
    return Program(
        executable,
        staging,
        rebuild,
        guards,
        sizes,
        held,
        None if len(taken) == len(signature.keys) else taken,
        tuple(arrays),
        _presentation(rebuild, plain),
        times,
        guards.read,
        len(signature.keys),
        draws,
        labels,
        tuple(Donated(taken[place], len(sizes) + place) for place in given),
        rooms,
        anew if may_run_again else None,
    )


def _made_anew(
    of_function: weakref.ref[Any],
    name: str,
    names: Sequence[str],
    signature: Signature,
    config: Config,
    changing: Collection[object],
) -> Program:
    """The program in which arrays change their sizes."""
    function = of_function()
    assert function is not None, "a function that is called lives"
    return make_program(function, name, names, signature, config, changing=changing, tries_rooms=True)


def staged_program(
    function: object,
    signature: Signature,
    config: Config,
    changing: Collection[object] = (),
    record: Recorder | None = None,
    *,
    tries_rooms: bool = False,
) -> Staged:
    """Stage a callable for the calls of one signature."""
    labels = signature.labels()
    specifications = [_specification(place, key, labels) for place, key in enumerate(signature.keys)]
    args, kwargs = pytree.unflatten(signature.structure, specifications)
    least = config.small_dimension + 1
    return stage(
        function,
        args,
        kwargs,
        config,
        least_size=least,
        changing=changing,
        record=record,
        tries_rooms=tries_rooms,
    )


def _specification(place: int, key: Key, labels: Iterator[int]) -> object:
    match key:
        case GeneratorKey(type=kind):
            return GeneratorSpec(place, kind)
        case NumberKey(dtype=dtype, is_weak=is_weak):
            return ArgumentSpec(dtype, (), is_weak)
        case ArrayKey(dtype=dtype, shape=shape, is_contiguous=is_contiguous):
            sizes = tuple(Shared(next(labels)) if size == LARGE else size for size in shape)
            return ArgumentSpec(dtype, sizes, is_contiguous=is_contiguous)
        case StaticKey(value=value):
            return value


def _sizes(
    staged: Staged, signature: Signature, taken: Sequence[int], names: Sequence[str]
) -> tuple[tuple[tuple[int, int], ...], tuple[Held, ...]]:
    """Where each implicit size of the function is found, and which dimensions must be held to others."""
    fn = staged.function
    first: dict[Size, tuple[int, int]] = {}
    held: list[Held] = []
    labels = signature.labels()
    shared = {
        (leaf, axis): next(labels)
        for leaf, key in enumerate(signature.keys)
        if isinstance(key, ArrayKey)
        for axis, size in enumerate(key.shape)
        if size == LARGE
    }
    for param, leaf in zip(fn.params, taken, strict=False):
        key = signature.keys[leaf]
        if not isinstance(key, ArrayKey):
            continue
        for axis, (size, given) in enumerate(zip(param.type.shape, key.shape, strict=True)):
            if isinstance(size, Var):
                place = first.setdefault(size, (leaf, axis))
                if shared.get(place, place) != shared.get((leaf, axis), (leaf, axis)):
                    held.append(Held(leaf, axis, place, names[leaf]))
            elif given == LARGE:
                assert isinstance(size, Const)
                held.append(Held(leaf, axis, int(size.value), names[leaf]))
    for number, draw in enumerate(staged.draws):
        for axis, size in enumerate(draw.var.type.shape):
            first.setdefault(size, (len(signature.keys) + number, axis))
    return tuple(first[size] for size in fn.sizes), tuple(held)


def _draws(staged: Staged, taken: Sequence[int], sizes: Mapping[Var, tuple[int, int]]) -> Draws | None:
    """How the random numbers of a call are drawn."""
    if not staged.draws:
        return None
    integers: dict[Var, Integer] = {
        size: partial(_size_at, leaf, axis) for size, (leaf, axis) in sizes.items()
    }
    for param, leaf in zip(staged.function.params, taken, strict=False):
        integers[param] = operator.itemgetter(leaf)
    return draws_of(staged.draws, integers, staged.definitions)


def _size_at(leaf: int, axis: int, leaves: Sequence[Any]) -> int:
    return int(leaves[leaf].shape[axis])


# ---------------------------------------------------------------------------- results
def _plain_results(staged: Staged) -> tuple[bool, ...]:
    """Of each result, whether Python would have a number of its own there."""
    is_bool = [found.type.dtype is BOOL and not found.type.shape for found in staged.function.body.results]
    return tuple(
        bool(is_weak) or (is_open and is_weak is None)
        for is_weak, is_open in zip(staged.is_weak, is_bool, strict=True)
    )


def _presentation(rebuild: Rebuild, plain: tuple[bool, ...]) -> Callable[[list[Any]], Any]:
    """From the executable's results to the function's: a Python number where Python would have one."""
    if rebuild is next:
        return _first_plain if plain[0] else _first
    return lambda results: rebuild(_plain(results, plain))


def _refuse_unfinished(staged: Staged) -> None:
    """A result that exists only while compiling (a pullback, a list of tuples whose length is known at run
    time only) cannot leave the program."""
    for marks in ([True] * len(staged.is_weak), [False] * len(staged.is_weak)):
        leaves, structure = pytree.flatten(staged.rebuild(iter(marks)))
        for leaf, path in zip(leaves, pytree.leaf_paths(structure, "the result"), strict=True):
            if type(leaf).__module__.partition(".")[0] == "anadrome":
                raise UnsupportedResult(staged.function.name, path, WORDS.get(type(leaf), "made inside it"))


WORDS: dict[type, str] = {
    RowList: "a list of tuples whose length is known at run time only",
    Iterated: "a range or other iterable whose length is known at run time only",
}
"""What a value that cannot leave a program is, for people."""


def _itself(staged: Staged, *_: object) -> Staged:
    return staged


def _first(results: list[Any]) -> Any:
    return results[0]


def _first_plain(results: list[Any]) -> Any:
    return results[0].item()


def _plain(results: list[Any], weak: tuple[bool, ...]) -> Iterator[Any]:
    for result, is_weak in zip(results, weak, strict=True):
        yield result.item() if is_weak else result
