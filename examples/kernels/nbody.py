"""Bodies under gravity: each thread has a body, and a block reads the others tile by tile.

It teaches a loop over tiles with barriers, inside a kernel, inside a loop over time; positions and masses
all carry derivatives. What each thread needs for the way back it computes again from the tiles.
"""

import math

import numpy as np

import anadrome as ad

TILE, SOFTENING, STEP = 16, 0.05, 0.01


@ad.kernel
def accelerations(position, mass, acceleration):
    tile = ad.shared.array((TILE, 4), np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    n = len(mass)
    body = min(i, n - 1)
    x, y, z = position[body, 0], position[body, 1], position[body, 2]
    ax = ay = az = 0.0
    for start in range(0, n, TILE):
        other = start + t
        for k in range(3):
            tile[t, k] = position[other, k] if other < n else 0.0
        tile[t, 3] = mass[other] if other < n else 0.0
        ad.syncthreads()
        for j in range(TILE):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            square = dx * dx + dy * dy + dz * dz + SOFTENING
            pull = tile[j, 3] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        ad.syncthreads()
    if i < n:
        acceleration[i, 0], acceleration[i, 1], acceleration[i, 2] = ax, ay, az


@ad.jit
def moved(position: np.ndarray, velocity: np.ndarray, mass: np.ndarray, steps: int) -> np.ndarray:
    """Positions after some steps of the leapfrog method."""
    blocks = (len(mass) + TILE - 1) // TILE
    for _ in range(steps):
        position = position + 0.5 * STEP * velocity
        acceleration = np.zeros(position.shape)
        accelerations[blocks, TILE](position, mass, acceleration)
        velocity = velocity + STEP * acceleration
        position = position + 0.5 * STEP * velocity
    return position


@ad.jit
def loss(position: np.ndarray, velocity: np.ndarray, mass: np.ndarray, steps: int) -> float:
    """½ Σ ‖x_i‖² in the end."""
    return 0.5 * np.sum(moved(position, velocity, mass, steps) ** 2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2))


def reference(position: np.ndarray, velocity: np.ndarray, mass: np.ndarray, steps: int) -> float:
    for _ in range(steps):
        position = position + 0.5 * STEP * velocity
        apart = position[None, :, :] - position[:, None, :]
        square = np.sum(apart**2, axis=2) + SOFTENING
        velocity = velocity + STEP * np.sum((mass / square**1.5)[:, :, None] * apart, axis=1)
        position = position + 0.5 * STEP * velocity
    return 0.5 * float(np.sum(position**2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    return random.normal(size=(40, 3)), random.normal(size=(40, 3)), random.uniform(size=40), 5


def main() -> None:
    arguments = sample(np.random.default_rng(0))
    value, (x_adj, _, mass_adj) = value_and_gradient(*arguments)
    print(f"½ Σ ‖x‖² after {arguments[3]} steps: {value:.8f}, NumPy {reference(*arguments):.8f}")
    heaviest = int(np.argmin(mass_adj))
    print(f"body {heaviest} draws the others in most: ∂/∂m = {mass_adj[heaviest]:.5f}")
    print(f"∂/∂x of all bodies together: {np.round(np.sum(x_adj, axis=0), 6).tolist()}")


if __name__ == "__main__":
    main()
