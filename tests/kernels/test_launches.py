"""Launches: what they write, what they leave alone, and when a program is made anew."""

from __future__ import annotations

import numpy as np
import pytest

import anadrome as ad
from anadrome.array_ir.nodes import Launch
from anadrome.array_ir.walk import all_lets
from anadrome.compile import optimise
from anadrome.kernel_ir.nodes import Check
from anadrome.kernel_ir.walk import statements, written
from tests.kernels.launching import after, kernel_node, of_program, program_of

RANDOM = np.random.default_rng(8)


@ad.kernel
def scale(a, x):
    i = ad.grid(1)
    if i < len(x):
        x[i] *= a


@ad.kernel
def add(x, y, out):
    i = ad.grid(1)
    if i < len(out):
        out[i] = x[i] + y[i]


# ---------------------------------------------------------------------------- from plain Python
def test_a_new_size_and_new_numbers_compile_nothing():
    kernel = ad.kernel(scale.python)
    for size, blocks, factor in ((50, 2, 2.0), (333, 11, 3.0), (20, 1, -1.0)):
        x = np.ones(size)
        kernel[blocks, 32](factor, x)
        np.testing.assert_array_equal(x, factor)
    assert kernel.launched.compilations == 1


def test_a_failing_launch_leaves_its_arrays_as_they_were():
    @ad.kernel
    def overrun(x):
        x[ad.grid(1)] = 7.0

    x = np.ones(60)
    with pytest.raises(IndexError, match=r"index 60 .* block \(1, 0, 0\), thread \(28, 0, 0\)"):
        overrun[2, 32](x)
    np.testing.assert_array_equal(x, 1.0)
    overrun[2, 30](x)
    np.testing.assert_array_equal(x, 7.0)


def test_a_read_argument_may_be_given_twice_and_be_strided():
    x, out = RANDOM.normal(size=20), np.zeros(10)
    add[1, 16](x[::2], x[::2], out)
    np.testing.assert_array_equal(out, 2.0 * x[::2])


def test_arrays_that_interleave_share_nothing():
    z = np.ones(10, np.complex128)
    with pytest.raises(ad.AnadromeError, match="not contiguous"):
        scale[1, 16](2.0, z.real[:4].view()[::2])
    scale[1, 16](2.0, z)
    np.testing.assert_array_equal(z, 2.0)


def test_parts_of_one_array_that_do_not_overlap():
    x = RANDOM.normal(size=20)
    expected = x[:10] + x[:10]
    add[1, 16](x[:10], x[:10], x[10:])
    np.testing.assert_array_equal(x[10:], expected)


@pytest.mark.parametrize("overlap", [0, 1, 9])
def test_parts_of_one_array_that_overlap_are_refused(overlap):
    x = np.ones(30)
    with pytest.raises(TypeError, match="the same array is given twice where one is written"):
        add[1, 16](x[:10], np.ones(10), x[overlap : overlap + 10])
    np.testing.assert_array_equal(x, 1.0)


def test_keyword_arguments_and_defaults():
    @ad.kernel
    def fill(x, value=3.0, *, offset=0):
        i = ad.grid(1) + offset
        if i < len(x):
            x[i] = value

    x = np.zeros(8)
    fill[1, 4](x, offset=4)
    np.testing.assert_array_equal(x, [0.0] * 4 + [3.0] * 4)
    fill[1, 4](value=5.0, x=x)
    np.testing.assert_array_equal(x, [5.0] * 4 + [3.0] * 4)


def test_what_a_kernel_reads_of_its_surroundings_is_read_anew():
    factor = 2.0

    @ad.kernel
    def times(x):
        i = ad.grid(1)
        if i < len(x):
            x[i] *= factor

    x = np.ones(5)
    times[1, 8](x)
    factor = 10.0
    times[1, 8](x)
    np.testing.assert_array_equal(x, 20.0)


def test_numbers_given_as_extents():
    for extents in ((np.int64(1), np.int32(16)), ((1,), [16]), ((1, 1, 1), (4, 1, 1), 0, 8), (1, 16, None)):
        x = np.ones(4)
        scale[extents](2.0, x)
        np.testing.assert_array_equal(x, 2.0)


# ---------------------------------------------------------------------------- options
def test_without_checks_there_is_none():
    @ad.kernel(checks=False)
    def unchecked(x, places):
        i = ad.grid(1)
        x[places[i]] = 1.0

    args = np.zeros(4), np.array([3, 1])
    assert not any(isinstance(stmt, Check) for stmt in statements(kernel_node(unchecked, (1, 2), *args).body))
    (found,) = after(unchecked, (1, 2), *args)
    np.testing.assert_array_equal(found, [0.0, 1.0, 0.0, 1.0])


