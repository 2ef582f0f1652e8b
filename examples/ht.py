"""Hand tracking: a hand of bones and skin, posed by 26 numbers and fitted to points, with its Jacobian.

θ = [ω (3), t (3), four angles for each of five fingers]: a rotation vector and a translation of the hand, and
for each finger bend and spread of its second bone, bend of its third and of its fourth. For bone i:

    A_i = base_i · [R_z(spread_i) R_x(bend_i)],    T_i = T_parent(i) A_i  (T_i = A_i at the wrist)
    S_i = T_i C_i,    v_j = R(ω) Σ_i w_ji S_i x_j + t

where C_i undoes bone i's absolute transform in the base pose. A measured point y_q lies on a triangle
(a, b, c) with barycentric coordinates u_q, or at a vertex where there are no coordinates:

    e_q = y_q - (u_q0 v_a + u_q1 v_b + (1 - u_q0 - u_q1) v_c)

A residual depends on all of θ but on its own u only, so the Jacobian takes 26 + 2 directions: one for each
element of θ, and one for each column of u, in which every u_q moves at once.

GradBench eval `ht`, after ADBench (Srajer, Kukelova and Fitzgibbon, 2018).
"""

import math
from dataclasses import dataclass

import numpy as np
from adbench_data import hand_input

import anadrome as ad

FINGERS = 5


@dataclass(frozen=True, eq=False)
class HandModel:
    """Bones [bone, …] in the order wrist, four of each finger, forearm; vertices [vertex, …]."""

    parents: np.ndarray
    base_relatives: np.ndarray
    inverse_base_absolutes: np.ndarray
    base_positions: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray
    is_mirrored: bool


