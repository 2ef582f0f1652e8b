"""The programs that are measured: those of the table, beside C where there is such, and the gallery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ba
import det
import gmm
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
import scipy.sparse

import anadrome as ad
from bench import inputs, native, programs
from bench.agreement import Arguments, Check, assert_agree, inner_product, is_slope
from bench.native import Native


@dataclass(frozen=True)
class Case:
    """A program: an objective and its derivative, and what draws their arguments, small or not.

    `native` makes the calls of C with the same arguments. `check` compares the derivative with an objective,
    where there is no gradient in C. The objective takes the arguments but for the last `unread`. `work`
    counts the operations of a derivative and the bytes that it reaches at least, where the plan of its
    schedule does not. `peer` is the name of the program in `bench.peers`.
    """

    name: str
    size: str
    objective: Callable[..., Any]
    derivative: Callable[..., Any]
    arguments: inputs.Draw
    native: Callable[..., Native] | None = None
    check: Check | None = None
    unread: int = 0
    work: Callable[[Arguments], tuple[float, float]] | None = None
    peer: str = ""


# ---------------------------------------------------------------------------- checks
def scene_rows(jacobian: tuple[np.ndarray, ...], directions: list[np.ndarray]) -> np.ndarray:
    """The sparse Jacobian of bundle adjustment times a direction."""
    rows, columns, values = jacobian
    return scipy.sparse.csr_array((values, columns, rows)) @ np.concatenate(
        [direction.ravel() for direction in directions]
    )


def hand_rows(jacobian: np.ndarray, directions: list[np.ndarray]) -> np.ndarray:
    """The Jacobian of a hand times a direction of θ, and of the two numbers of each point itself."""
    theta, *others = directions
    own = [np.repeat(u, 3) for direction in others for u in direction.T]
    return jacobian[:, len(own) :] @ theta + sum(jacobian[:, i] * u for i, u in enumerate(own))


def ends_where_steps_end(
    force: Callable[..., Any], descent: Callable[..., Any], arguments: Arguments
) -> None:
    """The steps of the compiled loop are those of a loop in Python; a force is the slope of the energy."""
    positions, pairs = arguments
    for _ in range(20):
        positions = positions - 1e-5 * force(positions, pairs)
    assert_agree(descent(*arguments), positions)
    is_slope(0)(programs.pair_energy, force, arguments)


def is_newton_step(cost: Callable[..., Any], direction: Callable[..., Any], arguments: Arguments) -> None:
    """Newton's step times the diagonal of the Hessian is the gradient."""
    _, _, diagonal = programs.kmeans_curvature(*arguments)
    is_slope(1, product=lambda step, along: inner_product(step * diagonal, along))(cost, direction, arguments)


# ---------------------------------------------------------------------------- work
def mixture_work(arguments: Arguments) -> tuple[float, float]:
    """Triangular products forwards, and two of that size backwards, for each point and component."""
    (k, d), n = arguments[1].shape, len(arguments[4])
    parameters = k * (1 + d + d * (d + 1) / 2)
    return n * k * (3.0 * d * (d + 1) + 5.0 * d + 20.0), 8.0 * (n * d + 2.0 * parameters)


def look_up_work(arguments: Arguments) -> tuple[float, float]:
    """Two rows of five for each nuclide of a look-up: interpolated, and added to; searches are left out."""
    _, _, _, _, counts, _, materials, _ = arguments
    found = float(np.sum(counts[materials]))
    return found * 5.0 * 12.0, found * 3.0 * 80.0


# ---------------------------------------------------------------------------- the table
def of_mixture(dimension: int, components: int, points: int = 1000) -> Case:
    many = "" if points == 1000 else f"_{points // 1000}k"
    return Case(
        f"gmm{dimension}_{components}{many}",
        f"n {points}, d {dimension}, K {components}",
        gmm.log_posterior,
        gmm.gradient,
        inputs.mixture(dimension, components, points),
        native.of_mixture,
        is_slope(0, 1, 2, 3),
        work=mixture_work,
        peer="gmm",
    )


