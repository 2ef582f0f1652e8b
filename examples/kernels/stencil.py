"""Heat in a rod: a tile of each block with a halo, and a loop over time around the launch.

It teaches that a launch is a value of the program around it: the loop over time is an ordinary one, and
what it needs for the return sweep is kept or run again as for any other loop.
"""

import numpy as np

import anadrome as ad

TILE = 32


@ad.kernel
def step(u, conductivity, after):
    tile = ad.shared.array(TILE + 2, np.float64)
    t, i = ad.threadIdx.x, ad.grid(1)
    last = len(u) - 1
    tile[t + 1] = u[min(i, last)]
    if t == 0:
        tile[0] = u[max(i - 1, 0)]
    if t == TILE - 1:
        tile[TILE + 1] = u[min(i + 1, last)]
    ad.syncthreads()
    if i < len(u):
        after[i] = tile[t + 1] + conductivity[i] * (tile[t] - 2.0 * tile[t + 1] + tile[t + 2])


@ad.jit
def heated(u: np.ndarray, conductivity: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        after = np.zeros(len(u))
        step[(len(u) + TILE - 1) // TILE, TILE](u, conductivity, after)
        u = after
    return u


@ad.jit
def loss(u: np.ndarray, conductivity: np.ndarray, target: np.ndarray, steps: int) -> float:
    return 0.5 * np.sum((heated(u, conductivity, steps) - target) ** 2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2))


def reference(u: np.ndarray, conductivity: np.ndarray, target: np.ndarray, steps: int) -> float:
    for _ in range(steps):
        wide = np.pad(u, 1, mode="edge")
        u = u + conductivity * (wide[:-2] - 2.0 * u + wide[2:])
    return 0.5 * float(np.sum((u - target) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    return random.normal(size=70), random.uniform(0.1, 0.4, size=70), random.normal(size=70), 6


def main() -> None:
    """Find a temperature from what it is some time later."""
    n, steps = 70, 40
    place = np.arange(n) / n
    truth = np.exp(-100.0 * (place - 0.3) ** 2) + 0.5 * np.exp(-100.0 * (place - 0.7) ** 2)
    conductivity = 0.2 + 0.1 * np.sin(7.0 * place)
    target = heated(truth, conductivity, steps)
    u = np.zeros(n)
    for k in range(301):
        value, (u_adj, _, _) = value_and_gradient(u, conductivity, target, steps)
        if k % 100 == 0:
            print(
                f"descent {k:3d}    misfit {value:.3e}    error of the start {np.linalg.norm(u - truth):.3f}"
            )
        u = u - u_adj


if __name__ == "__main__":
    main()
