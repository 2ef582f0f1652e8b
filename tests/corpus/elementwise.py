"""Elementwise NumPy: broadcasting, `where`, comparisons, dtypes."""

from __future__ import annotations

import numpy as np

import anadrome as ad
from anadrome.errors.frontend import AmbiguousTruth, ShapeMismatch
from anadrome.errors.runtime import SizeMismatch
from tests.corpus.draw import N, flags, given, normal, positive, with_values
from tests.corpus.harness import Program, Refused


def chain_of_functions(x):
    return np.sum(np.tanh(np.exp(-(x**2)) + np.sin(x)))


def vector_result(x, y):
    return np.sqrt(x) * np.log(y) + x / y


def row_and_column(x, y):
    return np.sum(np.cos(x[:, None] * y[None, :]))


def scalar_against_matrix(a, s):
    return np.sum((a * s + s / (1.0 + a**2)) ** 2)


def broadcast_row_over_matrix(a, row, column):
    return np.sum(np.tanh(a + row) * column[:, None])


def unit_dimensions(a, b):
    return np.sum(np.exp(0.1 * a * b))


def relu_layer(x, w, b):
    return np.maximum(0.0, x @ w + b).sum()


def where_of_two(x, y):
    return np.sum(np.where(x > y, x**2 * y, np.sin(y)))


def where_guards_a_pole(x):
    safe = np.where(x > 0.0, x, 1.0)
    return np.sum(np.where(x > 0.0, np.log(safe), x))


def where_on_the_other_side_of_a_pole(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), -x))


def masked_by_flags(x, keep):
    return np.sum(np.where(keep, x**3, 0.0)) + np.sum(x * keep)


def clipped(x):
    return np.sum(np.clip(x, -0.5, 0.8) ** 2 + np.abs(x))


def integer_powers(x):
    return np.sum(x**3 + x**-2 + x**0) + np.sum(np.power(x, 2.5))


def comparisons_as_numbers(x, y):
    return np.sum((x > y) * x + (x <= y) * y**2 + (x != y))


def temporary_written_in_place(x):
    y = np.sin(x)
    y *= x
    y += 1.0
    y /= x**2 + 1.0
    return np.sum(y**2)


def sigmoid_cross_entropy(x, labels):
    p = 1.0 / (1.0 + np.exp(-x))
    return -np.mean(labels * np.log(p) + (1.0 - labels) * np.log(1.0 - p))


def softmax_rows(a):
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer_norm(x, gain, bias):
    centred = x - np.mean(x)
    return gain * centred / np.sqrt(np.mean(centred**2) + 1e-5) + bias


def single_precision_array(x):
    return np.sum(x.astype(np.float32).astype(np.float64) * 0.0 + x**2)


def mixed_with_integers(x, k):
    return np.sum(x**k / (k + 1)) + np.sum(np.sqrt(k + x**2))


def arity_six(a, b, c, d, e, f):
    return np.sum(a * np.tanh(b) + c * np.exp(-(d**2)) + e / (1.0 + f**2))


def gelu(x):
    return np.sum(0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))))


def huber(x, y):
    r = x - y
    return np.mean(np.where(np.abs(r) <= 0.7, 0.5 * r**2, 0.7 * (np.abs(r) - 0.35)))


def lstm_cell(x, h, c, w, u, b):
    n = len(h)
    gates = w @ x + u @ h + b
    i, f, o = (1.0 / (1.0 + np.exp(-gates[k * n : (k + 1) * n])) for k in range(3))
    g = np.tanh(gates[3 * n :])
    c = f * c + i * g
    return o * np.tanh(c), c


def nan_safe_norm(x):
    square = np.sum(x**2)
    return np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, 1.0)), 0.0)


PROGRAMS = (
    Program(chain_of_functions, (normal(N),)),
    Program(vector_result, (positive(N), positive(N))),
    Program(row_and_column, (normal(N), normal(N + 1))),
    Program(scalar_against_matrix, (normal(N, 3), normal())),
    Program(broadcast_row_over_matrix, (normal(N, 4), normal(4), normal(N))),
    Program(unit_dimensions, (normal(N, 1, 3), normal(1, 4, 1))),
    Program(relu_layer, (normal(N, 3), normal(3, N), normal(N))),
    Program(where_of_two, (normal(N), normal(N))),
    Program(where_guards_a_pole, (normal(N),)),
    Program(where_on_the_other_side_of_a_pole, (with_values(normal(N), {1: -0.5}),)),
    Program(masked_by_flags, (normal(N), flags(N))),
    Program(clipped, (normal(N),)),
    Program(integer_powers, (positive(N),)),
    Program(comparisons_as_numbers, (normal(N), normal(N))),
    Program(temporary_written_in_place, (normal(N),)),
    Program(sigmoid_cross_entropy, (normal(N), flags(N))),
    Program(softmax_rows, (normal(N, N),), sizes=(4, 8, 16)),
    Program(layer_norm, (normal(N), normal(N), normal(N))),
    Program(mixed_with_integers, (positive(N), given(3))),
    Program(arity_six, tuple(normal(N) for _ in range(6))),
    Program(gelu, (normal(N),)),
    Program(huber, (normal(N), normal(N))),
    Program(
        lstm_cell,
        (normal(N), normal(N), normal(N), normal(4 * N, N), normal(4 * N, N), normal(4 * N)),
        sizes=(4, 8, 16),
    ),
    Program(nan_safe_norm, (normal(N),)),
    Program(
        nan_safe_norm,
        (given(np.zeros(6)),),
        name="nan_safe_norm_of_nothing",
        sizes=(6,),
        kink="the norm has a corner at zero; the guarded one is constant there",
        slopes=lambda x: 0.0 * x,
    ),
)

REFUSED = (
    Refused("shapes_known", lambda: ad.jit(lambda x: x[:3] + x[:4])(np.ones(20)), ShapeMismatch),
    Refused("shapes_at_run_time", lambda: ad.jit(lambda x, y: x + y)(np.ones(20), np.ones(21)), SizeMismatch),
    Refused(
        "array_as_condition", lambda: ad.grad(lambda x: x[0] if x > 0 else x[1])(np.ones(5)), AmbiguousTruth
    ),
)
