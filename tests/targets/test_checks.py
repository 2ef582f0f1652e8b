"""Run-time checks on the CPU: which failure is reported, with which values, and that nothing crashes."""

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.errors import Span
from anadrome.errors.runtime import AssertionFailed, IndexOutOfBounds, OutOfMemory
from anadrome.targets.cpu_machine import optimised_text, this_machine
from anadrome.targets.llvm_scope import MANY_ARRAYS
from tests.targets.oracle import compiled, in_lanes

GATHER = """fn gather(x: f64 buffer, n: i64, at: i64 buffer, m: i64) {
  alloc out: f64 global [m]
  for i in 0 .. m parallel {
    let j: i64 = at[i]
    check 0: and(ge(j, 0), lt(j, n)), j, n
    out[i] = x[min(max(j, 0), sub(n, 1))]
  }
  return out as f64 [m]
}
failure index "index {0} is outside of {1}" at "user.py" 4 2 9
"""


def test_a_check_that_holds_costs_nothing_but_time():
    run = compiled(GATHER)
    x, at = np.arange(10.0), np.array([3, 0, 9, 9] * 20)
    (got,) = run([x, 10, at, len(at)])
    assert np.array_equal(got, x[at])


@pytest.mark.parametrize("position", [0, 1, 40, 79])
@pytest.mark.parametrize("bad", [-1, 10, 2**62, -(2**62)])
def test_a_check_that_fails_names_value_and_line(position, bad):
    run = compiled(GATHER)
    at = np.array([3, 0, 9, 9] * 20)
    at[position] = bad
    with pytest.raises(IndexOutOfBounds, match=f"index {bad} is outside of 10") as caught:
        run([np.arange(10.0), 10, at, len(at)])
    assert caught.value.span == Span("user.py", 4, 2, 9)
    at[position] = 5
    assert run([np.arange(10.0), 10, at, len(at)])[0][position] == 5.0


def test_loops_with_checks_still_become_vector_code():
    run = in_lanes(GATHER)
    assert "x double>" in optimised_text(run.llvm_text, this_machine())
    x, at = np.arange(10.0), np.array([3, 0, 9, 9] * 20)
    assert np.array_equal(run([x, 10, at, len(at)])[0], x[at])
    at[41] = 17
    with pytest.raises(IndexOutOfBounds, match="index 17 is outside of 10"):
        run([x, 10, at, len(at)])


def test_an_index_into_nothing_fails_and_does_not_crash():
    run = compiled(GATHER)
    with pytest.raises(IndexOutOfBounds, match="index 3 is outside of 0"):
        run([np.arange(10.0)[10:], 0, np.array([3]), 1])


def test_several_failing_iterations_report_one_of_them():
    run = compiled(GATHER)
    at = np.array([3, 12, 17, 9, 99])
    with pytest.raises(IndexOutOfBounds) as caught:
        run([np.arange(10.0), 10, at, len(at)])
    assert any(f"index {bad} is" in str(caught.value) for bad in (12, 17, 99))


def test_the_first_of_several_checks_wins_in_order():
    run = compiled(
        """fn f(a: f64, b: f64) {
          check 0: gt(a, 0.0), a
          check 1: gt(b, 0.0), b, a
          return add(a, b) as f64
        }
        failure assert "a = {0}"
        failure assert "b = {0}, a = {1}"
        """
    )
    assert run([1.0, 2.0]) == [3.0]
    with pytest.raises(AssertionFailed, match=r"a = -1\.0"):
        run([-1.0, -2.0])
    with pytest.raises(AssertionFailed, match=r"b = -2\.5, a = 1\.0"):
        run([1.0, -2.5])


def test_values_of_every_kind_are_reported():
    run = compiled(
        """fn f(a: f32, b: bool, c: u8, d: i8, n: i64) {
          for i in 0 .. n sequential { for j in 0 .. n sequential { check 0: lt(i, 2), a, b, c, d, i, j } }
          return a as f64
        }
        failure assert "{0} {1} {2} {3} {4} {5}"
        """.replace("return a as f64", "return a as f32")
    )
    with pytest.raises(AssertionFailed, match=r"0\.5 True 200 -100 2 0"):
        run([0.5, True, 200, -100, 5])


