"""Programs whose derivative is measured beside their own objective, as a user writes them with NumPy."""

from __future__ import annotations

import numpy as np

import anadrome as ad


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


def process_arguments() -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """400 points in three dimensions."""
    random = np.random.default_rng(0)
    return np.array([0.3, 0.5, 0.8]), 0.1, random.uniform(size=(400, 3)), random.normal(size=400)


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


def convolution_arguments() -> tuple[np.ndarray, np.ndarray]:
    """Eight images of 16 channels and 32 × 32 points, into 32 channels."""
    random = np.random.default_rng(0)
    return random.normal(size=(32, 16, 3, 3)), random.normal(size=(8, 16, 32, 32))


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


def lattice_arguments() -> tuple[np.ndarray, np.ndarray]:
    """512 atoms near a cubic lattice, and the pairs nearer than 2.5."""
    random = np.random.default_rng(0)
    sites = np.stack(np.meshgrid(*[np.arange(8)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    positions = 1.1 * sites + random.uniform(-0.05, 0.05, size=(512, 3))
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    return positions, np.argwhere(np.triu(apart < 2.5, 1))


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


def wave_arguments() -> tuple[np.ndarray, np.ndarray]:
    """A bump on 100 × 100 points, and speeds below the limit of stability."""
    line = np.linspace(-1.0, 1.0, 100)
    bump = np.exp(-20.0 * (line[:, None] ** 2 + line**2))
    return 0.3 + 0.2 * np.random.default_rng(0).uniform(size=(100, 100)), bump
