"""The judge of races against a definition that keeps everything: which events are before which."""

import numpy as np
import pytest

from anadrome.kernel_ir.interp_machine import Storage
from anadrome.kernel_ir.interp_races import Judge, Stand
from anadrome.kernel_ir.nodes import Space

BLOCKS, WARPS, LANES = 2, 2, 3
ELEMENTS = 2


class Everything:
    """Each thread knows the numbers of all events that are before what it does now."""

    def __init__(self, threads):
        self.before = {thread: set() for thread in threads}
        self.events = []

    def meet(self, threads):
        known = set().union(*(self.before[thread] for thread in threads))
        for thread in threads:
            self.before[thread] = set(known)

    def touch(self, thread, element, access):
        """Whether the access races with an earlier one."""
        races = any(
            place == element
            and other is not thread
            and number not in self.before[thread]
            and (access != "read" or kind != "read")
            and not access == kind == "atomic"
            for number, (other, place, kind) in enumerate(self.events)
        )
        self.before[thread].add(len(self.events))
        self.events.append((thread, element, access))
        return races


def first_race(seed, kinds, has_syncs):
    """The event that both find to race first, None where neither finds one, after 60 events."""
    random = np.random.default_rng(seed)
    judge, storage = Judge(has_syncs), Storage(np.zeros(ELEMENTS), Space.GLOBAL)
    threads = [
        Stand((block, 0, 0), (warp, lane, 0), block, warp, lane)
        for block in range(BLOCKS)
        for warp in range(WARPS)
        for lane in range(LANES)
    ]
    for thread in threads:
        judge.begin(thread)
    everything = Everything(threads)
    crowd = threads[: int(random.integers(2, len(threads) + 1))]
    barriers = random.random() * 0.6
    for number in range(60):
        what = random.random()
        one = crowd[random.integers(len(crowd))]
        if what < barriers:
            block = [thread for thread in threads if thread.serial == one.serial]
            everything.meet(block)
            for thread in block:
                thread.epoch += 1
        elif what < 0.7 and has_syncs:
            warp = [thread for thread in threads if (thread.serial, thread.warp) == (one.serial, one.warp)]
            lanes = [thread for thread in warp if random.random() < 0.7] or [one]
            everything.meet(lanes)
            judge.sync(lanes)
        else:
            access, element = str(random.choice(kinds)), int(random.integers(ELEMENTS))
            expected = everything.touch(one, element, access)
            assert (judge.touch(storage, element, one, access, None) is not None) is expected
            if expected:
                return number
    return None


@pytest.mark.parametrize("has_syncs", [False, True])
@pytest.mark.parametrize(
    "kinds",
    [
        ["read", "write", "atomic"],
        ["read"] * 9 + ["write"],
        ["atomic"] * 9 + ["read"],
        ["atomic"] * 9 + ["write"],
        ["read"] * 5 + ["atomic"] * 5 + ["write"],
    ],
    ids=str,
)
def test_the_judge_finds_a_race_where_there_is_one(kinds, has_syncs):
    found = [first_race(seed, kinds, has_syncs) for seed in range(400)]
    assert sum(place is not None and place > 10 for place in found) > 20
