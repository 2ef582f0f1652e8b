"""The plan of a program in words: how each loop runs, why, and how much it computes and reaches in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from anadrome.kernel_ir.affine import Atom, Bindings, Forms, bindings_of
from anadrome.kernel_ir.nodes import Binding, Buffer, Call, Expr, For, Function, Stmt, Var, While
from anadrome.kernel_ir.walk import bodies, statements
from anadrome.prims.polynomials import Monomial, Polynomial
from anadrome.schedule.align import Aligned
from anadrome.schedule.amounts import Amounts, Sizes, amounts_of
from anadrome.schedule.apart import InOrder, Sum
from anadrome.schedule.innermost import Strips
from anadrome.schedule.jam import SideBySide
from anadrome.schedule.loops import Choice, Given, Outer, Way, Whole
from anadrome.schedule.parts import BLOCK, Parts
from anadrome.schedule.running import GROUP, Groups
from anadrome.schedule.search import BLOCK as AT_ONCE
from anadrome.schedule.search import Search

Naming = Callable[[Var | Buffer], str]


@dataclass(frozen=True, slots=True, eq=False)
class Nest:
    """An outermost loop of a program: the choices for it and the loops inside, and its amounts."""

    choice: Choice
    amounts: Amounts


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How a program runs on vectors of so many bits: its nests, in order, and the routines that it calls."""

    vector_bits: int
    nests: tuple[Nest, ...]
    calls: tuple[str, ...]
    numbers: Mapping[Var, Expr]
    """What is bound to whole numbers."""
    name: Naming
    """What variables and buffers are called in the text of the program before its loops were rewritten."""

    def sizes(self, params: Mapping[Var, int], workers: int) -> Sizes:
        """What the numbers in its amounts are in a call."""
        return Sizes(params, self.numbers, workers)

    def choices(self) -> Iterator[Choice]:
        """Those for all loops, outer ones first."""
        waiting = [nest.choice for nest in reversed(self.nests)]
        while waiting:
            yield waiting[-1]
            waiting += reversed(waiting.pop().inner)

    def __str__(self) -> str:
        """The plan in words, a line for each loop."""
        vectors = f"vectors of {self.vector_bits} bits" if self.vector_bits else "no vectors"
        lines = [f"plan for {vectors}"]
        words = Words(self.name)
        for nest in self.nests:
            lines += words.lines(nest.choice, "  ")
            lines += [f"      {line}" for line in words.amounts(nest.amounts)]
        if self.calls:
            lines.append(f"  and calls of {', '.join(self.calls)}")
        return "\n".join(lines) + "\n"


def plan_of(fn: Function, choices: Iterable[Choice], vector_bits: int, name: Naming) -> Plan:
    """The plan of a program as it was before its loops were rewritten."""
    by_loop = {choice.loop: choice for choice in choices}
    bindings = bindings_of(fn.body)
    calls = dict.fromkeys(stmt.routine for stmt in statements(fn.body) if isinstance(stmt, Call))
    return Plan(vector_bits, tuple(_nests(fn.body, by_loop, bindings)), tuple(calls), bindings.numbers, name)


def _nests(
    stmts: Iterable[Stmt], choices: Mapping[For | While, Choice], bindings: Bindings
) -> Iterator[Nest]:
    for stmt in stmts:
        if isinstance(stmt, For | While) and stmt in choices:
            yield Nest(choices[stmt], amounts_of(stmt, bindings))
        else:
            for body in bodies(stmt):
                yield from _nests(body, choices, bindings)


def way_kind(choice: Choice) -> Literal["lanes", "threads", "order"]:
    """What runs the iterations of a loop."""
    match choice.way:
        case Given():
            is_threads = isinstance(choice.loop, For) and choice.loop.binding is Binding.THREADS
            return "threads" if is_threads else "lanes"
        case Whole(width=1) | Outer(lanes=1) | SideBySide() | Aligned() | Groups() | Parts() | InOrder():
            return "order"
        case Whole() | Outer() | Strips() | Search():
            return "lanes"
        case _:
            assert_never(choice.way)


