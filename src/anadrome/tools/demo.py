"""The demonstration: a Gaussian mixture fitted to points by gradient descent on a compiled gradient."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anadrome.api.transforms import jit, value_and_grad
from anadrome.tools.mixture import Mixture, combine, negative_log_likelihood
from anadrome.tools.points import Problem
from anadrome.tools.progress import Progress
from anadrome.tools.report import Report


# ---------------------------------------------------------------------------- the start
def first_guess(problem: Problem, seed: int) -> Mixture:
    """Means at points far from one another (greedy k-means++, Arthur and Vassilvitskii, 2007), widths those
    of all points together, equal weights."""
    random = np.random.default_rng(seed)
    points, dimension = problem.points, problem.points.shape[1]
    means = [points[random.integers(len(points))]]
    nearest = np.sum((points - means[0]) ** 2, axis=1)
    while len(means) < problem.components:
        total = np.sum(nearest)
        drawn = points[random.choice(len(points), size=8, p=nearest / total if total > 0.0 else None)]
        left = [np.minimum(nearest, np.sum((points - mean) ** 2, axis=1)) for mean in drawn]
        best = int(np.argmin([np.sum(distances) for distances in left]))
        means.append(drawn[best])
        nearest = left[best]
    width = np.log(np.std(points, axis=0) / math.sqrt(problem.components) + 1e-12)
    return Mixture(
        np.zeros(problem.components),
        np.array(means),
        np.tile(-width, (problem.components, 1)),
        np.zeros((problem.components, dimension * (dimension - 1) // 2)),
    )


# ---------------------------------------------------------------------------- descent
def descend(
    gradient: Callable[..., Any],
    start: Mixture,
    points: np.ndarray,
    steps: int,
    rate: float,
    progress: Progress,
) -> tuple[Mixture, list[float]]:
    """Adam (Kingma and Ba, 2015) with a rate that falls to zero; the best mixture met, and the values."""
    mixture, best = start, start
    first = second = combine(np.zeros_like, start)
    values: list[float] = []
    for step in range(1, steps + 1):
        value, slope = gradient(mixture, points)
        if not values or value < min(values):
            best = mixture
        values.append(float(value))
        first = combine(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = combine(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
        length = rate * 0.5 * (1.0 + math.cos(math.pi * step / steps))
        scale = length * math.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
        mixture = combine(lambda p, m, v, s=scale: p - s * m / (np.sqrt(v) + 1e-9), mixture, first, second)
        progress.show(step, f"negative log-likelihood {value:.5f}")
    return best, values


# ---------------------------------------------------------------------------- measuring
def directional_check(slope: Mixture, mixture: Mixture, points: np.ndarray, seed: int) -> tuple[float, float]:
    """The derivative in a random direction, by the compiled gradient and by the central difference of the
    plain Python function, which is summed with NumPy numbers."""
    random = np.random.default_rng(seed)
    direction = combine(lambda part: random.normal(size=part.shape), mixture)
    compiled = sum(float(np.sum(part * along)) for part, along in zip(slope, direction, strict=True))
    step = 1e-6
    ahead, behind = (
        negative_log_likelihood(combine(lambda p, d, s=sign: p + s * step * d, mixture, direction), points)
        for sign in (1.0, -1.0)
    )
    return compiled, float(ahead - behind) / (2.0 * step)


def median_time(call: Callable[[], Any], seconds: float = 0.5) -> float:
    """The median duration of a call, in seconds, over about this long."""
    durations: list[float] = []
    while len(durations) < 5 or (sum(durations) < seconds and len(durations) < 1000):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return statistics.median(durations)


def first_call(call: Callable[[], Any]) -> float:
    """How long a call takes the first time, compilation included, in seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# ---------------------------------------------------------------------------- the whole
def run_demo(problem: Problem, steps: int, rate: float, seed: int, out: Path, report: Report) -> None:
    """Compile, measure, check, fit, and draw."""
    points, start = problem.points, first_guess(problem, seed)
    count, dimension = points.shape
    words = f"{count} points in {dimension} dimensions, {problem.components} components"
    report.line(f"Gaussian mixture: {problem.name}, {words}")
    objective = jit(negative_log_likelihood)
    gradient = value_and_grad(objective)
    compile_objective = first_call(lambda: objective(start, points))
    compile_gradient = first_call(lambda: gradient(start, points))
    time_objective = median_time(lambda: objective(start, points))
    time_gradient = median_time(lambda: gradient(start, points))
    report.row(
        "compile",
        f"objective {compile_objective:.2f} s, gradient {compile_gradient:.2f} s (first calls)",
    )
    report.row("objective", f"{1e3 * time_objective:.3f} ms")
    report.row("gradient", f"{1e3 * time_gradient:.3f} ms, value included")
    report.row("ratio", f"{time_gradient / time_objective:.2f}")
    few = points[: max(1, min(count, 20_000 // problem.components // dimension**2))]
    compiled, numeric = directional_check(gradient(start, few)[1], start, few, seed)
    relative = abs(compiled - numeric) / max(abs(numeric), 1e-300)
    report.row(
        "check",
        f"compiled {compiled:.12g}, finite differences {numeric:.12g}, relative difference {relative:.1e}",
    )
    progress = Progress(report.stream, steps)
    fit, values = descend(gradient, start, points, steps, rate, progress)
    progress.finish()
    report.row(
        "fit", f"negative log-likelihood per point {values[0]:.4f} at first, {min(values):.4f} at the end"
    )
    report.picture(points, start, fit, values, out)
