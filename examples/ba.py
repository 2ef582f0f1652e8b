"""Bundle adjustment: reprojection errors of a scene seen by many cameras, and their sparse Jacobian.

A camera is [r (3), C (3), f, u₀ (2), κ (2)]: rotation vector, centre, focal length, principal point, radial
distortion. With v = r/θ, θ = ‖r‖:

    rotate(r, p) = p·cos θ + (v × p)·sin θ + v (v·p)(1 - cos θ)      (p + r × p where r = 0)
    u = rotate(r, X - C),    d = (u_0, u_1) / u_2,    ρ = ‖d‖²
    project = f·(1 + κ_0 ρ + κ_1 ρ²)·d + u₀
    reprojection error = w (project - feature),    weight error = 1 - w²

An observation touches 11 + 3 + 1 unknowns and has two errors, so the Jacobian is computed backwards from
these two, in all observations at once, and kept in compressed rows.

GradBench eval `ba`, after ADBench (Srajer, Kukelova and Fitzgibbon, 2018).
"""

import math

import numpy as np
from adbench_data import ba_input

import anadrome as ad

CAMERA, POINT = 11, 3
PER_ROW = CAMERA + POINT + 1


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotate(rotation: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Rodrigues' formula; its first order where there is no rotation."""
    squared_angle = np.dot(rotation, rotation)
    if squared_angle == 0.0:
        return point + cross(rotation, point)
    angle = math.sqrt(squared_angle)
    axis = rotation / angle
    along = np.dot(axis, point) * (1.0 - math.cos(angle))
    return point * math.cos(angle) + cross(axis, point) * math.sin(angle) + axis * along


def project(camera: np.ndarray, point: np.ndarray) -> np.ndarray:
    seen = rotate(camera[0:3], point - camera[3:6])
    flat = seen[0:2] / seen[2]
    radius = np.dot(flat, flat)
    distortion = 1.0 + camera[9] * radius + camera[10] * radius**2
    return camera[6] * distortion * flat + camera[7:9]


def reprojection_error(
    camera: np.ndarray, point: np.ndarray, weight: float, feature: np.ndarray
) -> np.ndarray:
    return weight * (project(camera, point) - feature)


def weight_error(weight: float) -> float:
    return 1.0 - weight**2


@ad.jit
def residuals(
    cameras: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    features: np.ndarray,
    observations: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Reprojection errors [observation, 2] and weight errors [observation]."""
    reprojection = np.array(
        [
            reprojection_error(
                cameras[observations[i, 0]], points[observations[i, 1]], weights[i], features[i]
            )
            for i in range(len(weights))
        ]
    )
    return reprojection, np.array([weight_error(weight) for weight in weights])


def reprojection_rows(
    camera: np.ndarray, point: np.ndarray, weight: float, feature: np.ndarray
) -> np.ndarray:
    """The two rows of an observation: its error by camera, point and weight."""
    derivative = ad.jacrev(reprojection_error, argnums=(0, 1, 2))
    by_camera, by_point, by_weight = derivative(camera, point, weight, feature)
    return np.concatenate((by_camera, by_point, by_weight.reshape(2, 1)), axis=1)


@ad.jit
def jacobian_values(
    cameras: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    features: np.ndarray,
    observations: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The nonzero elements: [observation, 2, 15] for the reprojection and [observation] for the weights."""
    reprojection = np.array(
        [
            reprojection_rows(
                cameras[observations[i, 0]], points[observations[i, 1]], weights[i], features[i]
            )
            for i in range(len(weights))
        ]
    )
    return reprojection, np.array([ad.jacfwd(weight_error)(weight) for weight in weights])


def sparsity(cameras: int, points: int, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row starts and columns, of 32 bits as SciPy has them. Columns: cameras, points, weights; rows: two for
    each observation, then the weights."""
    count, seen = len(observations), observations.astype(np.int32)
    each = np.arange(count, dtype=np.int32).reshape(count, 1)
    by_camera = CAMERA * seen[:, 0:1] + np.arange(CAMERA, dtype=np.int32)
    by_point = np.int32(CAMERA * cameras) + POINT * seen[:, 1:2] + np.arange(POINT, dtype=np.int32)
    by_weight = np.int32(CAMERA * cameras + POINT * points) + each
    block = np.concatenate((by_camera, by_point, by_weight), axis=1)
    columns = np.concatenate((np.repeat(block, 2, axis=0).ravel(), by_weight.ravel()))
    of_reprojections = PER_ROW * np.arange(2 * count, dtype=np.int32)
    of_weights = np.int32(2 * PER_ROW * count) + np.arange(count + 1, dtype=np.int32)
    return np.concatenate((of_reprojections, of_weights)), columns


@ad.jit
def jacobian(
    cameras: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    features: np.ndarray,
    observations: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The Jacobian of both errors in compressed rows: row starts, columns, values."""
    rows, columns = sparsity(len(cameras), len(points), observations)
    reprojection, weight = jacobian_values(cameras, points, weights, features, observations)
    return rows, columns, np.concatenate((reprojection.ravel(), weight))


def replicate(data: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A whole scene from one camera, point, weight and feature: observation i is of point i mod m by camera
    i mod n."""
    n, m, p = data["n"], data["m"], data["p"]
    observation = np.arange(p)
    return (
        np.tile(np.asarray(data["cam"], dtype=np.float64), (n, 1)),
        np.tile(np.asarray(data["x"], dtype=np.float64), (m, 1)),
        np.full(p, float(data["w"])),
        np.tile(np.asarray(data["feat"], dtype=np.float64), (p, 1)),
        np.stack((observation % n, observation % m), axis=1),
    )


def main() -> None:
    scene = replicate(ba_input(1))
    reprojection, weight = residuals(*scene)
    rows, columns, values = jacobian(*scene)
    unknowns = CAMERA * len(scene[0]) + POINT * len(scene[1]) + len(scene[2])
    print(f"{len(scene[0])} cameras, {len(scene[1])} points, {len(scene[2])} observations")
    print(f"root mean square of the reprojection error: {np.sqrt(np.mean(reprojection**2)):.4f} pixels")
    print(f"first weight error: {weight[0]:.6f}")
    print(f"Jacobian of {len(rows) - 1} × {unknowns}, {len(columns)} elements of it not zero")
    print("first row:", np.array2string(values[:PER_ROW], precision=4, max_line_width=100))


if __name__ == "__main__":
    main()
