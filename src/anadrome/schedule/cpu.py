"""Loops in the place of every launch of a host program.

The blocks of a launch are numbered, x running fastest, and run in that order; `block` says what a block is,
`warps` a warp, `workers` who runs them.

Before:
    kernel axpy(n: i64, a: f64, x: f64 buffer [n], y: f64 buffer [n])
    at gx gy gz, bx by bz, ix iy iz, tx ty tz, bytes {
      let i: i64 = add(mul(ix, bx), tx)
      y[i] = add(y[i], mul(a, x[i]))
    }
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      launch axpy [blocks, 1, 1] [128, 1, 1] [0] (n, 2.0, x, y)
      return y as f64 [n]
    }
After:
    fn main(n: i64, blocks: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      view x_1 [n] = x [0]
      view y_1 [n] = y [0]
      for block in 0 .. blocks sequential {
        for tx in 0 .. 128 parallel {
          let i: i64 = add(mul(block, 128), tx)
          y_1[i] = add(y_1[i], mul(2.0, x_1[i]))
        }
      }
      return y as f64 [n]
    }

"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anadrome.config import Config
from anadrome.kernel_ir.nodes import Binding, For, Function, If, Launch, Stmt, While
from anadrome.kernel_ir.text import names_of
from anadrome.kernel_ir.walk import bodies, kernels
from anadrome.prims.node import replace
from anadrome.schedule.failures import Failures
from anadrome.schedule.fuse import fused
from anadrome.schedule.idioms import with_idioms
from anadrome.schedule.launch import emit_launch
from anadrome.schedule.loops import Choice, Chooser, choose, scheduled_loops
from anadrome.schedule.peephole import simplify
from anadrome.schedule.report import Plan, plan_of


@dataclass(frozen=True, slots=True, eq=False)
class Scheduled:
    """A program as it is to run, as it was before its loops were rewritten, and the choices for them."""

    function: Function
    before: Function
    choices: tuple[Choice, ...]
    vector_bits: int

    @property
    def plan(self) -> Plan:
        """The choices with what each nest computes and reaches."""
        return plan_of(self.before, self.choices, self.vector_bits, names_of(self.before))


def schedule_cpu(fn: Function, config: Config, vector_bits: int = 0, chooser: Chooser = choose) -> Scheduled:
    """The host program with loops in the place of its launches, some in the lanes of vectors this long."""
    if kernels(fn):
        scheduler = _Scheduler(fn, config, vector_bits)
        body = scheduler.body(fn.body, is_parallel=False)
        fn = replace(fn, body=body, failures=scheduler.failures.all())
    before = fused(with_idioms(simplify(fn)))
    function, choices = scheduled_loops(before, vector_bits, chooser)
    return Scheduled(function, before, choices, vector_bits)


class _Scheduler:
    """A walk over the host program."""

    def __init__(self, fn: Function, config: Config, vector_bits: int) -> None:
        self.workers = config.workers
        self.vector_bits = vector_bits
        self.failures = Failures(fn.failures)

    def body(self, stmts: Iterable[Stmt], *, is_parallel: bool) -> tuple[Stmt, ...]:
        """Statements in order; `is_parallel` inside of a parallel loop."""
        found: list[Stmt] = []
        for stmt in stmts:
            self._statement(stmt, is_parallel, found)
        return tuple(found)

    def _statement(self, stmt: Stmt, is_parallel: bool, found: list[Stmt]) -> None:
        match stmt:
            case Launch():
                workers = 1 if is_parallel else self.workers
                emit_launch(stmt, self.failures, workers, self.vector_bits, found)
            case If(condition=condition, then=then, other=other):
                then = self.body(then, is_parallel=is_parallel)
                found.append(If(condition, then, self.body(other, is_parallel=is_parallel)))
            case For(binding=binding):
                inner = self.body(stmt.body, is_parallel=is_parallel or binding is not Binding.SEQUENTIAL)
                found.append(replace(stmt, body=inner))
            case While(prelude=prelude, body=body):
                prelude = self.body(prelude, is_parallel=is_parallel)
                found.append(replace(stmt, prelude=prelude, body=self.body(body, is_parallel=is_parallel)))
            case _:
                assert not bodies(stmt)
                found.append(stmt)
