"""The points of the demonstration: generated, or of an ADBench file; and whether a mixture can be fitted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anadrome.errors.tools import DataFileError, UnsuitablePoints

LARGEST, NEAREST = 1e100, 1e-100
"""Points beyond the one are refused, and differences below the other count for none: their squares would
overflow, or vanish."""


@dataclass(frozen=True)
class Problem:
    """Points [N, D] and how many components to fit; raises `UnsuitablePoints` where that cannot be done."""

    name: str
    points: np.ndarray
    components: int

    def __post_init__(self) -> None:
        reason = _fault(self.points, self.components)
        if reason:
            raise UnsuitablePoints(self.name, reason, LARGEST)


def _fault(points: np.ndarray, components: int) -> str:
    """Why no mixture can be fitted to the points; empty where one can be."""
    wrong = np.argwhere(~(np.abs(points) <= LARGEST))
    if len(wrong):
        point, coordinate = wrong[0]
        return f"coordinate {coordinate} of point {point} is {points[point, coordinate]}"
    if len(points) < components:
        return f"{_counted(len(points), 'point')} for {_counted(components, 'component')}"
    equal = np.flatnonzero(np.ptp(points, axis=0) < NEAREST)
    if len(equal) == points.shape[1]:
        return f"all {len(points)} points are equal" if len(points) > 1 else "it is one point"
    if len(equal):
        return f"coordinate {equal[0]} is the same in all points"
    different = len(np.unique(points, axis=0))
    if different < components:
        return f"{different} different points for {_counted(components, 'component')}"
    return ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def generated(components: int, count: int, seed: int) -> Problem:
    """Points drawn from Gaussians in the plane, of random places, widths and directions."""
    random = np.random.default_rng(seed)
    angles = 2.0 * np.pi * (np.arange(components) + random.uniform(0.0, 0.5, components)) / components
    centres = np.stack((np.cos(angles), np.sin(angles)), axis=1) * random.uniform(4.0, 6.0, (components, 1))
    parts = []
    for centre, share in zip(
        centres, random.multinomial(count, random.dirichlet(np.full(components, 8.0))), strict=True
    ):
        angle, widths = random.uniform(0.0, np.pi), random.uniform(0.3, 1.2, 2)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        parts.append(centre + (random.normal(size=(share, 2)) * widths) @ turn.T)
    points = random.permutation(np.concatenate(parts))
    return Problem(f"{components} generated clusters", points, components)


def read_adbench(path: Path) -> Problem:
    """The points of an ADBench GMM file: `D K N`, then logits, means, factors, the points, and two numbers
    more."""
    words = _words(path)
    try:
        dimension, components, count = (int(word) for word in words[:3])
    except ValueError:
        dimension, components, count = 0, 0, 0
    if min(dimension, components, count) < 1:
        found = f"begins with `{' '.join(words[:3])[:40]}`" if words else "is empty"
        raise DataFileError(str(path), f"it {found}, and should begin with three positive integers `D K N`")
    start = 3 + components * (1 + dimension + dimension * (dimension + 1) // 2)
    end = start + count * dimension
    if len(words) != end + 2:
        sizes = f"D = {dimension}, K = {components} and N = {count}"
        raise DataFileError(str(path), f"{sizes} make {end + 2} numbers, and it holds {len(words)}")
    try:
        values = np.array([float(word) for word in words[start:end]])
    except ValueError as error:
        raise DataFileError(str(path), str(error)) from None
    return Problem(path.name, values.reshape(count, dimension), components)


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split()
    except UnicodeDecodeError:
        raise DataFileError(str(path), "it is no text in UTF-8") from None
    except OSError as error:
        raise DataFileError(str(path), error.strerror or str(error), "name a file with `--data`") from None
