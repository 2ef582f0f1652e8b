"""The judge: a program means what plain Python on NumPy says it means, or it is refused.

A program is a text. Python runs it on NumPy, the array IR interpreter runs what the front end made of it, and
the two are compared: structure, dtypes and values. Nothing here remembers what NumPy does.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import itertools
import linecache
import signal
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType, FunctionType
from typing import Any, TypeAlias

import numpy as np

import anadrome as ad
from anadrome.api.call import Compiled
from anadrome.api.program import staged_program
from anadrome.api.pytree import flatten
from anadrome.array_ir.interp import run
from anadrome.config import Config
from anadrome.errors import AnadromeError
from anadrome.errors.codes import CODES
from anadrome.errors.ir import IRError
from anadrome.errors.runtime import RuntimeCheckError
from tests.meaning.comparing import difference, parts

PRELUDE = """\
import bisect, heapq
import cmath, collections, copy, dataclasses, functools, itertools, math, operator, statistics, types
from collections import namedtuple
from dataclasses import dataclass
import numpy as np
import scipy
from scipy import fft, interpolate, linalg, sparse, special, stats
import anadrome as ad
"""
"""What stands above every program."""

ARGUMENT_NAMES: dict[str, Any] = {"np": np}
"""What the text of an argument may name."""


@dataclass(frozen=True, slots=True)
class Program:
    """A function `program` with what it needs around it, and its arguments, all as texts.

    `axes` says where in the search it stands, for the report.
    """

    id: str
    text: str
    args: tuple[str, ...]
    axes: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"# {self.id}\n{self.text.rstrip()}\n\nprogram({', '.join(self.args)})"


@dataclass(frozen=True, slots=True)
class Case:
    """A function written by hand, and its arguments as texts."""

    function: Callable[..., Any]
    args: tuple[str, ...]

    @property
    def id(self) -> str:
        """The name of the module and of the function."""
        return f"{self.function.__module__.rpartition('.')[2]}.{self.function.__name__}"

    @property
    def axes(self) -> tuple[tuple[str, str], ...]:
        """Where it stands in the search."""
        return (("case", self.id),)

    def __str__(self) -> str:
        return f"{inspect.getsource(self.function)}\n{self.function.__name__}({', '.join(self.args)})"


Subject: TypeAlias = Program | Case


def arguments_of(subject: Subject) -> list[Any]:
    """New arguments, in the memory layout that their texts give them."""
    return [eval(text, dict(ARGUMENT_NAMES)) for text in subject.args]


# ---------------------------------------------------------------------------- what came of a program
@dataclass(frozen=True, slots=True)
class Value:
    """A run gave a result.

    `outside` is what it left in arguments, defaults and the names around it, `changed` how that differs from
    what was there before, `text` what it printed.
    """

    result: object
    outside: object = None
    changed: str = ""
    warned: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Raised:
    """A run raised an exception that the program is answerable for, after it had printed `text`."""

    error: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The compiler refused the program: by the class of its error and its code."""

    reason: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Broken:
    """An exception that is a fault of the compiler."""

    error: str


Run: TypeAlias = Value | Raised | Refused | Broken


