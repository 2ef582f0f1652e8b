"""Counted loops as LLVM, and where in them a program looks whether it is to end (`llvm_poll`).

    if lo < hi: i = lo; do body while ++i != hi

A loop whose iterations are known work runs as many of them at once as `PATIENCE` allows and looks in between,
so that the inner loop is what it would be without:

    start = lo; do { end = start + min(n, hi - start); for i in start .. end { body }; start = end; look }

Others count in each iteration, or, where they are cheap, all at once and never look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from anadrome.targets.llvm_poll import charge, look_if_spent, look_now
from anadrome.targets.llvm_scalars import whole_number
from anadrome.targets.llvm_scope import Scope
from anadrome.targets.llvm_text import FunctionText, Value, is_literal


@dataclass(frozen=True, slots=True)
class Rounds:
    """A counted loop.

    `lo`, `hi`, `step`: of the index; they are multiples of the step. `enters`: whether there is an iteration.
    `operations`: what an iteration is counted as; 0 where nothing is counted. `at_once`: how many iterations
    run before the program looks; 0 where it does not look, None where only an iteration knows how much it
    did. `unchanged`: the arrays that no iteration changes.
    """

    lo: Value
    hi: Value
    enters: Value
    operations: int
    at_once: int | None
    unchanged: frozenset[Value]
    step: int = 1


def emit_rounds(scope: Scope, rounds: Rounds, iteration: Callable[[Value], None]) -> None:
    """`iteration(i)` for each index of a loop."""
    if rounds.enters == "false":
        return
    text, after = scope.text, scope.text.fresh("after")
    with _entered(text, rounds.enters, after):
        if rounds.operations and rounds.at_once is not None:
            trip = whole_number(text, "sub", rounds.hi, rounds.lo)  # no `nsw`: it may exceed the largest i64
            charge(scope, whole_number(text, "mul", trip, str(rounds.operations)))
        if rounds.at_once:
            _strips(scope, rounds, rounds.at_once, iteration, after)
        else:
            body = text.fresh("body")
            before = _stepped(scope, rounds, rounds.lo), text.block
            hi = _stepped(scope, rounds, rounds.hi)
            with text.loop(body, rounds.unchanged):
                text.do(f"br label %{body}")
                _iterations(scope, rounds, before, hi, (body, after), iteration)
    text.label(after)


def _strips(
    scope: Scope, rounds: Rounds, at_once: int, iteration: Callable[[Value], None], after: str
) -> None:
    """start, end = lo, lo + min(n, hi - lo); iterations start .. end; while end != hi: look, and the same
    from `end` on."""
    text, lo, hi = scope.text, rounds.lo, rounds.hi
    strip, body, done, look = (text.fresh(name) for name in ("strip", "body", "done", "look"))
    first_end, first = _end_of_strip(scope, lo, hi, at_once), text.block
    with text.loop(body, rounds.unchanged):
        text.do(f"br label %{strip}")
        text.label(strip)
        start, end = text.fresh(), text.fresh()
        start_phi, end_phi = text.reserve(), text.reserve()
        before, last = (_stepped(scope, rounds, start), strip), _stepped(scope, rounds, end)
        text.do(f"br label %{body}")
        _iterations(scope, rounds, before, last, (body, done), iteration)
        text.label(done)
        is_more = text.value(f"icmp ne i64 {end}, {hi}")
        text.do(f"br i1 {is_more}, label %{look}, label %{after}, !prof {scope.unlikely}")
        text.label(look)
        next_end = _end_of_strip(scope, end, hi, at_once)
        text.fill(start_phi, f"{start} = phi i64 [{lo}, %{first}], [{end}, %{look}]")
        text.fill(end_phi, f"{end} = phi i64 [{first_end}, %{first}], [{next_end}, %{look}]")
        look_now(scope, strip, f", {_note(scope)}")


def _end_of_strip(scope: Scope, start: Value, hi: Value, at_once: int) -> Value:
    left = whole_number(scope.text, "sub", hi, start)
    count = scope.text.intrinsic("llvm.umin.i64", "i64", [("i64", left), ("i64", str(at_once))])
    return scope.text.value(f"add nsw i64 {start}, {count}")


def _iterations(
    scope: Scope,
    rounds: Rounds,
    before: tuple[Value, str],
    hi: Value,
    blocks: tuple[str, str],
    iteration: Callable[[Value], None],
) -> None:
    """do body while ++i != hi, in the block `blocks[0]` and those after it, then `blocks[1]`. `before`: the
    first index and where it comes from. Both bounds are in steps."""
    text, (body, after) = scope.text, blocks
    text.label(body)
    index, following = text.fresh(), text.fresh()
    phi = text.reserve()
    number = index
    if rounds.step != 1:
        number = text.value(f"sdiv exact i64 {index}, {rounds.step}")
        text.equal(f"mul i64 {number}, {rounds.step}", index)
    iteration(number)
    if rounds.at_once is None:
        charge(scope, str(rounds.operations))
        look_if_spent(scope)
    wrap = "nuw nsw" if before[0].isdigit() else "nsw"
    is_counted = is_literal(before[0]) and is_literal(hi)
    text.do(f"{following} = add {wrap} i64 {index}, {rounds.step}")
    more = text.value(f"icmp ne i64 {following}, {hi}")
    entered = following if is_counted or text.is_innermost else _opaque(text, following)
    text.fill(phi, f"{index} = phi i64 [{before[0]}, %{before[1]}], [{entered}, %{text.block}]")
    text.do(f"br i1 {more}, label %{body}, label %{after}, {_note(scope, is_counted)}")


def _opaque(text: FunctionText, number: Value) -> Value:
    """A number of which LLVM's analysis of loops knows nothing; it takes no instruction.

    Of a loop around others LLVM would try out what else to count in, for each address inside: up to half of
    the time it takes to write code, for what is done once in each iteration.
    """
    return text.intrinsic("llvm.expect.i64", "i64", [("i64", number), ("i64", "0")])


def _note(scope: Scope, is_counted: bool = False) -> str:
    """What LLVM is told about a loop: to leave it as it is, unless constants say how many iterations it has.
    To find out whether they are few, it would compare the numbers of each loop with those of all others."""
    program = scope.program
    told = program.no_runtime_unrolling if is_counted else program.no_unrolling
    return f"!llvm.loop {program.module.metadata(f'!{{{{self}}, {told}}}', is_distinct=True)}"


def _stepped(scope: Scope, rounds: Rounds, value: Value) -> Value:
    return whole_number(scope.text, "mul", value, str(rounds.step))


@contextmanager
def _entered(text: FunctionText, enters: Value, after: str) -> Iterator[None]:
    """A `with` block in which a loop is written that is left out, for the block behind it, unless it has an
    iteration. Where that is known, nothing is asked."""
    if text.decided(enters) == "true":
        with text.region():
            yield
        return
    first = text.fresh("first")
    text.do(f"br i1 {enters}, label %{first}, label %{after}")
    with text.branch(first, enters):
        yield
