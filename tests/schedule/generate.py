"""Random kernels without races: what threads share they write at their own place, between two barriers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from launching import AT

FULL = (1 << 32) - 1
BLOCKS = ("[64, 1, 1]", "[40, 1, 1]", "[8, 4, 2]", "[5, 3, 3]", "[n, 1, 1]", "[96, 1, 1]")


@dataclass(slots=True)
class Writer:
    """A kernel being written: names in scope, and what may stand where it is."""

    draw: random.Random
    lines: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    """Variables in scope; those of whole numbers likewise."""
    wholes: list[str] = field(default_factory=list)
    uniform: list[str] = field(default_factory=list)
    """Whole numbers that are the same for all threads, however they come about."""
    cells: list[str] = field(default_factory=list)
    counters: list[str] = field(default_factory=list)
    """Cells of whole numbers that are the same for all threads."""
    count: int = 0
    mask: int = FULL
    """The lanes that are here, if warp operations may be."""
    may_meet: bool = True
    """Whether a barrier may stand here."""
    may_warp: bool = True
    has_barriers: bool = True
    has_warps: bool = True

    def name(self, base: str) -> str:
        """A fresh name."""
        self.count += 1
        return f"{base}{self.count}"

    def line(self, text: str) -> None:
        """One line."""
        self.lines.append(text)

    # ------------------------------------------------------------------ expressions
    def whole(self, depth: int = 2) -> str:
        """A small whole number."""
        if depth == 0 or self.draw.random() < 0.3:
            cells = [f"{cell}[0]" for cell in self.counters]
            return self.draw.choice([*self.wholes, *self.uniform, *cells, str(self.draw.randrange(6))])
        operation = self.draw.choice(["add", "sub", "bitand", "max", "bitxor"])
        return f"{operation}({self.whole(depth - 1)}, {self.whole(depth - 1)})"

    def same(self, depth: int = 2) -> str:
        """A small whole number that is the same for all threads."""
        if depth == 0 or self.draw.random() < 0.4:
            cells = [f"{cell}[0]" for cell in self.counters]
            return self.draw.choice([*self.uniform, *cells, "few", "ix", str(self.draw.randrange(4))])
        return f"{self.draw.choice(['add', 'max', 'bitand'])}({self.same(depth - 1)}, {self.same(depth - 1)})"

    def number(self, depth: int = 2) -> str:
        """A float that does not grow much."""
        if depth == 0 or self.draw.random() < 0.2:
            cells = [f"{cell}[0]" for cell in self.cells]
            loads = ["x[i]", "x[ix]", f"x[bitand({self.whole(1)}, 15)]", "a", "0.5"]
            return self.draw.choice([*self.floats, *self.floats, *cells, *cells, *loads])
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self.draw.choice(
            [
                f"mul(0.5, add({left}, {right}))",
                f"sin({left})",
                f"sub({left}, mul(0.25, {right}))",
                f"select({self.condition()}, {left}, {right})",
                f"mul(0.125, to_f64(bitand({self.whole()}, 7)))",
            ]
        )

    def condition(self) -> str:
        """A condition that threads may see differently."""
        kind = self.draw.random()
        if kind < 0.4:
            return f"{self.draw.choice(['lt', 'ge', 'eq'])}({self.whole()}, {self.whole()})"
        if kind < 0.7:
            return f"{self.draw.choice(['lt', 'ge'])}({self.draw.choice(['tx', 'i', 'ty'])}, {self.same(1)})"
        # what is computed in two places may be rounded differently, so that equal numbers are not compared
        return f"lt({self.number(1)}, add({self.number(1)}, 0.0173))"

    # ------------------------------------------------------------------ statements
    def body(self, size: int, depth: int) -> None:
        """Some statements in a scope of their own."""
        kept = [list(names) for names in (self.floats, self.wholes, self.uniform, self.cells, self.counters)]
        for _ in range(self.draw.randint(1, size)):
            self.statement(depth)
        self.floats, self.wholes, self.uniform, self.cells, self.counters = kept

    def statement(self, depth: int) -> None:
        """One statement, or a few that belong together."""
        ways: list[Callable[[], None]] = [self._let, self._let, self._set, self._set, self._whole, self._cell]
        if self.may_meet and self.has_barriers:
            ways += [self._exchange, self._exchange, self._count, self._counter, self._step]
        if self.may_warp and self.has_warps:
            ways += [self._warp] * 3
        if depth:
            ways += [lambda: self._if(depth), lambda: self._for(depth), lambda: self._while(depth)] * 2
        self.draw.choice(ways)()

    def _let(self) -> None:
        value, name = self.number(), self.name("v")
        self.line(f"let {name}: f64 = {value}")
        self.floats.append(name)

    def _whole(self) -> None:
        value, name = self.whole(), self.name("k")
        self.line(f"let {name}: i64 = bitand({value}, 15)")
        self.wholes.append(name)

    def _cell(self) -> None:
        value, name = self.number(), self.name("c")
        self.line(f"alloc {name}: f64 local [1]\n{name}[0] = {value}")
        self.cells.append(name)

    def _set(self) -> None:
        if self.cells:
            self.line(f"{self.draw.choice(self.cells)}[0] = {self.number()}")

    def _counter(self) -> None:
        value, name = self.same(), self.name("u")
        self.line(f"alloc {name}: i64 local [1]\n{name}[0] = bitand({value}, 3)")
        self.counters.append(name)

    def _step(self) -> None:
        if self.counters:
            cell = self.draw.choice(self.counters)
            self.line(f"{cell}[0] = bitand(add({cell}[0], {self.same(1)}), 3)")

    def _exchange(self) -> None:
        name = self.name("r")
        self.line(f"s[own] = {self.number()}\nbarrier")
        self.line(f"let {name}: f64 = s[mod(add(own, {self.draw.randrange(40)}), size)]\nbarrier")
        self.floats.append(name)

    def _count(self) -> None:
        operation, name = self.draw.choice(["count", "and", "or"]), self.name("b")
        kind = "i64" if operation == "count" else "bool"
        self.line(f"barrier: {operation} {self.condition()} -> {name}: {kind}")
        number = self.name("q")
        value = f"bitand({name}, 3)" if operation == "count" else f"select({name}, 1, 2)"
        self.line(f"let {number}: i64 = {value}")
        self.uniform.append(number)

    def _warp(self) -> None:
        operation = self.draw.choice(["shuffle", "up", "down", "xor", "ballot", "any", "all", "sync"])
        name, mask = self.name("w"), self.mask
        if operation == "sync":
            self.line(f"warp sync {mask}")
        elif operation in ("ballot", "any", "all"):
            kind = "i64" if operation == "ballot" else "bool"
            self.line(f"warp {operation} {mask}, {self.condition()} -> {name}: {kind}")
            number = self.name("k")
            value = f"bitand({name}, 15)" if kind == "i64" else f"select({name}, 1, 2)"
            self.line(f"let {number}: i64 = {value}")
            self.wholes.append(number)
        else:
            lane = self._lane(operation)
            self.line(f"warp {operation} {mask}, {self.number()}, {lane} -> {name}: f64")
            self.floats.append(name)

    def _lane(self, operation: str) -> str:
        """An operand by which no lane reads of one that is not here."""
        if self.mask == FULL:
            return "bitand(add(l, 5), 31)" if operation == "shuffle" else str(self.draw.choice([1, 2, 4, 7]))
        here = [lane for lane in range(32) if self.mask >> lane & 1]
        return str(here[0]) if operation == "shuffle" else "0"

    def _inside(self, head: str, depth: int, *, uniform: bool, mask: int | None = None) -> None:
        """A body where fewer things may stand."""
        before = (self.may_meet, self.may_warp, self.mask)
        self.may_meet &= uniform
        self.may_warp &= uniform or mask is not None
        self.mask = self.mask if mask is None else mask
        self.line(head)
        self.body(3, depth - 1)
        self.may_meet, self.may_warp, self.mask = before

    def _if(self, depth: int) -> None:
        kind = self.draw.random()
        if kind < 0.35:
            condition = f"{self.draw.choice(['lt', 'ge'])}({self.same()}, {self.same()})"
            self._inside(f"if {condition} {{", depth, uniform=True)
            if self.draw.random() < 0.5:
                self._inside("} else {", depth, uniform=True)
        elif kind < 0.7 and self.has_warps:
            first = self.draw.choice([1, 4, 12, 31])
            low = self.mask & ((1 << first) - 1)
            high = self.mask & ~((1 << first) - 1)
            self._inside(f"if lt(l, {first}) {{", depth, uniform=False, mask=low if low else None)
            if high:
                self._inside("} else {", depth, uniform=False, mask=high)
        else:
            self._inside(f"if {self.condition()} {{", depth, uniform=False)
            if self.draw.random() < 0.5:
                self._inside("} else {", depth, uniform=False)
        self.line("}")

    def _forget(self, name: str) -> None:
        for names in (self.uniform, self.wholes):
            if name in names:
                names.remove(name)

    def _for(self, depth: int) -> None:
        uniform = self.draw.random() < 0.7
        index = self.name("j")
        hi = f"bitand({self.same() if uniform else self.whole()}, 3)"
        names = self.uniform if uniform else self.wholes
        names.append(index)
        self._inside(f"for {index} in 0 .. {hi} sequential {{", depth, uniform=uniform)
        self._forget(index)
        self.line("}")

    def _while(self, depth: int) -> None:
        uniform = self.draw.random() < 0.7
        cell, read = self.name("t"), self.name("h")
        self.line(f"alloc {cell}: i64 local [1]")
        self.line(f"{cell}[0] = bitand({self.same() if uniform else self.whole()}, 3)")
        names = self.uniform if uniform else self.wholes
        names.append(read)
        self._inside(
            f"while {{\nlet {read}: i64 = {cell}[0]\n}} test gt({read}, 0) {{", depth, uniform=uniform
        )
        self._forget(read)
        self.line(f"{cell}[0] = sub({read}, 1)\n}}")


def kernel_text(seed: int) -> tuple[str, int]:
    """A program with one launch, and the threads of a block. It takes n (40), few (2), a and x."""
    draw = random.Random(seed)
    writer = Writer(draw, wholes=["own", "l", "tx", "ty", "i"], uniform=["ix"], floats=["first"])
    writer.has_barriers, writer.has_warps = draw.choice([(True, True), (True, False), (False, True)])
    writer.cells.append("total")
    writer.line("alloc total: f64 local [1]\ntotal[0] = 0.0")
    for _ in range(5):
        writer.statement(2)
    used = [*writer.floats, *(f"{cell}[0]" for cell in writer.cells)]
    numbers = [*writer.wholes, *writer.uniform, *(f"{cell}[0]" for cell in writer.counters)]
    used += [f"mul(0.01, to_f64({number}))" for number in numbers]
    result = used[0]
    for value in used[1:]:
        result = f"add({result}, {value})"
    block = draw.choice(BLOCKS)
    body = "\n".join(writer.lines)
    text = f"""
kernel k(few: i64, a: f64, x: f64 buffer, y: f64 buffer)
{AT} {{
  alloc s: f64 shared [mul(mul(bx, by), bz)]
  let size: i64 = mul(mul(bx, by), bz)
  let own: i64 = add(mul(add(mul(tz, by), ty), bx), tx)
  let i: i64 = add(mul(ix, size), own)
  let l: i64 = bitand(own, 31)
  let first: f64 = x[i]
  {body}
  y[i] = {result}
}}
fn main(n: i64, few: i64, a: f64, x: f64 buffer) {{
  alloc y: f64 global [192]
  fill y [192] = 0.0
  launch k [2, 1, 1] {block} [0] (few, a, x, y)
  return y as f64 [192]
}}
"""
    return text, 40
