"""Programs that update arrays in place, as users write them: tables, factorisations, sorts, sieves, stencils.

`CASES` is a table: the program, and how to make arguments of size n for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arguments = Callable[[int, np.random.Generator], tuple[Any, ...]]


def trajectory(x):
    n = x.shape[0]
    us = np.zeros(n)
    us[0] = x[0]
    for i in range(1, n):
        us[i] = np.sin(us[i - 1]) * x[i]
    s = 0.0
    for i in range(n):
        s += us[i] * us[i]
    return s


def dtw(x, y):
    n = x.shape[0]
    m = y.shape[0]
    D = np.zeros((n, m))
    for i in range(1, n):
        for j in range(1, m):
            D[i, j] = (x[i] - y[j]) ** 2 + min(D[i - 1, j] * 1.1, D[i, j - 1], D[i - 1, j - 1])
    return D[n - 1, m - 1]


def lu(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            A[i, k] = m
    return A


def gauss(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] = A[i, j] - m * A[k, j]
    return A


def chol(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def chol_right(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n):
        A[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
        for j in range(k + 1, n):
            for i in range(j, n):
                A[i, j] -= A[i, k] * A[j, k]
    return A


def floyd(A):
    D = A.copy()
    n = A.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                D[i, j] = min(D[i, j], D[i, k] + D[k, j])
    return D


def bubble(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a * np.arange(n)


def insertion(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(1, n):
        v = a[i]
        j = i
        while j > 0 and a[j - 1] > v:
            a[j] = a[j - 1]
            j -= 1
        a[j] = v
    return a * np.arange(n)


def brk(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(1, n):
        a[i] = np.sin(a[i - 1]) + a[i]
        if a[i] > 1.5:
            break
    return a


def sieve(x):
    n = x.shape[0]
    a = x.copy()
    alive = np.ones(n)
    for p in range(2, n):
        if alive[p] > 0.5:
            for q in range(p + p, n, p):
                alive[q] = 0.0
                a[q] = a[q] * np.sin(a[p])
    return a


def ring(x):
    n = x.shape[0]
    buf = np.zeros(5)
    s = 0.0
    h = 0
    for i in range(n):
        s = s + np.sin(buf[h]) * x[i]
        buf[h] = s * 0.5 + x[i]
        h = (h + 1) % 5
    return s + buf[0]


def rows(x):
    n = x.shape[0]
    A = np.zeros((n, 4))
    A[0] = x[0]
    for i in range(1, n):
        A[i] = np.sin(A[i - 1]) * x[i]
    return np.sum(A * A)


def collatz(x):
    n = x.shape[0]
    a = x.copy()
    for i in range(1, n):
        k = i
        while k > 1:
            a[k] = a[k] * 0.9 + np.sin(a[k // 2])
            k = k // 2
    return a


def editrow(x, y):
    n = x.shape[0]
    m = y.shape[0]
    prev = np.zeros(m)
    cur = np.zeros(m)
    for i in range(n):
        cur[0] = prev[0] + x[i]
        for j in range(1, m):
            cur[j] = min(prev[j], cur[j - 1], prev[j - 1]) + (x[i] - y[j]) ** 2
        prev, cur = cur, prev
    return prev[m - 1]


def perrow(A):
    n, m = A.shape

    def one(r):
        r = r.copy()
        for i in range(1, m):
            for j in range(i):
                r[j] = r[j] * 0.9 + np.sin(r[i]) * 0.1
        return np.sum(r * r)

    return sum(one(A[i]) for i in range(n))


def heat(u0):
    u = u0.copy()
    n = u.shape[0]
    for t in range(10):
        for i in range(1, n - 1):
            u[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]) ** 2
    return u


def early(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(n):
        for j in range(1, n):
            a[j] = a[j] + np.sin(a[j - 1]) * 0.3
            if a[j] > 2.0:
                return a[j] * a[0]
    return a[n - 1] * a[0]


def hist(x):
    n = x.shape[0]
    h = np.zeros(7)
    for i in range(n):
        k = (i * i) % 7
        h[k] = h[k] * 0.5 + np.sin(h[(k + 1) % 7]) + x[i]
    return np.sum(h * h)


def slices(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k + 1 :] -= 0.1 * np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def pivot(A):
    A = A.copy()
    n = A.shape[0]
    s = 1.0
    for k in range(n):
        p = k
        best = abs(A[k, k])
        for i in range(k + 1, n):
            if abs(A[i, k]) > best:
                best = abs(A[i, k])
                p = i
        for j in range(n):
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        s = s * A[k, k]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            for j in range(k, n):
                A[i, j] = A[i, j] - m * A[k, j]
    return s


def banded(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(2, n - 3):
        a[i : i + 3] -= 0.1 * a[i - 1] * np.sin(a[i - 2 : i + 1])
    return a


def window(x):
    a = x.copy()
    n = x.shape[0]
    for i in range(4, n):
        a[i] = a[i] + 0.2 * np.sum(a[i - 4 : i] * a[i - 4 : i])
    return a


def stencil(u):
    u = u.copy()
    for t in range(10):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
    return u


def rotation(x):
    a = x.copy()
    for p in range(len(a) - 1):
        row = a[p].copy()
        a[p] = 0.8 * row - 0.6 * np.sin(a[p + 1])
        a[p + 1] = 0.6 * row + 0.8 * a[p + 1]
    return a


def turned_columns(x):
    a = x.copy()
    n = len(a)
    for p in range(n - 1):
        c, s = np.cos(a[p, p]), np.sin(a[p, p])
        column = a[:, p].copy()
        a[:, p] = c * column - s * a[:, p + 1]
        a[:, p + 1] = s * column + c * a[:, p + 1]
    return a


def added_rows(x, places):
    a = x.copy()
    for k in range(len(a)):
        a[k] = np.tanh(a[places[k]]) * 0.5 + a[k]
    return a


def exchanged_rows(x, places):
    a = x.copy()
    for k in range(len(a) - 1):
        a[[k, places[k]]] = a[[places[k], k]]
        a[k] *= a[k, 0]
    return a


def reflected(A):
    R = A.copy()
    for k in range(min(A.shape[0] - 1, A.shape[1])):
        v = R[k:, k].copy()
        if v[0] > 0.5:
            R[k:, k:] -= 0.1 * v @ R[k:, k:]
    return np.sum(R**2)


def exchanged_arrays(x):
    u, w = x.copy(), np.ones(len(x))
    for i in range(1, len(x)):
        u[i] = np.sin(w[i - 1]) * x[i]
        w[i] += 0.5 * u[i - 1] * u[i]
        u, w = w, u
    return u + 2.0 * w


def two_buffers(x):
    u, new = x.copy(), np.zeros(len(x))
    for t in range(10):
        new[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        u, new = new, u
    return u


def history(x):
    y = np.array([x[0], 0.3])
    ys = [y]
    for v in x:
        z = np.array([0.9 * y[1] - v * y[0], y[0] - 0.2 * y[1] * y[0]])
        if np.sum(z) > -3.0:
            y = z
            ys.append(y)
    return np.sum(np.array(ys) ** 2)


def blocks(x):
    n = len(x)
    h = np.zeros((3 * n, 3 * n))
    for i in range(n - 1):
        h[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] += np.outer(x[i], x[i])
        h[3 * i : 3 * i + 3, 3 * i + 3 : 3 * i + 6] = np.outer(np.sin(x[i]), x[i + 1])
        h[3 * i : 3 * i + 1] *= x[i, 0]
        h[0:2, 3 * i + 1 : 3 * i + 3] -= 0.5 * x[i, 1:]
    return h


def assembled(x, at):
    n = len(x)
    h, b = np.zeros((3 * n, 3 * n)), np.ones(3 * n)
    for i in at:
        j = (7 * i + 1) % n
        rows, columns = slice(3 * i, 3 * i + 3), slice(3 * j, 3 * j + 3)
        h[rows, columns] += np.outer(x[i], x[j])
        h[columns, rows] -= np.outer(x[j], x[j]) * h[3 * j, 3 * i]
        h[rows, :2] *= x[i, 0]
        b[rows] += x[j] * b[3 * j]
    return h + b


def vector(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return (source.uniform(0.2, 1.3, n),)


def vectors(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return source.uniform(0.2, 1.3, n), source.uniform(0.2, 1.3, n + 1)


def lu_blocks(A):
    A = A.copy()
    n = A.shape[0]
    for k in range(n - 1):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])
    return A


def line_sweep(A):
    u = A.copy()
    for j in range(1, A.shape[0]):
        u[1:-1, j:] += 0.1 * np.outer(u[1:-1, j - 1], A[0, j:])
    return u


def matrix(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return (source.uniform(0.2, 1.3, (n, n)),)


def tall(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return (source.uniform(0.2, 1.3, (2 * n + 4, n)),)


def rows_and_places(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return source.uniform(0.2, 1.3, (n, n)), source.integers(0, n, n)


def triples_and_places(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return source.uniform(0.2, 1.3, (n, 3)), source.integers(0, n, n)


def triples(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return (source.uniform(0.2, 1.3, (n, 3)),)


def dominant(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    return (source.uniform(0.2, 1.3, (n, n)) + n * np.eye(n),)


def definite(n: int, source: np.random.Generator) -> tuple[Any, ...]:
    root = source.standard_normal((n, n))
    return (root @ root.T + n * np.eye(n),)


CASES: dict[str, tuple[Callable[..., Any], Arguments]] = {
    "trajectory": (trajectory, vector),
    "dtw": (dtw, vectors),
    "lu": (lu, dominant),
    "gauss": (gauss, dominant),
    "chol": (chol, definite),
    "chol_right": (chol_right, definite),
    "floyd": (floyd, matrix),
    "bubble": (bubble, vector),
    "insertion": (insertion, vector),
    "brk": (brk, vector),
    "sieve": (sieve, vector),
    "ring": (ring, vector),
    "rows": (rows, vector),
    "collatz": (collatz, vector),
    "editrow": (editrow, vectors),
    "perrow": (perrow, matrix),
    "heat": (heat, vector),
    "early": (early, vector),
    "hist": (hist, vector),
    "slices": (slices, matrix),
    "pivot": (pivot, dominant),
    "banded": (banded, vector),
    "window": (window, vector),
    "stencil": (stencil, vector),
    "rotation": (rotation, matrix),
    "turned_columns": (turned_columns, matrix),
    "added_rows": (added_rows, rows_and_places),
    "exchanged_rows": (exchanged_rows, rows_and_places),
    "reflected": (reflected, tall),
    "blocks": (blocks, triples),
    "assembled": (assembled, triples_and_places),
    "exchanged_arrays": (exchanged_arrays, vector),
    "two_buffers": (two_buffers, vector),
    "history": (history, vector),
    "lu_blocks": (lu_blocks, dominant),
    "line_sweep": (line_sweep, matrix),
}
