"""From an array-IR function to an executable: the pipeline as a literal list, run, checked, timed and
recorded.

What a stage makes can be looked at: `Config.dump` writes it to standard error, and `record` hands each
stage to a recorder, which is what `show` reads.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
import scipy

from anadrome.ad.canonical import canonical
from anadrome.array_ir import nodes as array_ir
from anadrome.array_ir import text as array_text
from anadrome.array_ir.check import check as check_array
from anadrome.array_ir.key import bytes_of
from anadrome.array_ir.walk import all_lets
from anadrome.config import KINDS, Config
from anadrome.errors.config import UnsuitableSetting
from anadrome.errors.ir import IRError
from anadrome.kernel_ir import nodes as kernel_ir
from anadrome.kernel_ir import text as kernel_text
from anadrome.kernel_ir.check import check as check_kernel
from anadrome.kernel_ir.walk import statements
from anadrome.lower.function import lower
from anadrome.passes.blocks_in_place import blocks_in_place, differentiable_blocks
from anadrome.passes.both_sides import both_sides
from anadrome.passes.eliminate_bounds_checks import eliminate_bounds_checks
from anadrome.passes.equal_sizes import equal_sizes
from anadrome.passes.erase_barriers import erase_barriers
from anadrome.passes.fuse import fuse
from anadrome.passes.gathered import gathered
from anadrome.passes.hoist import hoist
from anadrome.passes.hoist_sums import hoist_sums
from anadrome.passes.inline import inline
from anadrome.passes.inline_partial_reads import inline_partial_reads
from anadrome.passes.iverson import iverson
from anadrome.passes.join import join
from anadrome.passes.outer_lanes import outer_lanes
from anadrome.passes.parallel_loops import differentiable_loops, parallel_loops
from anadrome.passes.propagate_indicators import propagate_indicators
from anadrome.passes.restrict_domains import restrict_domains
from anadrome.passes.reuse_across_branches import reuse_across_branches
from anadrome.passes.reuse_across_loops import reuse_across_loops
from anadrome.passes.scalarize import scalarize
from anadrome.passes.simplify import simplify
from anadrome.passes.split_loops import split_loops
from anadrome.passes.stored_sums import stored_sums
from anadrome.passes.tiles import tiles
from anadrome.passes.winners import winners
from anadrome.schedule.cpu import Scheduled, schedule_cpu
from anadrome.targets.cache import key_of
from anadrome.targets.cpu import compile_cpu, kept_program, vector_bits
from anadrome.targets.cpu_call import Executable
from anadrome.targets.cpu_machine import this_machine

Pass = Callable[[array_ir.Function, Config], array_ir.Function]
Program = array_ir.Function | kernel_ir.Function | Scheduled
Recorder = Callable[[str, Program], None]
"""(stage, program) -> nothing: is shown what each stage made."""

PIPELINE: tuple[tuple[str, Pass], ...] = (
    ("inline", inline),
    ("erase-barriers", erase_barriers),
    ("simplify", simplify),
    ("restrict-domains", restrict_domains),
    ("propagate-indicators", propagate_indicators),
    ("eliminate-bounds-checks", eliminate_bounds_checks),
    ("equal-sizes", equal_sizes),
    ("gathered", gathered),
    ("split-loops", split_loops),
    ("join", join),
    ("parallel-loops", parallel_loops),
    ("iverson", iverson),
    ("stored-sums", stored_sums),
    ("scalarize", scalarize),
    ("fuse", fuse),
    ("simplify-2", simplify),
    ("join-2", join),
    ("hoist", hoist),
    ("fuse-2", fuse),
    ("blocks-in-place", blocks_in_place),
    ("simplify-3", simplify),
    ("reuse-across-branches", reuse_across_branches),
    ("both-sides", both_sides),
    ("outer-lanes", outer_lanes),
    ("tiles", tiles),
    ("reuse-across-loops", reuse_across_loops),
)
"""Array IR to array IR, in order. A pass that runs again has a number behind its name; it is left out where
the program is still the one that it left. Why in this order:

