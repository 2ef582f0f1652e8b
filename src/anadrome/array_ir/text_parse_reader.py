"""The reader beneath the parser: the tokens of a text, and what is made of a few of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn, TypeVar

from anadrome.array_ir.nodes import FALSE, TRUE, ArrayType, Atom, Body, Bounds, Const, SumType, Type, Var
from anadrome.dtypes import BY_NAME, I64, DType
from anadrome.errors.ir import IRSyntaxError
from anadrome.kernel_ir.nodes import Kernel

BOUNDS = {"": Bounds.PROVED, "?": Bounds.CHECKED, "~": Bounds.IGNORED}
"""The mark after an index -> what is known of it."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)
      | (?P<end>\n|;)
      | (?P<number>-?(?:inf\b|nan\b|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?::\w+)?)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<mark>->|[][(){},=<:?~])
      | (?P<other>.)""",
    re.VERBOSE | re.ASCII,
)

Item = TypeVar("Item")


class Token(NamedTuple):
    kind: str
    text: str
    line: int


class RawType(NamedTuple):
    """A type whose sizes are not looked up yet."""

    is_sum: bool
    dtype: DType
    sizes: tuple[Token, ...]


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind != "space":
            tokens.append(Token(kind, match.group(), line))
        if match.group() == "\n":
            line += 1
    tokens.append(Token("eof", "end of text", line))
    return tokens


class Reader(ABC):
    """One reading: the tokens, where it is, the kernels, and the variables in scope."""

    def __init__(self, text: str, kernels: dict[str, Kernel]) -> None:
        self.kernels = kernels
        self.tokens = _tokens(text)
        self.position = 0
        self.scope: dict[str, Var] = {}

    @abstractmethod
    def block(self, bound: Mapping[str, Type] | None = None) -> tuple[Body, tuple[Var, ...]]:
        """A nested body in a scope of its own, with these variables bound in it."""

    # ------------------------------------------------------------------ tokens
    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """Say what was expected in place of a token, the next one by default."""
        got = token or self.token
        raise IRSyntaxError(expected, "end of line" if got.text == "\n" else got.text, got.line)

    def expect(self, what: str, kind: str = "") -> Token:
        """Take a token of this kind, or with this text."""
        token = self.tokens[self.position]
        if (token.kind != kind) if kind else (token.text != what):
            self.fail(what if kind else f"`{what}`")
        self.position += 1
        return token

    def accept(self, text: str) -> bool:
        """Take the next token if it has this text."""
        if self.tokens[self.position].text != text:
            return False
        self.position += 1
        return True

    def skip_ends(self) -> None:
        """Pass over line ends and semicolons."""
        while self.token.kind == "end":
            self.position += 1

    def sequence(self, part: Callable[[], Item], opening: str = "(", closing: str = ")") -> tuple[Item, ...]:
        """Parts with commas between them, in brackets."""
        self.expect(opening)
        if self.accept(closing):
            return ()
        parts = [part()]
        while self.accept(","):
            parts.append(part())
        self.expect(closing)
        return tuple(parts)

    # ------------------------------------------------------------------ names and atoms
    @abstractmethod
    def name(self) -> str:
        """A name being bound."""

    def bind(self, name: str, type_: Type) -> Var:
        """A new variable in scope."""
        var = self.scope[name] = Var(name, type_)
        return var

    def variable(self) -> Var:
        """A variable in scope."""
        token = self.expect("a variable", kind="name")
        found = self.scope.get(token.text)
        if found is None:
            self.fail("a variable in scope", token)
        return found

    def atom(self) -> Atom:
        """A variable in scope or a constant."""
        token = self.tokens[self.position]
        if token.kind == "number":
            self.position += 1
            return self.number(token)
        if token.text == "true" or token.text == "false":
            self.position += 1
            return TRUE if token.text == "true" else FALSE
        return self.variable()

    def atoms(self) -> tuple[Atom, ...]:
        """Atoms up to something else."""
        found: list[Atom] = []
        while self.token.kind == "number" or (self.token.kind == "name" and self.token.text != "by"):
            found.append(self.atom())
        return tuple(found)

    def number(self, token: Token) -> Const:
        """A constant, of the type it says or of the default."""
        digits, _, suffix = token.text.partition(":")
        is_integer = digits.lstrip("-").isdigit()
        dtype = BY_NAME.get(suffix or ("i64" if is_integer else "f64"))
        if dtype is None or dtype.is_float == is_integer or dtype.kind == "bool":
            self.fail("a constant and its type", token)
        return Const(int(digits) if is_integer else float(digits), dtype)

    def at(self) -> tuple[Var, tuple[Atom, ...], Bounds]:
        """A place in an array: the array, the indices, what is known of them."""
        array = self.variable()
        indices = self.sequence(self.atom, "[", "]")
        mark = self.token.text if self.token.text in ("?", "~") else ""
        self.position += len(mark)
        return array, indices, BOUNDS[mark]

    # ------------------------------------------------------------------ types and functions
    def raw_type(self) -> RawType:
        """A type whose sizes stay tokens."""
        is_sum = self.accept("sum")
        token = self.expect("a type", kind="name")
        dtype = BY_NAME.get(token.text)
        if dtype is None:
            self.fail("a type", token)
        sizes = self.sequence(self.size_token, "[", "]") if self.token.text == "[" else ()
        return RawType(is_sum, dtype, sizes)

    def size_token(self) -> Token:
        """A size that is looked up later."""
        kind = self.token.kind
        return self.expect("a size", kind=kind if kind in ("name", "number") else "name")

    def type(self, raw: RawType) -> Type:
        """The type with its sizes looked up; unknown names become implicit sizes."""
        shape: list[Atom] = []
        for token in raw.sizes:
            if token.kind == "number":
                shape.append(self.number(token))
            else:
                shape.append(self.scope.get(token.text) or self.bind(token.text, ArrayType(I64)))
        return SumType(raw.dtype, tuple(shape)) if raw.is_sum else ArrayType(raw.dtype, tuple(shape))

    def inits(self) -> tuple[tuple[str, ...], tuple[Atom, ...]]:
        """Names and where they start."""

        def pair() -> tuple[str, Atom]:
            name = self.name()
            self.expect("=")
            return name, self.atom()

        pairs = self.sequence(pair)
        return tuple(name for name, _ in pairs), tuple(atom for _, atom in pairs)