@dataclass(frozen=True, slots=True)
class Judgement:
    """What Python gave, what we gave, and what follows: "right", "refused", "raises", "wrong" or "crash".

    "raises" is a refused program in which Python itself fails with the other sign of `t`.
    """

    program: Subject
    python: Value | Raised
    ours: Run
    verdict: str
    difference: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the compiler is at fault."""
        return self.verdict in ("wrong", "crash")

    def __str__(self) -> str:
        return "\n".join(
            [
                str(self.program),
                "",
                f"Python: {shown(self.python)}",
                f"ours:   {shown(self.ours)}",
                f"{self.verdict}: {self.difference}",
            ]
        )


def shown(outcome: Run) -> str:
    """An outcome, for people."""
    match outcome:
        case Value(result=result):
            return repr(result)
        case Refused(reason=reason, message=message):
            return f"refused, {reason}: {message}"
        case Raised(error=error) | Broken(error=error):
            return error


# ---------------------------------------------------------------------------- running
MOST_LINES = 200_000
"""A run of Python takes no more lines than this."""
FEW_LINES = 2_000
"""A random program takes no more: one that does is slow, and says nothing that a shorter one does not."""
LARGE_ROOM = 1000
"""Rows of a list of which nothing says how many it gets."""
MOST_SECONDS = 30.0
"""The compiler and the interpreter take no more processor time than this."""

_numbers = itertools.count()


@contextmanager
def opened(subject: Subject) -> Iterator[Callable[..., Any]]:
    """The Python function of a program, whose lines the front end can find."""
    if isinstance(subject, Case):
        yield subject.function
        return
    function = _made(subject)
    try:
        yield function
    finally:
        linecache.cache.pop(function.__code__.co_filename)


def _made(program: Program) -> FunctionType:
    file = f"<meaning {next(_numbers)} {program.id}>"
    text = PRELUDE + textwrap.dedent(program.text)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": __name__}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, file, "exec"), names)
    found = names["program"]
    assert isinstance(found, FunctionType)
    return found


def by_python(function: Callable[..., Any], args: list[Any], most_lines: int = MOST_LINES) -> Value | Raised:
    """What plain Python on NumPy gives; `Endless` for a program that does not come to an end."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"), reading() as text:
        warnings.simplefilter("always")
        before = copy.deepcopy(outside(function, args))
        try:
            with limited_lines(function.__code__.co_filename, most_lines):
                result = function(*args)
        except Exception as error:
            return Raised(f"{type(error).__name__}: {error}", text.getvalue())
    after = outside(function, args)
    warned = any(issubclass(one.category, WARNINGS) for one in caught)
    return Value(result, after, difference(before, after, "the outside"), warned, text.getvalue())