* What only derivatives needed goes first (`inline`, `erase-barriers`), since no pass behind knows it; then
  `simplify`, since all others look for the forms that it makes, and go through what it leaves.
* Which iterations there are is settled next: filters become extents (`restrict-domains`), terms that no
  direction reaches go (`propagate-indicators`). Then places are inside or not (`eliminate-bounds-checks`),
  and loops without checks may be moved. Sizes that checks found equal are one (`equal-sizes`), so that loops
  over them have one extent.
* Whole loops are changed while they are as they were written: rows that nobody gathers are not made
  (`gathered`), loops are parted, joined and made parallel (`split-loops`, `join`, `parallel-loops`). Only
  then `iverson` asks what elements of sums get, which takes nests in the order of their loops; what it
  leaves, and each iteration writes once, is stored (`stored-sums`).
* Small arrays become numbers (`scalarize`), so that `fuse` need not merge loops for them. Fusion leaves the
  same expressions side by side (`simplify-2`) and loops that do the same (`join-2`); what is the same in each
  iteration leaves the loop (`hoist`), and stands beside loops that it can be fused with (`fuse-2`,
  `simplify-3`). What a block of an array becomes is computed where it is written by then, and need not be
  an array (`blocks-in-place`).
* The last ones say in which order iterations run, and would not survive a fusion: results shared by branches
  (`reuse-across-branches`, `both-sides`), lanes, blocks and tiles (`outer-lanes`, `tiles`), and values that
  one loop keeps for another (`reuse-across-loops`)."""

PREPARATION: tuple[tuple[str, Pass], ...] = (
    ("simplify", simplify),
    ("restrict-domains", restrict_domains),
    ("eliminate-bounds-checks", eliminate_bounds_checks),
    ("equal-sizes", equal_sizes),
    ("gathered", gathered),
    ("split-loops", split_loops),
    ("parallel-loops", differentiable_loops),
    ("winners", winners),
    ("inline-partial-reads", inline_partial_reads),
    ("blocks-in-place", differentiable_blocks),
    ("hoist-sums", hoist_sums),
)
"""What runs before differentiation, in order: a proved index needs no check in the derivative, what a filter
drops no adjoint, a loop whose iterations wait for nobody no log, and neither does one of which a single
iteration counts, an array of which a part is read only that part's, a block that is written a log of its
elements alone, and what a loop need not do again is differentiated once."""

PRIMAL_STAGES = ("primal", *(f"primal-{name}" for name, _ in PREPARATION), "canonical")
"""What functions that are differentiated become before: they are differentiated while the program around them
is staged."""

STAGES = (*PRIMAL_STAGES, "array", *(name for name, _ in PIPELINE), "kernel", "schedule")
"""The stages a recorder is shown, in the order in which they run: what is differentiated, as it came, after
each pass, and in the constructs that have rules; the program, with derivatives in it, after each pass,
lowered, and with its loops as they are to run."""


class Collector:
    """The cyclic garbage collector, which rests while a thread compiles.

    A child made by `fork` has none of the parent's other threads: where they alone had it rest, it works.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: set[int] = set()
        self._was_enabled = False

    def is_resting(self) -> bool:
        """Whether this thread has it rest."""
        return threading.get_ident() in self._threads

    def rest(self) -> None:
        """Have it rest for this thread."""
        with self._lock:
            self._was_enabled = gc.isenabled() or (bool(self._threads) and self._was_enabled)
            self._threads.add(threading.get_ident())
            gc.disable()

    def work(self) -> None:
        """Have it work again, if it was at work and no other thread has it rest."""
        with self._lock:
            others = self._threads - {threading.get_ident()}
            if self._was_enabled and self._threads and not others:
                gc.enable()
            self._threads = others

    def after_fork(self) -> None:
        """In a child: forget the parent's other threads."""
        self._lock = threading.Lock()
        own = self._threads & {threading.get_ident()}
        if self._was_enabled and self._threads and not own:
            gc.enable()
        self._threads = own


