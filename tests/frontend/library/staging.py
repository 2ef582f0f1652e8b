"""Staging a Python function, running it on the interpreter, and comparing with plain NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anadrome.array_ir.check import check
from anadrome.array_ir.interp import run
from anadrome.config import Config
from anadrome.dtypes import BOOL, F64, I64, from_numpy
from anadrome.frontend.stage import ArgumentSpec, stage

CONFIG = Config()


@dataclass(frozen=True)
class Case:
    """A function, the arguments it is called with, and the tables' keys it is a case of."""

    keys: tuple[object, ...]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    name: str = field(default="")

    @property
    def needs_sizes(self) -> bool:
        """Whether the size of a dimension must be known when the function is compiled."""
        return np.cross in self.keys or np.linalg.cross in self.keys

    def __repr__(self) -> str:
        return self.name


def case(keys: object, function: Callable[..., Any], *args: Any) -> Case:
    """A case of one key or several."""
    several = keys if isinstance(keys, tuple) else (keys,)
    words = [key if isinstance(key, str) else getattr(key, "__name__", str(key)) for key in several]
    shapes = ",".join(f"{np.asarray(arg).dtype}{np.shape(arg)}" for arg in args)
    return Case(several, function, args, f"{words[0]}-{shapes}")


def spec(arg: Any, is_symbolic: bool) -> object:
    """The type of an argument; sizes are constants, or equal ones one variable (a 1 is known)."""
    if isinstance(arg, bool):
        return ArgumentSpec(BOOL)
    if isinstance(arg, int | float) and not isinstance(arg, np.generic):
        return ArgumentSpec(I64 if isinstance(arg, int) else F64, (), is_weak=True)
    dtype = from_numpy(arg.dtype)
    assert dtype is not None
    return ArgumentSpec(dtype, tuple(f"n{size}" if is_symbolic and size != 1 else size for size in arg.shape))


def compiled(function: Callable[..., Any], args: Sequence[Any], is_symbolic: bool = True) -> Any:
    """What the staged function gives on the interpreter."""
    staged = stage(function, [spec(arg, is_symbolic) for arg in args], {}, CONFIG)
    check(staged.function)
    results = run(staged.function, [*args, *staged.captured]).results
    return staged.rebuild(iter(results))


def assert_same(got: Any, wanted: Any) -> None:
    """Equal in structure, shape, scalar type and value."""
    if isinstance(wanted, tuple | list):
        assert len(got) == len(wanted)
        for one, two in zip(got, wanted, strict=True):
            assert_same(one, two)
        return
    assert np.shape(got) == np.shape(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    is_single = np.asarray(wanted).dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(
        got, wanted, rtol=2e-5 if is_single else 1e-12, atol=1e-6 if is_single else 1e-13
    )


def assert_like_numpy(one: Case, is_symbolic: bool) -> None:
    """The compiled function gives what NumPy gives."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = one.function(*(np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in one.args))
    assert_same(compiled(one.function, one.args, is_symbolic), wanted)