def of_scene(name: str, number: int, observations: int) -> Case:
    return Case(
        name,
        f"{observations} observations",
        ba.residuals,
        ba.jacobian,
        inputs.scene(number),
        native.of_scene,
        is_slope(0, 1, 2, product=scene_rows),
    )


def of_text(name: str, layers: int, characters: int) -> Case:
    return Case(
        name,
        f"{layers} layers, {characters} characters",
        lstm.objective,
        lstm.gradient,
        inputs.text(layers, characters),
        native.of_text,
        is_slope(0, 1),
    )


def of_loss(
    name: str,
    size: str,
    loss: Callable[..., Any],
    arguments: inputs.Draw,
    calls: Callable[..., Native],
    by: int | tuple[int, ...] = 0,
    peer: str = "",
) -> Case:
    """A loss whose gradient, with its value, stands beside a gradient in C."""
    return Case(name, size, loss, ad.value_and_grad(loss, argnums=by), arguments, calls, peer=peer)


def of_array(
    name: str,
    size: str,
    function: Callable[..., Any],
    vjp: Callable[..., Any],
    arguments: inputs.Draw,
    calls: Callable[..., Native],
    peer: str,
) -> Case:
    """A function whose result is an array; the last argument is the adjoint of that."""
    return Case(name, size, function, vjp, arguments, calls, unread=1, peer=peer)


CLUSTERS = inputs.clusters(494_019, 35, 5)

TABLE = (
    of_mixture(10, 25),
    of_mixture(2, 200, 10_000),
    of_mixture(32, 200),
    of_mixture(64, 200),
    of_mixture(64, 25, 10_000),
    of_mixture(128, 25),
    of_scene("ba1", 1, 31_843),
    of_scene("ba4", 4, 204_472),
    Case(
        "hand5",
        "800 points, 10000 vertices",
        ht.vertex_residuals,
        ht.vertex_jacobian,
        inputs.hand(5, "simple", "big"),
        native.of_hand,
        is_slope(0, product=hand_rows),
    ),
    of_text("lstm2", 2, 1024),
    of_text("lstm4", 4, 4096),
    of_array(
        "hm_lstm",
        "2048²",
        programs.hm_lstm,
        programs.hm_lstm_vjp,
        inputs.cells(np.float64),
        native.of_cells,
        peer="hm_lstm",
    ),
    of_array(
        "hm_lstm_f32",
        "2048², float32",
        programs.hm_lstm,
        programs.hm_lstm_vjp,
        inputs.cells(np.float32),
        native.of_cells,
        peer="hm_lstm",
    ),
    of_loss(
        "kmeans", "n 494019, d 35, k 5", kmeans.cost, CLUSTERS, native.of_kmeans(False), 1, peer="kmeans"
    ),
    Case(
        "kmeans_curvature",
        "the same, with Hessian",
        kmeans.cost,
        programs.kmeans_curvature,
        CLUSTERS,
        native.of_kmeans(True),
        peer="kmeans_curvature",
    ),
    of_array(
        "map",
        "10⁶",
        programs.mapped,
        programs.mapped_vjp,
        inputs.weighted(1_000_000),
        native.of_map,
        peer="map",
    ),
    of_array(
        "map_f32",
        "10⁷, float32",
        programs.mapped,
        programs.mapped_vjp,
        inputs.weighted(10_000_000, np.float32),
        native.of_map,
        peer="map",
    ),
    of_loss(
        "histogram", "10⁷ into 256", programs.histogram, inputs.binned, native.of_histogram, peer="histogram"
    ),
    of_loss("gather", "10⁷ from 10⁴", programs.gather, inputs.gathered, native.of_gather, peer="gather"),
    Case(
        "cross_sections",
        "10⁵ look-ups",
        programs.cross_sections,
        ad.value_and_grad(programs.cross_sections, argnums=(0, 1)),
        inputs.reactor,
        native.of_cross_sections,
        work=look_up_work,
    ),
    of_loss(
        "logsumexp",
        "10⁶",
        programs.logsumexp,
        inputs.numbers(1_000_000),
        native.of_reduction("logsumexp"),
        peer="logsumexp",
    ),
    of_loss("max", "10⁶", programs.greatest, inputs.numbers(1_000_000), native.of_reduction("max")),
    of_loss(
        "prefix_sum",
        "10⁶",
        programs.prefix_sum,
        inputs.weighted(1_000_000),
        native.of_prefix_sum,
        peer="prefix_sum",
    ),
    of_loss(
        "recurrence",
        "10⁶",
        programs.recurrence,
        inputs.recurrent(1_000_000),
        native.of_recurrence,
        (0, 1),
        peer="recurrence",
    ),
    of_loss(
        "recurrence_long",
        "10⁷",
        programs.recurrence,
        inputs.recurrent(10_000_000),
        native.of_recurrence,
        (0, 1),
        peer="recurrence",
    ),
    Case(
        "process",
        "400 points",
        programs.evidence,
        programs.evidence_gradient,
        inputs.measured_points,
        check=is_slope(0, 1),
    ),
    Case(
        "convolution",
        "3 × 3, 16 to 32 channels",
        programs.convolution_loss,
        programs.convolution_gradient,
        inputs.images,
        check=is_slope(0),
    ),
    Case(
        "forces",
        "512 atoms, 20 steps",
        programs.force,
        programs.descent,
        inputs.lattice,
        check=ends_where_steps_end,
    ),
    Case(
        "waves",
        "100², 200 steps",
        programs.wave_energy,
        programs.wave_gradient,
        inputs.wave,
        check=is_slope(0),
    ),
)
"""The derivative of `forces` is 20 steps down a slope, beside one force."""


