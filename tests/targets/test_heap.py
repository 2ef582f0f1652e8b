"""The heap of the runtime, called as compiled code calls it, and what programs see of it."""

from __future__ import annotations

import ctypes
import gc
import os
import threading
from dataclasses import dataclass, field

import llvmlite.binding as llvm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anadrome as ad
from anadrome.config import Config
from anadrome.targets import llvm_heap
from anadrome.targets.cpu import runtime
from anadrome.targets.llvm_heap import ALLOCATE, ENTRIES, LEAST_KEPT, LIMIT

ONE = Config(threads=1)
LARGE = 1 << 20


@pytest.fixture(autouse=True)
def an_empty_heap():
    """Nothing is kept before a test, and as much as ever may be afterwards."""
    gc.collect()
    runtime(ONE).keep(LIMIT)
    yield
    gc.collect()
    runtime(ONE).keep(LIMIT)


def allocate(count, each=1):
    """Memory as a program takes it; its address, or None."""
    runtime(ONE)
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(
        llvm.address_of_symbol(ALLOCATE)
    )
    return function(count, each)


def kept():
    """The bytes that are kept, which gives them back."""
    return runtime(ONE).keep(-1)


def block(size):
    """The bytes that a block for `size` bytes has."""
    return size + llvm_heap.HEADER + 127 & -64


@dataclass
class Held:
    """A block that is held, filled with a number of its own."""

    address: int
    size: int
    mark: int
    bytes: np.ndarray = field(init=False)

    def __post_init__(self):
        self.bytes = np.ctypeslib.as_array((ctypes.c_uint8 * self.size).from_address(self.address))
        self.bytes[:] = self.mark


SIZES = st.sampled_from(
    [1, 63, 4096, LEAST_KEPT - 300, LEAST_KEPT, 70_000, 75_000, LARGE, LARGE + 4096, 5 << 20]
)


@given(st.lists(st.tuples(SIZES, st.integers(0, 5)), max_size=40), st.sampled_from([0, LARGE, LIMIT]))
def test_blocks_are_apart_and_keep_what_is_in_them(steps, limit):
    runtime(ONE).keep(limit)
    held = []
    for mark, (size, which) in enumerate(steps):
        if which < len(held) and mark % 2:
            found = held.pop(which)
            assert (found.bytes == found.mark).all()
            runtime(ONE).release(found.address)
        else:
            address = allocate(size)
            assert address % 64 == 0
            held.append(Held(address, size, mark % 251))
    for found in held:
        assert (found.bytes == found.mark).all()
        runtime(ONE).release(found.address)
    assert kept() <= limit


