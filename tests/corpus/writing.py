"""Results written into arrays, `out=` and `where=`, and functions that write in place."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import WritesArgument
from tests.corpus.draw import N, normal, positive
from tests.corpus.harness import Program, Refused


def into_an_array(x, y):
    out = np.zeros_like(x)
    np.multiply(x, y, out=out)
    np.sin(out, out)
    np.add(out, x, out=out[::-1])
    return np.sum(out**2)


def into_a_view(a):
    out = np.ones((a.shape[0], 6))
    part = out[:, ::2]
    np.exp(a, out=part)
    return np.sum(out * np.cumsum(out, axis=1))


def where_it_is_safe(x):
    roots = np.zeros_like(x)
    np.sqrt(x, out=roots, where=x > 0.0)
    logarithms = np.log(x, out=np.ones_like(x), where=x > 0.1)
    return np.sum(roots * x) + np.sum(logarithms**2)


def buffer_in_a_loop(x, y):
    state, step = x.copy(), np.empty_like(x)
    for _ in range(4):
        np.multiply(state, y, out=step)
        np.tanh(step, out=step)
        np.add(state, step, out=state)
    return np.sum(state)


def sums_where(a):
    is_kept = a > 0.0
    spread = np.var(a, axis=0, where=is_kept) + np.std(a, where=is_kept)
    largest = np.max(a, axis=1, where=is_kept, initial=0.5)
    product = np.prod(a[:3], where=is_kept[:3], initial=2.0)
    return np.sum(a, where=is_kept, initial=1.0) * product + np.sum(spread) + np.sum(largest)


def copied_into(x, y):
    out = x * 2.0
    np.copyto(out, y, where=x > 0.0)
    np.putmask(out, y > 0.5, y * x)
    return np.sum(out**2)


def filled_and_sorted(x):
    out = np.outer(x, x)
    out[1].fill(x[0])
    np.fill_diagonal(out, x**2)
    flat = out.ravel()
    flat.sort()
    return np.sum(flat * np.arange(len(flat))) / len(flat)


def put_along(a):
    out = a * 1.0
    np.put_along_axis(out, np.argmax(a, axis=1, keepdims=True), a[:, :1] * a[:, 1:2], axis=1)
    return np.sum(out**2)


def into_its_argument(x):
    return np.sum(np.exp(x, out=x))


PROGRAMS = (
    Program(into_an_array, (normal(N), normal(N))),
    Program(into_a_view, (normal(N, 3),)),
    Program(where_it_is_safe, (normal(N),)),
    Program(buffer_in_a_loop, (normal(N), normal(N))),
    Program(sums_where, (normal(N, 4),)),
    Program(copied_into, (normal(N), normal(N))),
    Program(filled_and_sorted, (positive(N),)),
    Program(put_along, (normal(N, 4),)),
)

REFUSED = (Refused("into its argument", lambda: ad.grad(into_its_argument)(np.ones(20)), WritesArgument),)