def test_indices_that_are_known_to_be_inside_are_not_checked():
    checks = [stmt for stmt in statements(kernel_node(scale, (1, 2), 2.0, np.ones(9)).body)]
    assert not any(isinstance(stmt, Check) for stmt in checks)


def test_a_declared_limit_of_shared_memory():
    @ad.kernel(shared_limit=64 * 1024)
    def large(x):
        part = ad.shared.array(8000, np.float64)
        part[ad.threadIdx.x] = x[ad.threadIdx.x]
        ad.syncthreads()
        x[ad.threadIdx.x] = part[(ad.threadIdx.x + 1) % 8]

    (found,) = after(large, (1, 8), np.arange(8.0))
    np.testing.assert_array_equal(found, [1, 2, 3, 4, 5, 6, 7, 0])
    with pytest.raises(ValueError, match="1537 bytes of dynamic shared memory: 1536 of 65536 are left"):
        large[1, 8, None, 1537](np.arange(8.0))


def test_dynamic_shared_memory_without_bytes():
    @ad.kernel
    def turned(x):
        part = ad.shared.array(0, np.float64)
        i = ad.threadIdx.x
        part[i] = x[i]
        ad.syncthreads()
        x[i] = part[7 - i]

    (found,) = after(turned, (1, 8, None, 64), np.arange(8.0))
    np.testing.assert_array_equal(found, np.arange(8.0)[::-1])
    x = np.arange(8.0)
    with pytest.raises(IndexError, match=r"size 0(?s:.*)help:.*the launch gives bytes for, `k\[blocks"):
        turned[1, 8](x)
    np.testing.assert_array_equal(x, np.arange(8.0))


def test_outputs_are_found():
    node = kernel_node(add, (1, 8), np.ones(5), np.ones(5), np.ones(5))
    assert [buffer.name for buffer in written(node)] == ["out"]


def test_declared_outputs():
    kernel = ad.kernel(add.python, out="out")
    x, out = np.ones(5), np.zeros(5)
    kernel[1, 8](x, x, out)
    np.testing.assert_array_equal(out, 2.0)
    with pytest.raises(NotImplementedError, match="writing `out`, which `out` does not name"):
        ad.kernel(add.python, out=("x", "y"))[1, 8](x, x, out)


# ---------------------------------------------------------------------------- inside compiled functions
def launches(function, *args):
    """How many launches the optimised program of a function has."""
    program, _ = program_of(ad.jit(function), *args)
    lets = all_lets(optimise(program, ad.Config(threads=1)).body)
    return sum(isinstance(let.expr, Launch) for let in lets)


def test_two_launches_are_two():
    def twice(x):
        y = x * 1.0
        scale[1, 64](2.0, y)
        z = x * 1.0
        scale[1, 64](2.0, z)
        scale[1, 64](2.0, z)
        return y, z

    x = RANDOM.normal(size=50)
    y, z = of_program(twice, x)
    np.testing.assert_array_equal(y, 2.0 * x)
    np.testing.assert_array_equal(z, 4.0 * x)


def test_a_launch_whose_arrays_nobody_reads_goes():
    def unread(x):
        y = np.zeros(len(x))
        scale[1, 64](2.0, y)
        return np.sum(x)

    assert launches(unread, np.ones(50)) == 0


@ad.kernel
def looks(x):
    if x[ad.grid(1)] > 1e300:
        return


def test_a_launch_that_fails_stays():
    def unread(x):
        looks[2, 32](x)
        y = np.zeros(40)
        scale[1, 64](1.0, y)
        return np.sum(x)

    assert launches(unread, np.ones(64)) == 1
    assert launches(unread, np.ones(50)) == 1
    of_program(unread, np.ones(64))
    with pytest.raises(IndexError, match="index 50 is out of range"):
        ad.jit(unread)(np.ones(50))


def test_barriers_stay():
    @ad.kernel
    def kernel(x):
        ad.syncthreads()
        if ad.threadIdx.x == 0:
            x[0] = 1.0
        ad.syncthreads()
        ad.syncthreads_count(x[0] > 0.0)
        ad.syncwarp()
        ad.threadfence()

    node = kernel_node(kernel, (1, 32), np.zeros(1))
    kept = [type(stmt).__name__ for stmt in statements(node.body)]
    assert [name for name in kept if name in ("Barrier", "Warp", "Fence")] == [
        *("Barrier", "Barrier", "Barrier", "Warp", "Fence")
    ]