def axis_rotation(rotation: np.ndarray) -> np.ndarray:
    """The rotation matrix of a rotation vector; the identity for a very small one."""
    angle = math.sqrt(np.dot(rotation, rotation))
    if angle < 1e-4:
        return np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    x, y, z = rotation[0] / angle, rotation[1] / angle, rotation[2] / angle
    s, c = math.sin(angle), math.cos(angle)
    return np.array(
        [
            [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
            [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
            [x * z * (1.0 - c) - y * s, y * z * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
        ]
    )


def joint(bend: float, spread: float) -> np.ndarray:
    """R_z(spread) R_x(bend), as a transform of homogeneous coordinates."""
    cx, sx = math.cos(bend), math.sin(bend)
    cz, sz = math.cos(spread), math.sin(spread)
    return np.array(
        [
            [cz, -sz * cx, sz * sx, 0.0],
            [sz, cz * cx, -cz * sx, 0.0],
            [0.0, sx, cx, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def finger_angles(theta: np.ndarray, bones: int) -> tuple[np.ndarray, np.ndarray]:
    """Bend and spread of every bone; wrist, forearm and the first bone of a finger do not turn."""
    bend, spread = np.zeros(bones), np.zeros(bones)
    for finger in range(FINGERS):
        angle, bone = 6 + 4 * finger, 1 + 4 * finger
        bend[bone + 1] = theta[angle]
        spread[bone + 1] = theta[angle + 1]
        bend[bone + 2] = theta[angle + 2]
        bend[bone + 3] = theta[angle + 3]
    return bend, spread


def bone_transforms(theta: np.ndarray, model: HandModel) -> np.ndarray:
    """The matrices S_i."""
    bones = len(model.parents)
    bend, spread = finger_angles(theta, bones)
    absolutes = np.zeros((bones, 4, 4))
    for i in range(bones):
        relative = model.base_relatives[i] @ joint(bend[i], spread[i])
        if model.parents[i] < 0:
            absolutes[i] = relative
        else:
            absolutes[i] = absolutes[model.parents[i]] @ relative
    return np.array([absolutes[i] @ model.inverse_base_absolutes[i] for i in range(bones)])


def posed_vertices(theta: np.ndarray, model: HandModel) -> np.ndarray:
    """The vertices of the posed hand, [vertex, 3]."""
    bones, vertices = len(model.parents), len(model.base_positions)
    transforms = bone_transforms(theta, model).reshape(bones, 16)
    blended = (model.weights @ transforms).reshape(vertices, 4, 4)
    mirror = np.array([-1.0 if model.is_mirrored else 1.0, 1.0, 1.0])
    rotation, translation = axis_rotation(theta[0:3]), theta[3:6]
    return np.array(
        [
            rotation @ (mirror * (blended[v, 0:3] @ model.base_positions[v])) + translation
            for v in range(vertices)
        ]
    )


@ad.jit
def residuals(
    theta: ad.f64[26], us: np.ndarray, model: HandModel, correspondences: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """The residuals [point, 3] of points on triangles."""
    vertices = posed_vertices(theta, model)
    corners = model.triangles[correspondences]
    return np.array(
        [
            points[q]
            - us[q, 0] * vertices[corners[q, 0]]
            - us[q, 1] * vertices[corners[q, 1]]
            - (1.0 - us[q, 0] - us[q, 1]) * vertices[corners[q, 2]]
            for q in range(len(points))
        ]
    )


@ad.jit
def jacobian(
    theta: ad.f64[26], us: np.ndarray, model: HandModel, correspondences: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """Rows: three for each point; columns: the two of its own u, then the 26 of θ."""
    rows = 3 * len(points)
    along_first, along_second = np.zeros_like(us), np.zeros_like(us)
    along_first[:, 0] = 1.0
    along_second[:, 1] = 1.0

    def of_us(u: np.ndarray) -> np.ndarray:
        return residuals(theta, u, model, correspondences, points)

    _, by_first = ad.jvp(of_us, (us,), (along_first,))
    _, by_second = ad.jvp(of_us, (us,), (along_second,))
    by_theta = ad.jacfwd(residuals)(theta, us, model, correspondences, points)
    return np.concatenate(
        (by_first.reshape(rows, 1), by_second.reshape(rows, 1), by_theta.reshape(rows, 26)), axis=1
    )


@ad.jit
def vertex_residuals(
    theta: ad.f64[26], model: HandModel, correspondences: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """The residuals [point, 3] of points at vertices."""
    return points - posed_vertices(theta, model)[correspondences]


@ad.jit
def vertex_jacobian(
    theta: ad.f64[26], model: HandModel, correspondences: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """Rows: three for each point; columns: the 26 of θ."""
    by_theta = ad.jacfwd(vertex_residuals)(theta, model, correspondences, points)
    return by_theta.reshape(3 * len(points), 26)


def hand_model(data: dict) -> HandModel:
    """The model from its fields, given as lists or arrays."""
    return HandModel(
        parents=np.asarray(data["parents"], dtype=np.int64),
        base_relatives=np.asarray(data["base_relatives"], dtype=np.float64),
        inverse_base_absolutes=np.asarray(data["inverse_base_absolutes"], dtype=np.float64),
        base_positions=np.asarray(data["base_positions"], dtype=np.float64),
        weights=np.asarray(data["weights"], dtype=np.float64),
        triangles=np.asarray(data["triangles"], dtype=np.int64),
        is_mirrored=bool(data["is_mirrored"]),
    )


def main() -> None:
    data = hand_input(1)
    model = hand_model(data["data"]["model"])
    rest = (model, data["data"]["correspondences"], data["data"]["points"])
    us = data["us"]
    theta = data["theta"] + 0.1 * np.random.default_rng(0).normal(size=26)
    print(f"{len(us)} points on a hand of {len(model.base_positions)} vertices; Gauss-Newton by its Jacobian")
    for step in range(6):
        error = residuals(theta, us, *rest).ravel()
        print(f"step {step}    root mean square residual {np.sqrt(np.mean(error**2)):.6f}")
        by_theta = jacobian(theta, us, *rest)[:, 2:]
        damped = by_theta.T @ by_theta + 0.1 * np.eye(len(theta))
        theta = theta - np.linalg.solve(damped, by_theta.T @ error)


if __name__ == "__main__":
    main()
