"""Kernels in plain Python: each thread of a block a thread of Python's, what kernels call written by hand.

It shares nothing with the compiler. The threads of a block meet at barriers of Python's; blocks run one after
the other.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

Index = tuple[int, int, int]
WARP = 32
PATIENCE = 60.0
"""Seconds after which threads that wait for one another are an error."""


def three(extent: Any) -> Index:
    """An extent in three directions."""
    sizes = extent if isinstance(extent, tuple) else (extent,)
    x, y, z = (*map(int, sizes), *(1,) * (3 - len(sizes)))
    return x, y, z


def indices(extents: Index) -> list[Index]:
    """All places of a box, x running fastest."""
    gx, gy, gz = extents
    return [(x, y, z) for z, y, x in itertools.product(range(gz), range(gy), range(gx))]


class Device:
    """What stands in the place of `anadrome` in the text of a kernel."""

    float32, float64 = np.float32, np.float64
    warpsize = WARP

    def __init__(self, blocks: Any, threads: Any, shared_bytes: int = 0) -> None:
        self.grid_extents, self.block_extents = three(blocks), three(threads)
        self.shared_bytes = shared_bytes
        self.places = indices(self.block_extents)
        self.own = threading.local()
        self.lock = threading.Lock()
        self.shared = SimpleNamespace(array=self._shared)
        self.local = SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, dtype))
        self.atomic = SimpleNamespace(**{name: self._atomic(change) for name, change in CHANGES.items()})

    @staticmethod
    def kernel(function: Any) -> Any:
        """The function itself."""
        return function

    def launch(self, function: Callable[..., None], args: tuple[Any, ...]) -> None:
        """Run every thread; arrays are changed in place."""
        device_globals = {**function.__globals__, "ad": self}
        code, defaults, cells = function.__code__, function.__defaults__, function.__closure__
        thread = FunctionType(code, device_globals, function.__name__, defaults, cells)
        for block in indices(self.grid_extents):
            self._block(thread, args, block)

    def _block(self, thread: Callable[..., None], args: tuple[Any, ...], block: Index) -> None:
        count = len(self.places)
        self.arrays: list[np.ndarray] = []
        self.meeting = threading.Barrier(count)
        self.groups: dict[tuple[int, int], threading.Barrier] = {}
        self.brought: dict[int, Any] = {}
        self.block_index = block
        failures: list[BaseException] = []

        def run(number: int) -> None:
            self.own.number, self.own.made = number, 0
            try:
                thread(*args)
            except BaseException as error:
                failures.append(error)
                for meeting in (self.meeting, *self.groups.values()):
                    meeting.abort()

        running = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for one in running:
            one.start()
        for one in running:
            one.join(PATIENCE)
        if failures:
            first = [one for one in failures if not isinstance(one, threading.BrokenBarrierError)]
            raise (first or failures)[0]

    # ------------------------------------------------------------------ where a thread is
    @property
    def threadIdx(self) -> SimpleNamespace:
        return named(self.places[self.own.number])

    @property
    def blockIdx(self) -> SimpleNamespace:
        return named(self.block_index)

    @property
    def blockDim(self) -> SimpleNamespace:
        return named(self.block_extents)

    @property
    def gridDim(self) -> SimpleNamespace:
        return named(self.grid_extents)

    @property
    def laneid(self) -> int:
        return int(self.own.number) % WARP

    def grid(self, ndim: int) -> Any:
        triples = zip(self.block_index, self.block_extents, self.places[self.own.number], strict=True)
        found = tuple(block * size + own for block, size, own in triples)
        return found[0] if ndim == 1 else found[:ndim]

    def gridsize(self, ndim: int) -> Any:
        found = tuple(one * two for one, two in zip(self.grid_extents, self.block_extents, strict=True))
        return found[0] if ndim == 1 else found[:ndim]

    # ------------------------------------------------------------------ memory
    def _shared(self, shape: Any, dtype: Any) -> np.ndarray:
        with self.lock:
            place = self.own.made
            self.own.made += 1
            if place == len(self.arrays):
                size = self.shared_bytes // np.dtype(dtype).itemsize if shape == 0 else shape
                self.arrays.append(np.full(size, 77, dtype))
            return self.arrays[place]

    def _atomic(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def operation(array: np.ndarray, index: Any, *values: Any) -> Any:
            with self.lock:
                old = array[index]
                array[index] = change(old, *values)
                return old

        return operation

    # ------------------------------------------------------------------ together
    def syncthreads(self) -> None:
        self.meeting.wait(PATIENCE)

    def syncthreads_count(self, predicate: Any) -> int:
        everyone = (1 << len(self.places)) - 1
        return sum(map(bool, self._exchange(0, everyone, predicate).values()))

    def _exchange(self, first: int, mask: int, value: Any) -> dict[int, Any]:
        """What threads bring, by their number: those that the mask names, counted from the first."""
        group = [number for number in range(first, len(self.places)) if mask >> (number - first) & 1]
        with self.lock:
            meeting = self.groups.setdefault((first, mask), threading.Barrier(len(group)))
        self.brought[self.own.number] = value
        meeting.wait(PATIENCE)
        found = {number: self.brought[number] for number in group}
        meeting.wait(PATIENCE)
        return found

    def _shuffled(self, mask: int, value: Any, source: int) -> Any:
        """What the thread at a lane brings, or the own value where there is none."""
        first = self.own.number // WARP * WARP
        found = self._exchange(first, mask, value)
        return found.get(first + source, value) if 0 <= source < WARP else value

    def shfl_sync(self, mask: int, value: Any, lane: Any) -> Any:
        return self._shuffled(mask, value, int(lane))

    def shfl_up_sync(self, mask: int, value: Any, lane: Any) -> Any:
        return self._shuffled(mask, value, self.laneid - int(lane))

    def shfl_down_sync(self, mask: int, value: Any, lane: Any) -> Any:
        return self._shuffled(mask, value, self.laneid + int(lane))

    def shfl_xor_sync(self, mask: int, value: Any, lane: Any) -> Any:
        return self._shuffled(mask, value, self.laneid ^ int(lane))


CHANGES: dict[str, Callable[..., Any]] = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "min": min,
    "max": max,
}
"""What the atomic operations put in the place of what was there."""


def named(place: Index) -> SimpleNamespace:
    """Three numbers by their names."""
    return SimpleNamespace(x=place[0], y=place[1], z=place[2])
