"""Calling a compiled function: the program for these arguments is found, or made, and run.

The way of a call of a form that was seen before is short: one walk over the arguments, one look into a
dictionary, the native call. Other calls go the long way, by their signature.
"""

from __future__ import annotations

import functools
import inspect
import os
import struct
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from anadrome.api.donation import donated_leaves
from anadrome.api.forms import form_of, general, parts_of_complex
from anadrome.api.places import placed
from anadrome.api.program import Program, make_program
from anadrome.api.signature import (
    Signature,
    Static,
    argument_names,
    parameter_names,
    signature_of,
)
from anadrome.api.statics import meant_arguments
from anadrome.api.store import ProgramStore
from anadrome.compile import Recorder, Statistics, settings_of
from anadrome.config import Config, from_environment
from anadrome.errors import AnadromeError
from anadrome.errors.api import CallError, IntegerOutOfRange, NotCallable
from anadrome.errors.base import indefinite
from anadrome.errors.frontend import FrontendError
from anadrome.errors.tracebacks import end_at_call, mark_bug
from anadrome.frontend.captured import KEPT
from anadrome.frontend.context import Context
from anadrome.frontend.values import Value, is_staged
from anadrome.prims.node import replace

KEPT_TRANSFORMS = 64
"""Transforms kept with one function, each for other settings (`argnums`, `in_axes`, `tolerance`)."""

ANY_ARGUMENTS = inspect.signature(lambda *args, **kwargs: None)

T = TypeVar("T")

Rule = Callable[[Context, object, Sequence[Value], Mapping[str, Value]], Value]
"""(context, function, args, kwargs) -> value: what a transform of the function does inside a program."""


MOST_SHAPES = 256
"""The forms of calls whose programs are found at once."""

Found = tuple[Program, list[Any], Sequence[np.ndarray]]
"""The program for a call, the leaves of its arguments, and the arrays around it."""


