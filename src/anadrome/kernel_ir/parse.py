"""The parser of the kernel IR's text; its grammar is shown in `kernel_ir.text`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from anadrome.dtypes import BOOL, BY_NAME, F64, I64, DType
from anadrome.errors import Span
from anadrome.errors.ir import IRSyntaxError
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
    Binding,
    Buffer,
    Call,
    Check,
    Compute,
    Const,
    Copy,
    Expr,
    Failure,
    Fence,
    Fill,
    For,
    Free,
    Function,
    Geometry,
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Output,
    Print,
    Shown,
    Space,
    Stmt,
    Store,
    Swap,
    Triple,
    Var,
    View,
    Warp,
    While,
    Workers,
)
from anadrome.prims.table import PRIMS

_STATEMENTS = (
    *("let", "alloc", "free", "view", "swap", "atomic", "combine", "fill", "copy", "call", "barrier"),
    *("if", "else", "for", "while", "test", "check", "return", "failure"),
    *("print", "shown", "message", "warp", "fence", "launch"),
)
_WORDS = ("fn", "kernel", "by", "with", "in", "at", "as", "true", "false", "workers", "inf", "nan", "buffer")
RESERVED = frozenset({*_STATEMENTS, *_WORDS, *BY_NAME, *PRIMS})
"""Words that are no names of variables or buffers."""

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)
      | (?P<line>\n)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|inf\b|nan\b))
      | (?P<word>[A-Za-z_]\w*)
      | (?P<mark>\.\.|->|[()\[\]{},:=~])""",
    re.VERBOSE,
)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise IRSyntaxError("a token", text[position : position + 10], line)
        kind = str(match.lastgroup)
        if kind == "line":
            line += 1
        elif kind != "space":
            found.append(_Token(kind, match.group(), line))
        position = match.end()
    found.append(_Token("end", "the end of the text", line))
    return found


