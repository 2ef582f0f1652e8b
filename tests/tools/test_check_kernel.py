"""`check_kernel`: what it finds in kernels, in functions that launch them and in their gradients."""

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.kernels import DataRace, UninitialisedRead
from anadrome.errors.runtime import BarrierDivergence, IndexOutOfBounds


@ad.kernel
def racing(x, y):
    i = ad.grid(1)
    if i < len(x):
        y[0] += x[i]


@ad.kernel
def adding(x, y):
    i = ad.grid(1)
    if i < len(x):
        ad.atomic.add(y, 0, x[i] * x[i])


@ad.kernel
def forgetting(x, y):
    s = ad.shared.array(4, np.float64)
    i = ad.grid(1)
    if ad.threadIdx.x > 0:
        s[ad.threadIdx.x] = x[i]
    ad.syncthreads()
    y[i] = s[3 - ad.threadIdx.x]


@ad.kernel
def parting(x, y):
    i = ad.grid(1)
    if i > 2:
        return
    ad.syncthreads()
    y[i] = x[i]


@ad.kernel
def unordered(x, y):
    s = ad.shared.array(4, np.float64)
    i = ad.grid(1)
    s[ad.threadIdx.x] = x[i]
    y[i] = s[3 - ad.threadIdx.x]


FAULTS = {
    "racing": (racing, DataRace, "y[0]"),
    "forgetting": (forgetting, UninitialisedRead, "shared[0]"),
    "parting": (parting, BarrierDivergence, "barrier"),
    "unordered": (unordered, DataRace, "shared["),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_threads_name_the_line(name):
    kernel, error, words = FAULTS[name]
    with pytest.raises(error) as found:
        ad.check_kernel(kernel[2, 4], np.ones(8), np.zeros(8))
    assert words in str(found.value)
    assert found.value.span is not None
    assert found.value.span.file == __file__


def test_a_kernel_without_faults_passes_and_writes_nothing():
    y = np.zeros(1)
    assert ad.check_kernel(adding[2, 4], np.ones(7), y) is None
    assert y[0] == 0.0


def energy(x):
    y = np.zeros(1)
    adding[2, 4](x, y)
    return y[0]


def bad_energy(x):
    y = np.zeros(8)
    racing[2, 4](x, y)
    return y[0]


def test_gradients_are_checked_too():
    ad.check_kernel(energy, np.ones(7))
    ad.check_kernel(ad.grad(energy), np.ones(7))
    ad.check_kernel(ad.hessian(energy), np.ones(3))
    with pytest.raises(DataRace):
        ad.check_kernel(ad.grad(bad_energy), np.ones(7))


def test_an_index_outside_names_the_thread():
    @ad.kernel
    def outside(x, y):
        i = ad.grid(1)
        y[i] = x[i + 1]

    with pytest.raises(IndexOutOfBounds, match="thread"):
        ad.check_kernel(outside[2, 4], np.ones(8), np.zeros(8))
