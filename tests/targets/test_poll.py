"""Where compiled code looks whether it is to end: between strips of long loops, and not in vector code."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from dataclasses import replace

import llvmlite.binding as llvm
import numpy as np
import pytest

from anadrome.config import Config
from anadrome.kernel_ir.work import PATIENCE
from anadrome.targets import cpu, llvm_threads
from anadrome.targets.cpu_machine import optimised_text, this_machine
from anadrome.targets.llvm_heap import HEAP
from anadrome.targets.llvm_poll import POLL, WAIT
from tests.targets.oracle import agree, compiled, in_lanes

CALL = f"call i1 @{POLL}"


@contextmanager
def time_limit():
    """A call that would last for days is ended after 0.2 seconds by an alarm."""

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    began = time.perf_counter()
    try:
        with pytest.raises(TimeoutError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - began < 5.0


def body_of(text):
    """The function of a program, in the text of its module."""
    return text[text.index("@body(") : text.index("\n}", text.index("@body("))]


def loop(body, params="x: f64 buffer, n: i64", size="n"):
    """A program of one loop over i."""
    return (
        f"fn f({params}) {{ alloc y: f64 global [max(n, 1)] alloc s: f64 local [1] s[0] = 0.0 "
        f"for i in 0 .. {size} sequential {{ {body} }} return y as f64 [n], s[0] as f64 }}"
    )


MAP = "y[i] = mul(exp(x[i]), 2.0)"


# ---------------------------------------------------------------------------- what is written
def test_a_program_without_long_loops_does_not_look():
    assert POLL not in compiled("fn f(a: f64) { return add(exp(a), 1.0) as f64 }").llvm_text
    text = loop("s[0] = add(s[0], 1.0)", params="n: i64", size="1000")
    assert POLL not in compiled(text).llvm_text


def test_a_long_loop_in_lanes_looks_after_many_strips():
    text = in_lanes(loop(MAP)).llvm_text
    optimised = body_of(optimised_text(text, this_machine()))
    vector = optimised[: optimised.index("x double> @")]
    block = optimised[len(vector) : optimised.index("br i1", len(vector))]
    assert CALL not in block and CALL in optimised


def test_constant_loops_look_where_they_are_long():
    few, many = (loop("y[0] = exp(y[0])", params="n: i64", size=size) for size in ("20000", "20000000"))
    assert POLL not in compiled(few).llvm_text
    assert CALL in compiled(many).llvm_text


def test_while_loops_look_in_each_iteration():
    text = """fn f(n: i64) {
      alloc c: i64 local [1]
      c[0] = 0
      while { let h: bool = lt(c[0], n) } test h { c[0] = add(c[0], 1) }
      return c[0] as i64
    }"""
    assert body_of(compiled(text).llvm_text).count(CALL) == 1
    agree(text, 100_000)
    assert compiled(text)([3_000_000]) == [3_000_000]


NESTED = """fn f(x: f64 buffer, n: i64, m: i64) {{
  alloc s: f64 local [1]
  s[0] = 0.0
  for i in 0 .. n sequential {{ for j in 0 .. m sequential {{ {} }} }}
  return s[0] as f64
}}"""


def test_a_cheap_pass_inside_a_loop_is_left_alone():
    cheap = compiled(NESTED.format("s[0] = add~(s[0], x[j])")).llvm_text
    strips = compiled(NESTED.format("s[0] = add(mul(s[0], 0.5), 1.0)")).llvm_text
    assert body_of(cheap).count(CALL) == 1
    assert body_of(strips).count(CALL) == 2


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        ("s[0] = add~(s[0], mul(x[j], to_f64(lane)))", 1),
        ("s[0] = add(mul(s[0], 0.5), to_f64(lane))", 2),  # bounded by no array
        ("s[0] = add~(s[0], x[j]) for k in 0 .. m sequential { s[0] = add~(s[0], x[k]) }", 2),
    ],
    ids=["pass", "recurrence", "pass in a pass"],
)
def test_a_cheap_pass_of_lanes_is_left_alone(body, looks):
    """Who looks is the loop around it: that of strips, or a pass that has another one inside."""
    text = f"""fn f(x: f64 buffer, n: i64, m: i64) {{
      alloc y: f64 global [max(mul(n, 8), 1)]
      for strip in 0 .. n sequential {{
        for lane in 0 .. 8 lanes {{
          alloc s: f64 local [1]
          s[0] = 0.0
          for j in 0 .. m sequential {{ {body} }}
          y[add(mul(strip, 8), lane)] = s[0]
        }}
      }}
      return y as f64 [mul(n, 8)]
    }}"""
    assert body_of(compiled(text).llvm_text).count(CALL) == looks
    agree(text, np.arange(5.0), 2, 5)


def test_worker_threads_look_and_the_main_one_waits():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc out: f64 global [n]
      for t in 0 .. workers threads {
        let lo: i64 = truncdiv(mul(t, n), workers)
        let hi: i64 = truncdiv(mul(add(t, 1), n), workers)
        for i in lo .. hi parallel { out[i] = add(x[i], 1.0) }
      }
      return out as f64 [n]
    }"""
    found = compiled(text).llvm_text
    assert CALL in found[found.index("@threads.") :]
    if this_machine().target.fork_join and "linux" in this_machine().target.triple:
        assert f"call void @{WAIT}" in found


