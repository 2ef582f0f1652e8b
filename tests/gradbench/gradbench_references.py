"""The objectives once more, written otherwise than in `examples/`: whole arrays, matrix exponentials, closed
forms. Each works on complex numbers too, so its derivative is exact to the last digits by a complex step:

    ∂f/∂x_i = Im f(x + h i e_i) / h,    h = 1e-30
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.special import multigammaln

Array = np.ndarray


def complex_step(function: Callable[[Array], Any], x: Array) -> Array:
    """The Jacobian of an analytic function, of the shape of its result and then that of x."""
    columns = []
    for index in np.ndindex(x.shape):
        moved = x.astype(np.complex128)
        moved[index] += 1e-30j
        columns.append(np.imag(function(moved)) / 1e-30)
    jacobian = np.stack(columns, axis=-1)
    return jacobian.reshape(*jacobian.shape[:-1], *x.shape)


def logsumexp(x: Array) -> Any:
    return np.log(np.sum(np.exp(x)))


def least_squares(x: Array, n: int) -> Any:
    t = np.linspace(-1.0, 1.0, n)
    return 0.5 * np.sum((np.sign(t) - np.vander(t, len(x), increasing=True) @ x) ** 2)


def ode_solution(x: Array, steps: int) -> Array:
    """The system is linear, y' = M y + b, so a Runge-Kutta step is a polynomial in hM."""
    n = len(x)
    h = 2.0 / steps
    hm = h * (np.diag(x[1:], -1) if n > 1 else np.zeros((1, 1)))
    hb = h * np.concatenate((x[:1], np.zeros(n - 1)))
    powers = [np.linalg.matrix_power(hm, i) for i in range(5)]
    advance = powers[0] + powers[1] + powers[2] / 2 + powers[3] / 6 + powers[4] / 24
    source = (powers[0] + powers[1] / 2 + powers[2] / 6 + powers[3] / 24) @ hb
    y = np.zeros(n, dtype=x.dtype)
    for _ in range(steps):
        y = advance @ y + source
    return y


def kmeans_cost(points: Array, centroids: Array) -> Any:
    squared = np.sum((points[:, np.newaxis] - centroids) ** 2, axis=2)
    return np.sum(squared[np.arange(len(points)), np.argmin(squared.real, axis=1)])


def kmeans_direction(points: Array, centroids: Array) -> Array:
    """Gradient 2 (n_j c_j - Σp) over curvature 2 n_j: a centre less the mean of its points."""
    squared = np.sum((points[:, np.newaxis] - centroids) ** 2, axis=2)
    nearest = np.argmin(squared, axis=1)
    return np.array([c - np.mean(points[nearest == j], axis=0) for j, c in enumerate(centroids)])


def gmm_log_posterior(alpha: Array, mu: Array, q: Array, lower: Array, x: Array, gamma: float, m: int) -> Any:
    """By the densities themselves: Σ_i log Σ_k φ_k N(x_i) + Σ_k log Wishart(P_k), P_k = Q_kᵀQ_k."""
    d = mu.shape[1]
    n = d + m + 1
    weights = np.exp(alpha) / np.sum(np.exp(alpha))
    scale = np.eye(d) / gamma**2
    densities, prior = 0.0, 0.0
    for k in range(len(alpha)):
        factor = np.diag(np.exp(q[k])).astype(np.result_type(q, lower))
        # The upper triangle by rows is the lower one by columns.
        factor.T[np.triu_indices(d, 1)] = lower[k]
        precision = factor.T @ factor
        determinant = np.linalg.det(precision)
        distance = np.einsum("ni,ij,nj->n", x - mu[k], precision, x - mu[k])
        normaliser = np.sqrt(determinant / (2.0 * np.pi) ** d)
        densities = densities + weights[k] * normaliser * np.exp(-0.5 * distance)
        prior = prior + 0.5 * (n - d - 1) * np.log(determinant)
        prior = prior - 0.5 * np.trace(np.linalg.inv(scale) @ precision)
        prior = prior - 0.5 * d * n * np.log(2.0) - 0.5 * n * np.log(np.linalg.det(scale))
        prior = prior - multigammaln(0.5 * n, d)
    return np.sum(np.log(densities)) + prior


def lstm_loss(main: Array, extra: Array, state: Array, sequence: Array) -> Any:
    """On the rows as the suite sends them: main [2l, 4b], extra [3, b], state [2l, b], sequence [c, b]."""
    layers, bits = len(state) // 2, state.shape[1]
    kind = np.result_type(main, extra)
    hidden, cell = list(state[0::2].astype(kind)), list(state[1::2].astype(kind))
    terms = []
    for current, following in pairwise(sequence):
        x = current * extra[0]
        for i in range(layers):
            inputs = np.concatenate((x, hidden[i], x, hidden[i]))
            gates = (inputs * main[2 * i] + main[2 * i + 1]).reshape(4, bits)
            forget, ingate, outgate = 0.5 + 0.5 * np.tanh(0.5 * gates[:3])
            cell[i] = cell[i] * forget + ingate * np.tanh(gates[3])
            hidden[i] = outgate * np.tanh(cell[i])
            x = hidden[i]
        output = x * extra[1] + extra[2]
        terms.append(following * (output - np.log(np.sum(np.exp(output)) + 2.0)))
    return -np.mean(terms)


