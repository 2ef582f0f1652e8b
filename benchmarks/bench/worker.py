"""What one process measures: `python -m bench.worker ROUNDS [--small] [--peers PACKAGE,…] NAME…`, in JSON.

First calls come first: without object cache in a child of this process, then in this process with what the
child has left there. Imports are not counted. Then results are compared with those of C, or a derivative with
a difference quotient, and only then times are taken. `overhead` is a name too.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import time
import traceback
from collections.abc import Callable
from operator import truediv
from typing import Any

import anadrome as ad
from anadrome.config import from_environment
from bench import peers
from bench.agreement import Arguments, assert_agree
from bench.c_code import NoCompilerError
from bench.cases import GALLERY, TABLE, Case
from bench.clock import duration, keep_freed_memory, peak_growth, repeats_for, times_in_turn
from bench.native import Native

BASES = ("C objective", "C gradient", "scalar C objective", "objective")
"""The versions that each ratio is over."""

SECONDS = 2.0
"""How long the rounds of a program take at least."""

Numbers = dict[str, Any]


def measure(case: Case, rounds: int, is_small: bool, others: list[str]) -> Numbers:
    """All numbers of one program, beside those of other systems."""
    arguments = case.arguments(is_small)
    read = read_by(case, arguments)
    objective, gradient = (lambda: case.objective(*read)), (lambda: case.derivative(*arguments))
    first_calls = functools.partial(first, objective, gradient)
    found: Numbers = {"cold": in_child(first_calls), "cached": first_calls()}
    ad.release_memory()  # what is kept of earlier calls would be taken again, and not be seen
    found["memory"] = peak_growth(gradient)
    found |= predicted(case, arguments)
    native = calls_of_c(case, arguments)
    compare(case, arguments, native)
    versions = {
        "C objective": native and native.objective,
        "objective": objective,
        "gradient": gradient,
        "C gradient": native and native.gradient,
        "scalar C objective": native and native.scalar,
    }
    for peer in others:
        versions |= calls_of_peer(peer, case, arguments)
    return found | timed({name: call for name, call in versions.items() if call is not None}, rounds)


def timed(calls: dict[str, Callable[[], Any]], rounds: int) -> Numbers:
    """Median seconds of each version, and medians of the ratios within a round.

    Where rounds are short there are more of them: what disturbs the machine for a moment disturbs few. On one
    thread seconds are those of the processor, so that other processes do not count.
    """
    keep_freed_memory()
    clock = time.process_time if from_environment(os.environ).workers == 1 else time.perf_counter
    repeats = {name: repeats_for(call) if rounds > 1 else 1 for name, call in calls.items()}
    once = duration(lambda: times_in_turn(calls, 1, repeats=repeats))
    if rounds > 1:
        rounds = max(rounds, int(SECONDS / once))
    times = times_in_turn(calls, rounds, clock, repeats)
    ratios = {
        f"{version} / {base}": statistics.median(map(truediv, times[version], times[base]))
        for base in BASES
        if base in times
        for version in times
    }
    return {"seconds": {name: statistics.median(taken) for name, taken in times.items()}, "ratios": ratios}


# ---------------------------------------------------------------------------- parts
def read_by(case: Case, arguments: Arguments) -> Arguments:
    """The arguments of the objective."""
    return arguments[: len(arguments) - case.unread]


def first(objective: Callable[[], Any], gradient: Callable[[], Any]) -> Numbers:
    """How long the first calls take, in seconds."""
    return {"gradient": duration(gradient), "objective": duration(objective)}


def in_child(question: Callable[[], Numbers]) -> Numbers:
    """The answer of a child of this process, which leaves this one as it was."""
    end, start = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(start, json.dumps(question()).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(start)
    with os.fdopen(end) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    if not text:
        raise RuntimeError("the child that makes the first calls has failed")
    found: Numbers = json.loads(text)
    return found


def predicted(case: Case, arguments: Arguments) -> Numbers:
    """Memory as `ad.explain` predicts it, and the operations and bytes of the derivative where they are
    known: by the plan of its schedule, or by the formula of the case."""
    told = ad.explain(case.derivative, *arguments)
    found: Numbers = {"predicted": told.predicted}
    if case.work is not None:
        operations, reached = case.work(arguments)
        return found | {"operations": operations, "bytes": reached, "counted": "formula"}
    loops = told.loops
    if loops is None or not loops.is_all or loops.calls:
        return found
    return found | {
        "operations": loops.operations,
        "bytes": loops.read + loops.written,
        "counted": "plan",
    }


def calls_of_c(case: Case, arguments: Arguments) -> Native | None:
    """The calls of C; None where there is no C, or no compiler for it."""
    try:
        return None if case.native is None else case.native(*arguments)
    except NoCompilerError:
        return None


def calls_of_peer(peer: str, case: Case, arguments: Arguments) -> dict[str, Callable[[], Any]]:
    """The calls of another system by their names, if it has the program, and gives what ours gives."""
    make = peers.programs(peer).get(case.peer)
    if make is None:
        return {}
    objective, derivative = make(*arguments)
    assert_agree(objective(), case.objective(*read_by(case, arguments)), 1e-7)
    assert_agree(derivative(), case.derivative(*arguments), 1e-7)
    return {f"{peer} objective": objective, f"{peer} gradient": derivative}


def compare(case: Case, arguments: Arguments, native: Native | None) -> None:
    """Fail where our results are not those of C, or the derivative is no slope of the objective."""
    ours = case.objective(*read_by(case, arguments))
    if native is not None:
        wanted = native.objective()
        assert_agree(ours if isinstance(ours, tuple) else (ours,), wanted)
        if native.scalar is not None:
            assert_agree(native.scalar(), wanted)
        if native.gradient is not None:
            assert_agree(case.derivative(*arguments), native.gradient())
    if case.check is not None:
        objective = case.objective
        if native is not None and case.native is not None:
            make = case.native
            objective = lambda *moved: make(*moved).objective()
        case.check(objective, case.derivative, arguments)


def overhead() -> Numbers:
    """The time of a call whose work is nothing: one and two numbers, and an array."""

    @ad.jit
    def one(x: float) -> float:
        return x * x

    @ad.jit
    def two(x: float, y: float) -> float:
        return x * y

    slope = ad.grad(one)
    calls = {
        "one number": lambda: one(2.0),
        "two numbers": lambda: two(2.0, 3.0),
        "gradient by one number": lambda: slope(2.0),
    }
    found = {}
    for name, call in calls.items():
        call()
        found[name] = min(duration(call, 20_000) for _ in range(5))
    return found


def main() -> None:
    """Answer one question after the other."""
    parser = argparse.ArgumentParser(description="Measure programs in this process.")
    parser.add_argument("rounds", type=int)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--peers", default="", help="packages, with commas between them")
    options = parser.parse_args()
    others = [peer for peer in options.peers.split(",") if peer]
    if others:  # they take as many threads as the process has cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: from_environment(os.environ).workers])
    cases = {case.name: case for case in (*TABLE, *GALLERY)}
    for name in options.programs:
        if name == "overhead":
            found = overhead()
        else:
            found = measure(cases[name], options.rounds, options.small, others)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
