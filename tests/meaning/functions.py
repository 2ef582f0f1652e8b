"""Programs that call one function of the tables: on an array of some layout, in some context, and then write
through one name and read through the others.

What can be written, and whether a result is a view, is asked of NumPy: it runs the call when the program is
made.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.meaning.judge import PRELUDE, Program
from tests.meaning.productions import AROUND
from tests.meaning.recipes import Recipe

VALUES: dict[str, str] = {
    "v": "x * 1.0",
    "u": "x / (n + 1.0)",
    "i": "x.astype(np.int64)",
    "b": "x > 2.0",
    "c": "x + 1j * x[::-1]",
    "z": "x * 1.0",
    "m": "np.outer(x, np.array([1.0, 2.0, 3.0]))",
    "k": "np.outer(x, np.array([1.0, 2.0, 3j]))",
    "s": "np.outer(x, x[::-1]) * 0.01 + np.diag(x)",
    "d": "np.outer(x, x) * 0.01 + np.diag(x)",
    "q": "np.stack([np.outer(x, np.array([1.0, 2.0, 3.0])), np.outer(x, np.ones(3))])",
}
"""Kind -> the array that owns the memory, new and contiguous."""

VECTOR = {
    "contiguous": ("o = {o}", "a = o"),
    "without the first": ("o = {o}", "a = o[1:]"),
    "without the last": ("o = {o}", "a = o[:-1]"),
    "stepped": ("o = {o}", "a = o[::2]"),
    "reversed": ("o = {o}", "a = o[::-1]"),
    "column": ("h = {o}", "o = np.stack([h, h], axis=1)", "a = o[:, 1]"),
    "row": ("h = {o}", "o = np.stack([h, h])", "a = o[1]"),
    "length one": ("o = {o}", "a = o[:1]"),
    "empty": ("o = {o}", "a = o[:0]"),
    "broadcast": ("o = {o}", "a = np.broadcast_to(o[:1], (n,))"),
    "reshaped": ("o = {o}", "a = o.reshape(n)"),
    "raveled": ("h = {o}", "o = np.stack([h, h])", "a = o.ravel()"),
    "gathered": ("o = {o}", "a = o[np.arange(n)]"),
}
MATRIX = {
    "contiguous": ("o = {o}", "a = o"),
    "transposed": ("h = {o}", "o = np.stack([h[:, 0], h[:, 1], h[:, 2]])", "a = o.T"),
    "without a row": ("o = {o}", "a = o[1:]"),
    "stepped": ("o = {o}", "a = o[::2]"),
    "reversed": ("o = {o}", "a = o[::-1]"),
    "reversed columns": ("o = {o}", "a = o[:, ::-1]"),
    "some columns": ("h = {o}", "o = np.concatenate([h, h], axis=1)", "a = o[:, 1:4]"),
    "one row": ("o = {o}", "a = o[:1]"),
    "empty": ("o = {o}", "a = o[:0]"),
    "broadcast": ("o = {o}", "a = np.broadcast_to(o[0], (n, 3))"),
    "in order F": ("h = {o}", "o = np.stack([h[:, 0], h[:, 1], h[:, 2]]).T * 1", "a = o"),
    "reshaped": ("h = {o}", "o = h.reshape(-1)", "a = o.reshape(n, 3)"),
}
SQUARE = {
    "contiguous": ("o = {o}", "a = o"),
    "transposed": ("o = {o}", "a = o.T"),
    "reversed": ("o = {o}", "a = o[::-1, ::-1]"),
    "inner": ("o = {o}", "a = o[1:, 1:]"),
    "length one": ("o = {o}", "a = o[:1, :1]"),
}
CUBE = {
    "contiguous": ("o = {o}", "a = o"),
    "transposed": ("o = {o}", "a = o.T"),
    "swapped": ("o = {o}", "a = np.swapaxes(o, 0, 1)"),
    "sliced": ("o = {o}", "a = o[:, 1:]"),
    "reversed": ("o = {o}", "a = o[::-1]"),
    "one of them": ("o = {o}", "a = o[:1]"),
}
NUMBER = {
    "array": ("h = {o}", "o = np.array(h[0])", "a = o"),
    "ellipsis": ("o = {o}", "a = o[0, ...]"),
    "reshaped": ("o = {o}", "a = o[:1].reshape(())"),
    "number": ("o = {o}", "a = o[0]"),
}
LAYOUTS: dict[str, dict[str, tuple[str, ...]]] = {
    **dict.fromkeys("vuibc", VECTOR),
    **dict.fromkeys("mk", MATRIX),
    **dict.fromkeys("sd", SQUARE),
    "q": CUBE,
    "z": NUMBER,
}
"""Kind -> memory layouts: the lines that make `a`, in the memory of `o`."""

ARGUMENTS = {
    "contiguous": ("np.arange({n}) + 1.0", "np.outer(np.arange({n}) + 1.0, np.array([1.0, 2.0, 3.0]))"),
    "stepped": (
        *("np.repeat(np.arange({n}) + 1.0, 2)[::2]",),
        *("np.outer(np.arange(2 * {n}) / 2 + 1.0, np.ones(3))[::2]",),
    ),
    "reversed": ("(np.arange({n}) + 1.0)[::-1]", "np.outer(np.arange({n}) + 1.0, np.ones(3))[::-1, ::-1]"),
    "column": ("np.outer(np.arange({n}) + 1.0, np.ones(2))[:, 0]", "np.ones((3, {n})).T"),
    "order F": (
        *("np.arange({n}) + 1.0",),
        *("np.asfortranarray(np.outer(np.arange({n}) + 1.0, np.array([1.0, 2.0, 3.0])))",),
    ),
}  # fmt: skip
"""Layouts of the arguments `x` and `m`."""

OUTSIDE: dict[str, dict[str, tuple[str, ...]]] = {
    "v": {
        "argument": ("o = x", "a = x"),
        "global": ("o = X", "a = o"),
        "part of a global": ("o = X", "a = o[::-1]"),
    },
    "m": {
        "argument": ("o = m", "a = m"),
        "global": ("o = M", "a = o"),
        "part of a global": ("o = M", "a = o.T"),
    },
}
"""Kind -> layouts whose memory outlives the call: it is read-only for us."""
GLOBALS = {
    "X": "X = np.arange({n}) + 1.0",
    "M": "M = np.outer(np.arange({n}) + 1.0, np.array([1.0, 2.0, 3.0]))",
}

SIZES = (0, 1, 2, 2, 3, 3, 5, 5, 17, 17, 65, 70)
MATRIX_SIZES = (0, 1, 2, 2, 3, 3, 5, 5, 17, 17, 23, 65)
SQUARE_SIZES = (2, 3, 3, 5, 17)
"""Below and above each threshold: 4, 16, and 64 iterations or elements."""

SIZES_OF = {**dict.fromkeys("mk", MATRIX_SIZES), **dict.fromkeys("sdq", SQUARE_SIZES)}

WIDE = ("outer(", "kron(", "tensordot(", "vander(", "np.diag(", "diagflat(")
"""Calls whose results are much larger than their arguments."""

# ---------------------------------------------------------------------------- writes
WRITES: dict[str, tuple[str, ...]] = {
    "any": (
        *("{w} += 3", "{w} *= -1", "{w} -= 1", "{w}[...] = 7", "{w}[0] = 7", "{w}[-1] += 5", "{w}[:1] *= -1"),
        *("{w}[::2] = 4", "{w}[::-1] += 1", "{w}[1:] += {w}[:-1]", "{w}[{w} > 2.5] = 0", "{w}[[0]] = 6"),
        *("{w}[np.array([0, 0])] += 6", "g = {w}\ng += 5", "g = {w}[...]\ng *= -1"),
        "g = {w}[1:]\ng[...] = 8",
        *("{w}.fill(7)", "{w}.sort()", "np.add({w}, 1, out={w})", "np.add.at({w}, np.array([0]), 1)"),
        "{w}[:] = {w}[::-1]",
    ),
    "deep": (
        *("{w}[0, 0] = 9", "{w}[:, 0] += 2", "{w}[0][0] = 5", "g = {w}[0]\ng += 5", "{w}.T[0] += 1"),
        *("for g in {w}:\n    g *= -1", "g = {w}.T\ng[0] = 4", "{w}[0], {w}[-1] = {w}[-1] + 1, {w}[0] + 2"),
        *("g = {w}.ravel()\ng[0] = 8", "g = {w}.reshape(-1)\ng += 8", "{w}[..., 0] -= 2"),
    ),
    "bool": ("{w}[0] = False", "{w}[...] = True", "{w} ^= True", "{w} |= True", "{w}[:1] &= False"),
    "none": ("{w} += 3", "{w}[...] = 7", "{w}[()] = 7", "{w} *= -1", "{w}.fill(7)", "g = {w}\ng += 2"),
    "number": ("{w} += 3", "{w} = 7"),
}  # fmt: skip
"""What is written, by the form of the array: of any rank, of two dimensions or more, booleans, of none."""


def writes_of(value: Any) -> tuple[str, ...]:
    """How a value can be written."""
    if not isinstance(value, np.ndarray):
        return WRITES["number"]
    if value.dtype == bool:
        return WRITES["bool"] if value.ndim else WRITES["none"]
    if value.ndim == 0:
        return WRITES["none"]
    return WRITES["any"] + (WRITES["deep"] if value.ndim > 1 else ())


# ---------------------------------------------------------------------------- contexts
CONTEXTS: dict[str, tuple[str, ...]] = {
    "straight": ("y = {call}", "{write y}", "return {read}"),
    "alias": ("y = {call}", "z = y", "v = a[...]", "{write y}", "return {read}, z, v"),
    "reads numbers": (
        *("y = {call}", "before = np.sum(a)", "{write y}"),
        *("return before, np.sum(o), np.sum(a), np.sum(y)",),
    ),
    "identity": ("y = {call}", "return y is a, y is o, a is o, y"),
    "for": ("y = {call}", "for i in range(n):", "    y = {call}", "    {write y}", "return {read}"),
    "for before": ("y = {call}", "for i in range(n):", "    {write y}", "return {read}"),
    "short for": ("y = {call}", "for i in range(2):", "    y = {call}", "    {write y}", "return {read}"),
    "sum in for": (
        *("s = 0.0", "for i in range(n):", "    y = {call}", "    {write y}", "    s += np.sum(a)"),
        *("return s, o",),
    ),
    "while": (
        *("y = {call}", "k = 0", "while k < n:", "    y = {call}", "    {write y}", "    k += 1"),
        *("return {read}",),
    ),
    "if": ("y = {call}", "if t > 0:", "    {write y}", "return {read}"),
    "call in if": ("y = {call}", "if t > 0:", "    y = {call}", "    {write y}", "return {read}"),
    "else": (
        *("y = {call}", "if t > 0:", "    {write y}", "else:", "    a = a[...]", "    o[...] = 1"),
        *("return {read}",),
    ),
    "comprehension": ("ys = [{call} for i in range(n)]", "y = ys[0]", "{write y}", "return {read}, ys[-1]"),
    "short comprehension": (
        *("ys = [{call} for i in range(2)]", "y = ys[1]", "{write y}", "return {read}, ys[0]"),
    ),
    "comprehension writes": (
        *("def put(y):", "    nonlocal a, o", "    {write y}", "    return np.sum(o)"),
        "s = np.array([put({call}) for i in range(n)])",
        "return s, o, a",
    ),
    "callee": ("def made(a):", "    return {call}", "y = made(a)", "{write y}", "return {read}"),
    "callee writes": (
        *("def put(y):", "    nonlocal a, o", "    {write y}", "    return y", "y = {call}", "z = put(y)"),
        *("return {read}, z",),
    ),
    "lambda": ("f = lambda: {call}", "{write a}", "y = f()", "{write y}", "return {read}"),
    "closure": (
        *("y = {call}", "def put():", "    nonlocal y, a, o", "    {write y}", "put()", "return {read}"),
    ),
    "default": (
        *("def put(y={call}):", "    nonlocal a, o", "    {write y}", "    return y", "y = put()", "put()"),
        *("return {read}",),
    ),
    "method": (
        *("class_ = Holder(a)", "y = class_.get(lambda a: {call})", "class_.put(y)", "{write y}"),
        "return {read}, class_.v",
    ),
    "list item": ("c = [{call}, 1.0]", "d = c", "y = c[0]", "{write c[0]}", "return {read}, d[0]"),
    "dict item": ("c = {'k': {call}}", "y = c['k']", "{write c['k']}", "return {read}, c['k']"),
    "tuple item": ("c = ({call}, 1.0)", "y, one = c", "{write y}", "return {read}, c[0]"),
    "attribute": ("c = State({call}, 1.0)", "y = c.v", "{write c.v}", "return {read}, c.v"),
    "nested": ("c = {'p': [State({call}, 1.0)]}", "y = c['p'][0].v", "{write c['p'][0].v}", "return {read}"),
    "appended": (
        *("c = []", "for i in range(2):", "    c.append({call})", "    {write a}", "y = c[0]"),
        *("return {read}, c[1]",),
    ),
    "appended at run time": (
        *("c = []", "for i in range(n):", "    y = {call}", "    c.append(y)", "    {write a}"),
        "return o, c[0], c[-1]",
    ),
    "twice": ("y = {call}", "z = {call}", "{write y}", "return {read}, z"),
    "of itself": ("y = {call}", "b = a", "a = y", "y = {call}", "{write y}", "return {read}, b"),
    "swapped": ("y = {call}", "a, y = y, a", "{write a}", "return {read}"),
    "generator": (
        *("g = ({call} for i in range(2))", "{write a}", "ys = list(g)", "y = ys[0]"),
        *("return {read}, ys[1]",),
    ),
    "next of generator": (
        *("g = ({call} for i in range(2))", "y = next(g)", "{write a}", "return {read}, next(g)"),
    ),
}  # fmt: skip
"""Where the call and the write stand. `{write y}` writes through the name, or through `a` or `o` instead."""

HOLDER = """
class Holder:
    def __init__(self, v):
        self.v = v

    def get(self, f):
        return f(self.v)

    def put(self, y):
        self.v = y
