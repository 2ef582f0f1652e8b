"""The names that mean something in a kernel, as in `numba.cuda`: where a thread is, the memory of a block,
atomic operations, barriers, and what the threads of a warp do together. Outside of kernels they are refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from anadrome.errors.kernels_launch import KernelOnly
from anadrome.errors.tracebacks import door
from anadrome.frontend.context import Context
from anadrome.frontend.kernels import together
from anadrome.frontend.values import Value
from anadrome.frontend.verbs import Verb, verb
from anadrome.kernel_ir.nodes import WARP

FULL_MASK = together.FULL_MASK


def _refuse(name: str) -> NoReturn:
    raise KernelOnly(name)


# ---------------------------------------------------------------------------- where a thread is
class Directions:
    """Three integers that tell the threads of a launch apart, `.x`, `.y`, `.z`; known inside of kernels.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     x[ad.threadIdx.x] = ad.blockDim.x - ad.threadIdx.x
    >>> x = np.zeros(4, np.int64)
    >>> k[1, 4](x)
    >>> x
    array([4, 3, 2, 1])
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"anadrome.{self._name}"

    def __anadrome_value__(self, context: Context) -> Value:
        """The numbers of the thread that is being staged."""
        return together.directions(context, self._name)

    @property
    @door
    def x(self) -> int:
        """The number in the direction x, which runs fastest."""
        _refuse(self._name)

    @property
    @door
    def y(self) -> int:
        """The number in the direction y."""
        _refuse(self._name)

    @property
    @door
    def z(self) -> int:
        """The number in the direction z."""
        _refuse(self._name)


threadIdx, blockIdx = Directions("threadIdx"), Directions("blockIdx")  # noqa: N816
blockDim, gridDim = Directions("blockDim"), Directions("gridDim")  # noqa: N816


class Lane:
    """The number of the thread in its warp, 0 to 31; an integer inside of kernels.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     x[ad.threadIdx.x] = ad.laneid
    >>> x = np.zeros(34, np.int64)
    >>> k[1, 34](x)
    >>> x[-4:]
    array([30, 31,  0,  1])
    """

    def __repr__(self) -> str:
        return "anadrome.laneid"

    def __anadrome_value__(self, context: Context) -> Value:
        """The number of the thread that is being staged."""
        return together.lane(context)

    @door
    def __index__(self) -> int:
        """Outside of kernels there is none."""
        _refuse("laneid")

    __int__ = __index__


laneid = Lane()


class WarpSize(int):
    """The number of threads of a warp, 32: an integer everywhere.

    >>> import anadrome as ad
    >>> ad.warpsize + 0
    32
    """


warpsize = WarpSize(WARP)


@verb(together.grid)
def grid(ndim: int) -> Any:
    """The place of the thread in the whole grid: an integer for one direction, a tuple for two or three.

    `grid(1)` is `threadIdx.x + blockIdx.x * blockDim.x`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     i, j = ad.grid(2)
    ...     x[i, j] = 10 * i + j
    >>> x = np.zeros((2, 4), np.int64)
    >>> k[(1, 2), (2, 2)](x)
    >>> x
    array([[ 0,  1,  2,  3],
           [10, 11, 12, 13]])
    """
    _refuse("grid")


@verb(together.gridsize)
def gridsize(ndim: int) -> Any:
    """How many threads the whole grid has: an integer for one direction, a tuple for two or three.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     for i in range(ad.grid(1), len(x), ad.gridsize(1)):
    ...         x[i] = i
    >>> x = np.zeros(9, np.int64)
    >>> k[2, 2](x)
    >>> x
    array([0, 1, 2, 3, 4, 5, 6, 7, 8])
    """
    _refuse("gridsize")


# ---------------------------------------------------------------------------- memory
@verb(together.shared_array)
def _shared_array(shape: Any, dtype: Any) -> Any:
    """Memory of the block, which all its threads see, uninitialised.

    `shape` is an integer or a tuple of integers known while compiling, `dtype` a NumPy type. The size 0 is
    the dynamic part: as many elements as the bytes given at the launch hold.
    """
    _refuse("shared.array")


@verb(together.local_array)
def _local_array(shape: Any, dtype: Any) -> Any:
    """An array of the thread's own, zeros at first; `shape` and `dtype` are as in `shared.array`."""
    _refuse("local.array")


