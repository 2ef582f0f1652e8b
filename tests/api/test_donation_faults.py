"""Donated arguments when a call fails, is ended by a signal, or runs beside others."""

from __future__ import annotations

import gc
import signal
import threading

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.api import DonatedArray
from anadrome.errors.runtime import IndexOutOfBounds
from tests.api.test_donation import ONE, N, bumped, heat


def test_after_an_error_the_memory_is_still_there():
    f = ad.jit(lambda x, i: bumped(x, 0, 1.0)[i] * x, donate_argnums=0)
    for _ in range(20):
        x = np.ones(N)
        with pytest.raises(IndexOutOfBounds):
            f(x, N)
        assert np.isfinite(x).all()
        with pytest.raises(DonatedArray):
            f(x, 0)
    assert f(np.ones(N), 0)[1] == 2.0


def test_a_call_that_is_refused_gives_nothing_away():
    f = ad.jit(lambda x, y: x + y, donate_argnums=0)
    x = np.ones(N)
    with pytest.raises(TypeError, match="expected an array"):
        f(x, np.ones(N, np.float16))
    assert x.flags.writeable
    assert (f(x, np.ones(N)) == 2.0).all()


def test_an_error_between_two_exchanges():
    def f(u, steps):
        for i in range(steps):
            u = u[::-1] + 0.5 * u
            assert u[0] < 1e3
        return u

    g = ad.jit(f, donate_argnums=0, config=ONE)
    for steps in (1, 2, 3, 50, 4, 60, 5):
        u = np.ones(20_000)
        if steps < 10:
            np.testing.assert_allclose(g(u, steps), 1.5**steps)
        else:
            with pytest.raises(AssertionError):
                g(u, steps)
        u = None
        gc.collect()


def test_a_signal_ends_a_call():
    class Late(Exception):
        pass

    def handler(*_):
        raise Late

    g = ad.jit(heat, donate_argnums=0, config=ONE)
    g(np.ones(N), 1)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(3):
            u = np.ones(200_000)
            signal.setitimer(signal.ITIMER_REAL, 0.15)
            with pytest.raises(Late):
                g(u, 10**9)
            assert np.isfinite(u).all()
            u = None
            gc.collect()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(g(np.ones(N), 3), 1.0)


def test_of_several_threads_one_may_have_an_array():
    step = ad.jit(heat, donate_argnums=0, config=ONE)
    step(np.ones(N), 1)
    for _ in range(30):
        x = np.ones(N)
        barrier, outcomes = threading.Barrier(4), []

        def run(x=x, barrier=barrier, outcomes=outcomes):
            barrier.wait()
            try:
                outcomes.append(float(np.sum(step(x, 5))))
            except DonatedArray:
                outcomes.append(None)

        workers = [threading.Thread(target=run) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(outcomes, key=lambda one: one is None) == [pytest.approx(N), None, None, None]


def test_each_thread_with_arrays_of_its_own():
    step = ad.jit(heat, donate_argnums=0, config=ONE)
    found = {}

    def run(number):
        u = np.full(20_000, float(number))
        for _ in range(40):
            u = step(u, number % 4)
        found[number] = u

    workers = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for number, u in found.items():
        np.testing.assert_allclose(u, float(number))
