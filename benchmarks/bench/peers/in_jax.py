"""Programs in JAX, compiled, in double precision where the arguments are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.peers import Call

jax.config.update("jax_enable_x64", True)


def compiled(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Call:
    """A call that ends when its result is there."""
    fast, held = jax.jit(function), [jnp.asarray(value) for value in arguments]
    return lambda: jax.block_until_ready(fast(*held))


def of_loss(loss: Callable[..., Any], by: int = 0) -> Callable[..., tuple[Call, Call]]:
    """A loss, and its value and gradient by an argument."""

    def calls(*arguments: Any) -> tuple[Call, Call]:
        return compiled(loss, arguments), compiled(jax.value_and_grad(loss, by), arguments)

    return calls


# ---------------------------------------------------------------------------- a mixture
def mixture(
    alpha: np.ndarray, mu: np.ndarray, q: np.ndarray, lower: np.ndarray, x: np.ndarray, gamma: float, m: int
) -> tuple[Call, Call]:
    """All distances by one product of matrices."""
    k, d = mu.shape
    column, row = np.triu_indices(d, 1)
    degrees = d + m + 1
    multigamma = 0.25 * d * (d - 1) * math.log(math.pi)
    multigamma += sum(math.lgamma(0.5 * (degrees - j)) for j in range(d))
    constant = k * (degrees * d * math.log(gamma / math.sqrt(2.0)) - multigamma)
    constant -= len(x) * 0.5 * d * math.log(2.0 * math.pi)

    def log_posterior(alpha: Any, mu: Any, q: Any, lower: Any, x: Any) -> Any:
        factors = jnp.zeros((k, d, d)).at[:, row, column].set(lower) + jnp.exp(q)[:, :, None] * jnp.eye(d)
        products = (x @ factors.reshape(k * d, d).T).reshape(-1, k, d)
        offsets = products - jnp.einsum("krc,kc->kr", factors, mu)
        heights = alpha + jnp.sum(q, 1) - 0.5 * jnp.sum(offsets**2, 2)
        likelihood = jnp.sum(jax.nn.logsumexp(heights, 1)) - len(x) * jax.nn.logsumexp(alpha)
        return likelihood + constant - 0.5 * gamma**2 * jnp.sum(factors**2) + m * jnp.sum(q)

    arguments = (alpha, mu, q, lower, x)
    return compiled(log_posterior, arguments), compiled(jax.grad(log_posterior, (0, 1, 2, 3)), arguments)


# ---------------------------------------------------------------------------- arrays
def branches(x: Any) -> Any:
    outside = jnp.where(x > 0.5, jnp.sin(x) * jnp.exp(-x), jnp.log1p(x * x))
    return jnp.where((x > -0.5) & (x <= 0.5), x**3, outside)


def mapped(x: np.ndarray, y_adj: np.ndarray) -> tuple[Call, Call]:
    def derivative(x: Any, y_adj: Any) -> Any:
        y, pull_back = jax.vjp(branches, x)
        return y, *pull_back(y_adj)

    return compiled(branches, (x,)), compiled(derivative, (x, y_adj))


def cell(c: Any, f: Any, i: Any, g: Any, z: Any, z_below: Any) -> Any:
    entered = jax.nn.sigmoid(i) * jnp.tanh(g)
    return jnp.where(z == 1, entered, jnp.where(z_below == 0, c, jax.nn.sigmoid(f) * c + entered))


def cells(*arguments: np.ndarray) -> tuple[Call, Call]:
    def derivative(c: Any, f: Any, i: Any, g: Any, z: Any, z_below: Any, y_adj: Any) -> Any:
        y, pull_back = jax.vjp(lambda *gates: cell(*gates, z, z_below), c, f, i, g)
        return y, pull_back(y_adj)

    return compiled(cell, arguments[:-1]), compiled(derivative, arguments)


# ---------------------------------------------------------------------------- losses
def histogram(values: Any, bins: Any, weights: Any) -> Any:
    return jnp.sum(weights * jnp.zeros(len(weights)).at[bins].add(values) ** 2)


def gather(table: Any, places: Any, weights: Any) -> Any:
    return jnp.sum(weights * table[places] ** 3)


def prefix_sum(x: Any, weights: Any) -> Any:
    return jnp.sum(weights * jnp.cumsum(x) ** 2)


def recurrence(slopes_and_starts: tuple[Any, Any], weights: Any) -> Any:
    _, states = jax.lax.associative_scan(lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), slopes_and_starts)
    return jnp.sum(weights * states**2)


def recurrence_calls(slopes: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> tuple[Call, Call]:
    arguments = (slopes, starts, weights)
    gradient = jax.value_and_grad(recurrence)
    return (
        compiled(lambda a, b, c: recurrence((a, b), c), arguments),
        compiled(lambda a, b, c: gradient((a, b), c), arguments),
    )


# ---------------------------------------------------------------------------- k-means
def cost(points: Any, centroids: Any) -> Any:
    squares = jnp.sum(points**2, 1)[:, None] + jnp.sum(centroids**2, 1)
    return jnp.sum(jnp.min(squares - 2.0 * (points @ centroids.T), 1))


def kmeans_curvature(points: np.ndarray, centroids: np.ndarray) -> tuple[Call, Call]:
    def derivative(points: Any, centroids: Any) -> Any:
        slope = jax.value_and_grad(lambda c: cost(points, c))
        (value, gradient), (_, diagonal) = jax.jvp(slope, (centroids,), (jnp.ones_like(centroids),))
        return value, gradient, diagonal

    return compiled(cost, (points, centroids)), compiled(derivative, (points, centroids))


PROGRAMS = {
    "gmm": mixture,
    "hm_lstm": cells,
    "kmeans": of_loss(cost, 1),
    "kmeans_curvature": kmeans_curvature,
    "map": mapped,
    "histogram": of_loss(histogram),
    "gather": of_loss(gather),
    "logsumexp": of_loss(jax.nn.logsumexp),
    "prefix_sum": of_loss(prefix_sum),
    "recurrence": recurrence_calls,
}