_shared_array.__name__, _local_array.__name__ = "shared.array", "local.array"


class Shared:
    """Memory of a block: `ad.shared.array(shape, dtype)`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     t, part = ad.threadIdx.x, ad.shared.array(4, np.int64)
    ...     part[t] = x[t]
    ...     ad.syncthreads()
    ...     x[t] = part[3 - t]
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([3, 2, 1, 0])
    """

    array = _shared_array


shared = Shared()


class Local:
    """Memory of a thread: `ad.local.array(shape, dtype)`.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     t, powers = ad.threadIdx.x, ad.local.array(3, np.int64)
    ...     powers[0] = 1
    ...     for n in range(1, 3):
    ...         powers[n] = powers[n - 1] * x[t]
    ...     x[t] = powers[2]
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([0, 1, 4, 9])
    """

    array = _local_array


local = Local()


# ---------------------------------------------------------------------------- atomic operations
def _atomic(name: str, words: str) -> Verb[..., Any]:
    """An atomic operation with one value."""

    def inside(context: Context, array: Value, index: Value, value: Value) -> Value:
        return together.atomic(context, name, array, index, value)

    def outside(array: Any, index: Any, value: Any) -> Any:
        _refuse(f"atomic.{name}")

    outside.__name__, outside.__doc__ = f"atomic.{name}", words
    return Verb(outside, inside)


def _compare(context: Context, array: Value, index: Value, old: Value, value: Value) -> Value:
    return together.atomic(context, "cas", array, index, old, value)


@verb(_compare)
def _cas(array: Any, index: Any, old: Any, value: Any) -> Any:
    """`array[index] = value` where it equals `old`; what was there before."""
    _refuse("atomic.cas")


@verb(lambda context, array, old, value: together.atomic(context, "cas", array, 0, old, value))
def _compare_and_swap(array: Any, old: Any, value: Any) -> Any:
    """`array[0] = value` where it equals `old`; what was there before. `array` has one dimension."""
    _refuse("atomic.compare_and_swap")


_cas.__name__, _compare_and_swap.__name__ = "atomic.cas", "atomic.compare_and_swap"


class Atomic:
    """Operations on one element that no other thread can come between. Each returns what was there before.

    `array` is an argument of the kernel or a shared array, `index` an integer or a tuple of one for each
    dimension.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     ad.atomic.add(x, 0, 1)
    ...     ad.atomic.max(x, 1, ad.threadIdx.x)
    >>> x = np.zeros(2, np.int64)
    >>> k[2, 8](x)
    >>> x
    array([16,  7])
    """

    add = _atomic("add", "`array[index] += value`")
    sub = _atomic("sub", "`array[index] -= value`")
    min = _atomic("min", "`array[index] = min(array[index], value)`; a number wins over a NaN")
    max = _atomic("max", "`array[index] = max(array[index], value)`; a number wins over a NaN")
    and_ = _atomic("and_", "`array[index] &= value`, of integers")
    or_ = _atomic("or_", "`array[index] |= value`, of integers")
    xor = _atomic("xor", "`array[index] ^= value`, of integers")
    exch = _atomic("exch", "`array[index] = value`")
    cas = _cas
    compare_and_swap = _compare_and_swap


atomic = Atomic()


# ---------------------------------------------------------------------------- barriers
@verb(lambda context: together.barrier(context, "syncthreads"))
def syncthreads() -> None:
    """Wait for all threads of the block, each of which must reach it: what they wrote is seen after it.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     t, part = ad.threadIdx.x, ad.shared.array(4, np.int64)
    ...     part[t] = x[t]
    ...     ad.syncthreads()
    ...     x[t] = part[(t + 1) % 4]
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([1, 2, 3, 0])
    """
    _refuse("syncthreads")


@verb(lambda context, predicate: together.barrier(context, "syncthreads_count", "count", predicate))
def syncthreads_count(predicate: Any) -> Any:
    """A barrier that gives the number of the block's threads whose predicate holds.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.syncthreads_count(x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([3, 3, 3, 3])
    """
    _refuse("syncthreads_count")


