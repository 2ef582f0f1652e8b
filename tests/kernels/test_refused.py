"""What kernels may not do, and what comes near to it and is right."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from tests.kernels.launching import after


@ad.kernel
def waits(flag, x):
    while flag[0] == 0:
        pass
    x[0] = 1.0


@ad.kernel
def waits_in_a_loop(flag, x):
    while True:
        ad.threadfence()
        if flag[0] != 0:
            break
    x[0] = 1.0


@ad.kernel
def waits_at_a_barrier(flag, x):
    seen = flag[0]
    while seen < 3:
        ad.syncthreads()
        seen = flag[0]
    x[0] = 1.0


@pytest.mark.parametrize("kernel", [waits, waits_in_a_loop, waits_at_a_barrier])
def test_waiting_for_another_thread_is_refused(kernel):
    with pytest.raises(NotImplementedError, match="waits for what another thread writes"):
        kernel[1, 1](np.zeros(1, np.int64), np.zeros(1))


@ad.kernel
def counts(flag, x):
    tries = 0
    while flag[0] == 0 and tries < 5:
        tries += 1
    x[0] = tries


@ad.kernel
def moves(flag, x):
    i = 0
    while flag[i] == 0:
        i += 1
    x[0] = i


@ad.kernel
def changes(flag, x):
    while flag[0] < 4:
        flag[0] += 1
    x[0] = flag[0]


@ad.kernel
def takes_tickets(flag, x):
    while True:
        ticket = ad.atomic.add(flag, 0, 1)
        if ticket >= 4:
            break
        x[ticket] = ticket


@pytest.mark.parametrize(("kernel", "expected"), [(counts, 5), (moves, 3), (changes, 4), (takes_tickets, 0)])
def test_loops_that_end_by_themselves(kernel, expected):
    flag = np.zeros(4, np.int64)
    flag[3] = kernel is moves
    found = after(kernel, (1, 1), flag, np.zeros(4))
    assert found[-1][0] == expected


@ad.kernel
def exchanges(x):
    one, two = ad.shared.array(4, np.float64), ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    one[t], two[t] = 1.0, 2.0
    for _ in range(len(x)):
        one, two = two, one
    ad.syncthreads()
    x[t] = one[t]


@ad.kernel
def chooses(x):
    one, two = ad.shared.array(4, np.float64), ad.shared.array(4, np.float64)
    t = ad.threadIdx.x
    part = one if x[t] > 0.0 else two
    part[t] = 1.0
    ad.syncthreads()
    x[t] = one[t] + two[t]


@ad.kernel
def masks(x):
    part = ad.shared.array(4, np.float64)
    part[np.arange(4) > 2] = 1.0
    ad.syncthreads()
    x[ad.threadIdx.x] = part[ad.threadIdx.x]


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (exchanges, "cannot follow this write"),
        (chooses, "cannot be copied or exchanged"),
        (masks, "cannot be copied or exchanged"),
    ],
)
def test_memory_that_would_be_copied_is_refused(kernel, words):
    with pytest.raises(ad.AnadromeError, match=words):
        kernel[1, 4](np.ones(40))


def test_a_large_local_array_is_refused():
    @ad.kernel
    def kernel(x):
        own = ad.local.array(9000, np.float64)
        i = ad.grid(1)
        own[i] = x[i]
        x[i] = own[2 * i]

    with pytest.raises(NotImplementedError, match="whose size is not a constant, or is large"):
        kernel[1, 4](np.ones(40))


def test_buffers_that_change_roles_by_an_index():
    @ad.kernel
    def smooth(x, steps):
        both = ad.shared.array((2, 8), np.float64)
        t = ad.threadIdx.x
        both[0, t] = x[t]
        ad.syncthreads()
        for k in range(steps):
            now, then = k % 2, (k + 1) % 2
            both[then, t] = 0.5 * (both[now, t] + both[now, (t + 1) % 8])
            ad.syncthreads()
        x[t] = both[steps % 2, t]

    x = np.arange(8.0)
    (found,) = after(smooth, (1, 8), x, 3)
    for _ in range(3):
        x = 0.5 * (x + np.roll(x, -1))
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x: ad.shared.array(4, "some"), TypeError, "its type is 'some'"),
        (lambda x: ad.shared.array((4, 0), np.float64), TypeError, r"its shape is \(4, 0\)"),
        (lambda x: ad.local.array(0, np.float64), TypeError, r"its shape is \(0,\)"),
        (lambda x: ad.local.array(2.0, np.float64), TypeError, "its shape is 2.0"),
        (lambda x: ad.grid(4), TypeError, "the argument of `ad.grid` cannot be 4"),
        (lambda x: ad.atomic.add(x, 0, "a"), TypeError, "its value is 'a'"),
        (lambda x: ad.atomic.add(x, slice(2), 1.0), TypeError, "names no single element"),
        (lambda x: ad.atomic.add(ad.local.array(2, np.float64), 0, 1.0), TypeError, "the thread's own"),
        (lambda x: ad.shfl_sync(1.5, x[0], 0), TypeError, "the mask cannot be 1.5"),
        (lambda x: ad.shfl_sync(1, x, 0), TypeError, "the value of `ad.shfl_sync` cannot be"),
        (lambda x: [ad.shfl_sync(1, one, 0) for one in x], NotImplementedError, "in a comprehension"),
        (lambda x: print(x[0]), TypeError, "the threads of a kernel run in any order"),
        (lambda x: ad.syncthreads(1), TypeError, "ad.syncthreads"),
    ],
)
def test_operations_that_are_refused(call, error, words):
    @ad.kernel
    def kernel(x):
        found = call(x)
        if found is not None:
            x[0] = 1.0

    with pytest.raises(error, match=words) as caught:
        kernel[1, 4](np.ones(40))
    assert caught.value.span is not None


def test_two_dynamic_arrays_are_refused():
    @ad.kernel
    def kernel(x):
        one, two = ad.shared.array(0, np.float64), ad.shared.array(0, np.int32)
        one[0], two[0] = 1.0, 2

    with pytest.raises(TypeError, match="a block has one dynamic part"):
        kernel[1, 1, None, 64](np.ones(1))


def test_a_generator_is_no_kernel():
    @ad.kernel
    def kernel(x):
        x[0] = 1.0
        yield x

    with pytest.raises(NotImplementedError, match="`yield` is not supported in a kernel"):
        kernel[1, 1](np.ones(1))


def test_a_captured_array_is_not_written():
    around = np.ones(5000)

    @ad.kernel
    def kernel(x):
        around[ad.grid(1)] = x[ad.grid(1)]

    with pytest.raises(ValueError, match="cannot write into an array"):
        kernel[1, 1](np.ones(1))


@pytest.mark.parametrize(
    "extents", [(0, 1), (1, 0), (1, 1025), (1, (1, 1, 65)), ((1, 65536), 1), (1, 1, None, -1), (2**31, 1)]
)
def test_extents_are_refused_at_once_and_at_run_time(extents):
    @ad.kernel
    def kernel(x):
        x[0] = 1.0

    x = np.zeros(1)
    with pytest.raises(ValueError, match="cannot launch"):
        kernel[extents](x)
    np.testing.assert_array_equal(x, 0.0)

    def program(blocks, threads, shared):
        y = np.zeros(1)
        kernel[blocks, threads, None, shared](y)
        return y

    with pytest.raises(ValueError, match="cannot launch"):
        ad.jit(program)(extents[0], extents[1], extents[3] if len(extents) > 3 else 0)