def cross_matrix(vector: Array) -> Array:
    x, y, z = vector
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def reprojection_error(camera: Array, point: Array, weight: Any, feature: Array) -> Array:
    seen = expm(cross_matrix(camera[:3])) @ (point - camera[3:6])
    flat = seen[:2] / seen[2]
    radius = np.sum(flat**2)
    distorted = flat * np.polyval([camera[10], camera[9], 1.0], radius)
    return weight * (camera[6] * distorted + camera[7:9] - feature)


def ba_jacobian(cameras: Array, points: Array, weights: Array, features: Array, observations: Array) -> Array:
    """The whole matrix: rows are reprojections and then weights, columns cameras, points and weights."""
    p, points_at, weights_at = len(weights), cameras.size, cameras.size + points.size
    jacobian = np.zeros((3 * p, weights_at + p))
    for i, (c, x) in enumerate(observations):
        unknowns = np.concatenate((cameras[c], points[x], weights[i : i + 1]))

        def error(v: Array, feature: Array = features[i]) -> Array:
            return reprojection_error(v[:11], v[11:14], v[14], feature)

        block = complex_step(error, unknowns)
        rows = slice(2 * i, 2 * i + 2)
        jacobian[rows, 11 * c : 11 * c + 11] = block[:, :11]
        jacobian[rows, points_at + 3 * x : points_at + 3 * x + 3] = block[:, 11:14]
        jacobian[rows, weights_at + i] = block[:, 14]
        jacobian[2 * p + i, weights_at + i] = -2.0 * weights[i]
    return jacobian


def hand_residuals(theta: Array, us: Array, model: Any, correspondences: Array, points: Array) -> Array:
    """Residuals [point, 3]; `us` without elements means that correspondences are vertices."""
    vertices = hand_vertices(theta, model)
    if us.size == 0:
        return points - vertices[correspondences]
    shares = np.concatenate((us, 1.0 - np.sum(us, axis=1, keepdims=True)), axis=1)
    return points - np.einsum("qs,qsr->qr", shares, vertices[model.triangles[correspondences]])


def hand_vertices(theta: Array, model: Any) -> Array:
    """Vertices posed bone by bone, rotations as matrix exponentials."""
    axis_x, axis_z = cross_matrix(np.array([1.0, 0.0, 0.0])), cross_matrix(np.array([0.0, 0.0, 1.0]))
    # Bend of bones 2, 3 and 4 of each finger, and spread of bone 2.
    angles = theta[6:].reshape(5, 4)
    bend, spread = np.zeros(22, dtype=theta.dtype), np.zeros(22, dtype=theta.dtype)
    bend[1:21].reshape(5, 4)[:, 1:] = angles[:, [0, 2, 3]]
    spread[1:21].reshape(5, 4)[:, 1] = angles[:, 1]
    absolutes: list[Array] = []
    positions = np.zeros((len(model.base_positions), 3), dtype=theta.dtype)
    for i, parent in enumerate(model.parents):
        turn = np.eye(4, dtype=theta.dtype)
        turn[:3, :3] = expm(spread[i] * axis_z) @ expm(bend[i] * axis_x)
        relative = model.base_relatives[i] @ turn
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
        placed = model.base_positions @ (absolutes[i] @ model.inverse_base_absolutes[i]).T
        positions += model.weights[:, i : i + 1] * placed[:, :3]
    if model.is_mirrored:
        positions[:, 0] *= -1.0
    return positions @ expm(cross_matrix(theta[:3])).T + theta[3:6]


def particle_landing(w: Any) -> Any:
    """x_0(t_f)², with the force worked out: the sum over charges of (x - c) / ‖x - c‖³."""
    x, velocity = np.array([0.0, 8.0]), np.array([0.75, 0.0])
    while np.real(x[1] + 0.1 * velocity[1]) > 0.0:
        force = 0.0
        for charge in (np.array([10.0, 10.0 - w]), np.array([10.0, 0.0])):
            force = force + (x - charge) / np.sum((x - charge) ** 2) ** 1.5
        x, velocity = x + 0.1 * velocity, velocity + 0.1 * force
    return (x[0] - x[1] * velocity[0] / velocity[1]) ** 2


def saddle_ascent(start: Array) -> Array:
    """Where the inner ascent of -‖y‖² ends, its gradient written down."""
    place, rate, successes = start, 1e-5, 0
    while np.linalg.norm(2.0 * place) > 1e-5:
        if successes == 10:
            rate, successes = 2.0 * rate, 0
            continue
        candidate = (1.0 - 2.0 * rate) * place
        if np.linalg.norm(candidate - place) <= 1e-5:
            break
        if np.sum(candidate**2) < np.sum(place**2):
            place, successes = candidate, successes + 1
        else:
            rate, successes = 0.5 * rate, 0
    return place
