"""Reading launches of kernels, and what threads do together: behind the words `launch` and `thread`."""

from __future__ import annotations

import re

from anadrome.array_ir.nodes import ArrayType, Bounds, Collective, Expr, Launch
from anadrome.array_ir.text_parse_reader import Reader
from anadrome.kernel_ir.nodes import Kernel
from anadrome.kernel_ir.text import parse_kernels


def split_kernels(text: str) -> tuple[dict[str, Kernel], str]:
    """The kernels that stand before a function, by name, and the text without them."""
    start = re.search(r"^fn\b", text, re.MULTILINE)
    if not text.lstrip().startswith("kernel") or start is None:
        return {}, text
    head = text[: start.start()]
    return parse_kernels(head), "\n" * head.count("\n") + text[start.start() :]


def parse_launch(reader: Reader) -> Expr:
    """After `launch`: the kernel, grid, block, bytes of shared memory, arguments."""
    name = reader.expect("a kernel", kind="name").text
    if name not in reader.kernels:
        reader.fail("a kernel that stands before the function")
    grid, block = reader.sequence(reader.atom, "[", "]"), reader.sequence(reader.atom, "[", "]")
    if len(grid) != 3 or len(block) != 3:
        reader.fail("three extents")
    shared = reader.atom()
    return Launch(reader.kernels[name], grid, block, shared, reader.sequence(reader.atom))


def parse_collective(reader: Reader) -> Expr:
    """After `thread`: the operation, the arrays, the other operands, the type of new memory."""
    words = [reader.expect("an operation of threads", kind="name").text]
    if words[0] in ("atomic", "barrier", "warp"):
        for word in _OPERATIONS:
            if reader.accept(word):
                words.append(word)
                break
    arrays = reader.sequence(reader.variable)
    args = reader.sequence(reader.atom, "[", "]")
    bounds = Bounds.CHECKED if reader.accept("?") else Bounds.PROVED
    memory = reader.type(reader.raw_type()) if reader.accept("of") else None
    assert memory is None or isinstance(memory, ArrayType)
    return Collective(" ".join(words), arrays, args, bounds, memory)


_OPERATIONS = (
    *("add", "sub", "min", "max", "and", "or", "xor", "exchange", "compare"),
    *("count", "sync", "shuffle", "up", "down", "ballot", "any", "all"),
)