@contextmanager
def reading() -> Iterator[io.StringIO]:
    """What is printed in the `with` block."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        yield text


def outside(function: Callable[..., Any], args: list[Any]) -> object:
    """What lives longer than a call: it may not differ after it."""
    names = {
        name: value
        for name, value in function.__globals__.items()
        if isinstance(value, np.ndarray | list | dict | float) and not name.startswith("__")
    }
    return [args, list(function.__defaults__ or ()), {} if function.__module__ != __name__ else names]


WARNINGS = (DeprecationWarning, RuntimeWarning)
"""Where Python warns so of what a program does, an error is as good as its value: a write into an array that
`broadcast_arrays` made, the mean of nothing."""


OF_A_NUMBER = (
    *(f"AttributeError: '{kind}' object has no attribute" for kind in ("int", "float", "bool")),
    *("ValueError: math domain error", "OverflowError: math range error"),
    *("OverflowError: cannot convert float infinity", "ValueError: cannot convert float NaN"),
)
"""What Python says of its own numbers, which have NumPy's methods and NumPy's values (docs/python.md)."""

ONLY_THE_RUN_KNOWS = (
    *("whose size only the run knows", "changes its size inside the loop"),
    "where their number is known when the program runs only",
    "of which only the run knows that its size is 1 is not stretched",
)
"""Refusals that can only be made while the program runs."""


class Endless(BaseException):
    """A run takes longer than any program of this search should."""


@contextmanager
def limited_lines(file: str, most: int) -> Iterator[None]:
    """Stop a Python function after so many lines of its file."""
    left = most

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename != file:
            return None
        left -= event == "line"
        if left < 0:
            raise Endless
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def limited_seconds() -> Iterator[None]:
    """Raise `Endless` where the compiler takes more than `MOST_SECONDS` of processor time."""

    def stop(number: int, frame: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def is_ending(program: Program) -> bool:
    """Whether a program comes to an end in Python, soon."""
    with opened(program) as function:
        try:
            by_python(function, arguments_of(program), FEW_LINES)
        except Endless:
            return False
    return True


def by_us(function: Callable[..., Any], args: list[Any], config: Config, is_compiled: bool = False) -> Run:
    """What the staged function gives, run by the interpreter of the array IR, or as machine code."""
    try:
        with warnings.catch_warnings(), limited_seconds(), reading() as text:
            warnings.simplefilter("ignore")
            compiled: Compiled = ad.jit(function, config=config)
            if is_compiled:
                result = compiled(*args)
                return Value(result, outside(function, args), text=text.getvalue())
            staged = staged_program(function, compiled.signature(tuple(args), {}), config)
            leaves = [leaf for leaf in flatten((tuple(args), {}))[0] if is_passed(leaf)]
            rooms = [np.int64(LARGE_ROOM) for _ in staged.rooms]
            outcome = run(staged.function, [*leaves, *rooms, *staged.captured])
            result = staged.rebuild(iter(outcome.results))
            return refused_result(result) or Value(result, outside(function, args), text=text.getvalue())
    except IRError as error:
        return Broken(f"{type(error).__name__}: {error}")
    except Endless:
        return Broken(f"no end in {MOST_SECONDS} seconds")
    except RuntimeCheckError as error:
        if any(words in str(error) for words in ONLY_THE_RUN_KNOWS):
            return Refused(type(error).__name__, error.code, str(error))
        return Raised(f"{type(error).__name__}: {error}", text.getvalue())
    except AnadromeError as error:
        return Refused(type(error).__name__, error.code, str(error))
    except Exception as error:
        return Broken(f"{type(error).__name__}: {error}")


def refused_result(result: object) -> Refused | None:
    """A result that exists only while compiling is refused by the public interface, behind the front end."""
    inner = parts(result)
    if inner is not None and type(result).__module__.partition(".")[0] != "anadrome":
        return next(filter(None, map(refused_result, inner.values())), None)
    if type(result).__module__.partition(".")[0] != "anadrome":
        return None
    return Refused("UnsupportedResult", CODES["UnsupportedResult"], type(result).__name__)


def is_passed(leaf: object) -> bool:
    """Whether a leaf of the arguments is a run-time value; others are static."""
    return isinstance(leaf, np.ndarray | np.generic | int | float)


OTHER_SIGN = {"1.0": "-1.0", "-1.0": "1.0"}
"""The last argument of random programs, whose conditions ask whether it is above 0, and its other value."""


def raises_elsewhere(program: Subject) -> bool:
    """Whether Python fails with the other sign of `t`: in lines that are compiled too, and did not run."""
    if not isinstance(program, Program) or program.args[-1] not in OTHER_SIGN:
        return False
    other = replace(program, args=(*program.args[:-1], OTHER_SIGN[program.args[-1]]))
    with opened(other) as function:
        return isinstance(by_python(function, arguments_of(other)), Raised)


def judge(program: Subject, config: Config | None = None, is_compiled: bool = False) -> Judgement:
    """Run a program both ways and compare.

    Where Python raises, ours raises or is refused; where it changes what outlives the call, ours is refused.
    """
    with opened(program) as function:
        python = by_python(function, arguments_of(program))
    with opened(program) as function:  # with globals of its own
        ours = by_us(function, arguments_of(program), config or Config(), is_compiled)
    match python, ours:
        case Value(changed=changed), Refused() if changed:
            return Judgement(program, python, ours, "right")
        case Value(), Refused():
            return Judgement(program, python, ours, "raises" if raises_elsewhere(program) else "refused")
        case _, Broken(error=error):
            return Judgement(program, python, ours, "crash", error)
        case (Raised(), Raised() | Refused()) | (Value(warned=True), Raised()):
            return Judgement(program, python, ours, "right")
        case Value(changed=changed), Value() if changed:
            return Judgement(
                program, python, ours, "wrong", f"Python changes what outlives the call: {changed}"
            )
        case Value(result=expected), Value(result=got):
            found = difference(expected, got) or difference(python.outside, ours.outside, "the outside")
            found = found or difference(python.text, ours.text, "what is printed")
            return Judgement(program, python, ours, "wrong" if found else "right", found)
        case Raised(error=error), Value() if error.startswith(OF_A_NUMBER):
            return Judgement(program, python, ours, "right")
        case Raised(error=error), _:
            return Judgement(program, python, ours, "wrong", f"Python raises {error}")
        case _, Raised(error=error):
            return Judgement(program, python, ours, "wrong", f"only ours raises {error}")
    raise AssertionError("every pair of outcomes is judged")
