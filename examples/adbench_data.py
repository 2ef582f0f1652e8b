"""Inputs of the shapes ADBench uses, in the layouts GradBench sends.

The public files are read where they are at hand: below the folder that ANADROME_DATA names, or below
`../shared/data` from the project's root. Elsewhere, inputs of the same shapes are generated. Every function
gives the fields of a GradBench input, as NumPy arrays and numbers.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

BONES = (
    "wrist",
    *(f"{finger}{i}" for finger in ("thumb", "index", "middle", "ring", "pinky") for i in (1, 2, 3, 4)),
    "forearm",
)
PARENTS = np.array([-1, *((0 if i % 4 == 0 else i) for i in range(20)), 0])
TRIANGLES = 1084
VERTICES = {"small": 544, "big": 10_000}
HAND_POINTS = (100, 192, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 100_000)
BA_SIZES = (
    (49, 7776, 31843),
    (21, 11315, 36455),
    (161, 48126, 182072),
    (372, 47423, 204472),
    (257, 65132, 225911),
    (539, 65220, 277273),
    (93, 61203, 287451),
    (88, 64298, 383937),
    (810, 88814, 393775),
    (1197, 126327, 563734),
    (1723, 156502, 678718),
    (253, 163691, 899155),
    (245, 198739, 1091386),
    (356, 226730, 1255268),
    (1102, 780462, 4052340),
    (1544, 942409, 4750193),
    (1778, 993923, 5001946),
    (1936, 649673, 5213733),
    (4585, 1324582, 9125125),
    (13682, 4456117, 2987644),
)


def data_folder() -> Path:
    """Where the ADBench files are looked for."""
    root = Path(__file__).resolve().parents[1]
    return Path(os.environ.get("ANADROME_DATA", root.parent / "shared" / "data")) / "adbench"


def find(pattern: str) -> Path | None:
    """The first file below the data folder whose path fits, if there is one."""
    return next(iter(sorted(data_folder().glob(pattern))), None)


def gmm_input(dimension: int, components: int, points: int = 1000) -> dict:
    """A mixture: alpha [k], mu [k, d], q [k, d], l [k, d(d-1)/2], x [n, d], gamma, m."""
    path = find(f"gmm/gmm_d{dimension}_K{components}.txt")
    fields = _generated_gmm(dimension, components, points) if path is None else _read_gmm(path, points)
    return {"d": dimension, "k": components, "n": len(fields["x"]), **fields}


def _read_gmm(path: Path, points: int) -> dict:
    numbers = iter(path.read_text().split())
    d, k, n = (int(next(numbers)) for _ in range(3))
    alpha, mu, factors, x = (_take(numbers, shape) for shape in ((k,), (k, d), (k, d * (d + 1) // 2), (n, d)))
    gamma, m = float(next(numbers)), int(next(numbers))
    parameters = {"alpha": alpha, "mu": mu, "q": factors[:, :d].copy(), "l": factors[:, d:].copy()}
    return {**parameters, "x": x[:points].copy(), "gamma": gamma, "m": m}


def _generated_gmm(dimension: int, components: int, points: int) -> dict:
    random = np.random.default_rng(31337)
    return {
        "x": random.normal(size=(points, dimension)),
        "mu": random.uniform(size=(components, dimension)),
        "q": random.normal(size=(components, dimension)),
        "l": random.normal(size=(components, dimension * (dimension - 1) // 2)),
        "alpha": random.normal(size=components),
        "gamma": 1.0,
        "m": 0,
    }


def ba_input(number: int) -> dict:
    """Scene 1 to 20: counts n, m, p and the one camera, point, weight and feature they all repeat."""
    path = find(f"ba/ba{number}_*.txt")
    if path is None:
        n, m, p = BA_SIZES[number - 1]
        random = np.random.default_rng(number)
        camera, point = random.normal(size=11), random.normal(size=3) + np.array([0.0, 0.0, 8.0])
        weight, feature = random.uniform(), 500.0 * random.uniform(size=2)
    else:
        numbers = iter(path.read_text().split())
        n, m, p = (int(next(numbers)) for _ in range(3))
        camera, point, weight, feature = (_take(numbers, shape) for shape in ((11,), (3,), (), (2,)))
    return {"n": n, "m": m, "p": p, "cam": camera, "x": point, "w": float(weight), "feat": feature}


def lstm_input(layers: int, characters: int) -> dict:
    """main_params [2l, 4b], extra_params [3, b], state [2l, b], sequence [c, b] with b = 14 bits."""
    path = find(f"lstm/lstm_l{layers}_c{characters}.txt")
    if path is None:
        random, bits = np.random.default_rng(layers), 14
        return {
            "main_params": random.uniform(size=(2 * layers, 4 * bits)),
            "extra_params": random.uniform(size=(3, bits)),
            "state": random.uniform(size=(2 * layers, bits)),
            "sequence": np.round(random.uniform(size=(characters, bits))),
        }
    numbers = iter(path.read_text().split())
    layers, characters, bits = (int(next(numbers)) for _ in range(3))
    return {
        "main_params": _take(numbers, (2 * layers, 4 * bits)),
        "extra_params": _take(numbers, (3, bits)),
        "state": _take(numbers, (2 * layers, bits)),
        "sequence": _take(numbers, (characters, bits)),
    }


def hand_input(number: int, variant: str = "complicated", size: str = "small") -> dict:
    """Hand 1 to 12: theta [26], us [n, 2] ([0, 2] for the simple variant), and the data: model,
    correspondences [n] (triangles, or vertices for the simple variant), points [n, 3]."""
    path = find(f"hand/{variant}_{size}/hand{number}_*.txt")
    if path is None:
        model = generated_hand_model(VERTICES[size], TRIANGLES)
        return generated_hand(model, HAND_POINTS[number - 1], variant)
    numbers = iter(path.read_text().split())
    count, angles = int(next(numbers)), int(next(numbers))
    rows = _take(numbers, (count, 4))
    us = _take(numbers, (count, 2) if variant == "complicated" else (0, 2))
    data = {
        "model": _read_hand_model(path.parent / "model"),
        "correspondences": rows[:, 0].astype(np.int64),
        "points": rows[:, 1:].copy(),
    }
    return {"theta": _take(numbers, (angles,)), "us": us, "data": data}


def _read_hand_model(folder: Path) -> dict:
    bones = [line.split(":") for line in (folder / "bones.txt").read_text().split()]
    vertices = [line.split(":") for line in (folder / "vertices.txt").read_text().split()]
    triangles = [line.split(":") for line in (folder / "triangles.txt").read_text().split()]
    weights = np.zeros((len(vertices), len(bones)))
    for row, fields in zip(weights, vertices, strict=True):
        for i in range(int(fields[8])):
            row[int(fields[9 + 2 * i])] = float(fields[10 + 2 * i])
    return {
        "bone_count": len(bones),
        "bone_names": [fields[0] for fields in bones],
        "parents": np.array([int(fields[1]) for fields in bones]),
        "base_relatives": np.array([fields[2:18] for fields in bones], dtype=np.float64).reshape(-1, 4, 4),
        "inverse_base_absolutes": np.array([fields[18:34] for fields in bones], dtype=np.float64).reshape(
            -1, 4, 4
        ),
        "base_positions": np.array([[*fields[:3], "1"] for fields in vertices], dtype=np.float64),
        "weights": weights,
        "triangles": np.array(triangles, dtype=np.int64),
        "is_mirrored": False,
    }


def generated_hand_model(vertices: int, triangles: int) -> dict:
    """A hand of 22 bones in the order of the public model, each vertex hung on four of them."""
    random = np.random.default_rng(22)
    relatives = np.tile(np.eye(4), (len(BONES), 1, 1))
    rotations, _ = np.linalg.qr(random.normal(size=(len(BONES), 3, 3)))
    relatives[:, :3, :3] = rotations * np.sign(np.linalg.det(rotations)).reshape(-1, 1, 1)
    relatives[:, :3, 3] = 0.3 * random.normal(size=(len(BONES), 3))
    absolutes = relatives.copy()
    for bone, parent in enumerate(PARENTS):
        if parent >= 0:
            absolutes[bone] = absolutes[parent] @ relatives[bone]
    weights = np.zeros((vertices, len(BONES)))
    for row in weights:
        shares = random.uniform(size=4)
        row[random.choice(len(BONES), size=4, replace=False)] = shares / np.sum(shares)
    return {
        "bone_count": len(BONES),
        "bone_names": list(BONES),
        "parents": PARENTS.copy(),
        "base_relatives": relatives,
        "inverse_base_absolutes": np.linalg.inv(absolutes),
        "base_positions": np.concatenate((random.normal(size=(vertices, 3)), np.ones((vertices, 1))), axis=1),
        "weights": weights,
        "triangles": np.array([random.choice(vertices, size=3, replace=False) for _ in range(triangles)]),
        "is_mirrored": False,
    }


def generated_hand(model: dict, points: int, variant: str) -> dict:
    """A pose, and points near the hand at rest, as `hand_input` gives them."""
    random = np.random.default_rng(points)
    complicated = variant == "complicated"
    targets = len(model["triangles"]) if complicated else len(model["base_positions"])
    correspondences = random.integers(targets, size=points)
    us = random.uniform(0.0, 0.5, size=(points if complicated else 0, 2))
    at_rest = model["base_positions"][:, :3]
    if complicated:
        shares = np.concatenate((us, 1.0 - np.sum(us, axis=1, keepdims=True)), axis=1)
        places = np.einsum("qs,qsr->qr", shares, at_rest[model["triangles"][correspondences]])
    else:
        places = at_rest[correspondences]
    measured = places + 0.1 * random.normal(size=(points, 3))
    return {
        "theta": 0.3 * random.normal(size=26),
        "us": us,
        "data": {"model": model, "correspondences": correspondences, "points": measured},
    }


def _take(numbers: Iterator[str], shape: tuple[int, ...]) -> np.ndarray:
    """The next numbers of a file, as an array of this shape."""
    count = int(np.prod(shape))
    return np.array([float(next(numbers)) for _ in range(count)]).reshape(shape)
