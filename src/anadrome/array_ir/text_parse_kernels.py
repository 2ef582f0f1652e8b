"""Reading launches of kernels, and what threads do together: behind the words `launch` and `thread`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from anadrome.array_ir.nodes import ArrayType, Atom, Bounds, Collective, Expr, Launch, Var
from anadrome.kernel_ir.nodes import Kernel
from anadrome.kernel_ir.text import parse_kernels


class Parser(Protocol):
    """What is needed of the parser."""

    kernels: dict[str, Kernel]

    def fail(self, expected: str) -> NoReturn:
        """Something else was expected here."""
        ...

    def expect(self, what: str, kind: str = "") -> Any:
        """Take the next token."""
        ...

    def accept(self, text: str) -> bool:
        """Whether this is next; then it is taken."""
        ...

    def sequence(self, part: Callable[[], Any], opening: str = "(", closing: str = ")") -> tuple[Any, ...]:
        """Parts with commas between them, in brackets."""
        ...

    def atom(self) -> Atom:
        """A variable in scope or a constant."""
        ...

    def variable(self) -> Var:
        """A variable in scope."""
        ...

    def raw_type(self) -> Any:
        """A type whose sizes are not looked up yet."""
        ...

    def type(self, raw: Any) -> Any:
        """The type with its sizes looked up."""
        ...


def split_kernels(text: str) -> tuple[dict[str, Kernel], str]:
    """The kernels that stand before a function, by name, and the text without them."""
    start = re.search(r"^fn\b", text, re.MULTILINE)
    if not text.lstrip().startswith("kernel") or start is None:
        return {}, text
    head = text[: start.start()]
    return parse_kernels(head), "\n" * head.count("\n") + text[start.start() :]


def parse_launch(parser: Parser) -> Expr:
    """After `launch`: the kernel, grid, block, bytes of shared memory, arguments."""
    name = parser.expect("a kernel", kind="name").text
    if name not in parser.kernels:
        parser.fail("a kernel that stands before the function")
    grid, block = parser.sequence(parser.atom, "[", "]"), parser.sequence(parser.atom, "[", "]")
    if len(grid) != 3 or len(block) != 3:
        parser.fail("three extents")
    shared = parser.atom()
    return Launch(parser.kernels[name], grid, block, shared, parser.sequence(parser.atom))


def parse_collective(parser: Parser) -> Expr:
    """After `thread`: the operation, the arrays, the other operands, the type of new memory."""
    words = [parser.expect("an operation of threads", kind="name").text]
    if words[0] in ("atomic", "barrier", "warp"):
        for word in _OPERATIONS:
            if parser.accept(word):
                words.append(word)
                break
    arrays = parser.sequence(parser.variable)
    args = parser.sequence(parser.atom, "[", "]")
    bounds = Bounds.CHECKED if parser.accept("?") else Bounds.PROVED
    memory = parser.type(parser.raw_type()) if parser.accept("of") else None
    assert memory is None or isinstance(memory, ArrayType)
    return Collective(" ".join(words), arrays, args, bounds, memory)


_OPERATIONS = (
    *("add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare"),
    *("count", "sync", "shuffle", "up", "down", "ballot", "any", "all"),
)
