"""Each example as a mathematical function: what it computes, its derivative, and a second formulation.

A program is a function of some active arrays. `compiled` and `plain` evaluate it, `reference` does so
independently; each gives one flat array. `product` multiplies its whole derivative, however it is stored, by
a direction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ba
import det
import gmm
import gradbench_references as reference
import hello
import ht
import kmeans
import llsq
import lse
import lstm
import numpy as np
import ode
import particle
import saddle
from gradbench_inputs import ba_data, generator, gmm_data, ht_data, kmeans_data, lstm_data
from scipy.sparse import csr_array

import anadrome as ad

Array = np.ndarray


@dataclass(frozen=True)
class Program:
    """A function of `active` arrays, its derivative times a direction, and its other formulations."""

    active: tuple[Array, ...]
    compiled: Callable[..., Any]
    plain: Callable[..., Any]
    reference: Callable[..., Any]
    product: Callable[[tuple[Array, ...]], Any]


def flat(result: Any) -> Array:
    """Everything a program returned, in one array."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])


def of_gradient(
    function: Any, gradient: Any, active: tuple[Array, ...], rest: tuple[Any, ...], second: Callable[..., Any]
) -> Program:
    """A scalar program, whose gradient by its first arguments is an array or a tuple of arrays."""

    def product(direction: tuple[Array, ...]) -> float:
        slopes = gradient(*active, *rest)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        return sum(float(np.sum(slope * part)) for slope, part in zip(slopes, direction, strict=True))

    return Program(
        active,
        lambda *values: function(*values, *rest),
        lambda *values: function.python(*values, *rest),
        second,
        product,
    )


def gmm_program(dimension: int, components: int, points: int) -> Program:
    data = gmm_data(dimension, components, points)
    active = tuple(data[name] for name in ("alpha", "mu", "q", "l"))
    rest = (data["x"], data["gamma"], data["m"])
    second = lambda *values: reference.gmm_log_posterior(*values, *rest)
    return of_gradient(gmm.log_posterior, gmm.gradient, active, rest, second)


def lstm_program() -> Program:
    data = lstm_data()
    layers, bits = len(data["state"]) // 2, data["state"].shape[1]
    active = (data["main_params"].reshape(layers, 2, 4, bits), data["extra_params"])
    rest = (data["state"].reshape(layers, 2, bits), data["sequence"])

    def second(weights: Array, extra: Array) -> Any:
        rows = weights.reshape(2 * layers, 4 * bits)
        return reference.lstm_loss(rows, extra, data["state"], data["sequence"])

    return of_gradient(lstm.objective, lstm.gradient, active, rest, second)


def kmeans_program() -> Program:
    data = kmeans_data()
    points = data["points"]
    slope = ad.grad(lambda centroids: kmeans.cost(points, centroids))
    return Program(
        (data["centroids"],),
        lambda centroids: kmeans.cost(points, centroids),
        lambda centroids: kmeans.cost.python(points, centroids),
        lambda centroids: reference.kmeans_cost(points, centroids),
        lambda direction: float(np.sum(slope(data["centroids"]) * direction[0])),
    )


def ba_scene() -> tuple[Array, ...]:
    """Cameras, points, weights and features that differ, unlike the ones the suite sends."""
    cameras, points, weights, features, observations = ba.replicate(ba_data())
    random = generator(7)
    moved = [array + 0.05 * random.normal(size=array.shape) for array in (cameras, points, weights, features)]
    moved[0][1, :3] = 0.0
    return (*moved, observations)


def ba_program() -> Program:
    cameras, points, weights, features, observations = ba_scene()
    rest = (features, observations)

    def second(cams: Array, xs: Array, ws: Array) -> Array:
        errors = [
            reference.reprojection_error(cams[c], xs[x], w, feature)
            for (c, x), w, feature in zip(observations, ws, features, strict=True)
        ]
        return np.concatenate((np.ravel(errors), 1.0 - ws**2))

    def product(direction: tuple[Array, ...]) -> Array:
        rows, columns, values = ba.jacobian(cameras, points, weights, *rest)
        jacobian = csr_array((values, columns, rows), shape=(3 * len(weights), flat(direction).size))
        return jacobian @ flat(direction)

    return Program(
        (cameras, points, weights),
        lambda *unknowns: ba.residuals(*unknowns, *rest),
        lambda *unknowns: ba.residuals.python(*unknowns, *rest),
        second,
        product,
    )


