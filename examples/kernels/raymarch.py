"""A ray marcher: each thread walks along the ray of its pixel until it is close to a surface.

It teaches loops of which only the run knows how long they are, early returns, and device functions: how
often a ray steps is found as it runs, and no two threads need agree on it.
"""

import math

import numpy as np

import anadrome as ad

CLOSE, FAR, MOST = 1e-3, 8.0, 60


def distance_to_scene(x, y, z, spheres):
    """To the nearest of the spheres, rows of centre and radius, blended where they meet."""
    total = 0.0
    for k in range(spheres.shape[0]):
        dx, dy, dz = x - spheres[k, 0], y - spheres[k, 1], z - spheres[k, 2]
        total += math.exp(-8.0 * (math.sqrt(dx * dx + dy * dy + dz * dz) - spheres[k, 3]))
    return -math.log(total) / 8.0


@ad.kernel
def render(spheres, image):
    column, row = ad.grid(2)
    height, width = image.shape
    if row >= height or column >= width:
        return
    x, y, z = (2.0 * column + 1.0) / width - 1.0, (2.0 * row + 1.0) / height - 1.0, 1.5
    scale = 1.0 / math.sqrt(x * x + y * y + z * z)
    x, y, z = x * scale, y * scale, z * scale
    travelled, steps = 0.0, 0
    while steps < MOST:
        gap = distance_to_scene(travelled * x, travelled * y, travelled * z, spheres)
        if gap < CLOSE:
            break
        travelled += gap
        if travelled > FAR:
            return
        steps += 1
    image[row, column] = math.exp(-0.3 * travelled)


@ad.jit
def rendered(spheres: np.ndarray, height: int, width: int) -> np.ndarray:
    image = np.zeros((height, width))
    render[((width + 7) // 8, (height + 7) // 8), (8, 8)](spheres, image)
    return image


@ad.jit
def loss(spheres: np.ndarray, target: np.ndarray) -> float:
    return 0.5 * np.sum((rendered(spheres, target.shape[0], target.shape[1]) - target) ** 2)


value_and_gradient = ad.value_and_grad(loss)


def reference(spheres: np.ndarray, target: np.ndarray) -> float:
    height, width = target.shape
    image = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            ray = np.array([(2.0 * column + 1.0) / width - 1.0, (2.0 * row + 1.0) / height - 1.0, 1.5])
            image[row, column] = _brightness(ray / np.linalg.norm(ray), spheres)
    return 0.5 * float(np.sum((image - target) ** 2))


def _brightness(ray: np.ndarray, spheres: np.ndarray) -> float:
    travelled = 0.0
    for _ in range(MOST):
        gaps = np.linalg.norm(travelled * ray - spheres[:, :3], axis=1) - spheres[:, 3]
        gap = -math.log(np.sum(np.exp(-8.0 * gaps))) / 8.0
        if gap < CLOSE:
            break
        travelled += gap
        if travelled > FAR:
            return 0.0
    return math.exp(-0.3 * travelled)


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.array([[0.1, 0.0, 3.0, 0.8], [-0.7, 0.4, 3.5, 0.6]]), random.uniform(size=(12, 10))


def main() -> None:
    """Move spheres until their picture is a given one, by steps along the gradient that become shorter."""
    truth = np.array([[0.2, -0.1, 3.0, 0.9], [-0.7, 0.4, 3.5, 0.6]])
    target = rendered(truth, 32, 32)
    spheres = np.array([[0.25, -0.05, 3.1, 0.9], [-0.65, 0.35, 3.4, 0.6]])
    for k in range(401):
        value, spheres_adj = value_and_gradient(spheres, target)
        if k % 100 == 0:
            print(f"step {k:3d}    misfit of the picture {value:.2e}")
        spheres = spheres - 5e-3 * 0.99**k * spheres_adj / np.linalg.norm(spheres_adj)
    print("spheres:", np.round(spheres, 2).tolist())


if __name__ == "__main__":
    main()