@functools.cache
def _collector() -> Collector:
    """The collector of this process."""
    collector = Collector()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=collector.after_fork)
    return collector


@contextmanager
def uncollected() -> Iterator[None]:
    """A `with` block during which the cyclic garbage collector rests, if it was at work.

    A compilation makes some hundred thousand objects and keeps most of them until it ends; each collection
    would go over them, and over all of the user's objects, and find next to nothing.
    """
    collector = _collector()
    if collector.is_resting():
        yield
        return
    try:
        collector.rest()
        yield
    finally:
        collector.work()


@dataclass(slots=True)
class Statistics:
    """Where the time of one compilation went, in seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Add the time of a `with` block, which no garbage collection interrupts, to a stage."""
        start = time.perf_counter()
        try:
            with uncollected():
                yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start

    @property
    def total(self) -> float:
        """All stages together."""
        return sum(self.seconds.values())


def prepare(
    fn: array_ir.Function,
    config: Config,
    record: Recorder | None = None,
    active: Sequence[bool] | None = None,
) -> array_ir.Function:
    """The function as differentiation likes it: small, its indices proved where they can be.

    Where it is known which parameters are active, what both modes make of it first is shown too.
    """
    _check_dump(config)
    _finished("primal", fn, config, record)
    for name, run in PREPARATION:
        before, fn = fn, run(fn, config)
        _finished(f"primal-{name}", fn, config, record, before)
    if active is not None and (record is not None or "canonical" in config.dump):
        _finished("canonical", canonical(fn, active), config, record)
    return fn


def optimise(
    fn: array_ir.Function,
    config: Config,
    statistics: Statistics | None = None,
    record: Recorder | None = None,
) -> array_ir.Function:
    """The function after every pass of the pipeline. With `config.verify` the verifier runs after each one
    and names the pass whose program it refuses."""
    times = statistics or Statistics()
    _check_dump(config)
    _finished("array", fn, config, record)
    left: dict[Pass, array_ir.Function] = {}
    for name, run in PIPELINE:
        before = fn
        with times.timing(name):
            if left.get(run) is not fn:  # else nothing has made work for it since
                fn = left[run] = run(fn, config)
        _finished(name, fn, config, record, before)
    return fn


def lower_function(
    fn: array_ir.Function,
    config: Config,
    statistics: Statistics | None = None,
    record: Recorder | None = None,
    donated: Collection[int] = (),
) -> kernel_ir.Function:
    """The optimised function as kernel IR; the parameters at the places `donated` are given away."""
    times = statistics or Statistics()
    optimised = optimise(fn, config, times, record)
    with times.timing("kernel"):
        lowered = lower(optimised, config, donated)
    _finished("kernel", lowered, config, record)
    return lowered


def compile_function(
    fn: array_ir.Function,
    config: Config,
    statistics: Statistics | None = None,
    record: Recorder | None = None,
    donated: Collection[int] = (),
) -> Executable:
    """The function as machine code; the parameters at the places `donated` are given away."""
    times = statistics or Statistics()
    with times.timing("machine"):
        key = "" if record is not None else _program_key(fn, config, donated)
        kept = kept_program(key, config) if key else None
    if kept is not None:
        return kept
    lowered = lower_function(fn, config, times, record, donated)
    with times.timing("schedule"):
        scheduled = schedule_cpu(lowered, config, vector_bits(config))
    _finished("schedule", scheduled, config, record, lowered)
    with times.timing("machine"):
        return compile_cpu(scheduled.function, config, program_key=key)


IS_COMPILED = not str(array_ir.__file__).endswith(".py")
"""Whether Anadrome's stages are machine code themselves (docs/decisions/0040-compiled-by-mypyc.md)."""

OF_THE_CALL = ("threads", "cache", "cache_dir", "cache_megabytes", "programs", "progress", "traceback")
"""Settings that say nothing of what a program becomes."""


