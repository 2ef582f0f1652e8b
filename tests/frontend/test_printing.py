"""What a program prints is what plain Python prints, by both interpreters and by machine code."""

# ruff: noqa: F507, UP031
from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.interp import run
from anadrome.array_ir.nodes import Function
from anadrome.compile import lower_function
from anadrome.config import Config
from anadrome.errors.frontend import FrontendError
from anadrome.kernel_ir import interp as kernel
from tests.frontend.oracle import is_parameter, staged
from tests.frontend.printing import LONG, PROGRAMS


def printed(function: Callable[..., object], *args: object) -> tuple[str, str, bool]:
    """What a call writes to standard output and standard error, and whether it returns."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            function(*args)
        except Exception:
            return out.getvalue(), err.getvalue(), False
    return out.getvalue(), err.getvalue(), True


def by_array_ir(function: Callable[..., object], *args: Any) -> None:
    program = staged(function, *args)
    run(program.function, [*filter(is_parameter, args), *program.captured])


def by_kernel_ir(function: Callable[..., object], *args: Any) -> None:
    program = staged(function, *args)
    lowered = lower_function(program.function, Config(verify=True))
    kernel.run(lowered, [*sizes(program.function, args), *args, *program.captured])


def sizes(fn: Function, args: tuple[Any, ...]) -> list[int]:
    found = {
        size: number
        for param, arg in zip(fn.params, args, strict=False)
        for size, number in zip(param.type.shape, np.shape(arg), strict=True)
    }
    return [found[size] for size in fn.sizes]


def by_machine(function: Callable[..., object], *args: Any) -> None:
    ad.jit(function, config=Config(verify=True))(*args)


ENGINES = {"array IR": by_array_ir, "kernel IR": by_kernel_ir, "machine": by_machine}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda one: getattr(one, "__name__", None))
def test_text_is_python_s(function: Callable[..., object], args: tuple[object, ...], engine: str) -> None:
    expected = printed(function, *args)
    assert expected[0] or not expected[2]
    assert printed(lambda: ENGINES[engine](function, *args)) == expected


def test_every_call_prints() -> None:
    def program(x):
        print("static")
        print(x)
        return x

    compiled = ad.jit(program)
    assert (
        printed(lambda: [compiled(x) for x in (1.0, 2.0, 2.0)])[0]
        == "static\n1.0\nstatic\n2.0\nstatic\n2.0\n"
    )


def test_a_loop_that_only_prints_stays() -> None:
    def program(a):
        for v in a:
            print(v)
        return 1.0

    assert printed(ad.jit(program), LONG) == printed(program, LONG)


def test_options_of_numpy_are_those_of_the_call() -> None:
    compiled = ad.jit(lambda a: print(a) or a)
    with np.printoptions(precision=2):
        assert printed(compiled, np.array([1.23456, 2.0]))[0] == "[1.23 2.  ]\n"
    assert printed(compiled, np.array([1.23456, 2.0]))[0] == "[1.23456 2.     ]\n"


def test_what_formatting_raises_is_raised() -> None:
    def program(x):
        print("%d" % (1 / x))
        print("not here")
        return x

    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(OverflowError, match="infinity"):
        ad.jit(program)(0.0)
    assert out.getvalue() == ""
    assert printed(ad.jit(program), 0.5)[0] == "2\nnot here\n"


def test_a_run_time_string_in_a_message() -> None:
    def program(x):
        text = f"{x:.2f} and {x}"
        assert x < 1, text + " in {braces}"
        return x

    with pytest.raises(AssertionError, match=r"2\.50 and 2\.5 in \{braces\}"):
        ad.jit(program)(2.5)


@dataclasses.dataclass(repr=False)
class Hidden:
    x: float


REFUSED = {
    "compared": lambda x: x if f"{x}" == "1.0" else -x,
    "a condition": lambda x: x if f"{x}" else -x,
    "an item": lambda x: f"{x}"[0],
    "its length": lambda x: len(f"{x}"),
    "a number of it": lambda x: float(f"{x}"),
    "a method": lambda x: f"{x}".upper(),
    "an argument of a method": lambda x: "abc".replace("a", f"{x}"),
    "a key that is not there": lambda x: {"a": x}["a" if x > 1 else "b"],
    "a keyword of NumPy": lambda x: np.linalg.norm(x * np.eye(2), "fro" if x > 1 else "nuc"),
    "a name": lambda x: getattr(np, "sin" if x > 1 else "cos")(x),
    "repeated": lambda x: print(2 * f"{x}"),
    "the name of a file": lambda x: open(f"{x}"),
    "a result": lambda x: [x, f"{x}"],
    "a format of another type": lambda x: print(f"{x:d}"),
    "a format of an array": lambda x: print(f"{x * np.ones(3):.2f}"),
    "too few values": lambda x: print("%s %s" % (x,)),
    "too many values": lambda x: print("%s" % (x, x)),
    "a bool of one way in a list": lambda x: print([x > 1 if x > 0 else np.float64(x) > 1]),
    "an object without a text of its own": lambda x: print(Hidden(x)),
    "an iterator": lambda x: print(iter([x, x])),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nothing_can_be_made_of_is_refused(name: str) -> None:
    with pytest.raises(FrontendError) as caught:
        ad.jit(REFUSED[name])(1.0)
    assert caught.value.span is not None
