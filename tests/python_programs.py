"""Random Python programs as a user might write them: loops, branches, comprehensions, in-place updates.

`python_programs()` gives the source of a function of two vectors x and y, a number c, and a vector of places
p (indices, duplicates included); all vectors have the length n. Every number stays small, so results are
finite; conditions compare numbers that rarely tie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

UNARY = ("np.sin({})", "np.cos({})", "np.tanh({})", "0.5 * {}", "abs({})", "-{}", "np.exp(-({}) ** 2)")
BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "max({}, {})",
    "min({}, {})",
    "{} * np.cos({})",
    "{} / (2.0 + abs({}))",
)
REDUCTIONS = (
    "sum({} for {} in range(n))",
    "sum({} for {} in range(n) if {}[{}] > 0.1)",
    "max({} for {} in range(n))",
    "math.prod(0.5 + {} for {} in range(n))",
    "sum({} for {} in range(n) if {} < n - 1)",
)
OF_ARRAYS = (
    "np.sum({})",
    "np.max({})",
    "np.prod(1.0 + 0.3 * {})",
    "np.dot({}, x)",
    "np.sum({}[p])",
    "{}[-1]",
    "np.sum(np.cumsum({}))",
    "np.min({} * y)",
)
TO_ARRAYS = (
    "np.sin({})",
    "{} * x",
    "np.cumsum(0.3 * {})",
    "{}[p]",
    "{}[::-1]",
    "np.where({} > 0.05, {}, 0.3 * x)",
    "np.maximum({}, y)",
    "np.sort({})",
    "np.cumprod(0.5 + 0.2 * {})",
    "np.outer({}, x) @ y * 0.2",
)


@dataclass
class Writer:
    """The text so far, and what names stand for."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def name(self, letter: str) -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, depth: int, text: str) -> None:
        """One line of the body."""
        self.lines.append("    " * (depth + 1) + text)


@dataclass(frozen=True)
class Names:
    """What may be read: numbers, vectors, vectors that may be written, loop indices."""

    numbers: tuple[str, ...]
    vectors: tuple[str, ...]
    owned: tuple[str, ...]
    indices: tuple[str, ...] = ()


@st.composite
def python_programs(draw: Draw, statements: int = 5, depth: int = 2) -> str:
    """The source of `program(x, y, c, p)`."""
    writer = Writer(draw)
    writer.line(0, "n = len(x)")
    writer.line(0, "a0 = x * 1.0")
    writer.line(0, "s0 = c")
    names = Names(("c", "s0"), ("x", "y", "a0"), ("a0",))
    names = block(writer, names, 0, statements, depth)
    numbers = " + ".join(f"{0.3 + 0.1 * k:.1f} * {name}" for k, name in enumerate(names.numbers))
    vectors = " + ".join(f"np.sum({name} * np.cos({name}))" for name in names.owned)
    writer.line(0, f"return {numbers} + {vectors}")
    return "def program(x, y, c, p):\n" + "\n".join(writer.lines) + "\n"


def block(writer: Writer, names: Names, depth: int, statements: int, levels: int) -> Names:
    """Some statements; the names after them."""
    for _ in range(writer.draw(st.integers(1, statements))):
        names = statement(writer, names, depth, levels)
    return names


