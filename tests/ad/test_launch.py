"""Launches in programs that are differentiated: what the launches of derived kernels are given."""

from __future__ import annotations

import math

import numpy as np

import anadrome as ad
from anadrome.ad.kernels.derive import reverse_kernel
from anadrome.kernel_ir.nodes import Buffer
from anadrome.kernel_ir.walk import bound, statements
from tests.ad.test_kernels import launched


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