class Parser:
    """One text being read: tokens, and what names mean so far."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._position = 0
        self._vars: dict[str, Var] = {}
        self._buffers: dict[str, Buffer] = {}
        self._sizes: list[Var] = []
        self._kernels: dict[str, Kernel] = {}

    # ------------------------------------------------------------------ tokens
    @property
    def _token(self) -> _Token:
        return self._tokens[self._position]

    def _fail(self, expected: str) -> IRSyntaxError:
        return IRSyntaxError(expected, self._token.text, self._token.line)

    def _accept(self, text: str) -> bool:
        if self._token.text == text and self._token.kind != "string":
            self._position += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise self._fail(f"`{text}`")

    def _take(self, kind: str, expected: str) -> str:
        token = self._token
        if token.kind != kind:
            raise self._fail(expected)
        self._position += 1
        return token.text

    def _word(self, expected: str) -> str:
        return self._take("word", expected)

    def _integer(self) -> int:
        return int(self._take("number", "a whole number"))

    def _string(self) -> str:
        quoted = self._take("string", "a text in quotes")[1:-1]
        return quoted.replace('\\"', '"').encode("ascii").decode("unicode_escape")

    def _list(self, item: Callable[[], Item], end: str) -> tuple[Item, ...]:
        items: list[Item] = []
        if self._accept(end):
            return ()
        while True:
            items.append(item())
            if self._accept(end):
                return tuple(items)
            self._expect(",")

    def _row(self, table: dict[str, Item], expected: str) -> Item:
        word = self._word(expected)
        if word not in table:
            self._position -= 1
            raise self._fail(expected)
        return table[word]

    def _dtype(self) -> DType:
        return self._row(BY_NAME, "a scalar type")

    def _buffer(self) -> Buffer:
        return self._row(self._buffers, "a buffer")

    # ------------------------------------------------------------------ function
    def kernels(self) -> dict[str, Kernel]:
        """The kernels that come next, by name."""
        while self._accept("kernel"):
            name = self._word("the kernel's name")
            self._kernels[name] = self._kernel(name)
        return self._kernels

    def function(self) -> Function:
        """The whole text as a function."""
        self.kernels()
        self._expect("fn")
        name = self._word("the function's name")
        self._expect("(")
        marked = self._list(self._host_param, ")")
        params = tuple(param for param, _ in marked)
        donated = tuple(param for param, is_donated in marked if is_donated and isinstance(param, Buffer))
        self._expect("{")
        body: list[Stmt] = []
        while not self._accept("return"):
            body.append(self._statement())
        outputs: tuple[Output, ...] = ()
        if not self._accept("}"):
            outputs = self._list(self._output, "}")
        failures = self._failures()
        messages: list[str] = []
        while self._accept("message"):
            messages.append(self._string())
        if self._token.kind != "end":
            raise self._fail("the end of the text")
        sizes = tuple(self._sizes)
        return Function(name, params, tuple(body), outputs, failures, tuple(messages), sizes, donated)

    def _kernel(self, name: str) -> Kernel:
        self._expect("(")
        params = self._list(self._param, ")")
        self._expect("at")
        grid, block = self._variables(), self._variables()
        block_index, thread_index = self._variables(), self._variables()
        shared = self._new_var(self._word("a variable"), I64)
        geometry = Geometry(grid, block, block_index, thread_index, shared)
        return Kernel(name, params, geometry, self._block(), self._failures())

    def _variables(self) -> Triple[Var]:
        x, y, z = (self._new_var(self._word("a variable"), I64) for _ in range(3))
        self._expect(",")
        return x, y, z

    def _failures(self) -> tuple[Failure, ...]:
        failures: list[Failure] = []
        while self._accept("failure"):
            failures.append(self._failure())
        return tuple(failures)

    def _param(self) -> Var | Buffer:
        name = self._word("a parameter")
        self._expect(":")
        if self._accept("size"):
            self._sizes.append(self._new_var(name, I64))
            return self._sizes[-1]
        dtype = self._dtype()
        if not self._accept("buffer"):
            return self._new_var(name, dtype)
        return self._new_buffer(name, dtype, Space.GLOBAL, *self._layout())

    def _host_param(self) -> tuple[Var | Buffer, bool]:
        """A parameter of a host program, and whether it is donated."""
        param = self._param()
        return param, isinstance(param, Buffer) and self._accept("donated")

    def _layout(self) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
        shape = self._exprs() if self._token.text == "[" else ()
        return shape, self._exprs() if self._accept("by") else ()

    def _new_var(self, name: str, dtype: DType) -> Var:
        self._vars[name] = var = Var(name, dtype)
        return var

    def _new_buffer(
        self,
        name: str,
        dtype: DType,
        space: Space = Space.GLOBAL,
        shape: tuple[Expr, ...] = (),
        strides: tuple[Expr, ...] = (),
    ) -> Buffer:
        self._buffers[name] = buffer = Buffer(name, dtype, space, shape, strides)
        return buffer

    def _output(self) -> Output:
        value = self._argument()
        self._expect("as")
        dtype = self._dtype()
        return Output(value, dtype, self._list(self._expr, "]") if self._accept("[") else ())

    def _failure(self) -> Failure:
        error = self._word("the name of a failure")
        message = self._string()
        if not self._accept("at"):
            return Failure(error, message, None)
        span = Span(self._string(), self._integer(), self._integer(), self._integer())
        return Failure(error, message, span)

    # ------------------------------------------------------------------ statements
    def _block(self) -> tuple[Stmt, ...]:
        self._expect("{")
        body: list[Stmt] = []
        while not self._accept("}"):
            body.append(self._statement())
        return tuple(body)

    def _statement(self) -> Stmt:
        word = self._word("a statement")
        match word:
            case "let":
                return self._let()
            case "alloc":
                return self._alloc()
            case "free":
                return Free(self._buffer())
            case "view":
                return self._view()
            case "swap":
                first = self._buffer()
                self._expect(",")
                return Swap(first, self._buffer())
            case "atomic" | "combine" as word:
                operation = self._word("an operation")
                buffer, indices, value = self._assignment(self._buffer())
                takes_expected = operation == "compare" and self._accept("if")
                expected = self._expr() if takes_expected else None
                beside = self._beside()
                old = self._result()
                return Atomic(
                    operation, buffer, indices, value, old, expected, None, beside, word == "combine"
                )
            case "fill":
                buffer, (size, *_), value = self._assignment(self._buffer())
                return Fill(buffer, size, value)
            case "copy":
                return self._copy()
            case "if":
                condition, then = self._expr(), self._block()
                return If(condition, then, self._block() if self._accept("else") else ())
            case "for":
                return self._for()
            case "while":
                prelude = self._block()
                self._expect("test")
                return While(prelude, self._expr(), self._block())
            case "check":
                return self._check()
            case "print":
                return self._print()
            case "call":
                routine = self._word("a routine")
                self._expect("(")
                return Call(routine, self._list(self._argument, ")"))
            case "barrier":
                if not self._accept(":"):
                    return Barrier()
                return Barrier(self._word("an operation"), self._expr(), self._result())
            case "warp":
                return self._warp()
            case "fence":
                return Fence()
            case "launch":
                return self._launch()
            case _ if word in self._buffers:
                buffer, indices, value = self._assignment(self._buffers[word])
                return Store(buffer, indices, value)
            case _:
                self._position -= 1
                raise self._fail("a statement")

    def _beside(self) -> tuple[tuple[Buffer, Expr], ...]:
        found: list[tuple[Buffer, Expr]] = []
        while self._accept("," if found else "with"):
            buffer = self._buffer()
            self._expect("=")
            found.append((buffer, self._expr()))
        return tuple(found)

    def _result(self) -> Var | None:
        if not self._accept("->"):
            return None
        name = self._word("a variable")
        self._expect(":")
        return self._new_var(name, self._dtype())

    def _warp(self) -> Warp:
        operation = self._word("an operation")
        parts: list[Expr | None] = [self._expr()]
        while self._accept(","):
            parts.append(self._expr())
        mask, value, lane = (*parts, None, None)[:3]
        if mask is None or len(parts) > 3:
            raise self._fail("a mask, a value and a lane")
        return Warp(operation, mask, value, lane, self._result())

    def _launch(self) -> Launch:
        kernel = self._row(self._kernels, "a kernel")
        grid, block, shared = self._exprs(), self._exprs(), self._exprs()
        if (len(grid), len(block), len(shared)) != (3, 3, 1):
            raise self._fail("three extents of the grid, three of a block, and the bytes of shared memory")
        self._expect("(")
        args = self._list(self._argument, ")")
        return Launch(kernel, (grid[0], grid[1], grid[2]), (block[0], block[1], block[2]), shared[0], args)

    def _let(self) -> Let:
        name = self._word("a variable")
        self._expect(":")
        dtype = self._dtype()
        self._expect("=")
        value = self._expr()
        return Let(self._new_var(name, dtype), value)

    def _alloc(self) -> Alloc:
        name = self._word("a buffer")
        self._expect(":")
        dtype = self._dtype()
        space = self._row({space.value: space for space in Space}, "a memory space")
        first, strides = self._layout()
        shape = first if self._token.text == "[" else ()
        (size,) = self._exprs() if shape else first
        return Alloc(self._new_buffer(name, dtype, space, shape, strides), size)

    def _view(self) -> View:
        name = self._word("a buffer")
        layout = self._layout()
        self._expect("=")
        base = self._buffer()
        self._expect("[")
        offset = self._expr()
        self._expect("]")
        return View(self._new_buffer(name, base.dtype, base.space, *layout), base, offset)

    def _copy(self) -> Copy:
        target = self._buffer()
        self._expect("[")
        size = self._expr()
        self._expect("]")
        self._expect("=")
        return Copy(target, self._buffer(), size)

    def _assignment(self, buffer: Buffer) -> tuple[Buffer, tuple[Expr, ...], Expr]:
        inside = self._exprs()
        self._expect("=")
        return buffer, inside, self._expr()

    def _for(self) -> For:
        name = self._word("an index")
        self._expect("in")
        lo = self._expr()
        self._expect("..")
        hi = self._expr()
        binding = self._row({binding.value: binding for binding in Binding}, "a binding")
        index = self._new_var(name, I64)
        return For(index, lo, hi, self._block(), binding)

    def _check(self) -> Check:
        code = self._integer()
        self._expect(":")
        condition = self._expr()
        values: list[Expr] = []
        while self._accept(","):
            values.append(self._expr())
        return Check(condition, code, tuple(values))

    def _print(self) -> Print:
        code = self._integer()
        line = self._token.line
        self._expect(":")
        values: list[Expr | Shown] = []
        if self._token.line == line:
            values.append(self._shown())
            while self._accept(","):
                values.append(self._shown())
        return Print(code, tuple(values))

    def _shown(self) -> Expr | Shown:
        if not self._accept("shown"):
            return self._expr()
        buffer = self._buffer()
        self._expect("[")
        return Shown(buffer, self._list(self._expr, "]"))

    # ------------------------------------------------------------------ expressions
    def _argument(self) -> Buffer | Expr:
        token = self._token
        is_bare = self._tokens[self._position + 1].text != "["
        if token.kind == "word" and token.text in self._buffers and is_bare:
            self._position += 1
            return self._buffers[token.text]
        return self._expr()

    def _exprs(self) -> tuple[Expr, ...]:
        self._expect("[")
        return self._list(self._expr, "]")

    def _expr(self) -> Expr:
        if self._token.kind == "number":
            return self._number(self._take("number", "a number"))
        word = self._word("an expression")
        match word:
            case "true" | "false":
                return Const(word == "true", BOOL)
            case "workers":
                return Workers()
            case _ if word in self._vars:
                return self._vars[word]
            case _ if word in self._buffers:
                return Load(self._buffers[word], self._exprs())
            case _ if word in PRIMS:
                is_reassociable = self._accept("~")
                self._expect("(")
                return Compute(PRIMS[word], self._list(self._expr, ")"), is_reassociable)
            case _:
                self._position -= 1
                raise self._fail("a variable, a buffer or an operation")

    def _number(self, text: str) -> Const:
        looks_whole = text.lstrip("-").isdigit()
        dtype = I64 if looks_whole else F64
        if self._token.text == ":" and self._tokens[self._position + 1].text in BY_NAME:
            self._position += 1
            dtype = self._dtype()
        return Const(float(text) if dtype.is_float else int(text), dtype)
