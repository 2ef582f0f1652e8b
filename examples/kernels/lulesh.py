"""LULESH's material update: energy, pressure and viscosity of each element after a step of its volume.

It teaches branches that cut values off: what is below a threshold becomes zero, and passes no derivative
on. The equation of state is applied several times to the same input, as the regions of LULESH ask for; only
the last time counts, and the derivative knows it.

Karlin, Keasler and Neely, "LULESH 2.0 updates and changes", 2013; the derivative is by the energy alone, as
in Moses et al., "Reverse-mode automatic differentiation and optimization of GPU kernels via Enzyme", 2021.
"""

import math
from typing import NamedTuple

import numpy as np

import anadrome as ad

THREADS = 64
REFERENCE_DENSITY, SMALLEST_ENERGY, SMALLEST_PRESSURE = 1.0, -1e15, 0.0
ENERGY_CUT = PRESSURE_CUT = VISCOSITY_CUT = 1e-7
VOLUME_CUT, SMALLEST_VOLUME, LARGEST_VOLUME = 1e-10, 1e-9, 1e9
STIFFNESS = 2.0 / 3.0


class Elements(NamedTuple):
    """What is known of each element beside its energy."""

    pressure: np.ndarray
    viscosity: np.ndarray
    linear: np.ndarray
    """The part of the viscosity that is linear in the velocity, and below the quadratic one."""
    quadratic: np.ndarray
    volume: np.ndarray
    change: np.ndarray
    """How much larger the volume is than before."""


# ---------------------------------------------------------------------------- equation of state
def cut_off(value: float, threshold: float) -> float:
    return 0.0 if abs(value) < threshold else value


def energy_of(value: float) -> float:
    return max(cut_off(value, ENERGY_CUT), SMALLEST_ENERGY)


def pressure_of(energy: float, compression: float, volume: float) -> float:
    pressure = cut_off(STIFFNESS * (compression + 1.0) * energy, PRESSURE_CUT)
    if volume >= LARGEST_VOLUME:
        pressure = 0.0
    return max(pressure, SMALLEST_PRESSURE)


def sound_speed(energy: float, pressure: float, compression: float, volume: float) -> float:
    bulk = STIFFNESS * (compression + 1.0)
    square = (STIFFNESS * energy + volume * volume * bulk * pressure) / REFERENCE_DENSITY
    return 0.3333333e-18 if square <= 0.1111111e-36 else math.sqrt(square)


def viscosity_of(
    energy: float,
    pressure: float,
    compression: float,
    volume: float,
    change: float,
    linear: float,
    quadratic: float,
) -> float:
    """Of elements that are compressed; others have none."""
    if change > 0.0:
        return 0.0
    return sound_speed(energy, pressure, compression, volume) * linear + quadratic


def updated(
    energy: float,
    pressure: float,
    viscosity: float,
    linear: float,
    quadratic: float,
    volume: float,
    change: float,
) -> tuple[float, float, float]:
    """Energy, pressure and viscosity after the step: a half step, a predictor, and a corrector."""
    compression = 1.0 / volume - 1.0
    halfway = 1.0 / (volume - 0.5 * change) - 1.0
    if volume <= SMALLEST_VOLUME:
        halfway = compression
    if volume >= LARGEST_VOLUME:
        pressure, compression, halfway = 0.0, 0.0, 0.0
    before = pressure + viscosity
    energy = max(energy - 0.5 * change * before, SMALLEST_ENERGY)
    pressure = pressure_of(energy, halfway, volume)
    viscosity = viscosity_of(energy, pressure, halfway, 1.0 / (1.0 + halfway), change, linear, quadratic)
    between = pressure + viscosity
    energy = energy_of(energy + 0.5 * change * (3.0 * before - 4.0 * between))
    pressure = pressure_of(energy, compression, volume)
    last = pressure + viscosity_of(energy, pressure, compression, volume, change, linear, quadratic)
    energy = energy_of(energy - (7.0 * before - 8.0 * between + last) * change / 6.0)
    pressure = pressure_of(energy, compression, volume)
    if change <= 0.0:
        viscosity = viscosity_of(energy, pressure, compression, volume, change, linear, quadratic)
        viscosity = cut_off(viscosity, VISCOSITY_CUT)
    return energy, pressure, viscosity


def element(
    energy: float, elements: Elements, zone: int, repeats: int
) -> tuple[float, float, float, float, float]:
    """Energy, pressure, viscosity, sound speed and volume of an element."""
    volume = min(max(elements.volume[zone], SMALLEST_VOLUME), LARGEST_VOLUME)
    compression = 1.0 / volume - 1.0
    new, pressure, viscosity = energy, 0.0, 0.0
    for _ in range(repeats):
        new, pressure, viscosity = updated(
            energy,
            elements.pressure[zone],
            elements.viscosity[zone],
            elements.linear[zone],
            elements.quadratic[zone],
            volume,
            elements.change[zone],
        )
    speed = sound_speed(new, pressure, compression, volume)
    return new, pressure, viscosity, speed, cut_off(elements.volume[zone] - 1.0, VOLUME_CUT) + 1.0


# ---------------------------------------------------------------------------- programs
@ad.kernel
def update(energy, elements, zones, ends, repeats, after):
    i = ad.grid(1)
    if i < len(zones):
        region = 0
        while region < len(ends) - 1 and i >= ends[region]:
            region += 1
        zone = zones[i]
        found = element(energy[zone], elements, zone, repeats[region])
        for k in ad.unroll(range(5)):
            after[k, zone] = found[k]


@ad.jit
def loss(
    energy: np.ndarray, elements: Elements, zones: np.ndarray, ends: np.ndarray, repeats: np.ndarray
) -> float:
    """½ Σ of the squares of all that is updated."""
    after = np.zeros((5, len(energy)))
    blocks = (len(zones) + THREADS - 1) // THREADS
    update[blocks, THREADS](energy, elements, zones, ends, repeats, after)
    return 0.5 * np.sum(after**2)


value_and_gradient = ad.value_and_grad(loss)


def reference(
    energy: np.ndarray, elements: Elements, zones: np.ndarray, ends: np.ndarray, repeats: np.ndarray
) -> float:
    """The same element by element; a repeat computes what the first one has computed."""
    total = 0.0
    for zone in zones:
        total += sum(value**2 for value in element(energy[zone], elements, zone, 1))
    return 0.5 * total


def sample(random: np.random.Generator) -> tuple[np.ndarray, Elements, np.ndarray, np.ndarray, np.ndarray]:
    count = 150
    elements = Elements(
        pressure=random.uniform(0.0, 2.0, count),
        viscosity=random.uniform(0.0, 1.0, count),
        linear=random.uniform(0.0, 1.0, count),
        quadratic=random.uniform(0.0, 1.0, count),
        volume=random.uniform(0.6, 1.2, count),
        change=random.uniform(-0.2, 0.1, count),
    )
    ends = np.array([50, 90, count])
    return random.uniform(-0.5, 3.0, count), elements, random.permutation(count), ends, np.array([1, 2, 20])


def main() -> None:
    arguments = sample(np.random.default_rng(0))
    value, energy_adj = value_and_gradient(*arguments)
    print(f"½ Σ of all squares {value:.8f}, element by element {reference(*arguments):.8f}")
    print(f"elements whose energy has an effect: {np.count_nonzero(energy_adj)} of {len(energy_adj)}")


if __name__ == "__main__":
    main()
