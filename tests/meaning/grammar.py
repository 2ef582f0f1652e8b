"""Random programs from the tables of `productions`: the same seed, the same program."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable

from tests.meaning.judge import Program, is_ending
from tests.meaning.productions import (
    AROUND,
    COMPOUND,
    EXPRESSIONS,
    HIDDEN,
    NAMES,
    SELDOM,
    SHOWN,
    SIMPLE,
    START,
)

HOLE = re.compile(r"\{(new:)?([a-z]+)(!)?\}")
DEEPEST = 2
"""How deep expressions and blocks are nested."""

SIZES = (0, 1, 2, 2, 3, 3, 4, 5, 5, 17, 65, 70)
SIGNS = ("1.0", "-1.0")

Names = dict[str, tuple[str, ...]]
"""Kind -> the names of it that can be read."""


class Writer:
    """One program being written."""

    def __init__(self, random_: random.Random) -> None:
        self.random = random_
        self.count = 0
        self.is_plain = random_.random() < 0.75

    def chosen(self, table: Iterable[str], names: Names) -> str:
        """One of the templates that are possible here; a plain program leaves out what is seldom written."""
        found = [one for one in table if is_possible(one, names)]
        plain = [one for one in found if not any(part in one for part in SELDOM)]
        return self.random.choice((plain or found) if self.is_plain else found)

    def program(self, statements: int) -> list[str]:
        """The lines of a function."""
        names = dict(NAMES)
        lines = list(START)
        for _ in range(statements):
            more, names = self.statement(names, DEEPEST)
            lines += more
        return ["def program(x, n, t):", *indented([*lines, f"return {shown(names)}"])]

    def statement(self, names: Names, depth: int) -> tuple[list[str], Names]:
        """One statement, and the names after it."""
        is_compound = depth > 0 and self.random.random() < 0.3
        table = COMPOUND if is_compound else SIMPLE
        template = self.chosen(table, names)
        text, bound = self.filled(template, names)
        inside = with_names(names, bound)
        lines: list[str] = []
        for line in text.split("\n"):
            if line.strip() == "{block}":
                pad = line[: len(line) - len(line.lstrip())]
                lines += [pad + one for one in self.block(inside, depth - 1)]
            else:
                lines.append(line)
        is_header = text.startswith(("for", "if", "while"))
        return lines, names if is_header else inside

    def block(self, names: Names, depth: int) -> list[str]:
        """A block of one to three statements."""
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            more, names = self.statement(names, depth)
            lines += more
        return lines

    def filled(self, template: str, names: Names) -> tuple[str, list[tuple[str, str]]]:
        """A template with its holes filled, and the names that it binds."""
        bound: list[tuple[str, str]] = []

        def fill(match: re.Match[str]) -> str:
            new, kind, is_name = match.groups()
            if kind == "block":
                return match.group()
            if new:
                self.count += 1
                bound.append((kind, f"{kind}{self.count}"))
                return bound[-1][1]
            known = with_names(names, bound) if "\n" in template[: match.start()] else names
            return self.random.choice(known[kind]) if is_name else self.expression(kind, known, DEEPEST)

        return HOLE.sub(fill, template), bound

    def expression(self, kind: str, names: Names, depth: int) -> str:
        """An expression of a kind."""
        if names.get(kind) and self.random.random() < 0.4:
            return self.random.choice(names[kind])
        table = EXPRESSIONS[kind]
        if depth == 0:
            flat = [one for one in table if is_flat(one) and is_possible(one, names)]
            table = tuple(flat) or table
        template = self.chosen(table, names)

        def fill(match: re.Match[str]) -> str:
            _, inner, is_name = match.groups()
            return self.random.choice(names[inner]) if is_name else self.expression(inner, names, depth - 1)

        return HOLE.sub(fill, template)


def is_possible(template: str, names: Names) -> bool:
    """Whether the names that a template asks for are there."""
    return all(names.get(kind) for _, kind, is_name in HOLE.findall(template) if is_name)


def is_flat(template: str) -> bool:
    """Whether a template asks for names alone."""
    return all(is_name or kind in ("at", "small") for _, kind, is_name in HOLE.findall(template))


def with_names(names: Names, bound: list[tuple[str, str]]) -> Names:
    """The names with further ones."""
    found = dict(names)
    for kind, name in bound:
        found[kind] = (*found.get(kind, ()), name)
    return found


def shown(names: Names) -> str:
    """All names, as the program returns them."""
    parts = [
        SHOWN.get(kind, "{0}").format(name)
        for kind, those in names.items()
        if kind not in HIDDEN
        for name in those
    ]
    return f"({', '.join(parts)},)"


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def random_program(seed: int) -> Program:
    """The program of a seed: the first of its drafts that comes to an end."""
    for draft in itertools.count():
        program = drafted(seed, draft)
        if is_ending(program):
            return program
    raise AssertionError("some draft ends")


def drafted(seed: int, draft: int) -> Program:
    """One draft of the program of a seed."""
    drawn = random.Random(f"statements/{seed}/{draft}")
    size = drawn.choice(SIZES)
    body = "\n".join(Writer(drawn).program(drawn.randint(1, 8)))
    text = "\n".join([*(one for name, one in AROUND.items() if f"{name}(" in body), "", body, ""])
    args = (f"np.arange({size}) + 1.0", str(size), drawn.choice(SIGNS))
    return Program(f"statements/{seed}", text, args, (("size", f"{size:2}"),))
