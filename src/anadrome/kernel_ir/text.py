"""The text of the kernel IR: printer and parser, so that `show(parse(show(fn))) == show(fn)`.

    fn scale(x: f64 buffer, n: size) {
      alloc out: f64 global [n]
      for i in 0 .. n parallel {
        let v: f64 = x[i]
        check 0: lt(v, 100.0), v
        out[i] = mul(v, 2.0)
      }
      return out as f64 [n]
    }
    failure assert "{0} is too large" at "user.py" 3 4 9

A `size` is an i64 that is the length of an array, and so is not negative. A
parameter that the caller gives away is marked: `x: f64 buffer donated`.

What is printed has a number as well: `print 0: v, shown x [n]` writes `message "…"`, which stands behind the
failures.

A kernel stands before the function that launches it. Its parameters have the shapes of their buffers; `at`
names the variables of its `Geometry`: grid, block, block index, thread index, bytes of shared memory.

    kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      if lt(i, n) {
        y[i] = add(y[i], mul(a, x[i]))
      }
    }
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      launch axpy [blocks, 1, 1] [128, 1, 1] [0] (n, 2.0, x, y)
      return y as f64 [n]
    }

An operation that may be reordered is marked `add~`. Numbers are i64 or f64 by their look, or say their type:
`1:i32`, `0.5:f32`. A name that is taken already gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import assert_never

from anadrome.dtypes import BOOL, F64, I64, DType
from anadrome.kernel_ir.nodes import (
    Alloc,
    Atomic,
    Barrier,
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
    If,
    Kernel,
    Launch,
    Let,
    Load,
    Output,
    Print,
    Shown,
    Stmt,
    Store,
    Swap,
    Var,
    View,
    Warp,
    While,
    Workers,
)
from anadrome.kernel_ir.parse import RESERVED, Parser
from anadrome.kernel_ir.walk import kernels

__all__ = ["parse", "parse_kernels", "show", "show_kernels"]


def parse(text: str) -> Function:
    """The function a text spells. Raises `IRSyntaxError` with the line where it spells none."""
    return Parser(text).function()


def show(fn: Function) -> str:
    """The text of a function."""
    return _Printer().function(fn)


def names_of(fn: Function) -> Callable[[Var | Buffer], str]:
    """The names of variables and buffers in the text of a function; what is not in it gets free ones."""
    printer = _Printer()
    printer.function(fn)
    return printer.name


def show_kernels(kernels: Iterable[Kernel]) -> tuple[str, dict[Kernel, str]]:
    """The text of kernels, and the names they have in it; each once."""
    printer = _Printer()
    for kernel in dict.fromkeys(kernels):
        printer.kernel(kernel)
    return "".join(f"{line}\n" for line in printer.lines), printer.kernel_names


def parse_kernels(text: str) -> dict[str, Kernel]:
    """The kernels that a text spells, by name."""
    return Parser(text).kernels()


class _Printer:
    """Lines of text, and a name in the text for every variable and buffer."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.kernel_names: dict[Kernel, str] = {}
        self._names: dict[Var | Buffer, str] = {}
        self._taken: set[str] = set(RESERVED)
        self._counts: dict[str, int] = {}

    def name(self, item: Var | Buffer) -> str:
        """The name of a variable or buffer: its own, with a number where that is taken."""
        found = self._names.get(item)
        if found is None:
            base = re.sub(r"\W", "_", item.name) or "v"
            found = self._names[item] = self._free(base if not base[0].isdigit() else f"v{base}")
        return found

    def _free(self, base: str) -> str:
        found, count = base, self._counts.get(base, 0)
        while found in self._taken:
            count += 1
            found = f"{base}_{count}"
        self._counts[base] = count
        self._taken.add(found)
        return found

    def line(self, text: str) -> None:
        """One line, indented."""
        self.lines.append("  " * self.depth + text)

    # ------------------------------------------------------------------ function
    def function(self, fn: Function) -> str:
        """The whole text."""
        for kernel in kernels(fn):
            self.kernel(kernel)
        params = ", ".join(
            self._param(param, param in fn.sizes) + " donated" * (param in fn.donated) for param in fn.params
        )
        self.line(f"fn {re.sub(r'[^0-9A-Za-z_]', '_', fn.name) or 'f'}({params}) {{")
        self.body(fn.body)
        self.depth += 1
        self.line("return " + ", ".join(self._output(output) for output in fn.outputs))
        self.depth -= 1
        self.line("}")
        for failure in fn.failures:
            self.line(_failure(failure))
        for message in fn.messages:
            self.line(f"message {_quoted(message)}")
        return "\n".join(self.lines) + "\n"

    def kernel(self, kernel: Kernel) -> None:
        """A kernel that the function launches."""
        name = self.kernel_names[kernel] = self._free(re.sub(r"\W", "_", kernel.name) or "k")
        params = ", ".join(self._param(param) for param in kernel.params)
        where = kernel.geometry
        triples = (where.grid, where.block, where.block_index, where.thread_index)
        names = [" ".join(self.name(var) for var in triple) for triple in triples]
        self.line(f"kernel {name}({params})")
        self.line(f"at {', '.join(names)}, {self.name(where.shared)} {{")
        self.body(kernel.body)
        self.line("}")
        for failure in kernel.failures:
            self.line(_failure(failure))

    def _param(self, param: Var | Buffer, is_size: bool = False) -> str:
        if is_size:
            return f"{self.name(param)}: size"
        suffix = f" buffer{self._layout(param)}" if isinstance(param, Buffer) else ""
        return f"{self.name(param)}: {param.dtype.name}{suffix}"

    def _layout(self, buffer: Buffer) -> str:
        """The dimensions of a buffer, and its strides where it has them."""
        strides = f" by {self.exprs(buffer.strides)}" if buffer.strides else ""
        return f" {self.exprs(buffer.shape)}{strides}" if buffer.shape else ""

    def _output(self, output: Output) -> str:
        value = self.name(output.value) if isinstance(output.value, Buffer) else self.expr(output.value)
        sizes = ", ".join(self.expr(size) for size in output.shape)
        return f"{value} as {output.dtype.name}" + (f" [{sizes}]" if output.shape else "")

    # ------------------------------------------------------------------ statements
    def body(self, body: Iterable[Stmt]) -> None:
        """Statements, one level deeper."""
        self.depth += 1
        for stmt in body:
            self.statement(stmt)
        self.depth -= 1

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        match stmt:
            case If(condition=condition, then=then, other=other):
                self.line(f"if {self.expr(condition)} {{")
                self.body(then)
                if other:
                    self.line("} else {")
                    self.body(other)
                self.line("}")
            case For(index=index, lo=lo, hi=hi, body=body, binding=binding):
                self.line(f"for {self.name(index)} in {self.expr(lo)} .. {self.expr(hi)} {binding.value} {{")
                self.body(body)
                self.line("}")
            case While(prelude=prelude, condition=condition, body=body):
                self.line("while {")
                self.body(prelude)
                self.line(f"}} test {self.expr(condition)} {{")
                self.body(body)
                self.line("}")
            case _:
                self.line(self._simple(stmt))

    def _simple(
        self,
        stmt: Let
        | Alloc
        | Free
        | View
        | Swap
        | Store
        | Atomic
        | Fill
        | Copy
        | Check
        | Print
        | Call
        | Barrier
        | Warp
        | Fence
        | Launch,
    ) -> str:
        match stmt:
            case Let(var=var, value=value):
                return f"let {self.name(var)}: {var.dtype.name} = {self.expr(value)}"
            case Alloc(buffer=buffer, size=size):
                kind = f"{buffer.dtype.name} {buffer.space.value}{self._layout(buffer)}"
                return f"alloc {self.name(buffer)}: {kind} [{self.expr(size)}]"
            case Free(buffer=buffer):
                return f"free {self.name(buffer)}"
            case View(buffer=buffer, base=base, offset=offset):
                where = f"{self.name(base)} [{self.expr(offset)}]"
                return f"view {self.name(buffer)}{self._layout(buffer)} = {where}"
            case Swap(first=first, second=second):
                return f"swap {self.name(first)}, {self.name(second)}"
            case Store(buffer=buffer, indices=indices, value=value):
                return f"{self.name(buffer)}{self.exprs(indices)} = {self.expr(value)}"
            case Atomic(operation=operation, buffer=buffer, indices=indices, value=value):
                word = "combine" if stmt.is_alone else "atomic"
                text = f"{word} {operation} {self.name(buffer)}{self.exprs(indices)} = {self.expr(value)}"
                expected = "" if stmt.expected is None else f" if {self.expr(stmt.expected)}"
                beside = ", ".join(f"{self.name(more)} = {self.expr(put)}" for more, put in stmt.beside)
                return text + expected + (f" with {beside}" if beside else "") + self._result(stmt.old)
            case Fill(buffer=buffer, size=size, value=value):
                return f"fill {self.name(buffer)} [{self.expr(size)}] = {self.expr(value)}"
            case Copy(target=target, source=source, size=size):
                return f"copy {self.name(target)} [{self.expr(size)}] = {self.name(source)}"
            case Check(condition=condition, code=code, values=values):
                return f"check {code}: " + ", ".join(self.expr(expr) for expr in (condition, *values))
            case Print(code=code, values=values):
                return f"print {code}:{''.join(f' {self._shown(value)},' for value in values)}".rstrip(",")
            case Call(routine=routine, args=args):
                return f"call {routine}(" + ", ".join(self._argument(arg) for arg in args) + ")"
            case Barrier(operation=operation, predicate=predicate, result=result):
                if predicate is None:
                    return "barrier"
                return f"barrier: {operation} {self.expr(predicate)}{self._result(result)}"
            case Warp(operation=operation, mask=mask, value=value, lane=lane, result=result):
                parts = ", ".join(self.expr(part) for part in (mask, value, lane) if part is not None)
                return f"warp {operation} {parts}{self._result(result)}"
            case Fence():
                return "fence"
            case Launch(kernel=kernel, grid=grid, block=block, shared=shared, args=args):
                given = ", ".join(self._argument(arg) for arg in args)
                extents = f"{self.exprs(grid)} {self.exprs(block)} [{self.expr(shared)}]"
                return f"launch {self.kernel_names[kernel]} {extents} ({given})"
            case _:
                assert_never(stmt)

    def _result(self, var: Var | None) -> str:
        return "" if var is None else f" -> {self.name(var)}: {var.dtype.name}"

    def _shown(self, value: Expr | Shown) -> str:
        if not isinstance(value, Shown):
            return self.expr(value)
        return f"shown {self.name(value.buffer)} [{', '.join(self.expr(size) for size in value.shape)}]"

    def _argument(self, arg: Buffer | Expr) -> str:
        return self.name(arg) if isinstance(arg, Buffer) else self.expr(arg)

    # ------------------------------------------------------------------ expressions
    def exprs(self, exprs: Iterable[Expr]) -> str:
        """Expressions in brackets."""
        return f"[{', '.join(self.expr(expr) for expr in exprs)}]"

    def expr(self, expr: Expr) -> str:
        """An expression on one line."""
        match expr:
            case Var():
                return self.name(expr)
            case Const(value=value, dtype=dtype):
                return _number(value, dtype)
            case Compute(prim=prim, args=args, is_reassociable=is_reassociable):
                mark = "~" if is_reassociable else ""
                return f"{prim.name}{mark}({', '.join(self.expr(arg) for arg in args)})"
            case Load(buffer=buffer, indices=indices):
                return f"{self.name(buffer)}{self.exprs(indices)}"
            case Workers():
                return "workers"
            case _:
                assert_never(expr)


def _number(value: bool | int | float, dtype: DType) -> str:
    if dtype is BOOL:
        return "true" if value else "false"
    if dtype.is_float:
        text = repr(float(value))
        return text if dtype is F64 else f"{text}:{dtype.name}"
    return str(int(value)) if dtype is I64 else f"{int(value)}:{dtype.name}"


def _failure(failure: Failure) -> str:
    span = failure.span
    place = "" if span is None else f" at {_quoted(span.file)} {span.line} {span.column} {span.end_column}"
    return f"failure {failure.error} {_quoted(failure.message)}{place}"


def _quoted(text: str) -> str:
    escaped = text.encode("unicode_escape").decode().replace('"', '\\"')
    return f'"{escaped}"'