"""


# ---------------------------------------------------------------------------- one program
@dataclass(frozen=True, slots=True)
class Made:
    """What the call gives in NumPy: the memory, the array, and the result."""

    o: Any
    a: Any
    y: Any

    @property
    def relation(self) -> str:
        """What the result is to the array: asked of NumPy."""
        parts = self.y if isinstance(self.y, list | tuple) else [self.y]
        arrays = [part for part in parts if isinstance(part, np.ndarray)]
        if not arrays:
            return "no array"
        if any(part is self.a for part in arrays):
            return "the same"
        return "a view" if any(np.shares_memory(part, self.o) for part in arrays) else "a copy"


def function_program(recipe: Recipe, number: int) -> Program:
    """The program of a call under a number, which chooses everything else."""
    drawn = random.Random(f"{recipe.name}|{recipe.kind}|{recipe.call}|{number}")
    is_wide = any(part in recipe.call for part in WIDE)
    size = drawn.choice(SQUARE_SIZES if is_wide else SIZES_OF.get(recipe.kind, SIZES))
    order = drawn.choice(list(ARGUMENTS)) if drawn.random() < 0.3 else "contiguous"
    args = tuple(text.replace("{n}", str(size)) for text in ARGUMENTS[order])
    args = (*args, str(size), drawn.choice(("1.0", "-1.0")))
    layout, lines = chosen_layout(drawn, recipe.kind)
    call = recipe.call.replace("{a}", "a")
    context = drawn.choice(list(CONTEXTS))
    made = asked([around(lines, size), *lines], call, args)
    if made is None:
        context = "straight"
    part = "" if made is None or not isinstance(made.y, list | tuple) or not made.y else "[0]"
    target = drawn.choice(["y", "y", "a", "o"])
    body = filled(drawn, CONTEXTS[context], call, target, part, made)
    whole = [
        around([*lines, *body], size),
        "def program(x, m, n, t):",
        *(f"    {one}" for one in (*lines, *body)),
    ]
    text = "\n".join([*whole, ""])
    axes = {
        "function": recipe.name,
        "layout": f"{recipe.kind} {layout}",
        "arguments": order,
        "context": context,
        "written": target,
        "size": f"{size:2}",
        "relation": "raises" if made is None else made.relation,
    }
    return Program(f"{recipe.name}|{recipe.kind}|{recipe.call}|{number}", text, args, tuple(axes.items()))


def chosen_layout(drawn: random.Random, kind: str) -> tuple[str, Sequence[str]]:
    """A layout of a kind, and the lines that make `o` and `a`."""
    if kind in OUTSIDE and drawn.random() < 0.1:
        layout = drawn.choice(list(OUTSIDE[kind]))
        return layout, OUTSIDE[kind][layout]
    layout = drawn.choice(list(LAYOUTS[kind]))
    return layout, [line.replace("{o}", VALUES[kind]) for line in LAYOUTS[kind][layout]]


def asked(lines: Sequence[str], call: str, args: Sequence[str]) -> Made | None:
    """What NumPy makes of the call; None where it raises."""
    names: dict[str, Any] = {"__name__": __name__}
    body = "\n".join([*PRELUDE.splitlines(), AROUND["State"], f"x, m, n, t = {', '.join(args)}", *lines])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            exec(f"{body}\ny = {call}", names)
        except Exception:
            return None
    return Made(names["o"], names["a"], names["y"])


def filled(
    drawn: random.Random, context: Sequence[str], call: str, target: str, part: str, made: Made | None
) -> list[str]:
    """The lines of a context with the call, the writes and the reads."""
    lines: list[str] = []
    for line in context:
        before, hole, after = line.replace("{call}", call).replace("{read}", "o, a, y").partition("{write ")
        if not hole:
            lines.append(before)
            continue
        name = after.partition("}")[0]
        is_result = name not in ("a", "o") and target not in ("a", "o")
        text = f"{name}{part}" if is_result else target if target in ("a", "o") else name
        value = None if made is None else value_of(made, text, is_result, bool(part))
        write = drawn.choice(writes_of(value)).replace("{w}", text)
        if is_result and part and isinstance(value, float):
            write = write.replace(" = 7", " = 7.0")  # in a list of floats 7 becomes one (docs/python.md)
        lines += [before + one for one in write.split("\n")]
    return lines


def value_of(made: Made, text: str, is_result: bool, has_parts: bool) -> Any:
    """The value that a write goes to."""
    if is_result:
        return made.y[0] if has_parts else made.y
    return made.o if text == "o" else made.a


def around(lines: Sequence[str], size: int) -> str:
    """The definitions that lines ask for."""
    whole = "\n".join(lines)
    definitions = {**AROUND, "Holder": HOLDER}
    found = [text for name, text in definitions.items() if f"{name}(" in whole]
    found += [text.replace("{n}", str(size)) for name, text in GLOBALS.items() if f"o = {name}" in whole]
    return "\n".join([*found, "", ""])