@verb(lambda context, predicate: together.barrier(context, "syncthreads_and", "and", predicate))
def syncthreads_and(predicate: Any) -> Any:
    """A barrier that gives whether the predicates of all the block's threads hold.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.syncthreads_and(x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([0, 0, 0, 0])
    """
    _refuse("syncthreads_and")


@verb(lambda context, predicate: together.barrier(context, "syncthreads_or", "or", predicate))
def syncthreads_or(predicate: Any) -> Any:
    """A barrier that gives whether the predicate of any of the block's threads holds.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.syncthreads_or(x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([1, 1, 1, 1])
    """
    _refuse("syncthreads_or")


@verb(together.fence)
def threadfence() -> None:
    """What the thread wrote before is seen by others before what it writes after.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     x[ad.threadIdx.x] = 1
    ...     ad.threadfence()
    ...     x[ad.threadIdx.x] += 1
    >>> x = np.zeros(4, np.int64)
    >>> k[1, 4](x)
    >>> x
    array([2, 2, 2, 2])
    """
    _refuse("threadfence")


# ---------------------------------------------------------------------------- warps
@verb(lambda context, mask=FULL_MASK: together.warp_sync(context, mask))
def syncwarp(mask: int = FULL_MASK) -> None:
    """Wait for the threads of the warp that the mask names: bit k is lane k.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     t, part = ad.threadIdx.x, ad.shared.array(32, np.int64)
    ...     part[t] = x[t]
    ...     ad.syncwarp()
    ...     x[t] = part[31 - t]
    >>> x = np.arange(32)
    >>> k[1, 32](x)
    >>> x[:4]
    array([31, 30, 29, 28])
    """
    _refuse("syncwarp")


EXAMPLE = """{0}; the own value where there is no such lane. All threads of the mask call it.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     x[ad.threadIdx.x] = ad.{1}(0b1111, x[ad.threadIdx.x], 1)
    >>> x = np.arange(4) * 10
    >>> k[1, 4](x)
    >>> x
    array({2})
    """
"""The docstring of a shuffle: what it gives, its name, and what it makes of 0, 10, 20, 30."""


def _shuffle(name: str, operation: str, words: str, example: str) -> Verb[..., Any]:
    def inside(context: Context, mask: Value, value: Value, lane: Value) -> Value:
        return together.shuffle(context, name, operation, mask, value, lane)

    def outside(mask: Any, value: Any, lane: Any) -> Any:
        _refuse(name)

    outside.__name__ = name
    outside.__doc__ = EXAMPLE.format(words, name, example)
    return Verb(outside, inside)


shfl_sync = _shuffle(
    "shfl_sync", "shuffle", "The value that the thread of this lane brings", "[10, 10, 10, 10]"
)
shfl_up_sync = _shuffle("shfl_up_sync", "up", "The value of the thread so far below", "[ 0,  0, 10, 20]")
shfl_down_sync = _shuffle(
    "shfl_down_sync", "down", "The value of the thread so far above", "[10, 20, 30, 30]"
)
shfl_xor_sync = _shuffle("shfl_xor_sync", "xor", "The value of the lane xor `lane`", "[10,  0, 30, 20]")


@verb(lambda context, mask, predicate: together.vote(context, "ballot_sync", "ballot", mask, predicate))
def ballot_sync(mask: Any, predicate: Any) -> Any:
    """The mask of the warp's threads whose predicate holds: bit k is lane k.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.ballot_sync(0b1111, x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([14, 14, 14, 14])
    """
    _refuse("ballot_sync")


@verb(lambda context, mask, predicate: together.vote(context, "any_sync", "any", mask, predicate))
def any_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicate of any of the warp's threads holds.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.any_sync(0b1111, x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([1, 1, 1, 1])
    """
    _refuse("any_sync")


@verb(lambda context, mask, predicate: together.vote(context, "all_sync", "all", mask, predicate))
def all_sync(mask: Any, predicate: Any) -> Any:
    """Whether the predicates of all the warp's threads hold.

    >>> import anadrome as ad
    >>> import numpy as np
    >>> @ad.kernel
    ... def k(x):
    ...     found = ad.all_sync(0b1111, x[ad.threadIdx.x] > 0)
    ...     x[ad.threadIdx.x] = int(found)
    >>> x = np.arange(4)
    >>> k[1, 4](x)
    >>> x
    array([0, 0, 0, 0])
    """
    _refuse("all_sync")
