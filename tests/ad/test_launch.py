"""Launches in programs that are differentiated: what the launches of derived kernels are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anadrome as ad
from anadrome.ad.kernels.derive import reverse_kernel
from anadrome.array_ir.nodes import Launch
from anadrome.array_ir.walk import all_lets
from anadrome.compile import optimise
from anadrome.kernel_ir.nodes import Buffer, Check
from anadrome.kernel_ir.walk import bound, kernels, statements
from anadrome.lower.function import lower
from tests.ad.test_kernels import launched
from tests.kernels.launching import program_of


@ad.kernel
def scaled(a, x, y):
    i = ad.grid(1)
    if i < len(x):
        y[i] = a * x[i]


def test_the_adjoint_of_a_scalar():
    def loss(a, x):
        y = np.zeros(len(x))
        scaled[2, 32](a, x, y)
        return np.sum(y**2)

    x = np.arange(50.0)
    a_adj, x_adj = ad.grad(loss, argnums=(0, 1))(3.0, x)
    np.testing.assert_allclose(a_adj, 6.0 * np.sum(x**2), rtol=1e-14)
    np.testing.assert_allclose(x_adj, 18.0 * x, rtol=1e-14)


def test_kernels_of_one_derivative_share_no_names():
    case, _, _ = launched("a loop until it is small")
    found = reverse_kernel(case.kernel, case.inputs, case.outputs, case.ones)
    assert found.counter is not None
    names = [
        {
            *kernel.geometry.grid,
            *(param for param in kernel.params if isinstance(param, Buffer)),
            *(bound(stmt) for stmt in statements(kernel.body)),
        }
        - {None}
        for kernel in (found.sweep.kernel, found.counter.kernel)
    ]
    assert names[0] and names[1] and names[0].isdisjoint(names[1])


@ad.kernel
def rooted(x, y):
    i = ad.grid(1)
    if i < len(x):
        v = x[i]
        while v > 2.0:
            v = math.sqrt(v) * math.cos(v)
        y[i] = v


def test_loops_that_are_counted():
    def loss(x):
        y = np.zeros(len(x))
        rooted[1, 32](x, y)
        return np.sum(y**2)

    def plain(x):
        total = 0.0
        for v in x:
            while v > 2.0:
                v = math.sqrt(v) * math.cos(v)
            total += v**2
        return total

    x = np.linspace(1.0, 400.0, 20)
    np.testing.assert_allclose(ad.grad(loss)(x), ad.grad(plain)(x), rtol=1e-13)


@ad.kernel
def gathered(x, at, y):
    i = ad.grid(1)
    if i < len(at):
        k = 0
        while x[at[i]] > k:
            k += 1
        y[i] = k * x[at[i]]


def sum_of_gathered(x, at):
    y = np.zeros(len(at))
    gathered[1, 8](x, at, y)
    return np.sum(y)


def test_derivatives_check_nothing_again():
    x, at = np.array([0.5, 2.5, 1.5]), np.array([2, 0, 1, 2])
    program, _ = program_of(ad.grad(sum_of_gathered), x, at)
    found = kernels(lower(program, ad.Config(threads=1)))
    checked = {
        kernel.name for kernel in found if any(isinstance(stmt, Check) for stmt in statements(kernel.body))
    }
    assert {kernel.name for kernel in found} == {"gathered", "gathered_vjp"}
    assert checked == {"gathered"}
    np.testing.assert_array_equal(ad.grad(sum_of_gathered)(x, at), [1.0, 3.0, 4.0])


def jvp(function):
    """One direction forward."""
    return lambda x, at: ad.jvp(lambda x: function(x, at), (x,), (np.ones(len(x)),))


@pytest.mark.parametrize("mode", [ad.grad, ad.jacfwd, jvp])
def test_an_index_that_is_out_of_range_is_found_by_the_launch_itself(mode):
    with pytest.raises(IndexError, match="index 3 is out of range for a dimension of size 3"):
        mode(sum_of_gathered)(np.ones(3), np.array([2, 0, 3]))


@ad.kernel
def unguarded(a, x, y):
    i = ad.grid(1)
    y[i] = a * x[i]


def is_launch(let):
    return isinstance(let.expr, Launch)


def test_a_launch_in_a_loop_runs_once_for_each_iteration():
    def loss(x, n):
        for _ in range(n):
            y = np.zeros(len(x))
            unguarded[1, 3](2.0, x, y)
            x = y
        return np.sum(x**2)

    x = np.array([1.0, -2.0, 3.0])
    program, _ = program_of(ad.grad(loss), x, 5)
    launches = [let.expr.kernel for let in all_lets(optimise(program, ad.Config()).body) if is_launch(let)]
    assert [kernel.name for kernel in launches] == ["unguarded", "unguarded_vjp"]
    np.testing.assert_allclose(ad.grad(loss)(x, 5), 2.0 * 4.0**5 * x, rtol=1e-14)
