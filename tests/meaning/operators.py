"""Programs of one in-place operator: on each kind of target, with each kind of alias and of value."""

from __future__ import annotations

import random

from tests.meaning.judge import Program
from tests.meaning.productions import AROUND

ARRAYS = {
    "float": "x * 1.0",
    "integer": "x.astype(np.int64)",
    "boolean": "x > 2.0",
    "float32": "x.astype(np.float32)",
    "complex": "x + 1j * x",
}
"""Of which type the array `w` is."""

OPERATORS = ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "&=", "|=", "^=", "<<=", ">>=")

TARGETS: dict[str, tuple[str, ...]] = {
    "name": ("w",),
    "element": ("w[1]",),
    "slice": ("w[1:]",),
    "stepped": ("w[::2]",),
    "reversed": ("w[::-1]",),
    "mask": ("w[w == w[0]]",),
    "gathered": ("w[np.array([0, 1])]",),
    "gathered twice": ("w[[0, 0]]",),
    "whole": ("w[...]",),
    "row": ("m = np.stack([w, w])", "m[0]"),
    "column": ("m = np.stack([w, w], axis=1)", "m[:, 0]"),
    "row of a row": ("m = np.stack([w, w])", "m[0][1:]"),
    "attribute": ("o = State(w, 1.0)", "o.v"),
    "element of attribute": ("o = State(w, 1.0)", "o.v[1]"),
    "dict item": ("d = {'w': w}", "d['w']"),
    "element of dict item": ("d = {'w': w}", "d['w'][1]"),
    "list item": ("c = [w, w]", "c[0]"),
    "list item at the end": ("c = [w, w]", "c[-1]"),
    "tuple item": ("c = (w, w)", "c[0]"),
    "element of tuple item": ("c = (w, w)", "c[0][1]"),
    "nested": ("o = State({'w': [w]}, 1.0)", "o.v['w'][0]"),
    "row of a list": ("c = list(np.stack([w, w]))", "c[0]"),
    "zero-dimensional": ("w = np.array(w[0])", "w"),
    "element as an array": ("w[1, ...]",),
    "number": ("s = w[0]", "s"),
    "number in a list": ("c = [w[0], w[1]]", "c[0]"),
    "number in a dict": ("d = {'s': w[0]}", "d['s']"),
    "number of an object": ("o = State(1.0, w[0])", "o.s"),
    "list": ("c = [w[0]]", "c"),
    "list of lists": ("c = [[w[0]], [2.0]]", "c[0][0]"),
}
"""Target -> the lines that make it, and its text."""

ALIASES: dict[str, tuple[str, str]] = {
    "second name": ("z = w", "z"),
    "view": ("z = w[::-1]", "z"),
    "list": ("z = [w]", "z[0]"),
    "dict": ("z = {'k': w}", "z['k']"),
    "attribute": ("z = State(w, 1.0)", "z.v"),
    "lambda": ("z = lambda: w", "z()"),
    "default": ("z = lambda v=w: v", "z()"),
    "tuple": ("z = (w, w)", "z[1]"),
    "copy": ("z = w.copy()", "z"),
}
"""What else holds the array: made before the operator, read after it."""

VALUES = (
    "2",
    "1.5",
    "x",
    "w",
    "w[0]",
    "[2] * n",
    "np.float64(2.0)",
    "True",
    "first(w)",
    "[3.0]",
    "np.arange(n)",
)

CONTEXTS: dict[str, tuple[str, ...]] = {
    "straight": ("{write}",),
    "for": ("for i in range(n):", "    {write}"),
    "short for": ("for i in range(2):", "    {write}"),
    "if": ("if t > 0:", "    {write}"),
    "while": ("k = 0", "while k < n:", "    {write}", "    k += 1"),
    "callee": ("def write(w):", "    {outer}", "    {write}", "write(w)"),
    "closure": ("def write():", "    nonlocal {root}", "    {write}", "write()"),
}

SIZES = (2, 3, 5, 17, 70)


def operator_program(number: int) -> Program:
    """The program of a number."""
    drawn = random.Random(f"operators/{number}")
    kind, operator, target, alias, value, context = (
        drawn.choice(list(table)) for table in (ARRAYS, OPERATORS, TARGETS, ALIASES, VALUES, CONTEXTS)
    )
    *made, text = TARGETS[target]
    before, read = ALIASES[alias]
    root = text[0]
    holes = {
        "{write}": f"{text} {operator} {value}",
        "{outer}": "pass" if root == "w" else f"nonlocal {root}",
        "{root}": root,
    }
    context_lines = [with_holes(line, holes) for line in CONTEXTS[context]]
    lines = [f"w = {ARRAYS[kind]}", before, *made, *context_lines]
    names = ["w", read, *dict.fromkeys(line[0] for line in made if line[0] in "mcds"), text]
    names += ["o.v", "o.s"] if "o" in {line[0] for line in made} else []
    body = [*lines, f"return {', '.join(names)}"]
    definitions = [one for name, one in AROUND.items() if any(f"{name}(" in line for line in body)]
    whole = [*definitions, "", "def program(x, n, t):", *(f"    {line}" for line in body), ""]
    size = drawn.choice(SIZES)
    args = (f"np.arange({size}) + 1.0", str(size), drawn.choice(("1.0", "-1.0")))
    axes = {"array": kind, "operator": operator, "target": target, "alias": alias, "value": value}
    axes |= {"context": context, "size": f"{size:2}"}
    return Program(f"operators/{number}", "\n".join(whole), args, tuple(axes.items()))


def with_holes(line: str, holes: dict[str, str]) -> str:
    """A line with its holes filled."""
    for hole, text in holes.items():
        line = line.replace(hole, text)
    return line
