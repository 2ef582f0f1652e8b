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
    v.

    Every path v, w, x, y of two colours is refused when its last vertex is coloured. With w a neighbour of v
    that has a colour, v may not have

        the colour of w;
        the colour of a neighbour x of w that has another neighbour y of the colour of w: v would be an end;
        the colour of any neighbour of w, if v has two neighbours of the colour of w: v would be inside.

    Nor may it have the colour of a neighbour of a w without a colour: fewer colours come of it.

    A vertex has a place for each colour found among its neighbours, within `starts[v]:starts[v + 1]`: which
    colour, how many neighbours have it, the first of them, and whether v is an end by one of them (as w is
    above, by x). So a vertex with many neighbours costs its neighbours no more than one with few
    (Gebremedhin, Tarafdar, Manne and Pothen 2007, who keep the stars themselves, §4).
    """
    colour = np.full(len(order), -1)
    forbidden = np.full(len(order) + 1, -1)
    found = np.zeros(len(order), dtype=np.int64)
    colours = np.full(len(neighbours), -1)
    times = np.zeros(len(neighbours), dtype=np.int64)
    first = np.full(len(neighbours), -1)
    is_end = np.zeros(len(neighbours), dtype=np.bool_)
    for v in order:
        for p in range(starts[v], starts[v + 1]):
            w = neighbours[p]
            is_inside = True
            if colour[w] >= 0:
                forbidden[colour[w]] = v
                is_inside = times[place_of(colours, starts[v], found[v], colour[w])] > 1
            for place in range(starts[w], starts[w] + found[w]):
                if is_inside or is_end[place]:
                    forbidden[colours[place]] = v
        free = 0
        while forbidden[free] == v:
            free = free + 1
        colour[v] = free
        for p in range(starts[v], starts[v + 1]):
            w = neighbours[p]
            at_w = place_of(colours, starts[w], found[w], free)
            if at_w == starts[w] + found[w]:
                colours[at_w] = free
                first[at_w] = v
                found[w] = found[w] + 1
            times[at_w] = times[at_w] + 1
            if colour[w] >= 0:
                at_v = place_of(colours, starts[v], found[v], colour[w])
                if times[at_w] > 1:
                    is_end[at_v] = True
                    one = first[at_w]
                    is_end[place_of(colours, starts[one], found[one], colour[w])] = True
                if times[at_v] > 1:
                    is_end[at_w] = True
    return colour


def place_of(colours: np.ndarray, start: int, count: int, colour: int) -> int:
    """Where a colour stands among `count` of them from `start`; behind the last, if it does not."""
    place = start
    while place < start + count and colours[place] != colour:
        place = place + 1
    return place
