"""Children of `fork` work, whatever other threads of their parent did: real processes, real threads."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np
import pytest

import anadrome as ad
from anadrome.api import call
from anadrome.compile import uncollected
from anadrome.config import Config
from anadrome.targets import cpu_machine

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

PLAIN = Config(cache=False, verify=False)
X = np.linspace(0.0, 1.0, 50)


def scaled(x, c):
    return np.sum(np.sin(x) * c + np.exp(x * c))


def cosines(x):
    return np.sum(np.cos(x))


def in_child(work: Callable[[], object], seconds: float = 60.0) -> int:
    """The exit status of a child that does some work: 0, 1 after an error, -9 where it hung."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Compiling:
    """A thread that compiles one program after another."""

    def __init__(self, compiled: Callable[..., object]) -> None:
        self.compiled = compiled
        self.made = 0
        self.is_ended = False
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self.is_ended:
            self.made += 1
            self.compiled(X, float(self.made))

    def __enter__(self) -> Compiling:
        self.thread.start()
        while self.made < 2:
            time.sleep(0.001)
        return self

    def __exit__(self, *error: object) -> None:
        self.is_ended = True
        self.thread.join()


def test_children_compile_while_a_thread_of_the_parent_compiles():
    shared = ad.jit(scaled, config=PLAIN, static_argnums=1)

    def work() -> None:
        fresh = ad.jit(cosines, config=PLAIN)
        assert fresh(X) == pytest.approx(np.sum(np.cos(X)))
        assert ad.grad(fresh)(X) == pytest.approx(-np.sin(X))
        assert shared(X, -1.0) == pytest.approx(np.sum(np.exp(-X) - np.sin(X)))
        assert gc.isenabled()

    with Compiling(shared) as compiling:
        for number in range(15):
            time.sleep(0.004 * (number % 7))
            assert in_child(work) == 0
        before = compiling.made
        while compiling.made < before + 2:  # the parent goes on
            time.sleep(0.001)
    assert gc.isenabled()


def test_children_allocate_while_threads_of_the_parent_do():
    """The list of kept memory may be in anyone's hands when the child is made."""
    doubled = ad.jit(lambda x: 2.0 * x, config=PLAIN)
    x = np.arange(20_000.0)
    is_ended = threading.Event()

    def allocating() -> None:
        while not is_ended.is_set():
            doubled(x)

    def work() -> None:
        for number in range(20):
            np.testing.assert_array_equal(doubled(x + number), 2.0 * (x + number))

    threads = [threading.Thread(target=allocating) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert [in_child(work) for _ in range(20)] == [0] * 20
    finally:
        is_ended.set()
        for thread in threads:
            thread.join()


def test_a_thread_may_fork_while_the_main_thread_compiles():
    shared = ad.jit(scaled, config=PLAIN, static_argnums=1)
    found: list[int] = []

    def fork() -> None:
        for _ in range(5):
            found.append(in_child(lambda: shared(X, 0.5)))

    thread = threading.Thread(target=fork)
    thread.start()
    number = 0
    while thread.is_alive():
        number += 1
        shared(X, float(number))
    thread.join()
    assert found == [0] * 5


def test_a_fork_while_a_thread_makes_a_program_of_the_same_function(monkeypatch):
    function = ad.jit(cosines, config=PLAIN)
    is_inside, may_go_on = threading.Event(), threading.Event()
    make = call.make_program

    def wait(*args: object) -> object:
        if threading.current_thread() is not threading.main_thread():
            with uncollected():
                is_inside.set()
                may_go_on.wait()
        return make(*args)

    monkeypatch.setattr(call, "make_program", wait)
    thread = threading.Thread(target=function, args=(X,))
    thread.start()
    is_inside.wait()
    assert not gc.isenabled()

    def work() -> None:
        assert gc.isenabled()
        assert function(X) == pytest.approx(np.sum(np.cos(X)))
        assert gc.isenabled()
        assert in_child(lambda: function(X[:30])) == 0

    try:
        assert in_child(work, 30.0) == 0
    finally:
        may_go_on.set()
        thread.join()
    assert gc.isenabled()
    assert function(X) == pytest.approx(np.sum(np.cos(X)))


def test_a_fork_waits_until_no_thread_is_in_llvm():
    ad.jit(cosines, config=PLAIN)(X)
    assert cpu_machine._LLVM is llvm.ffi.lib._lock
    is_inside = threading.Event()
    inside: list[float] = []

    def use() -> None:
        with cpu_machine.using_llvm():
            is_inside.set()
            time.sleep(0.3)
            inside.append(time.monotonic())

    thread = threading.Thread(target=use)
    thread.start()
    is_inside.wait()
    assert in_child(lambda: ad.jit(lambda x: cosines(x) + 1.0, config=PLAIN)(X), 30.0) == 0
    thread.join()
    assert inside


def test_a_thread_that_compiles_may_fork():
    with uncollected():

        def work() -> None:
            assert not gc.isenabled()
            ad.jit(cosines, config=PLAIN)(X)

        assert in_child(work) == 0
        assert not gc.isenabled()
    assert gc.isenabled()


def test_the_collector_rests_until_the_last_thread_is_done():
    is_inside, may_go_on = threading.Event(), threading.Event()

    def rest() -> None:
        with uncollected():
            is_inside.set()
            may_go_on.wait()

    thread = threading.Thread(target=rest)
    with uncollected(), uncollected():
        thread.start()
        is_inside.wait()
    assert not gc.isenabled()
    may_go_on.set()
    thread.join()
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_children_of_a_parent_whose_threads_are_running():
    """One thread is inside a parallel loop when the child is made; the child's loops run on one thread."""
    parallel = ad.jit(lambda x: np.sum(np.sin(x) * np.exp(x)), config=Config(cache=False, threads=2))
    large = np.linspace(0.0, 1.0, 2_000_000)
    expected = parallel(large)
    is_ended = threading.Event()

    def run() -> None:
        while not is_ended.is_set():
            parallel(large)

    thread = threading.Thread(target=run)
    thread.start()

    def work() -> None:
        assert parallel(large) == pytest.approx(expected, rel=1e-12)
        assert in_child(lambda: parallel(large)) == 0

    try:
        for _ in range(5):
            assert in_child(work) == 0
    finally:
        is_ended.set()
        thread.join()
    assert parallel(large) == pytest.approx(expected, rel=1e-12)


def _in_pool(number: int) -> float:
    return float(ad.jit(lambda x: cosines(x) * number, config=PLAIN)(X))


def test_a_pool_of_forked_processes():
    shared = ad.jit(scaled, config=PLAIN, static_argnums=1)
    with Compiling(shared), multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(_in_pool, range(6)).get(timeout=120)
    assert found == pytest.approx([number * np.sum(np.cos(X)) for number in range(6)])