# ---------------------------------------------------------------------------- words
@dataclass(frozen=True, slots=True)
class Words:
    """A plan in words, with the names of its program."""

    name: Naming

    def lines(self, choice: Choice, margin: str) -> Iterator[str]:
        """A line for a loop, and for each inside."""
        yield f"{margin}{self._loop(choice.loop)}: {self.way(choice.way, choice.loop)}"
        for inner in choice.inner:
            yield from self.lines(inner, margin + "  ")

    def _loop(self, loop: For | While) -> str:
        where = f"{loop.span.file}:{loop.span.line} " if loop.span is not None else ""
        match loop:
            case For(index=index, lo=lo, hi=hi):
                return f"{where}for {self.name(index)} in {self._expression(lo)} .. {self._expression(hi)}"
            case While():
                return f"{where}while"

    def way(self, way: Way, loop: For | While) -> str:
        """How a loop runs, for people."""
        match way:
            case Given():
                is_threads = isinstance(loop, For) and loop.binding is Binding.THREADS
                return "worker threads" if is_threads else "the lanes of a vector"
            case Whole(width=1):
                return "one after the other: a vector holds one of its numbers"
            case Whole(width=width, sums=sums):
                words = f"{width} iterations in lanes, whatever is inside; the last of them under a mask"
                return words + self._sums(sums)
            case Outer(lanes=1):
                return "one after the other: a vector holds one of its numbers"
            case Outer():
                return (
                    "strips of iterations in lanes, with memory for each lane; the rest one after the other"
                )
            case SideBySide(count=count, is_all=True):
                return f"its {count} sums side by side"
            case SideBySide(count=count):
                return f"{count} iterations at a time, with their sums side by side"
            case Aligned():
                return "what is added to neighbouring elements moved together"
            case Strips():
                return self._strips(way)
            case Groups():
                names = self._buffers(one.buffer for one in way.sums)
                return f"in order, {GROUP} iterations at a time, which wait for {names} once"
            case Parts(kept=kept, passed_on=passed_on, why=why):
                ahead = "".join(f"`{self.name(var)}`, " for var in kept).removesuffix(", ")
                behind = "".join(f"`{self.name(var)}`, " for var in passed_on).removesuffix(", ")
                parts = (f"{ahead} ahead" if ahead else "", f"what needs {behind} behind" if behind else "")
                words = ", ".join(filter(None, parts))
                return f"{BLOCK} iterations at a time: {words}, the rest {self.way(why, loop)}"
            case Search(inside=inside):
                return f"{AT_ONCE} iterations at a time, until it is found, {self.way(inside, loop)}"
            case InOrder(why=why, buffer=buffer):
                return f"in order, since {why if buffer is None else why.format(self.name(buffer))}"
            case _:
                assert_never(way)

    def _strips(self, way: Strips) -> str:
        vectors = "a vector" if way.vectors == 1 else f"{way.vectors} vectors"
        rest = "the rest under a mask" if way.is_masked else "the rest one by one"
        words = f"in lanes, {vectors} of {way.lanes} at a time" + ("" if way.is_single else f", {rest}")
        return words + self._sums(way.sums)

    def _sums(self, sums: Iterable[Sum]) -> str:
        names = self._buffers(one.buffer for one in sums)
        return f"; each lane has a sum of its own for {names}" if names else ""

    def _buffers(self, buffers: Iterable[Buffer]) -> str:
        return ", ".join(dict.fromkeys(f"`{self.name(buffer)}`" for buffer in buffers))

    def amounts(self, amounts: Amounts) -> tuple[str, ...]:
        """Operations and bytes, for people."""
        figures = ", ".join(
            f"{self.form(form)} {what}"
            for form, what in (
                (amounts.operations, "operations"),
                (amounts.read, "bytes read"),
                (amounts.written, "bytes written"),
            )
            if form.terms
        )
        if not figures:
            return ()
        names = ", ".join(f"`{self.name(var)}`" for var in amounts.unknown)
        return (f"at most {figures}", *([f"where only the run knows {names}"] if names else []))

    def form(self, form: Polynomial) -> str:
        """A sum of products, the largest degrees first."""
        terms = sorted(form.terms.items(), key=lambda term: (-len(term[0]), -term[1]))
        words = " + ".join(self._term(monomial, factor) for monomial, factor in terms)
        return words.replace("+ -", "- ") or "0"

    def _term(self, monomial: Monomial, factor: int) -> str:
        atoms = sorted(
            self._atom(atom) + (f"^{power}" if power > 1 else "") for atom, power in Counter(monomial).items()
        )
        digits = [] if atoms and abs(factor) == 1 else [f"{abs(factor):,}"]
        return "-" * (factor < 0) + "·".join([*digits, *atoms])

    def _atom(self, atom: Atom) -> str:
        if isinstance(atom, Var):
            return self.name(atom)
        name, *args = atom
        words = ", ".join(self._part(arg) for arg in args)
        return f"{name}({words})" if args else str(name)

    def _part(self, part: object) -> str:
        match part:
            case Polynomial():
                return self.form(part)
            case Var() | Buffer():
                return self.name(part)
            case _:
                return str(part)

    def _expression(self, expr: Expr) -> str:
        form = Forms(set()).of(expr)
        return "…" if form is None else self.form(form)