def _program_key(fn: array_ir.Function, config: Config, donated: Collection[int]) -> str:
    """The key under which another process finds what this function becomes; none where every stage is to be
    seen, or the function has parts that only this process knows."""
    settings = settings_key(config, donated)
    program = bytes_of(fn) if settings else None
    return "" if program is None else key_of("program", program, settings)


def settings_of(config: Config) -> tuple[tuple[str, object], ...]:
    """The settings that a program depends on."""
    return tuple((name, getattr(config, name)) for name in KINDS if name not in OF_THE_CALL)


def settings_key(config: Config, donated: Collection[int]) -> str:
    """What a program becomes depends on beside itself: settings, the arguments that are given away, the
    machine, and the versions of all that makes it. Nothing where programs are not to be kept."""
    sources = "" if not config.cache or config.dump or config.verify else _sources()
    if not sources:
        return ""
    versions = (np.__version__, scipy.__version__, llvmlite.__version__, sys.version, IS_COMPILED)
    return key_of(repr((settings_of(config), sorted(donated), versions, this_machine().target)), sources)


_IMPORTED = time.time()


@functools.cache
def _sources() -> str:
    """What tells one state of Anadrome from another: a digest of its own files. None where they are no files,
    or have changed since this process has read them: it runs what stood there before."""
    folder, digest = Path(__file__).parent, hashlib.blake2b()
    try:
        files = sorted(folder.rglob("*.py"))
        for file in files:
            content, status = file.read_bytes(), file.stat()
            if max(status.st_mtime, status.st_ctime) > _IMPORTED:
                return ""
            digest.update(f"{file.relative_to(folder)} {len(content)} ".encode())
            digest.update(content)
    except OSError:
        return ""
    return digest.hexdigest() if Path(__file__) in files else ""


def show_program(program: Program) -> str:
    """A program of either language as text; before a scheduled one stands its plan, in words."""
    match program:
        case array_ir.Function():
            return array_text.show(program)
        case kernel_ir.Function():
            return kernel_text.show(program)
        case Scheduled(function=function, plan=plan):
            return f"{textwrap.indent(str(plan), '# ')}\n{kernel_text.show(function)}"


def _read_back(program: array_ir.Function | kernel_ir.Function) -> str:
    """The text of what the text of a program is read as."""
    match program:
        case array_ir.Function():
            return array_text.show(array_text.parse(array_text.show(program)))
        case kernel_ir.Function():
            return kernel_text.show(kernel_text.parse(kernel_text.show(program)))


def _check_dump(config: Config) -> None:
    """Refuse to write out a stage that there is not."""
    for stage in filter(None, config.dump.split(",")):
        if stage not in STAGES:
            raise UnsuitableSetting("dump", stage, f"one or more of {', '.join(STAGES)}")


def _finished(
    stage: str,
    program: Program,
    config: Config,
    record: Callable[[str, Any], None] | None,
    before: Program | None = None,
) -> None:
    """Verify, write out and show what a stage has made of the program `before`; verified once while it is the
    same."""
    made = program.function if isinstance(program, Scheduled) else program
    if config.verify and made is not before:
        _verify(stage, made)
    if stage in config.dump.split(","):
        print(f"--- {stage}\n{show_program(program)}", file=sys.stderr)
    if record is not None:
        record(stage, program)


READ_BACK = 4
"""Of the programs that are verified one in so many is also read back from its text."""


def _verify(stage: str, program: array_ir.Function | kernel_ir.Function) -> None:
    """Check a program, and read some back from their text, which takes longer than all passes do: how many
    statements there are, and the stage, say which."""
    try:
        match program:
            case array_ir.Function():
                check_array(program)
                count = sum(1 for _ in all_lets(program.body))
            case kernel_ir.Function():
                check_kernel(program)
                count = sum(1 for _ in statements(program.body))
        if (count + STAGES.index(stage)) % READ_BACK == 0 and _read_back(program) != show_program(program):
            raise IRError("the text of the program is not that of the program it is read as")
    except IRError as error:
        raise IRError(error.diagnostic.message, f"after the stage `{stage}`", error.span) from error