def test_old_values_stay():
    def before_and_after(x):
        y = x + 1.0
        old = y.copy()
        scale[2, 32](3.0, y)
        return old, y

    x = RANDOM.normal(size=50)
    old, y = of_program(before_and_after, x)
    np.testing.assert_array_equal(old, x + 1.0)
    np.testing.assert_array_equal(y, 3.0 * old)


def test_under_vmap():
    def row(x):
        y = x + 1.0
        scale[1, 32](2.0, y)
        return np.sum(y)

    x = RANDOM.normal(size=(6, 20))
    (found,) = of_program(ad.vmap(row), x)
    np.testing.assert_allclose(found, np.sum(2.0 * (x + 1.0), 1), rtol=1e-13)


def test_extents_that_the_program_computes():
    def program(x, blocks):
        y = x * 1.0
        threads = 16 if blocks > 1 else 64
        scale[(blocks, 1), threads](2.0, y)
        return y

    x = RANDOM.normal(size=50)
    for blocks in (1, 2, 4):
        (found,) = of_program(program, x, blocks)
        done = min(50, blocks * (16 if blocks > 1 else 64))
        np.testing.assert_array_equal(found, [*(2.0 * x[:done]), *x[done:]])


def test_small_arrays_are_given_as_memory_that_workers_see():
    def small(a, b):
        x = np.array([a, b, a])
        add[1, 4](x, np.ones(3), x[:])  # another array: its elements are the same

    def program(a, b):
        x, y = np.array([a, b, a]), np.zeros(3)
        add[1, 4](x, np.ones(3), y)
        return y

    (found,) = of_program(program, 2.0, 5.0)
    np.testing.assert_array_equal(found, [3.0, 6.0, 3.0])
    with pytest.raises(TypeError, match="the same array is given twice"):
        ad.jit(small)(2.0, 5.0)


def test_a_kernel_made_in_the_function():
    def program(x, power):
        @ad.kernel
        def raised(y):
            i = ad.grid(1)
            if i < len(y):
                y[i] = x[i] ** power

        y = np.zeros(len(x))
        raised[1, 64](y)
        return y

    x = RANDOM.random(size=50)
    (found,) = of_program(program, x, 3)
    np.testing.assert_allclose(found, x**3, rtol=1e-13)


@pytest.mark.parametrize("size", [0, 1, 16, 17])
def test_small_and_empty_arrays(size):
    def program(x):
        y = x + 1.0
        scale[1, 32](2.0, y)
        return y

    x = RANDOM.normal(size=size)
    (found,) = of_program(program, x)
    np.testing.assert_array_equal(found, 2.0 * (x + 1.0))
    found = after(scale, (1, 32), 3.0, x)
    assert len(found) == min(size, 1)  # nothing is written where there is nothing
    for one in found:
        np.testing.assert_array_equal(one, 3.0 * x)


def test_a_list_is_not_written():
    def program(n):
        y = [1.0 for _ in range(n)]
        scale[1, 32](2.0, y)
        return y

    with pytest.raises(TypeError, match="what a kernel writes cannot be a list"):
        ad.jit(program)(5)


def test_an_array_of_no_dimensions_is_a_number():
    def program(x):
        y = np.ones(len(x))
        scale[1, 32](np.array(x[0]), y)
        return y

    (found,) = of_program(program, np.array([4.0, 5.0]))
    np.testing.assert_array_equal(found, 4.0)


def test_arguments_that_do_not_carry_derivatives():
    def program(x):
        y = np.zeros(len(x))
        add[1, 64](ad.stop_gradient(x), ad.stop_gradient(x), y)
        return np.sum(y * x)

    x = RANDOM.normal(size=50)
    np.testing.assert_array_equal(ad.grad(program)(x), 2.0 * x)


# ---------------------------------------------------------------------------- derivatives
def test_an_array_that_carries_no_derivative():
    def weighted(x):
        weights = np.ones(len(x))
        scale[1, 64](3.0, weights)
        return np.sum(weights * x)

    x = RANDOM.normal(size=50)
    np.testing.assert_array_equal(ad.grad(weighted)(x), 3.0)


@pytest.mark.parametrize("derivative", [ad.grad, ad.jacfwd])
def test_derivatives_go_through_a_kernel(derivative):
    def scaled(x):
        y = x * 1.0
        scale[1, 64](3.0, y)
        return np.sum(y)

    np.testing.assert_array_equal(derivative(scaled)(np.ones(50)), 3.0)
