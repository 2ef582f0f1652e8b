"""Programs of the table, as a user writes them with loops and NumPy, and their derivatives."""

from __future__ import annotations

import kmeans
import numpy as np

import anadrome as ad


# ---------------------------------------------------------------------------- branches by value
def branches(v: float) -> float:
    if v > 0.5:
        return np.sin(v) * np.exp(-v)
    if v > -0.5:
        return v**3
    return np.log1p(v * v)


@ad.jit
def mapped(x: np.ndarray) -> np.ndarray:
    return np.array([branches(v) for v in x])


@ad.jit
def mapped_vjp(x: np.ndarray, y_adj: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y, pull_back = ad.vjp(mapped, x)
    return y, pull_back(y_adj)


# ---------------------------------------------------------------------------- histogram, gather
@ad.jit
def histogram(values: np.ndarray, bins: np.ndarray, weights: np.ndarray) -> float:
    """Σ_b weight_b·(Σ values in bin b)²"""
    counts = np.zeros(len(weights))
    for i in range(len(values)):
        counts[bins[i]] += values[i]
    return np.sum(weights * counts**2)


@ad.jit
def gather(table: np.ndarray, places: np.ndarray, weights: np.ndarray) -> float:
    return np.sum(weights * table[places] ** 3)


# ---------------------------------------------------------------------------- reductions and scans
@ad.jit
def logsumexp(x: np.ndarray) -> float:
    greatest = np.max(x)
    return greatest + np.log(np.sum(np.exp(x - greatest)))


@ad.jit
def greatest(x: np.ndarray) -> float:
    return np.max(x)


@ad.jit
def prefix_sum(x: np.ndarray, weights: np.ndarray) -> float:
    return np.sum(weights * np.cumsum(x) ** 2)


@ad.jit
def recurrence(slopes: np.ndarray, starts: np.ndarray, weights: np.ndarray) -> float:
    """Σ_i weight_i·h_i² for h_i = slope_i·h_{i-1} + start_i."""
    state, loss = 0.0, 0.0
    for i in range(len(slopes)):
        state = slopes[i] * state + starts[i]
        loss += weights[i] * state**2
    return loss


# ---------------------------------------------------------------------------- look-ups in tables
def last_below(grid: np.ndarray, energy: float) -> int:
    """The row of a grid that stands before the first one above the energy."""
    low, high = 0, len(grid) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if grid[middle] > energy:
            high = middle
        else:
            low = middle
    return low


@ad.jit
def cross_sections(
    concentrations: np.ndarray,
    tables: np.ndarray,
    grids: np.ndarray,
    members: np.ndarray,
    counts: np.ndarray,
    energies: np.ndarray,
    materials: np.ndarray,
    weights: np.ndarray,
) -> float:
    """Σ over look-ups of ⟨weights, M²⟩, M the sum over a material's nuclides of interpolated rows of five."""

    def one(energy: float, material: int) -> float:
        total = np.zeros(5)
        for k in range(counts[material]):
            nuclide = members[material, k]
            row = last_below(grids[nuclide], energy)
            low, high = grids[nuclide, row], grids[nuclide, row + 1]
            share = (high - energy) / (high - low)
            below, above = tables[nuclide, row], tables[nuclide, row + 1]
            total += concentrations[material, k] * (above - share * (above - below))
        return np.sum(weights * total**2)

    return sum(one(energies[i], materials[i]) for i in range(len(energies)))


# ---------------------------------------------------------------------------- a cell with three branches
def sigmoid(x: float) -> float:
    """1 / (1 + e⁻ˣ)"""
    return 1.0 / (1.0 + np.exp(-x))


def cell_update(c: float, f: float, i: float, g: float, z: float, z_below: float) -> float:
    """The next cell state of one unit: flush, copy or update."""
    if z == 1.0:
        return sigmoid(i) * np.tanh(g)
    if z_below == 0.0:
        return c
    return sigmoid(f) * c + sigmoid(i) * np.tanh(g)


@ad.jit
def hm_lstm(
    c: np.ndarray, f: np.ndarray, i: np.ndarray, g: np.ndarray, z: np.ndarray, z_below: np.ndarray
) -> np.ndarray:
    """The next cell states; z and z_below hold for a column."""
    return np.array(
        [
            [cell_update(c[r, k], f[r, k], i[r, k], g[r, k], z[k], z_below[k]) for k in range(len(z))]
            for r in range(len(c))
        ]
    )


@ad.jit
def hm_lstm_vjp(
    c: np.ndarray,
    f: np.ndarray,
    i: np.ndarray,
    g: np.ndarray,
    z: np.ndarray,
    z_below: np.ndarray,
    y_adj: np.ndarray,
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    y, pull_back = ad.vjp(lambda c, f, i, g: hm_lstm(c, f, i, g, z, z_below), c, f, i, g)
    return y, pull_back(y_adj)


# ---------------------------------------------------------------------------- k-means
@ad.jit
def kmeans_curvature(points: np.ndarray, centroids: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Cost, gradient and Hessian, which is diagonal: the derivative of the gradient along ones."""
    slope = ad.value_and_grad(lambda c: kmeans.cost(points, c))
    (cost, gradient), (_, diagonal) = ad.jvp(slope, (centroids,), (np.ones_like(centroids),))
    return cost, gradient, diagonal


# ---------------------------------------------------------------------------- a Gaussian process
@ad.jit
def evidence(lengths: np.ndarray, noise: float, points: np.ndarray, values: np.ndarray) -> float:
    """Log likelihood of values at points; squared exponential kernel (Rasmussen & Williams 2006, 2.30)."""
    scaled = points / lengths
    difference = scaled[:, None, :] - scaled[None, :, :]
    covariance = np.exp(-0.5 * np.sum(difference**2, axis=2)) + noise * np.eye(len(points))
    factor = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(factor, values)
    return (
        -0.5 * np.sum(whitened**2) - np.sum(np.log(np.diag(factor))) - 0.5 * len(points) * np.log(2 * np.pi)
    )


evidence_gradient = ad.grad(evidence, argnums=(0, 1))


# ---------------------------------------------------------------------------- a convolution
@ad.jit
def convolution_loss(weights: np.ndarray, images: np.ndarray) -> float:
    """Half the square of a 3 × 3 convolution of images[batch, channel, row, column]."""
    _, _, height, width = images.shape
    y = 0.0
    for i in range(3):
        for j in range(3):
            part = images[:, :, i : height - 2 + i, j : width - 2 + j]
            y = y + np.einsum("nchw,oc->nohw", part, weights[:, :, i, j])
    return 0.5 * np.sum(y**2)


convolution_gradient = ad.grad(convolution_loss)


# ---------------------------------------------------------------------------- forces
def pair_energy(positions: np.ndarray, pairs: np.ndarray) -> float:
    """Lennard-Jones energy of the pairs of a list."""
    apart = positions[pairs[:, 0]] - positions[pairs[:, 1]]
    sixth = 1.0 / np.sum(apart**2, axis=1) ** 3
    return np.sum(4.0 * (sixth**2 - sixth))


force = ad.grad(pair_energy)


@ad.jit
def descent(positions: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """20 steps down the slope of the energy."""
    for _ in range(20):
        positions = positions - 1e-5 * ad.grad(pair_energy)(positions, pairs)
    return positions


# ---------------------------------------------------------------------------- waves
@ad.jit
def wave_energy(speeds: np.ndarray, start: np.ndarray) -> float:
    """Half the square of a wave after 200 steps, updated in place."""
    before, now = start.copy(), start.copy()
    for _ in range(200):
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4.0 * now[1:-1, 1:-1]
        before[1:-1, 1:-1] = 2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + speeds[1:-1, 1:-1] ** 2 * around
        before, now = now, before
    return 0.5 * np.sum(now**2)


wave_gradient = ad.grad(wave_energy)
