"""LBM: flow in a box by the lattice Boltzmann method with 19 velocities, driven by a lid.

It teaches a stencil with many values for each cell, and an outer loop over time whose derivative goes back
through the states: a thread has a cell, reads what has come there from its neighbours, and writes what
leaves it. A second version is a plain array program of the same functions.

With f_k what moves along e_k, ρ = Σ f_k and u = Σ f_k·e_k / ρ, a cell relaxes towards its equilibrium,

    f_k ← (1 - ω)·f_k + ω·w_k·ρ·(1 + 3 e_k·u + 4.5 (e_k·u)² - 1.5 u·u)

where it is an obstacle everything turns around, and at the lid u is given.

The problem is that of Parboil (Stratton et al., 2012), which is 470.lbm of SPEC 2006 in parallel; its box
has 120 × 120 × 150 cells.
"""

import numpy as np

import anadrome as ad

THREADS, OMEGA = 128, 1.95
FLUID, OBSTACLE, LID = 0, 1, 2
LID_X, LID_Y, LID_Z = 0.005, 0.002, 0.0
AXES = [(0, -1, 0), (0, 1, 0), (-1, 0, 0), (1, 0, 0), (0, 0, -1), (0, 0, 1)]
DIAGONALS = [
    (x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if abs(x) + abs(y) + abs(z) == 2
]
VELOCITIES = ((0, 0, 0), *AXES, *DIAGONALS)
OPPOSITE = tuple(VELOCITIES.index((-x, -y, -z)) for x, y, z in VELOCITIES)
WEIGHTS = tuple((1 / 3, 1 / 18, 1 / 36)[abs(x) + abs(y) + abs(z)] for x, y, z in VELOCITIES)
EVERY = range(len(VELOCITIES))


# ---------------------------------------------------------------------------- a cell
def along(k: int, x: float, y: float, z: float) -> float:
    """e_k·(x, y, z); what a velocity is, is known while compiling."""
    total = 0.0 * x
    for step, part in ((VELOCITIES[k][0], x), (VELOCITIES[k][1], y), (VELOCITIES[k][2], z)):
        if step == 1:
            total = total + part
        elif step == -1:
            total = total - part
    return total


def collided(f: list[float], kind: int) -> list[float]:
    """What leaves a cell in which f has come together."""
    if kind == OBSTACLE:
        return [f[OPPOSITE[k]] for k in ad.unroll(EVERY)]
    density, x, y, z = f[0], 0.0, 0.0, 0.0
    for k in ad.unroll(EVERY[1:]):
        density += f[k]
        x, y, z = x + VELOCITIES[k][0] * f[k], y + VELOCITIES[k][1] * f[k], z + VELOCITIES[k][2] * f[k]
    x, y, z = x / density, y / density, z / density
    if kind == LID:
        x, y, z = LID_X, LID_Y, LID_Z
    square = 1.5 * (x * x + y * y + z * z)
    found = []
    for k in ad.unroll(EVERY):
        speed = along(k, x, y, z)
        equilibrium = WEIGHTS[k] * density * (1.0 + speed * (4.5 * speed + 3.0) - square)
        found.append((1.0 - OMEGA) * f[k] + OMEGA * equilibrium)
    return found


def offset(k: int, row: int, plane: int) -> int:
    """How far a step along e_k is in memory."""
    return VELOCITIES[k][0] + VELOCITIES[k][1] * row + VELOCITIES[k][2] * plane


# ---------------------------------------------------------------------------- programs
@ad.kernel
def stream_and_collide(old, kinds, row, plane, new):
    i = ad.grid(1) + 2 * plane
    if i < len(kinds) - 2 * plane:
        f = [old[k, i - offset(k, row, plane)] for k in ad.unroll(EVERY)]
        f = collided(f, kinds[i])
        for k in ad.unroll(EVERY):
            new[k, i] = f[k]


@ad.jit
def by_kernel(f: np.ndarray, kinds: np.ndarray, row: int, plane: int, steps: int) -> np.ndarray:
    """Planes of two cells on either side stay as they are."""
    blocks = (len(kinds) - 4 * plane + THREADS - 1) // THREADS
    for _ in range(steps):
        new = f.copy()
        stream_and_collide[blocks, THREADS](f, kinds, row, plane, new)
        f = new
    return f


@ad.jit
def by_array(f: np.ndarray, kinds: np.ndarray, row: int, plane: int, steps: int) -> np.ndarray:
    for _ in range(steps):
        cells = range(2 * plane, len(kinds) - 2 * plane)
        inside = [
            np.array(collided([f[k, i - offset(k, row, plane)] for k in ad.unroll(EVERY)], kinds[i]))
            for i in cells
        ]
        new = f.copy()
        new[:, 2 * plane : len(kinds) - 2 * plane] = np.array(inside).T
        f = new
    return f


@ad.jit
def loss(f: np.ndarray, kinds: np.ndarray, row: int, plane: int, steps: int) -> float:
    return np.sum(by_kernel(f, kinds, row, plane, steps) ** 2)


@ad.jit
def array_loss(f: np.ndarray, kinds: np.ndarray, row: int, plane: int, steps: int) -> float:
    return np.sum(by_array(f, kinds, row, plane, steps) ** 2)


value_and_gradient = ad.value_and_grad(loss)
array_value_and_gradient = ad.value_and_grad(array_loss)


# ---------------------------------------------------------------------------- data
def problem(width: int, height: int, depth: int, dtype: type = np.float64) -> tuple[np.ndarray, ...]:
    """A box at rest: f, the kinds of cells, and how far the next row and plane are.

    The outermost cells are obstacles, and the second plane from below and from above drives the flow.
    """
    kinds = np.full((depth + 4, height, width), FLUID)
    box = kinds[2:-2]
    box[[1, -2], 2:-2, 2:-2] = LID
    box[[0, -1]] = box[:, [0, -1]] = box[:, :, [0, -1]] = OBSTACLE
    f = np.repeat(np.array(WEIGHTS, dtype)[:, None], kinds.size, axis=1)
    return f, kinds.ravel(), width, width * height


# ---------------------------------------------------------------------------- reference
def reference(f: np.ndarray, kinds: np.ndarray, row: int, plane: int, steps: int) -> float:
    """The same with whole arrays."""
    velocities, weights = np.array(VELOCITIES), np.array(WEIGHTS)[:, None]
    inside = slice(2 * plane, -2 * plane)
    for _ in range(steps):
        came = np.array([np.roll(f[k], offset(k, row, plane)) for k in EVERY])[:, inside]
        density = np.sum(came, axis=0)
        u = np.where(
            kinds[inside] == LID, np.array([[LID_X], [LID_Y], [LID_Z]]), velocities.T @ came / density
        )
        speed = velocities @ u
        equilibrium = weights * density * (1.0 + 3.0 * speed + 4.5 * speed**2 - 1.5 * np.sum(u**2, axis=0))
        relaxed = (1.0 - OMEGA) * came + OMEGA * equilibrium
        f = f.copy()
        f[:, inside] = np.where(kinds[inside] == OBSTACLE, came[list(OPPOSITE)], relaxed)
    return float(np.sum(f**2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    f, kinds, row, plane = problem(6, 5, 7)
    return f * random.uniform(0.9, 1.1, size=f.shape), kinds, row, plane, 3


def main() -> None:
    f, kinds, row, plane = problem(16, 16, 16)
    for steps in (10, 20, 40):
        after = by_kernel(f, kinds, row, plane, steps)
        fluid = after[:, kinds == FLUID]
        speed = np.array(VELOCITIES).T @ fluid / np.sum(fluid, axis=0)
        mean = np.round(np.mean(speed, axis=1), 6).tolist()
        print(f"after {steps} steps the mean velocity of the fluid is {mean}")
    value, f_adj = value_and_gradient(f, kinds, row, plane, 20)
    print(f"Σ f² = {value:.8f}, with whole arrays {reference(f, kinds, row, plane, 20):.8f}")
    _, array_adj = array_value_and_gradient(f, kinds, row, plane, 20)
    print(f"gradient and that of the array program: largest error {np.max(np.abs(f_adj - array_adj)):.1e}")


if __name__ == "__main__":
    main()