def statement(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """One statement of any kind; inside loops and branches only known names are assigned."""
    kinds = ["write", "add", "number", "row"]
    if depth == 0:
        kinds += ["new_number", "new_vector", "comprehension", "reduction"]
    if levels > 0:
        kinds += ["for", "while", "if", "for"]
    kind = writer.draw(st.sampled_from(kinds))
    return STATEMENTS[kind](writer, names, depth, levels)


# ---------------------------------------------------------------------------- expressions
def index(writer: Writer, names: Names) -> str:
    """A place inside a vector."""
    options = ["0", "n - 1", "n // 2", "p[0]"]
    for i in names.indices:
        options += [i, f"n - 1 - {i}", f"max({i} - 1, 0)", f"(2 * {i} + 1) % n", f"p[{i}]", f"{i} // 2"]
    return str(writer.draw(st.sampled_from(options[-12:] if names.indices else options)))


def atom(writer: Writer, names: Names) -> str:
    """A number that is there."""
    draw = writer.draw
    if draw(st.booleans()):
        return str(draw(st.sampled_from(names.numbers)))
    return f"{draw(st.sampled_from(names.vectors))}[{index(writer, names)}]"


def expression(writer: Writer, names: Names, size: int = 2) -> str:
    """A number, bounded by the size of what it is made of."""
    draw = writer.draw
    if size == 0:
        return atom(writer, names)
    if draw(st.booleans()):
        return str(draw(st.sampled_from(UNARY))).format(expression(writer, names, size - 1))
    left, right = expression(writer, names, size - 1), atom(writer, names)
    return "(" + str(draw(st.sampled_from(BINARY))).format(left, right) + ")"


def condition(writer: Writer, names: Names) -> str:
    """A test of floats, or of an index where there is one."""
    if names.indices and writer.draw(st.booleans()):
        i = names.indices[-1]
        return str(writer.draw(st.sampled_from([f"{i} % 2 == 0", f"{i} > 1", f"p[{i}] > 0"])))
    return f"{expression(writer, names, 1)} > {writer.draw(st.sampled_from(['0.137', '-0.213', '0.741']))}"


# ---------------------------------------------------------------------------- statements
def write(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """a[i] = e"""
    vector = writer.draw(st.sampled_from(names.owned))
    writer.line(depth, f"{vector}[{index(writer, names)}] = np.tanh({expression(writer, names)})")
    return names


def add(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """a[i] += e, or *="""
    vector = writer.draw(st.sampled_from(names.owned))
    sign = writer.draw(st.sampled_from(["+=", "-=", "*="]))
    writer.line(depth, f"{vector}[{index(writer, names)}] {sign} 0.4 * np.sin({expression(writer, names)})")
    return names


def row(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A slice in place."""
    vector, other = writer.draw(st.sampled_from(names.owned)), writer.draw(st.sampled_from(names.vectors))
    form = writer.draw(st.sampled_from(SLICES))
    writer.line(depth, form.format(vector, other, f"np.tanh({atom(writer, names)})"))
    return names


def number(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """s = e of a number that is there"""
    names_there = [name for name in names.numbers if name != "c"]
    target = writer.draw(st.sampled_from(names_there))
    writer.line(depth, f"{target} = 0.5 * {target} + np.sin({expression(writer, names)})")
    return names


def new_number(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A new number, of numbers or of a vector"""
    name = writer.name("s")
    if writer.draw(st.booleans()):
        text = expression(writer, names)
    else:
        form = writer.draw(st.sampled_from(OF_ARRAYS))
        text = "np.tanh(" + form.format(writer.draw(st.sampled_from(names.vectors))) + ")"
    writer.line(depth, f"{name} = {text}")
    return Names((*names.numbers, name), names.vectors, names.owned, names.indices)


def new_vector(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A new vector of a vector"""
    name = writer.name("a")
    vector = writer.draw(st.sampled_from(names.vectors))
    form = writer.draw(st.sampled_from(TO_ARRAYS))
    writer.line(depth, f"{name} = 1.0 * ({form.format(vector, vector)})")
    return Names(names.numbers, (*names.vectors, name), (*names.owned, name), names.indices)


def comprehension(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A vector, element by element"""
    name, i = writer.name("a"), writer.name("i")
    inside = Names(names.numbers, names.vectors, names.owned, (*names.indices, i))
    writer.line(depth, f"{name} = np.array([{expression(writer, inside)} for {i} in range(n)])")
    return Names(names.numbers, (*names.vectors, name), (*names.owned, name), names.indices)


def reduction(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A number, by a generator"""
    name, i = writer.name("s"), writer.name("i")
    inside = Names(names.numbers, names.vectors, names.owned, (*names.indices, i))
    form = writer.draw(st.sampled_from(REDUCTIONS))
    vector = writer.draw(st.sampled_from(names.vectors))
    body = expression(writer, inside, 1)
    filled = form.format(body, i, vector, i) if "[{}]" in form else form.format(body, i, i)
    writer.line(depth, f"{name} = np.tanh({filled})")
    return Names((*names.numbers, name), names.vectors, names.owned, names.indices)


def for_loop(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A `for`, perhaps left early"""
    i = writer.name("i")
    extent = writer.draw(st.sampled_from(["n", "n - 1", "3", "len(p)", *[f"{j} + 1" for j in names.indices]]))
    writer.line(depth, f"for {i} in range({extent}):")
    inside = Names(names.numbers, names.vectors, names.owned, (*names.indices, i))
    jump = writer.draw(st.sampled_from(["", "", "", "break", "continue"]))
    if jump:
        writer.line(depth + 1, f"if {condition(writer, inside)}:")
        writer.line(depth + 2, jump)
    block(writer, inside, depth + 1, 2, levels - 1)
    return names


def while_loop(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """A `while` that counts"""
    k = writer.name("k")
    writer.line(depth, f"{k} = 0")
    test = writer.draw(st.sampled_from([f"{k} < n", f"{k} < n and s0 < 1.371"]))
    writer.line(depth, f"while {test}:")
    inside = Names(names.numbers, names.vectors, names.owned, (*names.indices, k))
    block(writer, inside, depth + 1, 2, levels - 1)
    writer.line(depth + 1, f"{k} += {writer.draw(st.sampled_from(['1', '2']))}")
    return names


def branch(writer: Writer, names: Names, depth: int, levels: int) -> Names:
    """An `if`, with or without `else`"""
    writer.line(depth, f"if {condition(writer, names)}:")
    block(writer, names, depth + 1, 2, levels - 1)
    if writer.draw(st.booleans()):
        writer.line(depth, "else:")
        block(writer, names, depth + 1, 2, levels - 1)
    return names


SLICES = ("{0}[1:] += 0.3 * {1}[:-1]", "{0}[:] = np.sin({1}) * {2}", "{0}[::2] *= {2}")

STATEMENTS: dict[str, Callable[[Writer, Names, int, int], Names]] = {
    "write": write,
    "add": add,
    "row": row,
    "number": number,
    "new_number": new_number,
    "new_vector": new_vector,
    "comprehension": comprehension,
    "reduction": reduction,
    "for": for_loop,
    "while": while_loop,
    "if": branch,
}
