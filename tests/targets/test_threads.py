"""Loops run by worker threads: results, what they capture, and life after `fork`."""

import os
import signal

import numpy as np
import pytest

from anadrome.config import Config
from anadrome.targets.cpu_machine import this_machine
from tests.targets.oracle import agree, compiled

THREADS = Config(cache=False, threads=4)

SQUARES = """fn squares(x: f64 buffer, n: i64, c: f64) {
  alloc out: f64 global [n]
  alloc used: i64 global [workers]
  view shifted = out [0]
  for t in 0 .. workers threads {
    used[t] = t
    let lo: i64 = truncdiv(mul(t, n), workers)
    let hi: i64 = truncdiv(mul(add(t, 1), n), workers)
    alloc own: f64 global [max(sub(hi, lo), 1)]
    alloc factor: f64 local [1]
    factor[0] = c
    for i in lo .. hi parallel { own[sub(i, lo)] = mul(x[i], x[i]) }
    for j in lo .. hi parallel { shifted[j] = mul(own[sub(j, lo)], factor[0]) }
  }
  return out as f64 [n], workers as i64, used as i64 [workers]
}
"""


def test_threads_share_the_work():
    run = compiled(SQUARES, THREADS)
    for n in (0, 1, 3, 1000):
        x = np.linspace(0, 1, n)
        got, workers, used = run([x, n, 3.0])
        np.testing.assert_allclose(got, x * x * 3.0, rtol=1e-15)
        assert workers == 4
        assert used.tolist() == [0, 1, 2, 3]


def test_loops_of_more_iterations_than_workers_and_of_none():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc out: f64 global [n]
      for i in 0 .. n threads { out[i] = add(x[i], 1.0) }
      return out as f64 [n]
    }"""
    for n in (0, 1, 5, 200):
        agree(text, np.arange(float(n)), n, config=THREADS)


def test_swapped_buffers_and_atomics_in_threads():
    text = """fn f(x: f64 buffer, n: i64) {
      alloc a: f64 global [n]
      alloc b: f64 global [n]
      alloc total: f64 global [1]
      copy a [n] = x
      total[0] = 0.0
      for s in 0 .. 3 sequential {
        for i in 0 .. n threads {
          b[i] = add(a[i], a[mod(add(i, 1), n)])
          atomic add total[0] = a[i]
        }
        swap a, b
      }
      return a as f64 [n], total[0] as f64
    }"""
    agree(text, np.arange(50.0), 50, config=THREADS)


def test_a_threads_loop_inside_another_runs_on_its_thread():
    text = """fn f(n: i64) {
      alloc out: i64 global [mul(n, n)]
      for i in 0 .. n threads { for j in 0 .. n threads { out[add(mul(i, n), j)] = sub(i, j) } }
      return out as i64 [n, n]
    }"""
    agree(text, 7, config=THREADS)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_after_threads_were_used_does_not_hang():
    run = compiled(SQUARES, THREADS)
    x = np.linspace(0, 1, 1000)
    run([x, 1000, 1.0])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        status = 1
        try:
            got, workers, _ = run([x, 1000, 2.0])
            status = 0 if workers == 1 and np.allclose(got, 2 * x * x) else 2
        finally:
            os.write(writer, bytes([status]))
            os._exit(status)
    os.close(writer)
    assert os.read(reader, 1) == b"\0"
    os.close(reader)
    os.waitpid(child, 0)
    assert run([x, 1000, 1.0])[1] == 4


def test_this_machine_has_a_fork_join_runtime_or_says_so():
    symbol = this_machine().target.fork_join
    if not symbol:
        pytest.skip("no OpenMP runtime on this machine: parallel loops run on one thread")
    assert symbol in compiled(SQUARES, THREADS).llvm_text
