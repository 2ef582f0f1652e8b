"""Random programs over points, as derivatives of mixtures are: what each point computes by itself in nests of
loops, and nests that add it to arrays around the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

SCALARS = ("mul {0} {1}", "add {0} {1}", "sub {0} {1}", "neg {0}", "sin {0}", "tanh {1}")


class _Body:
    """Lines of a body, and the numbers that it knows."""

    def __init__(self, draw: Any, names: list[int], indent: str, numbers: list[str]) -> None:
        self.draw, self.names, self.indent, self.numbers = draw, names, indent, list(numbers)
        self.lines: list[str] = []

    def fresh(self, kind: str) -> str:
        """A new name."""
        self.names[0] += 1
        return f"{kind}{self.names[0]}"

    def let(self, value: str) -> str:
        """Bind a number."""
        name = self.fresh("v")
        self.lines.append(f"{self.indent}{name} = {value}")
        self.numbers.append(name)
        return name

    def inner(self) -> _Body:
        """A body inside."""
        return _Body(self.draw, self.names, self.indent + "  ", self.numbers)

    def mixed(self, most: int) -> str:
        """Some operations on what is known; the last one."""
        for _ in range(self.draw(st.integers(1, most))):
            pair = [self.draw(st.sampled_from(self.numbers)) for _ in range(2)]
            self.let(self.draw(st.sampled_from(SCALARS)).format(*pair))
        return self.numbers[-1]

    def loop(self, head: str, inner: _Body, targets: str = "") -> None:
        """A parfor of these lines."""
        self.lines.append(f"{self.indent}{targets}{' = ' if targets else ''}parfor {head} {{")
        self.lines += inner.lines
        self.lines.append(f"{self.indent}}}")


def _point(body: _Body, draw: Any) -> tuple[str, str]:
    """Statements of a point: tables over k, and over k and d."""
    one, two, highest = body.fresh("one"), body.fresh("two"), body.fresh("top")
    outer = body.inner()
    outer.let("m[c, 0]")
    row = outer.inner()
    row.let("q[c, p, p]")
    cell = row.inner()
    bound = "e" if draw(st.booleans()) else "d"
    if bound == "e":
        row.lines.append(f"{row.indent}e = add p 1")
    cell.let("x[i, u]")
    cell.let("m[c, u]")
    cell.let("q[c, p, u]")
    cell.lines.append(f"{cell.indent}yield reduce add {cell.mixed(3)}")
    total = row.fresh("t")
    row.loop(f"u < {bound}", cell, total)
    row.numbers.append(total)
    if draw(st.booleans()):
        row.let("x[i, p]")
    last = row.mixed(2)
    row.lines += [f"{row.indent}yield reduce add {total}", f"{row.indent}yield stack {last}"]
    squares, table = outer.fresh("s"), outer.fresh("r")
    outer.loop("p < d", row, f"{squares}, {table}")
    outer.numbers.append(squares)
    value = outer.mixed(2)
    for line in (f"yield stack {value}", f"yield stack {table}", f"yield reduce max {squares}"):
        outer.lines.append(outer.indent + line)
    body.loop("c < k", outer, f"{one}, {two}, {highest}")
    if draw(st.booleans()):
        body.lines.append(f"{body.indent}g = gt {highest} 0.5")
        chosen = body.fresh("h")
        body.lines.append(f"{body.indent}{chosen} = if g {{ return {highest} }} else {{ return 0.25 }}")
        body.numbers.append(chosen)
    return one, two


def _adding(body: _Body, draw: Any, one: str, two: str, token: str) -> str:
    """A nest that adds to `tall` [k, d] or to `wide` [k, d, d], and perhaps gives a table as well."""
    is_wide, gives = token == "wide", draw(st.booleans())
    outer = body.inner()
    outer.let(f"{one}[c1]")
    outer.mixed(1)
    last = outer
    if is_wide:
        last = outer.inner()
        last.let(f"{two}[c1, p1]")
        last.let("x[i, p1]")
        if draw(st.booleans()):
            last.mixed(2)
    at = "c1, p1, u1" if is_wide else "c1, u1"
    bound = draw(st.sampled_from(["d", "f"])) if is_wide else "d"
    if bound == "f":
        last.lines.append(f"{last.indent}f = add p1 1")
    cell = last.inner()
    if draw(st.booleans()):
        cell.let("x[i, u1]")
    if draw(st.booleans()):
        cell.let("m[c1, u1]")
    value = cell.mixed(4)
    added, carried = cell.fresh("a"), last.fresh("y")
    cell.lines += [
        f"{cell.indent}{added} = add_to {token}[{at}] {value}",
        f"{cell.indent}yield carry {token} {added}",
    ]
    last.loop(f"u1 < {bound}", cell, carried)
    if is_wide:
        last.lines.append(f"{last.indent}yield carry {token} {carried}")
        carried = outer.fresh("y")
        outer.loop("p1 < d", last, carried)
    outer.lines.append(f"{outer.indent}yield carry {token} {carried}")
    result = body.fresh("z")
    if gives:
        outer.lines.append(f"{outer.indent}yield stack {outer.numbers[-1]}")
        table = body.fresh("w")
        body.loop("c1 < k", outer, f"{result}, {table}")
        body.let(f"{table}[0]")
    else:
        body.loop("c1 < k", outer, result)
    return result


@st.composite
def outer_nests(draw: Any) -> tuple[str, list[Any]]:
    """The text of a program, and arguments for it: x [n, d], m [k, d], q [k, d, d], starts of sums."""
    names = [0]
    body = _Body(draw, names, "      ", [])
    body.let("x[i, 0]")
    one, two = _point(body, draw)
    tokens = draw(st.sampled_from([[], ["tall"], ["wide"], ["tall", "wide"]]))
    ends = {token: _adding(body, draw, one, two, token) for token in tokens}
    value = body.mixed(2)
    yields = [f"yield reduce add {value}", f"yield reduce add {one}"]
    if not tokens:
        yields.append(f"yield stack {value}")
    yields += [f"yield carry {token} {end}" for token, end in ends.items()]
    body.lines += [body.indent + line for line in yields]
    results = ["total", "totals", *(["each"] if not tokens else []), *(f"{token}1" for token in tokens)]
    others = ", ".join(results[: len(results) - len(tokens)])
    types = ["f64", "f64[k]", *(["f64[n]"] if not tokens else [])]
    types += ["f64[k, d]" if token == "tall" else "f64[k, d, d]" for token in tokens]
    lines = [f"    {', '.join(results)} = parfor i < n {{", *body.lines, "    }"]
    if tokens:
        opened = ", ".join(f"{token} = {token}0" for token in tokens)
        outs = [*(f"{token}2" for token in tokens), "total2", "totals2"]
        inner = ", ".join([*(f"{token}1" for token in tokens), others])
        lines = [f"    {', '.join(outs)} = with_sum ({opened}) {{", *lines, f"      return {inner}", "    }"]
        types = [*types[2:], "f64", "f64[k]"]
        results = outs
    head = "fn f(x: f64[n, d], m: f64[k, d], q: f64[k, d, d], tall0: f64[k, d], wide0: f64[k, d, d])"
    text = "\n".join([f"{head} -> {', '.join(types)} {{", *lines, f"    return {', '.join(results)}", "}"])
    n, k, d = (draw(st.integers(1, most)) for most in (9, 4, 5))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    shapes = ((n, d), (k, d), (k, d, d), (k, d), (k, d, d))
    return text, [random.uniform(-1, 1, shape) for shape in shapes]