# ---------------------------------------------------------------------------- the gallery
LANDING = particle.landing_with(ad.grad)
WORST = saddle.worst_with(ad.grad)


def drawn(make: Callable[[np.random.Generator], Arguments]) -> inputs.Draw:
    """Arguments of one size."""
    return lambda _: make(inputs.random_numbers())


GALLERY = (
    Case("hello", "one number", hello.square, hello.double, drawn(lambda _: (3.0,)), check=is_slope(0)),
    Case(
        "ht",
        "100 points, 544 vertices",
        ht.residuals,
        ht.jacobian,
        inputs.hand(1, "complicated", "small"),
        check=is_slope(0, 1, product=hand_rows),
    ),
    Case(
        "kmeans_step",
        "n 10000, d 8, k 10",
        kmeans.cost,
        kmeans.direction,
        inputs.clusters(10_000, 8, 10),
        check=is_newton_step,
    ),
    Case(
        "det",
        "7 × 7",
        det.determinant,
        det.gradient,
        drawn(lambda random: (random.uniform(size=(7, 7)),)),
        check=is_slope(0),
    ),
    Case(
        "llsq",
        "n 1024, m 128",
        llsq.objective,
        llsq.gradient,
        drawn(lambda random: (random.normal(size=1024), 128)),
        check=is_slope(0),
    ),
    Case("lse", "n 100000", lse.logsumexp, lse.gradient, inputs.numbers(100_000), check=is_slope(0)),
    Case(
        "ode",
        "n 1000, 10 steps",
        ode.last_component,
        ode.gradient,
        drawn(lambda random: (random.uniform(size=1000), 10)),
        check=is_slope(0),
    ),
    Case(
        "particle",
        "one trajectory",
        LANDING,
        ad.grad(LANDING),
        drawn(lambda _: (np.array([0.1]),)),
        check=is_slope(0),
    ),
    Case(
        "saddle",
        "one ascent",
        WORST,
        ad.grad(WORST),
        drawn(lambda _: (np.ones(2), np.ones(2))),
        check=is_slope(0),
    ),
)
"""With the programs of the table these are the twelve of the public suite."""
