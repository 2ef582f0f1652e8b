"""Programs in Numba on one thread. It has no derivatives: these are derived by hand, as those in C are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from bench.peers import Call

fast = njit(fastmath=True)


def of_functions(
    objective: Callable[..., Any], derivative: Callable[..., Any], unread: int = 0
) -> Callable[..., tuple[Call, Call]]:
    """Calls of two functions; the objective takes the arguments but for the last `unread`."""

    def calls(*arguments: Any) -> tuple[Call, Call]:
        read = arguments[: len(arguments) - unread]
        return (lambda: objective(*read)), (lambda: derivative(*arguments))

    return calls


# ---------------------------------------------------------------------------- arrays
@fast
def mapped(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        if v > 0.5:
            y[i] = math.sin(v) * math.exp(-v)
        elif v > -0.5:
            y[i] = v * v * v
        else:
            y[i] = math.log1p(v * v)
    return y


@fast
def mapped_vjp(x, y_adj):
    y, x_adj = np.empty_like(x), np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        if v > 0.5:
            fall, sine = math.exp(-v), math.sin(v)
            y[i] = sine * fall
            x_adj[i] = y_adj[i] * fall * (math.cos(v) - sine)
        elif v > -0.5:
            y[i] = v * v * v
            x_adj[i] = y_adj[i] * 3 * v * v
        else:
            y[i] = math.log1p(v * v)
            x_adj[i] = y_adj[i] * 2 * v / (1 + v * v)
    return y, x_adj


@fast
def cells(c, f, i, g, z, z_below):
    y = np.empty_like(c)
    for row in range(len(c)):
        for k in range(len(z)):
            gate, change = 1 / (1 + math.exp(-i[row, k])), math.tanh(g[row, k])
            if z[k] == 1:
                y[row, k] = gate * change
            elif z_below[k] == 0:
                y[row, k] = c[row, k]
            else:
                y[row, k] = c[row, k] / (1 + math.exp(-f[row, k])) + gate * change
    return y


@fast
def cells_vjp(c, f, i, g, z, z_below, y_adj):
    y = np.empty_like(c)
    c_adj, f_adj, i_adj, g_adj = np.zeros_like(c), np.zeros_like(c), np.zeros_like(c), np.zeros_like(c)
    for row in range(len(c)):
        for k in range(len(z)):
            above = y_adj[row, k]
            if z[k] != 1 and z_below[k] == 0:
                y[row, k], c_adj[row, k] = c[row, k], above
                continue
            gate, change = 1 / (1 + math.exp(-i[row, k])), math.tanh(g[row, k])
            y[row, k] = gate * change
            i_adj[row, k] = above * change * gate * (1 - gate)
            g_adj[row, k] = above * gate * (1 - change * change)
            if z[k] != 1:
                keep = 1 / (1 + math.exp(-f[row, k]))
                y[row, k] += keep * c[row, k]
                c_adj[row, k] = above * keep
                f_adj[row, k] = above * c[row, k] * keep * (1 - keep)
    return y, c_adj, f_adj, i_adj, g_adj


# ---------------------------------------------------------------------------- histogram, gather
@fast
def counted(values, bins, weights):
    counts = np.zeros(len(weights))
    for i in range(len(values)):
        counts[bins[i]] += values[i]
    return counts


@fast
def histogram(values, bins, weights):
    counts = counted(values, bins, weights)
    return np.sum(weights * counts * counts)


@fast
def histogram_gradient(values, bins, weights):
    counts = counted(values, bins, weights)
    slopes, values_adj = 2 * weights * counts, np.empty_like(values)
    for i in range(len(values)):
        values_adj[i] = slopes[bins[i]]
    return np.sum(weights * counts * counts), values_adj


@fast
def gather(table, places, weights):
    loss = 0.0
    for i in range(len(places)):
        value = table[places[i]]
        loss += weights[i] * value * value * value
    return loss


@fast
def gather_gradient(table, places, weights):
    loss, table_adj = 0.0, np.zeros_like(table)
    for i in range(len(places)):
        value = table[places[i]]
        scaled = weights[i] * value * value
        loss += scaled * value
        table_adj[places[i]] += 3 * scaled
    return loss, table_adj


# ---------------------------------------------------------------------------- reductions and scans
@fast
def logsumexp(x):
    greatest, total = np.max(x), 0.0
    for v in x:
        total += math.exp(v - greatest)
    return greatest + math.log(total)


@fast
def logsumexp_gradient(x):
    greatest, total, x_adj = np.max(x), 0.0, np.empty_like(x)
    for i in range(len(x)):
        x_adj[i] = math.exp(x[i] - greatest)
        total += x_adj[i]
    return greatest + math.log(total), x_adj / total


@fast
def prefix_sum(x, weights):
    total, loss = 0.0, 0.0
    for i in range(len(x)):
        total += x[i]
        loss += weights[i] * total * total
    return loss


@fast
def prefix_sum_gradient(x, weights):
    total, loss, total_adj, x_adj = 0.0, 0.0, 0.0, np.empty_like(x)
    for i in range(len(x)):
        total += x[i]
        loss += weights[i] * total * total
        x_adj[i] = 2 * weights[i] * total
    for i in range(len(x) - 1, -1, -1):
        total_adj += x_adj[i]
        x_adj[i] = total_adj
    return loss, x_adj


@fast
def recurrence(slopes, starts, weights):
    state, loss = 0.0, 0.0
    for i in range(len(slopes)):
        state = slopes[i] * state + starts[i]
        loss += weights[i] * state * state
    return loss


@fast
def recurrence_gradient(slopes, starts, weights):
    state, loss, carried, states = 0.0, 0.0, 0.0, np.empty_like(slopes)
    slopes_adj, starts_adj = np.zeros_like(slopes), np.empty_like(starts)
    for i in range(len(slopes)):
        state = slopes[i] * state + starts[i]
        loss += weights[i] * state * state
        states[i] = state
    for i in range(len(slopes) - 1, -1, -1):
        state_adj = carried + 2 * weights[i] * states[i]
        starts_adj[i] = state_adj
        if i > 0:
            slopes_adj[i] = state_adj * states[i - 1]
        carried = slopes[i] * state_adj
    return loss, slopes_adj, starts_adj


# ---------------------------------------------------------------------------- k-means
@fast
def nearest(point, centroids):
    least, at = math.inf, 0
    for j in range(len(centroids)):
        distance = 0.0
        for k in range(len(point)):
            distance += (point[k] - centroids[j, k]) ** 2
        if distance < least:
            least, at = distance, j
    return least, at


@fast
def cost(points, centroids):
    total = 0.0
    for i in range(len(points)):
        total += nearest(points[i], centroids)[0]
    return total


@fast
def kmeans_curvature(points, centroids):
    total, gradient, diagonal = 0.0, np.zeros_like(centroids), np.zeros_like(centroids)
    for i in range(len(points)):
        least, at = nearest(points[i], centroids)
        total += least
        for k in range(points.shape[1]):
            gradient[at, k] += 2 * (centroids[at, k] - points[i, k])
            diagonal[at, k] += 2
    return total, gradient, diagonal


@fast
def kmeans_gradient(points, centroids):
    total, gradient = 0.0, np.zeros_like(centroids)
    for i in range(len(points)):
        least, at = nearest(points[i], centroids)
        total += least
        for k in range(points.shape[1]):
            gradient[at, k] += 2 * (centroids[at, k] - points[i, k])
    return total, gradient


PROGRAMS = {
    "hm_lstm": of_functions(cells, cells_vjp, 1),
    "kmeans": of_functions(cost, kmeans_gradient),
    "kmeans_curvature": of_functions(cost, kmeans_curvature),
    "map": of_functions(mapped, mapped_vjp, 1),
    "histogram": of_functions(histogram, histogram_gradient),
    "gather": of_functions(gather, gather_gradient),
    "logsumexp": of_functions(logsumexp, logsumexp_gradient),
    "prefix_sum": of_functions(prefix_sum, prefix_sum_gradient),
    "recurrence": of_functions(recurrence, recurrence_gradient),
}