def plain_call(
    context: Context, function: object, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """The rule of `jit`: the function itself."""
    return context.call(function, *args, **kwargs)


@dataclass(frozen=True, slots=True)
class Options:
    """What a user has said of a compiled function beside the function."""

    config: Config
    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()

    @property
    def has_statics(self) -> bool:
        """Whether some arguments are declared static."""
        return bool(self.static_argnums or self.static_argnames)

    def without_donation(self) -> Options:
        """The options of a function that keeps its arguments as they are."""
        return replace(self, donate_argnums=(), donate_argnames=())


class Compiled:
    """A function, or a transform of one, that is compiled when it is called: once for each signature.

    `rule` says what it is inside a program. `has_own_arguments` is for transforms whose arguments are not
    those of the function, so that its parameter names and annotations do not count for them.

    `python` is the original function and `compilations` counts the programs made so far. Inside another
    compiled function it is staged as a part of that program. Calls are safe from several threads.
    """

    def __init__(
        self,
        name: str,
        function: object,
        rule: Rule,
        options: Options | None = None,
        has_own_arguments: bool = False,
    ) -> None:
        if not callable(function):
            got = "a number or array" if is_staged(function) else indefinite(type(function).__name__)
            raise NotCallable(name, got)
        self.function = function
        self.transform = name
        self.options = options or options_of(function)
        self.compilations = 0
        self._rule = rule
        self.has_own_arguments = has_own_arguments
        self._small = self.options.config.small_dimension
        self._has_statics = self.options.has_statics
        self._statics: dict[int, tuple[set[int], set[str]]] = {}
        self._programs = ProgramStore(self.options.config.programs)
        self._plain, self._exact, self._used = self._programs.plain, self._programs.exact, self._programs.used
        self._changing: frozenset[object] = frozenset()
        self._locks: dict[int, threading.RLock] = {}
        self.__name__ = name
        functools.update_wrapper(self, function, updated=())
        if name != "jit":
            self.__doc__ = documented(name, function)
        if has_own_arguments:
            vars(self).pop("__wrapped__", None)
            self.__signature__ = ANY_ARGUMENTS

    def __repr__(self) -> str:
        return f"{self.transform}({getattr(self.function, '__qualname__', self.function)!s})"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        """A compiled function in a class body is a method."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[object, ...]:
        """A compiled function is pickled and copied as functions are, by its name; a transform without a name
        of its own by what it is made of, and is compiled anew."""
        module = sys.modules.get(str(getattr(self, "__module__", None)))
        name = str(getattr(self, "__qualname__", self.__name__))
        try:
            if attrgetter(name)(module) is self:
                return name
        except AttributeError:
            pass
        parts = (self.transform, self.function, self._rule, self.options, self.has_own_arguments)
        return Compiled, parts

    def __anadrome_parts__(self) -> tuple[object, ...]:
        """All that its programs depend on."""
        options = tuple(getattr(self.options, name) for name in Options.__slots__ if name != "config")
        rule = self.transform, self._rule, self.has_own_arguments
        return *rule, settings_of(self.options.config), options, self.function

    def with_options(self, options: Options) -> Compiled:
        """The same function or transform under other options, compiled anew."""
        return Compiled(self.__name__, self.function, self._rule, options, self.has_own_arguments)

    def without_donation(self) -> Compiled:
        """The same function or transform, which leaves its arguments as they are."""
        options = self.options.without_donation()
        return self if options == self.options else self.with_options(options)

    @property
    def python(self) -> Callable[..., Any]:
        """The original function, run by Python on NumPy."""
        inner = self.function
        while isinstance(inner, Compiled):
            inner = inner.function
        return inner

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        """The names of its positional parameters."""
        return parameter_names(self)

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result for these arguments, as new arrays and numbers."""
        try:
            flat: list[object] = []  # the form of a call of numbers and arrays, without the cost of a walk
            for arg in args:
                kind = type(arg)
                if kind is np.ndarray:
                    shape = arg.shape
                    flat.append(arg.dtype)
                    flat.append(shape)
                    if len(shape) > 1:
                        flat.append(arg.flags.c_contiguous)
                else:
                    flat.append(kind)
            program = None if kwargs else self._exact.get(tuple(flat))
            if program is not None:
                arrays = program.arrays_around()
                if arrays is not None:
                    self._used.add(program)
                    leaves = args if len(args) == program.leaf_count else parts_of_complex(args)
                    return program.run(leaves, arrays)
            found, given, around = self.at_once(args, kwargs) or self.program(args, kwargs)
            return found.run(given, around)
        except BaseException as error:
            try:
                raise self._shown(error, args, kwargs)
            except BaseException as shown:
                end_at_call(shown, self.options.config.traceback)
                raise

    def at_once(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found | None:
        """The program that a call of this form has run before, with the leaves and the arrays around it."""
        if self._has_statics:
            args, kwargs = self.declared(args, kwargs)
        found = form_of(args, kwargs)
        if found is None:
            return None
        form, leaves = found
        exact = tuple(form)
        program = self._exact.get(exact) or self._like(exact)
        if program is None:
            return None
        arrays = program.arrays_around()
        if arrays is None:
            self._exact.pop(exact, None)
            return None
        self._used.add(program)
        if len(leaves) != program.leaf_count:
            leaves = parts_of_complex(leaves)
        return program, leaves, arrays

    def _like(self, exact: tuple[object, ...]) -> Program | None:
        """The program for arguments of shapes that have not been seen, if there is one for their like."""
        program = self._plain.get(general(exact, self._small))
        if program is not None:
            if len(self._exact) >= MOST_SHAPES:
                self._exact.clear()
            self._exact[exact] = program
        return program

    def program(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found:
        """The program for a call, made if need be, the leaves of its arguments, and the arrays around it."""
        given, named = self.declared(args, kwargs)
        signature, leaves = self._signature(given, named)
        found = self._found(signature) or self._found(self._served(signature))
        if found is None:
            with self._lock():
                found = self._found(signature) or self._made(self._served(signature))
        program, arrays = found
        form = form_of(given, named)
        if form is not None:
            self._plain[general(form[0], self._small)] = program
        return program, leaves, arrays

    def _lock(self) -> threading.RLock:
        """Held while a program is made. Each process has its own: in a child made by `fork` nobody would
        release one that a thread of the parent held."""
        return self._locks.setdefault(os.getpid(), threading.RLock())

    def _served(self, signature: Signature) -> Signature:
        """The signature whose program serves a call: its own, unless others of these types came before it
        with other lengths equal, and none with these."""
        if not signature.equal or self._programs.of(signature):
            return signature
        apart = signature.apart()
        return apart if self._programs.has_types_of(apart) else signature

    def _found(self, signature: Signature) -> tuple[Program, Sequence[np.ndarray]] | None:
        """A program of this signature whose surroundings are as they are now."""
        for program in self._programs.of(signature):
            arrays = program.arrays_around()
            if arrays is not None:
                return program, arrays
        return None

    def _made(self, signature: Signature) -> tuple[Program, Sequence[np.ndarray]]:
        """A new program. What never is the same twice, such as an object made at each reading, is right for
        this call and will be compiled again for the next."""
        for earlier in self._programs.of(signature):
            self._changing |= earlier.guards.changed
        try:
            program = self.make(signature)
        except FrontendError:  # an array that has changed must be known while compiling
            if not self._changing:
                raise
            self._changing = frozenset()
            program = self.make(signature)
        self._programs.put(signature, program)
        self.compilations += 1
        arrays = program.arrays_around()
        return program, program.staged().captured if arrays is None else arrays

    def make(
        self, signature: Signature, record: Recorder | None = None, statistics: Statistics | None = None
    ) -> Program:
        """Compile the program for a signature."""
        names, config = self._names, self.options.config
        try:
            return make_program(
                self,
                self.__name__,
                names,
                signature,
                config,
                record,
                statistics,
                self._changing,
                self._donated(signature),
            )
        except AnadromeError as error:
            placed(error, self.python)
            raise

    def signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Signature:
        """What a program for this call depends on."""
        try:
            return self._signature(*self.declared(args, kwargs))[0]
        except AnadromeError as error:
            placed(error, self.python)
            raise

    def _signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Signature, list[object]]:
        return signature_of(self.__name__, args, kwargs, self._names, self._small)

    def declared(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with those declared static marked as such."""
        if not self._has_statics:
            return args, kwargs
        numbers, keywords = self._statics_of(len(args))
        given = list(args)
        for place in numbers:
            if 0 <= place < len(given):
                given[place] = Static(given[place])
        return tuple(given), {name: Static(arg) if name in keywords else arg for name, arg in kwargs.items()}

    def _statics_of(self, count: int) -> tuple[set[int], set[str]]:
        """The places and names of the static arguments of a call with so many arguments by position."""
        found = self._statics.get(count)
        if found is None:
            options = self.options
            found = meant_arguments(options.static_argnums, options.static_argnames, self._names, count)
            self._statics[count] = found
        return found

    def _donated(self, signature: Signature) -> list[int]:
        """The leaves of a call that are given away."""
        options = self.options
        if not (options.donate_argnums or options.donate_argnames):
            return []
        count = len(signature.structure.parts[0].parts)  # type: ignore[union-attr]
        names = self._names
        meant = meant_arguments(options.donate_argnums, options.donate_argnames, names, count)
        return donated_leaves(signature.structure, *meant)

    def _shown(self, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseException:
        """The error that a caller sees for one that a call ended in."""
        if isinstance(error, struct.error):
            return self._overflow(args, kwargs)
        if isinstance(error, AnadromeError):
            return placed(error, self.python)
        mark_bug(error)
        return error

    def _overflow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Exception:
        signature, leaves = self._signature(args, kwargs)
        names = argument_names(signature.structure, self._names)
        for name, leaf in zip(names, leaves, strict=True):
            if type(leaf) is int and not -(2**63) <= leaf < 2**63:
                return placed(IntegerOutOfRange(self.__name__, name, leaf), self.python)
        raise AssertionError("only integers overflow")

    # ------------------------------------------------------------------ inside another program
    def __anadrome_stage__(
        self, context: Context, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value:
        """This function as a part of the program that is being staged."""
        span = context.span
        try:
            return self._rule(context, self.function, args, kwargs)
        except CallError as error:
            raise error.at(span) from None


def documented(transform: str, function: object) -> str:
    """The docstring of a transform of a function: what it is, then the function's own."""
    own = inspect.getdoc(function) if hasattr(function, "__name__") else None
    first = f"`{transform}` of `{getattr(function, '__name__', type(function).__name__)}`."
    return f"{first}\n\n{own}" if own else first


def transformed(name: str, function: Any, rule: Rule, has_own_arguments: bool = False) -> Compiled:
    """The transform of a function by a rule: the one that was made before, where it is still there.

    So `ad.grad(f)(x)` in a loop compiles once. Transforms are kept with the function itself, by their rules,
    which are values. A method, which Python makes anew each time it is looked up, keeps them with its
    instance, so that they go when it goes.
    """
    return kept(function, (name, rule), lambda: Compiled(name, function, rule, None, has_own_arguments))


def kept(function: Any, key: tuple[object, ...], make: Callable[[], T]) -> T:
    """What was made of a function under this key, which holds the type of it; made now where it is not there.

    See `transformed` for where it is kept.
    """
    owner: object = function.__self__ if isinstance(function, types.MethodType) else function
    part = function.__func__ if isinstance(function, types.MethodType) else None
    if not hasattr(owner, "__dict__") or isinstance(owner, type | types.ModuleType):
        return make()
    those: Kept = vars(owner).get(KEPT, Kept())
    try:
        found = those.get((*key, part))
    except TypeError:  # axes in a dict or list
        return make()
    if found is None or those.owner is not owner:  # `functools.wraps` copies what is kept
        found = make()
        others = list(those.items())[1 - KEPT_TRANSFORMS :] if those.owner is owner else []
        vars(owner)[KEPT] = Kept([*others, ((*key, part), found)], owner)
    else:
        those.move_to_end((*key, part))
    return found


class Kept(OrderedDict[tuple[object, ...], Any]):
    """The transforms of a function, or of the methods of an object, those used last. A copy of the object
    starts without."""

    def __init__(self, found: Iterable[tuple[tuple[object, ...], Any]] = (), owner: object = None) -> None:
        super().__init__(found)
        self.owner = owner

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        return Kept, ()


def options_of(function: object) -> Options:
    """The options of a compiled function go over to its transforms, but for what it is given away; others
    start with the environment's."""
    while isinstance(function, functools.partial | types.MethodType):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    if isinstance(function, Compiled):
        return function.options.without_donation()
    return Options(from_environment(os.environ))
