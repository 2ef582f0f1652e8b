"""Programs in PyTorch, operation by operation, with gradients by its tape. Of a linear recurrence there is no
form that is not a loop in Python."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from bench.peers import Call

torch.set_num_threads(len(os.sched_getaffinity(0)))


def tensor(value: Any) -> Any:
    """The same numbers; places are `int64`, as PyTorch wants them."""
    found = torch.from_numpy(np.ascontiguousarray(value))
    return found.long() if found.dtype == torch.int32 else found


def forward(function: Callable[..., Any], *arguments: Any) -> Call:
    """A call without a tape."""

    def call() -> Any:
        with torch.no_grad():
            return function(*arguments)

    return call


def backward(
    function: Callable[..., Any], by: tuple[int, ...], arguments: tuple[Any, ...], y_adj: Any = None
) -> Callable[[], tuple[Any, tuple[Any, ...]]]:
    """A call that gives the value and the derivatives by the arguments `by`."""

    def call() -> tuple[Any, tuple[Any, ...]]:
        leaves = [value.detach().requires_grad_(place in by) for place, value in enumerate(arguments)]
        value = function(*leaves)
        return value.detach(), torch.autograd.grad(value, [leaves[place] for place in by], y_adj)

    return call


def of_loss(loss: Callable[..., Any], by: int = 0) -> Callable[..., tuple[Call, Call]]:
    """A loss, and its value and gradient by an argument."""

    def calls(*arguments: Any) -> tuple[Call, Call]:
        tensors = tuple(map(tensor, arguments))
        return forward(loss, *tensors), backward(loss, (by,), tensors)

    return calls


# ---------------------------------------------------------------------------- a mixture
def mixture(
    alpha: np.ndarray, mu: np.ndarray, q: np.ndarray, lower: np.ndarray, x: np.ndarray, gamma: float, m: int
) -> tuple[Call, Call]:
    """All distances by one product of matrices."""
    k, d = mu.shape
    column, row = map(torch.from_numpy, np.triu_indices(d, 1))
    component, unit = torch.arange(k)[:, None], torch.eye(d, dtype=torch.float64)
    degrees = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi)
    multigamma += sum(math.lgamma(0.5 * (degrees - j)) for j in range(d))
    constant = k * (degrees * d * math.log(gamma / math.sqrt(2.0)) - multigamma)
    constant -= len(x) * 0.5 * d * math.log(2.0 * math.pi)

    def log_posterior(alpha: Any, mu: Any, q: Any, lower: Any, x: Any) -> Any:
        below = torch.zeros((k, d, d), dtype=torch.float64).index_put((component, row, column), lower)
        factors = below + torch.exp(q)[:, :, None] * unit
        products = (x @ factors.reshape(k * d, d).T).reshape(-1, k, d)
        offsets = products - torch.einsum("krc,kc->kr", factors, mu)
        heights = alpha + q.sum(1) - 0.5 * (offsets * offsets).sum(2)
        likelihood = torch.logsumexp(heights, 1).sum() - len(x) * torch.logsumexp(alpha, 0)
        return likelihood + constant - 0.5 * gamma**2 * (factors * factors).sum() + m * q.sum()

    tensors = tuple(map(tensor, (alpha, mu, q, lower, x)))
    both = backward(log_posterior, (0, 1, 2, 3), tensors)
    return forward(log_posterior, *tensors), lambda: both()[1]


# ---------------------------------------------------------------------------- arrays
def branches(x: Any) -> Any:
    outside = torch.where(x > 0.5, torch.sin(x) * torch.exp(-x), torch.log1p(x * x))
    return torch.where((x > -0.5) & (x <= 0.5), x * x * x, outside)


def mapped(x: np.ndarray, y_adj: np.ndarray) -> tuple[Call, Call]:
    argument = tensor(x)
    return forward(branches, argument), backward(branches, (0,), (argument,), tensor(y_adj))


def cell(c: Any, f: Any, i: Any, g: Any, z: Any, z_below: Any) -> Any:
    entered = torch.sigmoid(i) * torch.tanh(g)
    return torch.where(z == 1, entered, torch.where(z_below == 0, c, torch.sigmoid(f) * c + entered))


def cells(*arguments: np.ndarray) -> tuple[Call, Call]:
    *read, y_adj = map(tensor, arguments)
    return forward(cell, *read), backward(cell, (0, 1, 2, 3), tuple(read), y_adj)


# ---------------------------------------------------------------------------- losses
def histogram(values: Any, bins: Any, weights: Any) -> Any:
    counts = torch.zeros_like(weights).index_add(0, bins, values)
    return (weights * counts * counts).sum()


def gather(table: Any, places: Any, weights: Any) -> Any:
    value = table[places]
    return (weights * value * value * value).sum()


def prefix_sum(x: Any, weights: Any) -> Any:
    sums = torch.cumsum(x, 0)
    return (weights * sums * sums).sum()


# ---------------------------------------------------------------------------- k-means
def cost(points: Any, centroids: Any) -> Any:
    squares = (points * points).sum(1)[:, None] + (centroids * centroids).sum(1)
    return (squares - 2.0 * (points @ centroids.T)).min(1).values.sum()


def kmeans_curvature(points: np.ndarray, centroids: np.ndarray) -> tuple[Call, Call]:
    held, start = tensor(points), tensor(centroids)

    def derivative() -> Any:
        moved = start.detach().requires_grad_()
        value = cost(held, moved)
        (gradient,) = torch.autograd.grad(value, moved, create_graph=True)
        (diagonal,) = torch.autograd.grad(gradient.sum(), moved)
        return value.detach(), gradient.detach(), diagonal

    return forward(cost, held, start), derivative


PROGRAMS = {
    "gmm": mixture,
    "hm_lstm": cells,
    "kmeans": of_loss(cost, 1),
    "kmeans_curvature": kmeans_curvature,
    "map": mapped,
    "histogram": of_loss(histogram),
    "gather": of_loss(gather),
    "logsumexp": of_loss(lambda x: torch.logsumexp(x, 0)),
    "prefix_sum": of_loss(prefix_sum),
}
