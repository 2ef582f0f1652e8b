"""What the demonstration prints and draws."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from anadrome.errors.tools import OutputError
from anadrome.tools.mixture import Mixture

NO_PICTURE = "no picture: matplotlib is not installed (`pip install 'anadrome[plot]'`)"


class Report:
    """Lines of text on a stream, and a picture in a folder."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def line(self, words: str) -> None:
        """One line."""
        print(words, file=self.stream, flush=True)

    def row(self, name: str, words: str) -> None:
        """One line of a table of two columns."""
        self.line(f"  {name:<10} {words}")

    def picture(
        self, points: np.ndarray, start: Mixture, fit: Mixture, values: list[float], folder: Path
    ) -> None:
        """Points with the mixture before and after, and the descent, as a PNG; a line says where it is."""
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package
        except ImportError:
            self.row("picture", NO_PICTURE)
            return
        figure = Figure(figsize=(11.0, 5.0), layout="constrained")
        plane, curve = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
        _draw_points(plane, points)
        _draw_mixture(plane, start, "0.55", "start", is_dashed=True)
        _draw_mixture(plane, fit, "tab:red", "fit", is_dashed=False)
        plane.set(title="points and components (2 standard deviations)", xlabel="$x_0$", ylabel="$x_1$")
        plane.legend(loc="upper right")
        curve.plot(np.arange(len(values)), values, color="tab:red")
        curve.set(title="gradient descent", xlabel="step", ylabel="negative log-likelihood per point")
        curve.grid(alpha=0.3)
        path = folder / "gmm_fit.png"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=120)
        except OSError as error:
            raise OutputError(str(path), error.strerror or str(error)) from None
        self.row("picture", str(path))


def _draw_points(axes: Any, points: np.ndarray) -> None:
    second = points[:, 1] if points.shape[1] > 1 else np.zeros(len(points))
    axes.plot(points[:, 0], second, ".", color="tab:blue", markersize=2.5, alpha=0.4)
    spread = [np.percentile(values, (0.1, 99.9)) for values in (points[:, 0], second)]
    margins = [0.15 * (high - low) + 1e-9 for low, high in spread]
    axes.set_xlim(spread[0][0] - margins[0], spread[0][1] + margins[0])
    axes.set_ylim(spread[1][0] - margins[1], spread[1][1] + margins[1])


def _draw_mixture(axes: Any, mixture: Mixture, colour: str, label: str, is_dashed: bool) -> None:
    """An ellipse at two standard deviations for each component, in the first two coordinates, and its
    mean."""
    angles = np.linspace(0.0, 2.0 * math.pi, 100)
    circle = np.stack((np.cos(angles), np.sin(angles)))
    for place, (mean, covariance) in enumerate(zip(mixture.means, covariances(mixture), strict=True)):
        plane = np.zeros((2, 2))
        count = min(2, len(mean))
        plane[:count, :count] = covariance[:count, :count]
        width, turn = np.linalg.eigh(plane)
        outline = mean[:2, None] + 2.0 * turn @ (np.sqrt(np.maximum(width, 0.0))[:, None] * circle)
        style = "--" if is_dashed else "-"
        axes.plot(
            outline[0], outline[1], style, color=colour, linewidth=1.4, label=label if place == 0 else None
        )
        axes.plot(*mean[:2], "+", color=colour)


def covariances(mixture: Mixture) -> list[np.ndarray]:
    """(QᵀQ)⁻¹ of every component."""
    found = []
    for log_diagonal, lower in zip(mixture.log_diagonals, mixture.lowers, strict=True):
        factor = np.diag(np.exp(log_diagonal))
        columns, rows = np.triu_indices(len(log_diagonal), 1)
        factor[rows, columns] = lower
        inverse = np.linalg.inv(factor)
        found.append(inverse @ inverse.T)
    return found
