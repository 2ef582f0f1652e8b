"""Residuals of bundle adjustment: where cameras see points, a thread for each observation.

It teaches gathers: many observations read the same camera and the same point, so the derivative adds to
both atomically. The projection is a device function, an ordinary one with several results.

A camera is 3 numbers of rotation, 3 of its centre, focal length, principal point (2), and radial distortion
(2), as in ADBench (Srajer, Kukelova and Fitzgibbon, 2018).
"""

import math

import numpy as np

import anadrome as ad

THREADS = 64


def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


def rotated(rx, ry, rz, x, y, z):
    """Rodrigues' formula; near no rotation its linear part."""
    square = rx * rx + ry * ry + rz * rz
    if square < 1e-20:
        cx, cy, cz = cross(rx, ry, rz, x, y, z)
        return x + cx, y + cy, z + cz
    angle = math.sqrt(square)
    cosine, sine = math.cos(angle), math.sin(angle)
    wx, wy, wz = rx / angle, ry / angle, rz / angle
    cx, cy, cz = cross(wx, wy, wz, x, y, z)
    along = (wx * x + wy * y + wz * z) * (1.0 - cosine)
    return (
        x * cosine + cx * sine + wx * along,
        y * cosine + cy * sine + wy * along,
        z * cosine + cz * sine + wz * along,
    )


def projected(camera, point):
    x, y, z = point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]
    x, y, z = rotated(camera[0], camera[1], camera[2], x, y, z)
    u, v = x / z, y / z
    square = u * u + v * v
    scale = camera[6] * (1.0 + square * (camera[9] + square * camera[10]))
    return u * scale + camera[7], v * scale + camera[8]


@ad.kernel
def residuals(cameras, points, weights, seen, features, out):
    i = ad.grid(1)
    if i >= len(seen):
        return
    u, v = projected(cameras[seen[i, 0]], points[seen[i, 1]])
    out[i, 0] = weights[i] * (u - features[i, 0])
    out[i, 1] = weights[i] * (v - features[i, 1])


@ad.jit
def loss(
    cameras: np.ndarray, points: np.ndarray, weights: np.ndarray, seen: np.ndarray, features: np.ndarray
) -> float:
    """½ Σ r²."""
    out = np.zeros(features.shape)
    residuals[(len(seen) + THREADS - 1) // THREADS, THREADS](cameras, points, weights, seen, features, out)
    return 0.5 * np.sum(out**2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2))


def reference(
    cameras: np.ndarray, points: np.ndarray, weights: np.ndarray, seen: np.ndarray, features: np.ndarray
) -> float:
    camera, point = cameras[seen[:, 0]].T, points[seen[:, 1]].T
    angle = np.linalg.norm(camera[:3], axis=0)
    axis, apart = camera[:3] / angle, point - camera[3:6]
    along = np.sum(axis * apart, axis=0) * (1.0 - np.cos(angle))
    x, y, z = apart * np.cos(angle) + np.cross(axis, apart, axis=0) * np.sin(angle) + axis * along
    image = np.array([x, y]) / z
    square = np.sum(image**2, axis=0)
    image = image * camera[6] * (1.0 + square * (camera[9] + square * camera[10])) + camera[7:9]
    return 0.5 * float(np.sum((weights * (image - features.T)) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    cameras, points, observations = 4, 12, 100
    camera = np.zeros((cameras, 11))
    camera[:, :3] = 0.3 * random.normal(size=(cameras, 3))
    camera[:, 3:6] = 0.2 * random.normal(size=(cameras, 3))
    camera[:, 6:] = [1.0, 0.1, -0.1, 0.02, 0.005]
    point = random.normal(size=(points, 3)) + np.array([0.0, 0.0, 6.0])
    seen = np.stack([random.integers(0, cameras, observations), random.integers(0, points, observations)], 1)
    return camera, point, random.uniform(size=observations), seen, random.normal(size=(observations, 2))


def main() -> None:
    arguments = sample(np.random.default_rng(0))
    value, (cameras_adj, points_adj, weights_adj) = value_and_gradient(*arguments)
    print(f"½ Σ r² = {value:.10f}, NumPy {reference(*arguments):.10f}")
    print(f"it is quadratic in the weights: ½⟨w, ∂/∂w⟩ = {0.5 * np.sum(arguments[2] * weights_adj):.10f}")
    both = np.sum(cameras_adj[:, 3:6], axis=0) + np.sum(points_adj, axis=0)
    print(f"moving cameras and points together changes nothing: {np.max(np.abs(both)):.1e}")


if __name__ == "__main__":
    main()
