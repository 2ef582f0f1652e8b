"""`trace_nan`: where the first NaN or infinity of a program arose."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anadrome.api import pytree
from anadrome.api.call import Compiled
from anadrome.api.places import placed
from anadrome.api.progress import announced
from anadrome.api.show import as_compiled
from anadrome.api.signature import argument_names, parameter_names
from anadrome.array_ir.nodes import Function
from anadrome.array_ir.rewrite import silent
from anadrome.compile import compile_function
from anadrome.errors import Span
from anadrome.errors.base import AnadromeError
from anadrome.errors.runtime import NonFinite
from anadrome.errors.tracebacks import door
from anadrome.passes.watch import watch
from anadrome.prims.node import replace


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a number that is not finite came from.

    `span` is the place in the source (None where there is none), `sweep` says which program it arose in: the
    function itself or what a transform made of it. `str` of it shows the line.
    """

    message: str
    span: Span | None
    sweep: str
    report: str

    def __str__(self) -> str:
        return self.report


@door
def trace_nan(function: Callable[..., Any]) -> Callable[..., Fault | None]:
    """A function of the same arguments that says where the first NaN or infinity of a call arises.

    It gives None where all results are finite. Otherwise the function inside is run first, then its
    derivative, with a check behind every operation: the `Fault` names the line, the operation with its
    operands, and the iteration of each loop around it. An argument, or an array around the function, that is
    not finite is named instead. A number that arises in a side of `np.where` that is not chosen counts:
    through it the gradient becomes NaN.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> def entropy(p):
    ...     return -sum(x * np.log(x) for x in p)
    >>> print(ad.trace_nan(ad.grad(entropy))(np.array([0.5, 0.0])).message)
    log(0.0) is -inf, in iteration i = 1
    """
    compiled = as_compiled(function).without_donation()

    @door
    @functools.wraps(compiled)
    def traced(*args: Any, **kwargs: Any) -> Fault | None:
        if not _has_fault(compiled(*args, **kwargs)):
            return None
        return _of_arguments(compiled, args, kwargs) or _inside(compiled, args, kwargs)

    return traced


def _inside(compiled: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Fault:
    """The fault of the innermost function that has one, by running one around the other."""
    chain = [compiled]
    while not chain[-1].has_own_arguments and (
        chain[-1].transform != "jit" or _is_compiled(chain[-1].function)
    ):
        chain.append(as_compiled(chain[-1].function).without_donation())
    for position, one in enumerate(reversed(chain)):
        sweep = "the function itself" if position == 0 else f"`{one.transform}` of it"
        error = _watched(one, args, kwargs)
        if error is not None:
            return Fault(
                error.diagnostic.message.removeprefix("error: "), error.span, sweep, _text(error, sweep)
            )
    return _of_surroundings(compiled, args, kwargs)


def _is_compiled(function: object) -> bool:
    return isinstance(function, Compiled)


def _text(error: AnadromeError, sweep: str) -> str:
    return f"{error}\n   in {sweep}"


def _watched(compiled: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> NonFinite | None:
    """What stops the program of a call that is watched; every loop is one there, however short."""
    options = compiled.options
    config = replace(options.config, checks=True, threads=1, small_dimension=0, unroll_limit=0)
    rolled = compiled.with_options(replace(options, config=config))
    program, leaves, arrays = rolled.program(args, dict(kwargs))
    with announced(f"trace_nan of {compiled!r}", config):
        fn = program.staged().function
        quiet = Function(fn.name, fn.params, silent(fn.body))  # the call has printed
        executable = compile_function(watch(quiet, config), config)
    try:
        replace(program, executable=executable).run(leaves, arrays)
    except NonFinite as error:
        return placed(error, compiled.python)
    return None


def _of_surroundings(compiled: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Fault:
    """No operation made the number of finite ones: it was there before, in an array the function reads."""
    arrays = compiled.program(args, dict(kwargs))[2]
    found = [array for array in arrays if _is_float(array) and not np.isfinite(array).all()]
    if found:
        place = np.argwhere(~np.isfinite(found[0]))[0]
        value, at = found[0][tuple(place)], ", ".join(map(str, place))
        words = f"an array of shape {found[0].shape} around the function is {value} at [{at}]"
    else:
        words = (
            "no operation makes it of finite numbers: it is in a small array or constant that the function "
            "reads around itself, or arises where many rows are combined at once"
        )
    return Fault(words, None, "the surroundings", words)


# ---------------------------------------------------------------------------- values
def _has_fault(value: Any) -> bool:
    leaves, _ = pytree.flatten(value)
    return any(not np.isfinite(leaf).all() for leaf in leaves if _is_float(leaf))


def _is_float(leaf: Any) -> bool:
    return isinstance(leaf, float | np.floating) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")


def _of_arguments(compiled: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Fault | None:
    """The first argument that is not finite."""
    leaves, structure = pytree.flatten((args, dict(kwargs)))
    names = argument_names(structure, parameter_names(compiled))
    for leaf, name in zip(leaves, names, strict=True):
        if _is_float(leaf) and not np.isfinite(leaf).all():
            places = np.argwhere(~np.isfinite(np.asarray(leaf)))[0]
            where = f"[{', '.join(map(str, places))}]" if len(places) else ""
            message = f"the argument `{name}{where}` is {np.asarray(leaf)[tuple(places)]}"
            return Fault(message, None, "the arguments", message)
    return None
