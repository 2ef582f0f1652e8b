"""Small inputs of all twelve evals, in the layout the suite sends, and the outputs it expects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adbench_data
import gradbench_references as reference
import ht
import numpy as np
from ba import replicate

RUNS = {"min_runs": 2, "min_seconds": 0.0}
PARTICLE_CONTROL = 0.2071918746486116
SADDLE_PLACE = 8.246324826140356e-06

Case = tuple[str, Any, Any]


def generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def gmm_data(dimension: int = 3, components: int = 4, points: int = 6) -> dict[str, Any]:
    random = generator(1)
    return {
        "d": dimension,
        "k": components,
        "n": points,
        "x": random.normal(size=(points, dimension)),
        "m": 2,
        "gamma": 0.7,
        "mu": random.uniform(size=(components, dimension)),
        "q": 0.3 * random.normal(size=(components, dimension)),
        "l": 0.5 * random.normal(size=(components, dimension * (dimension - 1) // 2)),
        "alpha": random.normal(size=components),
    }


def lstm_data(layers: int = 2, characters: int = 5, bits: int = 3) -> dict[str, Any]:
    random = generator(2)
    return {
        "main_params": random.normal(size=(2 * layers, 4 * bits)),
        "extra_params": random.normal(size=(3, bits)),
        "state": random.normal(size=(2 * layers, bits)),
        "sequence": np.round(random.uniform(size=(characters, bits))),
    }


def ba_data() -> dict[str, Any]:
    random = generator(3)
    camera = random.normal(size=11)
    camera[9:] *= 0.1
    point, feature = np.array([0.3, -0.4, 7.0]), np.array([1.5, -0.7])
    return {"n": 3, "m": 4, "p": 11, "cam": camera, "x": point, "w": 0.6, "feat": feature}


def ht_data(variant: str = "complicated") -> dict[str, Any]:
    model = adbench_data.generated_hand_model(vertices=12, triangles=9)
    return adbench_data.generated_hand(model, points=5, variant=variant)


def kmeans_data() -> dict[str, Any]:
    points = generator(4).uniform(size=(20, 3))
    return {"points": points, "centroids": points[-4:].copy()}


def expected_gmm(data: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    names = ("alpha", "mu", "q", "l")
    values = {name: data[name] for name in names}
    rest = (data["x"], data["gamma"], data["m"])

    def moved(name: str) -> Callable[[np.ndarray], Any]:
        return lambda part: reference.gmm_log_posterior(*{**values, name: part}.values(), *rest)

    gradient = {name: reference.complex_step(moved(name), values[name]).tolist() for name in names}
    return float(reference.gmm_log_posterior(*values.values(), *rest)), gradient


def expected_lstm(data: dict[str, Any]) -> tuple[float, list[float]]:
    main, extra, rest = data["main_params"], data["extra_params"], (data["state"], data["sequence"])
    by_main = reference.complex_step(lambda part: reference.lstm_loss(part, extra, *rest), main)
    by_extra = reference.complex_step(lambda part: reference.lstm_loss(main, part, *rest), extra)
    flat = np.concatenate((by_main.ravel(), by_extra.ravel()))
    return float(reference.lstm_loss(main, extra, *rest)), flat.tolist()


def expected_ba(data: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """First residuals and how often they occur; first thirty elements and the last of the compressed rows."""
    n, m, p = data["n"], data["m"], data["p"]
    error = reference.reprojection_error(data["cam"], data["x"], data["w"], data["feat"])
    objective = {
        "reproj_error": {"elements": error.tolist(), "repeated": p},
        "w_err": {"element": 1.0 - data["w"] ** 2, "repeated": p},
    }
    whole = reference.ba_jacobian(*replicate(data))
    columns = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
    jacobian = {
        "rows": [*(15 * row for row in range(2 * p)), *(30 * p + row for row in range(p + 1))],
        "cols": [*columns, *columns, 11 * n + 3 * m + p - 1],
        "vals": [*whole[0, columns].tolist(), *whole[1, columns].tolist(), whole[-1, -1]],
    }
    jacobian["rows"] = [*jacobian["rows"][:30], jacobian["rows"][-1]]
    return objective, jacobian


def expected_ht(data: dict[str, Any]) -> tuple[list[float], list[list[float]]]:
    theta, us = data["theta"], data["us"]
    rest = (ht.hand_model(data["data"]["model"]), data["data"]["correspondences"], data["data"]["points"])
    residuals = reference.hand_residuals(theta, us, *rest)
    by_theta = reference.complex_step(lambda part: reference.hand_residuals(part, us, *rest), theta)
    rows = by_theta.reshape(-1, 26)
    if us.size:
        by_us = reference.complex_step(lambda part: reference.hand_residuals(theta, part, *rest), us)
        own = np.array([by_us[q, :, q, :] for q in range(len(us))])
        rows = np.concatenate((own.reshape(-1, 2), rows), axis=1)
    return residuals.ravel().tolist(), rows.tolist()


def plain_json(data: Any) -> Any:
    """Arrays as lists, in whatever holds them."""
    if isinstance(data, dict):
        return {key: plain_json(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain_json(value) for value in data]
    return data.tolist() if isinstance(data, np.ndarray) else data


def pair(data: dict[str, Any], names: tuple[str, str], expected: tuple[Any, Any]) -> list[Case]:
    """A primal function and its derivative on the same input."""
    sent = {**plain_json(data), **RUNS}
    return [(name, sent, output) for name, output in zip(names, expected, strict=True)]


def small_cases() -> dict[str, list[Case]]:
    """The evals of vectors and small matrices."""
    x = generator(5).uniform(size=7)
    matrix = generator(6).uniform(size=(5, 5))
    cofactors = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    kmeans = kmeans_data()
    primal = ("primal", "gradient")
    return {
        "lse": pair({"x": x}, primal, (_value(reference.logsumexp, x), _slope(reference.logsumexp, x))),
        "llsq": pair(
            {"x": x, "n": 12},
            primal,
            (
                _value(lambda v: reference.least_squares(v, 12), x),
                _slope(lambda v: reference.least_squares(v, 12), x),
            ),
        ),
        "det": pair(
            {"A": matrix.ravel(), "ell": 5},
            primal,
            (float(np.linalg.det(matrix)), cofactors.ravel().tolist()),
        ),
        "ode": pair(
            {"x": x, "s": 3},
            primal,
            (reference.ode_solution(x, 3).tolist(), _slope(lambda v: reference.ode_solution(v, 3)[-1], x)),
        ),
        "kmeans": pair(
            kmeans,
            ("cost", "dir"),
            (float(reference.kmeans_cost(**kmeans)), reference.kmeans_direction(**kmeans).tolist()),
        ),
    }


def fitting_cases() -> dict[str, list[Case]]:
    """The evals that ADBench brought."""
    functions = ("objective", "jacobian")
    return {
        "gmm": pair(gmm_data(), functions, expected_gmm(gmm_data())),
        "lstm": pair(lstm_data(), functions, expected_lstm(lstm_data())),
        "ba": pair(ba_data(), functions, expected_ba(ba_data())),
        "ht": [
            case
            for variant in ("complicated", "simple")
            for case in pair(ht_data(variant), functions, expected_ht(ht_data(variant)))
        ],
    }


def nested_cases() -> dict[str, list[Case]]:
    """The evals that differentiate derivatives; the suite knows their results beforehand."""
    modes = ("rr", "ff", "fr", "rf")
    return {
        "particle": [(mode, {"w": 0.0, **RUNS}, PARTICLE_CONTROL) for mode in modes],
        "saddle": [(mode, {"start": [1.0, 1.0], **RUNS}, [SADDLE_PLACE] * 4) for mode in modes],
    }


def all_cases() -> dict[str, list[Case]]:
    """For each eval, the functions to ask for: name, input, expected output."""
    hello = [("square", 3.0, 9.0), ("double", 9.0, 18.0)]
    return {"hello": hello, **small_cases(), **fitting_cases(), **nested_cases()}


def _value(function: Callable[[np.ndarray], Any], x: np.ndarray) -> float:
    return float(function(x))


def _slope(function: Callable[[np.ndarray], Any], x: np.ndarray) -> list[float]:
    slope: list[float] = reference.complex_step(function, x).tolist()
    return slope
