"""What is wrong with several threads and can be seen in the text is refused before a kernel runs."""

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.kernels_launch import KernelRefused
from anadrome.errors.runtime import ContestedWrite


@ad.kernel
def one_element(x, y):
    y[0] = x[ad.grid(1)]


@ad.kernel
def one_for_each_block(x, y):
    n = len(x)
    for k in range(n):
        if n > 3:
            y[ad.blockIdx.x] = x[k]


@ad.kernel
def one_shared(x, y):
    s = ad.shared.array(1, np.float64)
    s[0] = x[0]
    ad.syncthreads()
    y[ad.grid(1)] = s[0]


@ad.kernel
def by_the_first(x, y):
    s = ad.shared.array(1, np.float64)
    if ad.threadIdx.x == 0:
        s[0] = x[0]
    ad.syncthreads()
    y[ad.grid(1)] = s[0]


@ad.kernel
def never_written(x, y):
    s = ad.shared.array(4, np.float64)
    y[ad.grid(1)] = s[ad.threadIdx.x] + x[0]


@pytest.mark.parametrize("kernel", [one_element, one_for_each_block, one_shared])
def test_an_element_that_every_thread_writes_is_refused(kernel):
    x, y = np.ones(8), np.zeros(8)
    with pytest.raises(ContestedWrite, match="write one element") as found:
        kernel[2, 4](x, y)
    assert found.value.span.file == __file__
    assert not y.any()
    with pytest.raises(ContestedWrite):
        ad.jit(lambda x: launched(kernel, x, 2, 4))(x)
    with pytest.raises(ContestedWrite):
        ad.jit(lambda x, blocks, threads: launched(kernel, x, blocks, threads))(x, 2, 4)


def launched(kernel, x, blocks, threads):
    y = np.zeros(8)
    kernel[blocks, threads](x, y)
    return y


def test_one_thread_may_write_what_it_likes():
    x = np.arange(8.0)
    assert launched(one_element, x, 1, 1)[0] == 0.0
    assert launched(one_for_each_block, x, 2, 1)[:2].tolist() == [7.0, 7.0]
    assert launched(one_shared, x + 1, 8, 1).tolist() == [1.0] * 8
    assert launched(by_the_first, x + 1, 2, 4).tolist() == [1.0] * 8
    with pytest.raises(ContestedWrite):
        launched(one_element, x, 2, 1)


def test_shared_memory_that_nobody_writes_is_refused():
    with pytest.raises(KernelRefused, match="never writes"):
        launched(never_written, np.ones(8), 2, 4)
