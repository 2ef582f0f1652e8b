"""Writing the statements of a random kernel.

What a thread reads is its own, or nobody writes it, or a barrier stands between; what several threads write
they add atomically. Branches are on integers, and values are smooth and bounded, so that differences of them
mean something.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

ATOMS = ("{float}", "{float}", "x[{at}]", "w[{int} % M]", "{scalar}", "{number}")
SHAPES = (
    "({a} + {b})",
    "({a} - {b})",
    "{a} * {b}",
    "np.sin({a})",
    "np.cos({a} + {b})",
    "np.tanh({a})",
    "{a} / (1.0 + {b} * {b})",
    "np.sqrt(1.0 + {a} * {a})",
    "np.exp(-{a} * {a})",
    "({a} if {test} else {b})",
)
TESTS = (
    "k[q] % 3 == {small}",
    "t % 2 == 0",
    "({int} + t) % 3 == 1",
    "{int} > {small}",
    "k[q] < 4 and t > 1",
    "not (k[q] % 2 == 1 or t == 2)",
)


@dataclass(slots=True)
class Scope:
    """The names that can be read where a statement stands."""

    floats: tuple[str, ...]
    integers: tuple[str, ...]
    arrays: tuple[tuple[str, int], ...] = ()
    loops: int = 0
    is_uniform: bool = True


@dataclass(slots=True)
class Writer:
    """One kernel being written."""

    random: random.Random
    meets: bool
    threads: int
    is_ragged: bool
    is_in_place: bool
    dtype: str
    counting: str
    functions: int = 0
    count: int = 0
    shared: list[str] = field(default_factory=list)

    def new(self, letter: str) -> str:
        """A fresh name."""
        self.count += 1
        return f"{letter}{self.count}"

    # ------------------------------------------------------------------ expressions
    def number(self) -> str:
        return self.typed(self.random.choice(("0.5", "0.25", "1.5", "-0.75", "2.0")))

    def typed(self, value: str) -> str:
        """A number that NumPy would make a float64, of the kernel's own type."""
        return f"np.float32({value})" if self.dtype == "float32" else value

    def integer(self, scope: Scope) -> str:
        return self.random.choice((*scope.integers, "k[q]", "t", str(self.random.randint(0, 3))))

    def at(self, scope: Scope) -> str:
        """An index of the input: one's own where it is written, else any."""
        return (
            "i"
            if self.is_in_place
            else self.random.choice(("q", "q", "k[q]", f"({self.integer(scope)} + q) % n"))
        )

    def test(self, scope: Scope) -> str:
        template = self.random.choice(TESTS)
        return template.format(int=self.integer(scope), small=self.random.randint(0, 2))

    def atom(self, scope: Scope) -> str:
        if scope.arrays and self.random.random() < 0.3:
            name, size = self.random.choice(scope.arrays)
            return f"{name}[{self.integer(scope)} % {size}]"
        template = self.random.choice(ATOMS)
        return template.format(
            float=self.random.choice(scope.floats),
            int=self.integer(scope),
            at=self.at(scope),
            number=self.number(),
            scalar=self.typed("c"),
        )

    def expr(self, scope: Scope, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.2:
            return self.atom(scope)
        a, b = self.expr(scope, depth - 1), self.expr(scope, depth - 1)
        if self.functions and self.random.random() < 0.15:
            return f"f{self.random.randrange(self.functions)}({a}, {b})"
        template = self.random.choice(SHAPES)
        return template.format(a=a, b=b, test=self.test(scope) if "{test}" in template else "")

    def bounded(self, scope: Scope) -> str:
        """An expression whose value is small whatever its parts are."""
        return f"np.{self.random.choice(('sin', 'tanh', 'cos'))}({self.expr(scope)})"

    # ------------------------------------------------------------------ statements
    def block(self, scope: Scope, depth: int, count: int) -> list[str]:
        """Statements, each with the names before it."""
        inner = Scope(scope.floats, scope.integers, scope.arrays, scope.loops, scope.is_uniform)
        lines: list[str] = []
        for _ in range(count):
            lines += self.statement(inner, depth)
        return lines

    def statement(self, scope: Scope, depth: int) -> list[str]:
        simple = [self.assignment, self.assignment, self.change, self.output, self.atomic, self.local_write]
        compound = [self.branch, self.counted, self.ragged, self.waiting, self.local_array]
        together = [
            self.tile,
            self.shuffle,
            self.reduction,
            self.shared_bins,
            self.rounds,
            self.halves,
            self.neighbours,
            self.uniform,
        ]
        if self.meets and scope.is_uniform and self.random.random() < 0.4:
            return self.random.choice(together)(scope, depth)
        if depth > 0 and self.random.random() < 0.45:
            return self.random.choice(compound)(scope, depth)
        return self.random.choice(simple)(scope, depth)

    def assignment(self, scope: Scope, depth: int) -> list[str]:
        name, value = self.new("v"), self.bounded(scope)
        scope.floats = (*scope.floats, name)
        return [f"{name} = {value}"]

    def change(self, scope: Scope, depth: int) -> list[str]:
        name = self.random.choice(("total", "state"))
        return [f"{name} = {self.bounded(scope)} + 0.5 * {name}"]

    def output(self, scope: Scope, depth: int) -> list[str]:
        value = self.random.choice(("y[i] = {}", "y[i] += {}", "y[i] = 0.5 * y[i] * {}")).format(
            self.bounded(scope)
        )
        if self.is_in_place and self.random.random() < 0.5:
            value = f"x[i] = 0.5 * x[i] + {self.bounded(scope)}"
        return [f"if i < n:\n    {value}" if self.is_ragged else value]

    def atomic(self, scope: Scope, depth: int) -> list[str]:
        value, place = self.bounded(scope), f"{self.integer(scope)} % 4"
        line = self.random.choice(
            (
                f"ad.atomic.add(z, {place}, {value})",
                f"ad.atomic.sub(z, {place}, {value})",
                f"ad.atomic.{self.counting}(counts, {place}, k[q] + 1)",
                f"ad.atomic.max(tops, {place}, {value})",
            )
        )
        return [line]

    def local_write(self, scope: Scope, depth: int) -> list[str]:
        if not scope.arrays:
            return self.change(scope, depth)
        name, size = self.random.choice(scope.arrays)
        place = f"{self.integer(scope)} % {size}"
        return [f"{name}[{place}] = {self.bounded(scope)} + 0.5 * {name}[{place}]"]

    # ------------------------------------------------------------------ blocks
    def branch(self, scope: Scope, depth: int) -> list[str]:
        inside = Scope(scope.floats, scope.integers, scope.arrays, scope.loops, False)
        lines = [f"if {self.test(scope)}:", *indented(self.block(inside, depth - 1, 2))]
        if self.random.random() < 0.5:
            lines += ["else:", *indented(self.block(inside, depth - 1, 1))]
        if not self.meets and scope.loops == 0 and self.random.random() < 0.25:
            lines += [f"if {self.test(scope)}:", *indented([*self.output(inside, 0), "return  # early"])]
        return lines

    def leaving(self, scope: Scope) -> list[str]:
        """Perhaps a `continue` or a `break`, where the thread is alone."""
        if self.random.random() < 0.5:
            return []
        return [f"if {self.test(scope)}:", f"    {self.random.choice(('continue', 'break'))}"]

    def counted(self, scope: Scope, depth: int) -> list[str]:
        index = self.new("j")
        inside = Scope(scope.floats, (*scope.integers, index), scope.arrays, scope.loops + 1, False)
        extent = self.random.choice(
            ("range(3)", "range(1, 6, 2)", "range(3, -1, -1)", "range(M)", "range(steps)")
        )
        body = [*self.block(inside, depth - 1, 1), *self.leaving(inside), *self.block(inside, depth - 1, 1)]
        return [f"for {index} in {extent}:", *indented(body)]

    def ragged(self, scope: Scope, depth: int) -> list[str]:
        index = self.new("j")
        inside = Scope(scope.floats, (*scope.integers, index), scope.arrays, scope.loops + 1, False)
        body = [*self.block(inside, depth - 1, 1), *self.leaving(inside), *self.change(inside, 0)]
        return [f"for {index} in range(k[q] % {self.random.randint(2, 5)}):", *indented(body)]

    def waiting(self, scope: Scope, depth: int) -> list[str]:
        count = self.new("m")
        inside = Scope(scope.floats, (*scope.integers, count), scope.arrays, scope.loops + 1, False)
        body = [
            f"{count} -= 1",
            *self.leaving(inside),
            *self.block(inside, depth - 1, 1),
            *self.change(inside, 0),
        ]
        return [f"{count} = ({self.integer(scope)} + t) % 5", f"while {count} > 0:", *indented(body)]

    def local_array(self, scope: Scope, depth: int) -> list[str]:
        name, size, index = self.new("a"), self.random.randint(2, 4), self.new("j")
        lines = [f"{name} = ad.local.array({size}, np.{self.dtype})", f"for {index} in range({size}):"]
        inside = Scope(scope.floats, (*scope.integers, index), scope.arrays)
        lines.append(f"    {name}[{index}] = {self.bounded(inside)}")
        scope.arrays = (*scope.arrays, (name, size))
        return lines

    # ------------------------------------------------------------------ together
    def memory(self, size: int) -> str:
        """A shared array of its own."""
        name = self.new("s")
        is_first = not any("array(0" in line for line in self.shared)
        is_dynamic = is_first and size == self.threads and self.random.random() < 0.3
        shown = "0" if is_dynamic else str(size)
        self.shared.append(f"{name} = ad.shared.array({shown}, np.{self.dtype})")
        return name

    def tile(self, scope: Scope, depth: int) -> list[str]:
        tile, name = self.memory(self.threads), self.new("v")
        value, shift = self.bounded(scope), self.random.randint(1, 3)
        lines = [f"{tile}[t] = {value}"]
        if self.random.random() < 0.4:
            lines.append(f"{tile}[t] = {tile}[t] * {tile}[t] + {self.atom(scope)}")
        lines.append(self.random.choice(("ad.syncthreads()", f"ad.syncthreads_count({self.test(scope)})")))
        read = self.random.choice(
            (
                f"{tile}[(t + {shift}) % {self.threads}]",
                f"{tile}[{self.threads} - 1 - t] * {tile}[t]",
                f"{tile}[{shift}]",
            )
        )
        lines += [f"{name} = {read}"]
        if self.random.random() < 0.5:
            other = f"{tile}[(t + 1) % {self.threads}]"
            lines += [
                "ad.syncthreads()",
                f"{tile}[t] += 0.5 * {name}",
                "ad.syncthreads()",
                f"{name} = {name} * {other}",
            ]
        scope.floats = (*scope.floats, name)
        return lines

    def shuffle(self, scope: Scope, depth: int) -> list[str]:
        name, value = self.new("v"), self.bounded(scope)
        kind, lane = self.random.choice(
            (("xor", "1"), ("xor", "2"), ("down", "1"), ("up", "3"), ("", "2"), ("", "(t + 1) % 4"))
        )
        verb = f"shfl_{kind}_sync" if kind else "shfl_sync"
        scope.floats = (*scope.floats, name)
        return [f"{name} = ad.{verb}(0xFFFFFFFF, {value}, {lane})"]

    def reduction(self, scope: Scope, depth: int) -> list[str]:
        if self.threads & (self.threads - 1):
            return self.tile(scope, depth)
        part, step, name = self.memory(self.threads), self.new("m"), self.new("v")
        change = self.random.choice((f"{part}[t] += {part}[t + {step}]", f"{part}[t] *= {part}[t + {step}]"))
        lines = [f"{part}[t] = {self.bounded(scope)}", "ad.syncthreads()", f"{step} = {self.threads // 2}"]
        lines += [f"while {step} > 0:", f"    if t < {step}:", f"        {change}"]
        lines += ["    ad.syncthreads()", f"    {step} //= 2", f"{name} = {part}[0]"]
        scope.floats = (*scope.floats, name)
        return lines

    def shared_bins(self, scope: Scope, depth: int) -> list[str]:
        bins, name = self.memory(4), self.new("v")
        lines = ["if t < 4:", f"    {bins}[t] = 0.0", "ad.syncthreads()"]
        lines += [
            f"ad.atomic.add({bins}, {self.integer(scope)} % 4, {self.bounded(scope)})",
            "ad.syncthreads()",
        ]
        lines += [f"{name} = {bins}[{self.integer(scope)} % 4]"]
        if self.random.random() < 0.3:
            count = self.typed(f"ad.syncthreads_count({self.test(scope)})")
            lines += [f"{name} = {name} * {count}"]
        scope.floats = (*scope.floats, name)
        return lines

    def rounds(self, scope: Scope, depth: int) -> list[str]:
        """A loop that all threads go through together, with a barrier inside."""
        tile, index = self.memory(self.threads), self.new("j")
        inside = Scope(scope.floats, (*scope.integers, index), scope.arrays, scope.loops + 1, False)
        body = [f"{tile}[t] = {self.bounded(inside)} + state", "ad.syncthreads()"]
        body += [
            f"state = 0.5 * state + np.sin({tile}[(t + {index}) % {self.threads}] * {self.atom(inside)})"
        ]
        body += ["ad.syncthreads()"]
        return [f"for {index} in range({self.random.choice(('3', 'steps'))}):", *indented(body)]

    def uniform(self, scope: Scope, depth: int) -> list[str]:
        """A branch or loop that all threads of a block take alike, with what they do together inside."""
        count = self.new("m")
        inside = Scope(scope.floats, scope.integers, scope.arrays, scope.loops + 1, False)
        tile = self.memory(self.threads)
        body = [f"{tile}[t] = {self.bounded(inside)}", "ad.syncthreads()"]
        body += [f"total = 0.5 * total + {tile}[(t + 1) % {self.threads}] * {self.atom(inside)}"]
        body += ["ad.syncthreads()", *self.block(inside, min(depth - 1, 1), 1)]
        if self.random.random() < 0.5:
            return [f"{count} = steps", f"while {count} > 0:", *indented([*body, f"{count} -= 1"])]
        test = self.random.choice(("ad.blockIdx.x % 2 == 0", "steps > 1", "steps > 5"))
        return [f"if {test}:", *indented(body)]

    def halves(self, scope: Scope, depth: int) -> list[str]:
        """Shuffles in branches that parts of a warp take."""
        if self.threads < 8:
            return self.shuffle(scope, depth)
        name, value, other = self.new("v"), self.bounded(scope), self.bounded(scope)
        scope.floats = (*scope.floats, name)
        lines = [f"{name} = total", "if t < 4:", f"    {name} = ad.shfl_xor_sync(0xF, {value}, 1)"]
        lines += ["elif t < 8:", f"    {name} = {name} * ad.shfl_xor_sync(0xF0, {other}, 3)"]
        return lines

    def neighbours(self, scope: Scope, depth: int) -> list[str]:
        """What the neighbour in the block has written into memory of the launch."""
        if self.is_ragged:
            return self.tile(scope, depth)
        name, other = self.new("v"), f"y[ad.blockIdx.x * {self.threads} + (t + 1) % {self.threads}]"
        value, again = self.bounded(scope), self.bounded(scope)
        scope.floats = (*scope.floats, name)
        lines = [f"y[i] = 0.5 * y[i] + {value}", "ad.syncthreads()"]
        if self.random.random() < 0.5:
            mirror = f"y[ad.blockIdx.x * {self.threads} + {self.threads} - 1 - t]"
            return [*lines, f"{mirror} = {again}", "ad.syncthreads()", f"{name} = y[i]"]
        return [*lines, f"{name} = {other}", "ad.syncthreads()", f"y[i] = y[i] * {name}"]


def indented(lines: Sequence[str]) -> list[str]:
    """One level deeper; a line may hold several."""
    return [f"    {part}" for line in lines for part in line.split("\n")]