def ht_program(mirrored: bool) -> Program:
    data = ht_data()
    model = ht.hand_model({**data["data"]["model"], "is_mirrored": mirrored})
    rest = (model, data["data"]["correspondences"], data["data"]["points"])
    theta, us = data["theta"], data["us"]

    def product(direction: tuple[Array, ...]) -> Array:
        along_theta, along_us = direction
        jacobian = ht.jacobian(theta, us, *rest)
        own = np.sum(jacobian[:, :2] * np.repeat(along_us, 3, axis=0), axis=1)
        return own + jacobian[:, 2:] @ along_theta

    return Program(
        (theta, us),
        lambda *unknowns: ht.residuals(*unknowns, *rest),
        lambda *unknowns: ht.residuals.python(*unknowns, *rest),
        lambda *unknowns: reference.hand_residuals(*unknowns, *rest),
        product,
    )


def ht_vertex_program() -> Program:
    data = ht_data("simple")
    rest = (ht.hand_model(data["data"]["model"]), data["data"]["correspondences"], data["data"]["points"])
    theta = data["theta"]
    return Program(
        (theta,),
        lambda pose: ht.vertex_residuals(pose, *rest),
        lambda pose: ht.vertex_residuals.python(pose, *rest),
        lambda pose: reference.hand_residuals(pose, data["us"], *rest),
        lambda direction: ht.vertex_jacobian(theta, *rest) @ direction[0],
    )


def particle_program(outer: Callable[..., Any], inner: Callable[..., Any]) -> Program:
    """The flight, whose plain form would take forces by compiled derivatives, so the reference is plain."""
    control = np.array([0.1])
    landing = particle.landing_with(inner)
    second = lambda w: reference.particle_landing(w[0])
    slope = outer(landing)
    return Program(
        (control,), landing, second, second, lambda direction: float(slope(control) @ direction[0])
    )


def saddle_program(outer: Callable[..., Any], inner: Callable[..., Any]) -> Program:
    """The greatest value over y, as a function of x; where y ends does not depend on x."""
    x, start = np.array([0.7, -0.4]), np.array([1.0, 1.0])
    worst = saddle.worst_with(inner)
    end = reference.saddle_ascent(start)
    second = lambda place: np.sum(place**2) - np.sum(end**2)
    slope = outer(lambda place: worst(place, start))
    return Program(
        (x,),
        lambda place: worst(place, start),
        second,
        second,
        lambda direction: float(slope(x) @ direction[0]),
    )


def all_programs() -> dict[str, Callable[[], Program]]:
    """What is tested, by name; made when asked for."""
    x = generator(8).uniform(-1.0, 1.0, size=7)
    matrix = generator(9).uniform(size=(5, 5))
    modes = {"f": ad.jacfwd, "r": ad.grad}
    programs: dict[str, Callable[[], Program]] = {
        "hello": lambda: of_gradient(hello.square, hello.double, (np.float64(3.0),), (), lambda v: v**2),
        "lse": lambda: of_gradient(lse.logsumexp, lse.gradient, (x,), (), reference.logsumexp),
        "llsq": lambda: of_gradient(
            llsq.objective, llsq.gradient, (x,), (12,), lambda v: reference.least_squares(v, 12)
        ),
        "det": lambda: of_gradient(det.determinant, det.gradient, (matrix,), (), np.linalg.det),
        "ode": lambda: of_gradient(
            ode.last_component, ode.gradient, (x + 2.0,), (3,), lambda v: reference.ode_solution(v, 3)[-1]
        ),
        "kmeans": kmeans_program,
        "gmm d=3": lambda: gmm_program(3, 4, 6),
        "gmm d=2": lambda: gmm_program(2, 20, 5),
        "gmm d=17": lambda: gmm_program(17, 3, 4),
        "lstm": lstm_program,
        "ba": ba_program,
        "ht": lambda: ht_program(mirrored=False),
        "ht mirrored": lambda: ht_program(mirrored=True),
        "ht at vertices": ht_vertex_program,
    }
    for outer in modes:
        for inner in modes:
            nesting = (modes[outer], modes[inner])
            programs[f"particle {outer}{inner}"] = lambda pair=nesting: particle_program(*pair)
            programs[f"saddle {outer}{inner}"] = lambda pair=nesting: saddle_program(*pair)
    return programs


PROGRAMS = all_programs()
