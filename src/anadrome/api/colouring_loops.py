"""The loops of `colouring`, in plain Python that this package compiles."""

from __future__ import annotations

import numpy as np


def columns_greedily(
    starts: np.ndarray, rows: np.ndarray, row_starts: np.ndarray, columns: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """The colour of every column; `rows[starts[j]:starts[j + 1]]` are the rows of column j, and `columns` the
    columns of each row likewise."""
    count = len(order)
    colour = np.full(count, -1)
    forbidden = np.full(count + 2, -1)
    for place in range(count):
        column = order[place]
        for p in range(starts[column], starts[column + 1]):
            row = rows[p]
            for q in range(row_starts[row], row_starts[row + 1]):
                forbidden[colour[columns[q]] + 1] = column
        free = 0
        while forbidden[free + 1] == column:
            free = free + 1
        colour[column] = free
    return colour


def stars_greedily(starts: np.ndarray, neighbours: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The colour of every vertex of a graph without loops; `neighbours[starts[v]:starts[v + 1]]` are those of
    v."""
    count = len(order)
    colour = np.full(count, -1)
    forbidden = np.full(count + 2, -1)
    for place in range(count):
        v = order[place]
        for p in range(starts[v], starts[v + 1]):
            w = neighbours[p]
            forbidden[colour[w] + 1] = v
            for q in range(starts[w], starts[w + 1]):
                x = neighbours[q]
                if x != v and colour[x] >= 0 and forbidden[colour[x] + 1] != v:
                    if colour[w] < 0:
                        forbidden[colour[x] + 1] = v
                    else:
                        for r in range(starts[x], starts[x + 1]):
                            y = neighbours[r]
                            if y != w and colour[y] == colour[w]:
                                forbidden[colour[x] + 1] = v
        free = 0
        while forbidden[free + 1] == v:
            free = free + 1
        colour[v] = free
    return colour