def test_float_values_are_reported_from_vector_loops():
    run = compiled(
        """fn f(x: f64 buffer, n: i64) {
          for i in 0 .. n parallel { check 0: lt(x[i], 1.0), x[i] }
          return 0.0 as f64
        }
        failure assert "got {0}"
        """
    )
    x = np.zeros(100)
    run([x, 100])
    for value in (1.5, np.inf, 3e300):
        x[57] = value
        with pytest.raises(AssertionFailed, match=f"got {value}".replace("+", r"\+")):
            run([x, 100])
    x[57] = -np.nan
    with pytest.raises(AssertionFailed, match="got nan"):
        run([x, 100])


def test_a_failing_check_ends_a_while_loop_that_would_not():
    run = compiled(
        """fn f(n: i64) {
          alloc k: i64 local [1]
          k[0] = 0
          while { } test ge(k[0], 0) {
            for i in 0 .. 3 parallel { check 0: lt(k[0], n), k[0] }
            k[0] = add(k[0], 1)
          }
          return k[0] as i64
        }
        failure assert "stopped at {0}"
        """
    )
    with pytest.raises(AssertionFailed, match="stopped at 1000"):
        run([1000])


OTHERS = ("", " ".join(f"alloc o{k}: f64 global [n] free o{k}" for k in range(MANY_ARRAYS)))
"""Nothing, and so many arrays that all are held side by side in memory."""


@pytest.mark.parametrize("others", OTHERS, ids=("few", "many"))
def test_memory_held_at_a_failure_is_freed(others):
    run = compiled(
        f"""fn f(n: i64) {{
          {others}
          alloc a: f64 global [n]
          fill a [n] = 1.0
          for i in 0 .. 3 sequential {{
            alloc b: f64 global [n]
            fill b [n] = 1.0
            check 0: lt(i, 2)
          }}
          return a as f64 [n]
        }}
        failure assert "no"
        """
    )
    before = resident_pages()
    for _ in range(200):
        with pytest.raises(AssertionFailed):
            run([1 << 18])
    assert resident_pages() - before < 100 * 512


def resident_pages():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1])


@pytest.mark.parametrize("others", OTHERS, ids=("few", "many"))
@pytest.mark.parametrize("size", [-1, -(2**63), 2**62, 2**50, 2**44])
def test_memory_that_does_not_exist_is_an_error_and_the_next_call_works(size, others):
    text = f"fn f(m: i64, n: i64) {{ {others} alloc a: f64 global [m] return a as f64 [1], m as i64 }}"
    run = compiled(text)
    with pytest.raises(OutOfMemory, match="needs memory for"):
        run([size, 7])
    assert run([5, 7])[1] == 5


def test_a_nest_that_runs_again_forgets_the_indices_it_has_seen():
    """The limit falls from run to run: what was inside before would be outside now."""
    run = compiled(
        """fn f(x: f64 buffer, n: i64, more: i64) {
          alloc y: f64 global [8]
          alloc k: i64 local [1]
          k[0] = n
          while {
          } test ge(k[0], 0) {
            let m: i64 = k[0]
            for i in 0 .. add(m, more) parallel {
              let inside: bool = and(ge(i, 0), lt(i, m))
              check 0: inside, i, m
              y[select(inside, i, 0)] = x[i]
            }
            k[0] = sub(m, 1)
          }
          return y as f64 [8]
        }
        failure index "index {0} of {1}"
        """
    )
    x = np.arange(9.0)
    assert np.array_equal(run([x, 8, 0])[0], x[:8])
    with pytest.raises(IndexOutOfBounds, match="index 8 of 8"):
        run([x, 8, 1])
    with pytest.raises(IndexOutOfBounds, match="index 0 of 0"):
        run([x, 0, 1])


@pytest.mark.parametrize("threads", [1, 3])
def test_failures_in_threads_are_reported_once(threads):
    run = compiled(
        """fn f(x: f64 buffer, n: i64, size: i64) {
          alloc out: f64 global [n]
          for t in 0 .. workers threads {
            alloc own: f64 global [size]
            for i in truncdiv(mul(t, n), workers) .. truncdiv(mul(add(t, 1), n), workers) parallel {
              check 0: lt(x[i], 1.0), x[i], i
              out[i] = x[i]
            }
          }
          return out as f64 [n]
        }
        failure assert "{0} at {1}"
        """,
        Config(cache=False, threads=threads),
    )
    x = np.zeros(1000)
    assert np.array_equal(run([x, 1000, 8])[0], x)
    x[[0, 500, 999]] = [2.0, 3.0, 4.0]
    for _ in range(20):
        with pytest.raises(AssertionFailed, match=r"(2\.0 at 0|3\.0 at 500|4\.0 at 999)"):
            run([x, 1000, 8])
    with pytest.raises(OutOfMemory):
        run([np.zeros(1000), 1000, 2**50])
