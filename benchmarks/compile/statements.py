"""Long programs without loops: numbers, and arrays, one statement after the other."""

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

import anadrome as ad


def function(name: str, parameter: str, statements: list[str], result: str) -> Callable[..., Any]:
    """A function of a written source, which tracebacks and compilers find."""
    lines = [f"def {name}({parameter}):", *(f"    {line}" for line in statements), f"    return {result}", ""]
    source = "\n".join(lines)
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    found: dict[str, Any] = {"np": np, "__name__": name}
    exec(compile(source, file, "exec"), found)
    made: Callable[..., Any] = found[name]
    return made


def of_numbers(count: int) -> Callable[..., Any]:
    """The gradient of `count` statements of numbers, of which each reads one or two before it."""
    kinds = (
        "v{0} = v{1} * 0.9 + np.sin(v{2})",
        "v{0} = v{1} - v{2} * 0.1",
        "v{0} = np.exp(-v{1} * v{1}) + v{2}",
    )
    lines = [f"v{i} = x[{i}]" for i in range(3)]
    lines += [kinds[i % 3].format(i, i - 1, i - 2 - i % 2) for i in range(3, count)]
    return ad.grad(function(f"numbers_{count}", "x", lines, f"v{count - 1}"))


def of_arrays(count: int) -> Callable[..., Any]:
    """The gradient of `count` statements of arrays that also read them backwards."""
    lines = ["a = np.sin(a) * k + a[::-1] * 0.5"] * count
    return ad.grad(function(f"arrays_{count}", "a, k", lines, "np.sum(a)"))