@pytest.mark.parametrize("size", [0, 1, 5, PATIENCE // 2 - 1, PATIENCE // 2, PATIENCE // 2 + 1, PATIENCE + 7])
def test_strips_of_every_length_give_the_whole(size):
    run = compiled(
        """fn f(x: f64 buffer, n: i64) {
          alloc y: f64 global [max(n, 1)]
          alloc c: i64 local [1]
          c[0] = 0
          for i in 0 .. n sequential { y[i] = x[i] c[0] = add(c[0], i) }
          return y as f64 [n], c[0] as i64
        }"""
    )
    x = np.arange(float(size))
    y, total = run([x, size])
    np.testing.assert_array_equal(y, x)
    assert total == size * (size - 1) // 2


def test_bounds_that_are_not_zero_and_loops_that_do_not_run():
    run = compiled(
        """fn f(lo: i64, hi: i64) {
          alloc c: i64 local [2]
          c[0] = 0
          c[1] = 0
          for i in lo .. hi sequential { c[0] = add(c[0], 1) c[1] = add(c[1], i) }
          return c[0] as i64, c[1] as i64
        }"""
    )
    last = 2**63 - 1
    for lo, hi in ((-5, 7), (7, -5), (3, 3), (-(10**6), 10**6), (10**6, 3 * 10**6 + 1), (last - 10**6, last)):
        count, total = run([lo, hi])
        assert (count, total) == (max(hi - lo, 0), int(np.arange(lo, hi).sum()))


def test_a_loop_of_more_iterations_than_the_largest_integer():
    """`hi - lo` wraps; the loop must not be taken for an empty or short one."""
    run = compiled(
        """fn f(lo: i64, hi: i64) {
          alloc s: f64 local [1]
          s[0] = 0.0
          for i in lo .. hi sequential { s[0] = add(mul(s[0], 0.5), 1.0) }
          return s[0] as f64
        }"""
    )
    with time_limit():
        run([-(2**63), 2**63 - 1])
    with time_limit():
        run([-(2**62), 2**62])


# ---------------------------------------------------------------------------- machines that have less
THREADS = """fn f(x: f64 buffer, n: i64, steps: i64) {
  alloc out: f64 global [n]
  for t in 0 .. workers threads {
    let lo: i64 = truncdiv(mul(t, n), workers)
    let hi: i64 = truncdiv(mul(add(t, 1), n), workers)
    for i in lo .. hi parallel { out[i] = x[i] }
    for s in 0 .. steps sequential { for j in lo .. hi parallel { out[j] = add(mul(out[j], 0.5), 1.0) } }
  }
  return out as f64 [n]
}"""


def without_semaphores(monkeypatch):
    """As on a system other than Linux: the main thread waits in the join of the threads' runtime."""
    monkeypatch.setattr(llvm_threads, "has_semaphores", lambda target: False)


def without_threads(monkeypatch):
    """As where no OpenMP runtime is found: loops of threads run on one."""
    machine = this_machine()
    alone = replace(machine, target=replace(machine.target, fork_join=""))
    monkeypatch.setattr(cpu, "this_machine", lambda: alone)


@pytest.mark.interpreted
@pytest.mark.parametrize("change", [without_semaphores, without_threads])
def test_loops_of_threads_end_on_machines_that_have_less(monkeypatch, change):
    change(monkeypatch)
    run = compiled(THREADS, Config(cache=False, threads=2))
    assert "sem_" not in run.llvm_text
    x = np.linspace(0.0, 1.0, 1000)
    expected = x.copy()
    for _ in range(3):
        expected = expected * 0.5 + 1.0
    np.testing.assert_array_equal(run([x, 1000, 3])[0], expected)

    with time_limit():
        run([x, 1000, 10**12])
    np.testing.assert_array_equal(run([x, 1000, 3])[0], expected)


@pytest.mark.parametrize(
    "triple", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-darwin"]
)
def test_the_runtime_is_a_module_on_every_system(triple):
    module = cpu.runtime_module(replace(this_machine().target, triple=triple))
    assert ("sem_timedwait" in module.symbols()) == ("linux" in triple)
    parsed = llvm.parse_assembly(module.text())
    parsed.verify()
    for name in (POLL, *HEAP):
        assert not parsed.get_function(name).is_declaration
    assert ("madvise" in module.symbols()) == ("linux" in triple)