def test_a_block_is_handed_out_again():
    first = allocate(LARGE)
    runtime(ONE).release(first)
    assert allocate(LARGE) == first
    runtime(ONE).release(first)
    assert allocate(LARGE * 9 // 10) == first
    runtime(ONE).release(first)
    assert kept() == block(LARGE)


@pytest.mark.parametrize("size", [LARGE + 4096, LARGE // 2], ids=["too large", "much too small"])
def test_a_block_is_not_handed_out_for(size):
    first = allocate(LARGE)
    runtime(ONE).release(first)
    other = allocate(size)
    assert other != first
    runtime(ONE).release(other)
    assert kept() == block(LARGE) + block(size)


def test_the_smallest_that_fits_is_taken_and_of_these_the_last():
    blocks = {
        size: [allocate(size) for _ in range(2)] for size in (LARGE + 8192, LARGE + 4096, LARGE + 16384)
    }
    for pair in blocks.values():
        for address in pair:
            runtime(ONE).release(address)
    assert allocate(LARGE) == blocks[LARGE + 4096][1]
    assert allocate(LARGE) == blocks[LARGE + 4096][0]
    assert allocate(LARGE) == blocks[LARGE + 8192][1]
    for address in (*blocks[LARGE + 4096], blocks[LARGE + 8192][1]):
        runtime(ONE).release(address)


def test_the_oldest_leave_first():
    runtime(ONE).keep(3 * block(LARGE))
    addresses = [allocate(LARGE) for _ in range(4)]
    for address in addresses:
        runtime(ONE).release(address)
    again = [allocate(LARGE) for _ in range(3)]
    assert again == addresses[:0:-1]
    for address in again:
        runtime(ONE).release(address)


def test_no_more_blocks_than_entries():
    addresses = [allocate(LEAST_KEPT) for _ in range(ENTRIES + 9)]
    for address in addresses:
        runtime(ONE).release(address)
    assert kept() == ENTRIES * block(LEAST_KEPT)


def test_small_blocks_and_larger_ones_than_may_be_kept_go_at_once():
    runtime(ONE).keep(LARGE)
    for size in (100, LEAST_KEPT - 300, 2 * LARGE):
        runtime(ONE).release(allocate(size))
    assert kept() == 0


def test_nothing_is_released_for_nothing():
    runtime(ONE).release(0)
    assert kept() == 0


def test_absurd_counts_and_memory_that_there_is_not_are_refused_and_what_was_kept_is_given_back():
    runtime(ONE).release(allocate(LARGE))
    assert allocate(-1, 8) is None
    assert allocate(1 << 62, 8) is None
    assert kept() == block(LARGE)
    runtime(ONE).release(allocate(LARGE))
    most = (1 << 46) - 1000  # a system that promises what it does not have may give it once
    once = allocate(most)
    assert once is None or allocate(most) is None
    assert kept() == 0
    if once is not None:
        runtime(ONE).release(once)


def test_several_threads_share_the_list():
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        held = []
        for step in range(400):
            if len(held) > 6:
                found = held.pop(rng.integers(len(held)))
                if not (found.bytes[::997] == found.mark).all():
                    failures.append((seed, step))
                runtime(ONE).release(found.address)
            size = int(rng.integers(LEAST_KEPT, 3 * LEAST_KEPT))
            held.append(Held(allocate(size), size, (seed * 31 + step) % 251))
        for found in held:
            runtime(ONE).release(found.address)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert 0 < kept() <= LIMIT


# ---------------------------------------------------------------------------- programs
def resident():
    """The bytes of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_result_lies_where_the_last_one_lay():
    double = ad.jit(lambda x: 2.0 * x, config=ONE)
    x = np.arange(1e6)
    first = double(x)
    where = first.ctypes.data
    second = double(x)
    assert second.ctypes.data != where
    del first
    assert double(x + 1.0).ctypes.data == where
    np.testing.assert_array_equal(second, 2.0 * x)


def test_views_hold_the_memory_of_a_result():
    double = ad.jit(lambda x: 2.0 * x, config=ONE)
    x = np.arange(1e6)
    part = double(x)[::1000]
    expected = part.copy()
    double(x + 7.0)
    np.testing.assert_array_equal(part, expected)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux for the memory of the process")
def test_release_memory_gives_pages_back():
    double = ad.jit(lambda x: 2.0 * x, config=ONE)
    x = np.ones(1 << 23)
    double(x)
    before = resident()
    given = ad.release_memory()
    assert given >= 1 << 26
    assert before - resident() > 0.9 * given
    assert ad.release_memory() == 0


def test_release_memory_bounds_what_is_kept():
    double = ad.jit(lambda x: 2.0 * x, config=ONE)
    ad.release_memory(keep=1)
    double(np.ones(1 << 20))
    double(np.ones(1 << 16))
    assert 1 << 19 <= ad.release_memory() < 1 << 20
    ad.release_memory(keep=0)
    double(np.ones(1 << 16))
    assert ad.release_memory() == 0


@pytest.mark.parametrize("keep", [-1, 1.5, True, "1GB", 1 << 40])
def test_a_bound_that_is_none_is_refused(keep):
    with pytest.raises(ValueError, match="`keep` must be a number of mebibytes"):
        ad.release_memory(keep)
