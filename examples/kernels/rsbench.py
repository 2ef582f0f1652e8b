"""RSBench: macroscopic cross sections from poles and windows, with Doppler broadening.

It teaches a kernel of a published benchmark, with loops whose lengths the data say, inside device
functions: the derivative of all look-ups with respect to the poles, many of which several threads read. A
second version is a plain array program of the same functions.

A look-up draws an energy E and a material, and sums over its nuclides

    σ = concentration · (E·w + Σ_{poles of the window of E} Re(residue · W(Z)))    with Z = (E - pole)/2

for the total, absorption and fission; scattering is the difference of the first two. W is the Faddeeva
function, by ten terms near the origin and two further out.

Tramm, Siegel, Forget and Josey, "Performance analysis of a reduced data movement algorithm for neutron
cross section data in Monte Carlo simulations", 2014. The checksum of 10,200,000 look-ups in the small
problem is 880018.
"""

import math
import sys
from typing import NamedTuple

import numpy as np
import reactor

import anadrome as ad

THREADS, SCALE = 128, 152.5
SIGNED = np.array([(-1.0) ** (n + 1) for n in range(10)])
FIRST_WEIGHTS = [2.758402e-01, 2.245740e-01, 1.594149e-01, 9.866577e-02, 5.324414e-02]
LAST_WEIGHTS = [2.505215e-02, 1.027747e-02, 3.676164e-03, 1.146494e-03, 3.117570e-04]
FIRST_PLACES = [9.869604e00, 3.947842e01, 8.882644e01, 1.579137e02, 2.467401e02]
LAST_PLACES = [3.553058e02, 4.836106e02, 6.316547e02, 7.994380e02, 9.869604e02]
WEIGHTS, PLACES = np.array(FIRST_WEIGHTS + LAST_WEIGHTS), np.array(FIRST_PLACES + LAST_PLACES)
PREFACTOR = 8.124330e01
FAR_A, FAR_B = 0.512424224754768462984202823134979415, 0.275255128608410950901357962647054304
FAR_C, FAR_D = 0.051765358792987823963876628425793170, 2.724744871391589049098642037352945695


class Data(NamedTuple):
    """What a look-up reads beside the poles, which are complex: a place, and residues of T, A and F."""

    orders: np.ndarray
    """The order of each pole, which says the phase that its residue has."""
    windows: np.ndarray
    """Of each window the part of T, A and F that is linear in the energy."""
    bounds: np.ndarray
    """Of each window the first pole and the one behind the last."""
    window_counts: np.ndarray
    phases: np.ndarray
    nuclides: np.ndarray
    nuclide_counts: np.ndarray
    concentrations: np.ndarray


# ---------------------------------------------------------------------------- mathematics
def fast_exp(x: float) -> float:
    """(1 + x/4096)^4096."""
    value = 1.0 + x * 0.000244140625
    for _ in ad.unroll(range(12)):
        value = value * value
    return value


def quotient(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """(a + ib)/(c + id)."""
    square = c * c + d * d
    return (a * c + b * d) / square, (b * c - a * d) / square


def faddeeva(x: float, y: float) -> tuple[float, float]:
    """W(x + iy)."""
    square_re, square_im = x * x - y * y, 2.0 * x * y
    if x * x + y * y < 36.0:
        size = fast_exp(-12.0 * y)
        e_re, e_im = size * math.cos(12.0 * x), size * math.sin(12.0 * x)
        w_re, w_im = quotient(e_im, 1.0 - e_re, 12.0 * x, 12.0 * y)
        sum_re, sum_im = 0.0, 0.0
        for n in range(10):
            top_re, top_im = SIGNED[n] * e_re - 1.0, SIGNED[n] * e_im
            q_re, q_im = quotient(top_re, top_im, PLACES[n] - 144.0 * square_re, -144.0 * square_im)
            sum_re += WEIGHTS[n] * q_re
            sum_im += WEIGHTS[n] * q_im
        return (
            w_re - PREFACTOR * (x * sum_im + y * sum_re),
            w_im + PREFACTOR * (x * sum_re - y * sum_im),
        )
    near_re, near_im = quotient(FAR_A, 0.0, square_re - FAR_B, square_im)
    far_re, far_im = quotient(FAR_C, 0.0, square_re - FAR_D, square_im)
    sum_re, sum_im = near_re + far_re, near_im + far_im
    return -y * sum_re - x * sum_im, x * sum_re - y * sum_im


def phase(order: int, strength: float, energy: float) -> tuple[float, float]:
    """exp(-2iφ) of a resonance of this order."""
    rho = strength * math.sqrt(energy)
    phi = rho
    if order == 1:
        phi = rho + math.atan(rho)
    elif order == 2:
        phi = rho - math.atan(3.0 * rho / (3.0 - rho * rho))
    elif order == 3:
        phi = rho - math.atan(rho * (15.0 - rho * rho) / (15.0 - 6.0 * rho * rho))
    return math.cos(2.0 * phi), -math.sin(2.0 * phi)


def micro(poles: np.ndarray, data: Data, nuclide: int, energy: float) -> tuple[float, float, float]:
    """T, A and F of a nuclide."""
    count = data.window_counts[nuclide]
    window = min(int(energy * count), count - 1)
    linear = data.windows[nuclide, window]
    phases = [phase(order, data.phases[nuclide, order], energy) for order in ad.unroll(range(4))]
    cosines, sines = np.array([one[0] for one in phases]), np.array([one[1] for one in phases])
    total, absorbed, fission = energy * linear[0], energy * linear[1], energy * linear[2]
    for k in range(data.bounds[nuclide, window, 0], data.bounds[nuclide, window, 1]):
        pole = poles[nuclide, k]
        re, im = faddeeva(0.5 * (energy - pole[0]), -0.5 * pole[1])
        order = data.orders[nuclide, k]
        turned_re = re * cosines[order] - im * sines[order]
        turned_im = re * sines[order] + im * cosines[order]
        total += pole[2] * turned_re - pole[3] * turned_im
        absorbed += pole[4] * re - pole[5] * im
        fission += pole[6] * re - pole[7] * im
    return total, absorbed, fission


def macro(poles: np.ndarray, data: Data, lookup: int) -> tuple[float, float, float, float]:
    """The four cross sections of a look-up."""
    energy, material = reactor.drawn(lookup)
    all_total, all_absorbed, all_fission, all_scattered = 0.0, 0.0, 0.0, 0.0
    for k in range(data.nuclide_counts[material]):
        total, absorbed, fission = micro(poles, data, data.nuclides[material, k], energy)
        concentration = data.concentrations[material, k]
        all_total += total * concentration
        all_absorbed += absorbed * concentration
        all_fission += fission * concentration
        all_scattered += (total - absorbed) * concentration
    return all_total, all_absorbed, all_fission, all_scattered


# ---------------------------------------------------------------------------- programs
@ad.kernel
def look_up(poles, data, found):
    i = ad.grid(1)
    if i < found.shape[0]:
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = macro(poles, data, i)


@ad.jit
def by_kernel(poles: np.ndarray, data: Data, lookups: int) -> np.ndarray:
    found = np.zeros((lookups, 4))
    look_up[(lookups + THREADS - 1) // THREADS, THREADS](poles, data, found)
    return found


@ad.jit
def by_array(poles: np.ndarray, data: Data, lookups: int) -> np.ndarray:
    return np.array([np.array(macro(poles, data, i)) for i in range(lookups)])


@ad.jit
def loss(poles: np.ndarray, data: Data, lookups: int) -> float:
    """The sum of all components of all look-ups."""
    return np.sum(by_kernel(poles, data, lookups))


@ad.jit
def array_loss(poles: np.ndarray, data: Data, lookups: int) -> float:
    return np.sum(by_array(poles, data, lookups))


value_and_gradient = ad.value_and_grad(loss)
array_value_and_gradient = ad.value_and_grad(array_loss)


# ---------------------------------------------------------------------------- data
def problem(pole_mean: int = 1000, window_mean: int = 100) -> tuple[np.ndarray, Data]:
    """Poles and the rest, drawn as RSBench draws them; the means are those of the small problem."""
    nuclides, counts = reactor.nuclides()
    extra = (pole_mean + window_mean - 2) * reactor.NUCLIDES
    most = sum(counts) + extra + reactor.NUCLIDES * (9 * pole_mean + 3 * window_mean + 4)
    drawn, at = reactor.states(reactor.DATA_SEED, int(most)), 0

    def take(count: int) -> np.ndarray:
        nonlocal at
        at += count
        return drawn[at - count : at]

    concentrations = reactor.concentrations(take(int(sum(counts))) / reactor.RANGE)
    pole_counts, window_counts = (
        1 + np.bincount((take((mean - 1) * reactor.NUCLIDES) % reactor.NUCLIDES).astype(int), minlength=68)
        for mean in (pole_mean, window_mean)
    )
    poles = np.zeros((reactor.NUCLIDES, max(pole_counts), 8))
    orders = np.zeros(poles.shape[:2], np.int64)
    for nuclide, count in enumerate(pole_counts):
        rows = take(9 * count).reshape(count, 9)
        poles[nuclide, :count] = rows[:, :8] / reactor.RANGE * [SCALE, SCALE, *([SCALE, 1.0] * 3)]
        orders[nuclide, :count] = rows[:, 8] % 4
    windows = np.zeros((reactor.NUCLIDES, max(window_counts), 3))
    bounds = np.zeros((reactor.NUCLIDES, max(window_counts), 2), np.int64)
    for nuclide, (count, inside) in enumerate(zip(window_counts, pole_counts, strict=True)):
        windows[nuclide, :count] = take(3 * count).reshape(count, 3) / reactor.RANGE
        space, rest = divmod(int(inside), int(count))
        sizes = space + (np.arange(count) < rest)
        first = np.cumsum(sizes) - sizes
        bounds[nuclide, :count] = np.stack([first, first + sizes - 1], axis=1)
    phases = take(4 * reactor.NUCLIDES).reshape(reactor.NUCLIDES, 4) / reactor.RANGE
    rest = (orders, windows, bounds, window_counts, phases, nuclides, counts, concentrations)
    return poles, Data(*rest)


# ---------------------------------------------------------------------------- reference
def reference(poles: np.ndarray, data: Data, lookups: int) -> float:
    """The same with NumPy's complex numbers, look-up by look-up."""
    return sum(_four(poles, data, i) for i in range(lookups))


def _four(poles: np.ndarray, data: Data, lookup: int) -> float:
    first, second = reactor.uniform(reactor.LOOKUP_SEED, 2 * lookup + 2)[-2:]
    material = next((m for m in range(12) if second < reactor.UP_TO[m]), 0)
    total = 0.0
    for k in range(data.nuclide_counts[material]):
        nuclide = data.nuclides[material, k]
        window = int(first * data.window_counts[nuclide])
        linear = data.windows[nuclide, window]
        start, end = data.bounds[nuclide, window]
        complexes = poles[nuclide, start:end, ::2] + 1j * poles[nuclide, start:end, 1::2]
        order = data.orders[nuclide, start:end]
        rho = data.phases[nuclide, order] * math.sqrt(first)
        turns = [
            0.0 * rho,
            -np.arctan(rho),
            np.arctan(3.0 * rho / (3.0 - rho**2)),
            np.arctan(rho * (15.0 - rho**2) / (15.0 - 6.0 * rho**2)),
        ]
        values = _faddeeva(0.5 * (first - complexes[:, 0]))
        turned = values * np.exp(-2j * (rho - np.choose(order, turns)))
        t = first * linear[0] + np.sum((complexes[:, 1] * turned).real)
        a = first * linear[1] + np.sum((complexes[:, 2] * values).real)
        f = first * linear[2] + np.sum((complexes[:, 3] * values).real)
        total += data.concentrations[material, k] * (t + a + f + (t - a))
    return total


def _faddeeva(z: np.ndarray) -> np.ndarray:
    values = 1j * z * (FAR_A / (z**2 - FAR_B) + FAR_C / (z**2 - FAR_D))
    is_near = np.abs(z) < 6.0
    near = z[is_near]
    e = (1.0 - 12.0 * near.imag / 4096.0) ** 4096 * np.exp(12j * near.real)
    terms = WEIGHTS * (SIGNED * e[:, None] - 1.0) / (PLACES - 144.0 * near[:, None] ** 2)
    values[is_near] = 1j * (1.0 - e) / (12.0 * near) + 1j * PREFACTOR * near * np.sum(terms, axis=1)
    return values


def sample(_: np.random.Generator) -> tuple[np.ndarray, Data, int]:
    return *problem(60, 20), 300


def main() -> None:
    """With the argument `full`, the small problem of RSBench in full size."""
    if sys.argv[1:] == ["full"]:
        print(f"checksum {reactor.checksum(by_kernel(*problem(), 10_200_000))}, published 880018")
        return
    poles, data, lookups = sample(np.random.default_rng(0))
    value, poles_adj = value_and_gradient(poles, data, lookups)
    print(f"{lookups} look-ups: {value:.8f}, NumPy {reference(poles, data, lookups):.8f}")
    again, array_adj = array_value_and_gradient(poles, data, lookups)
    print(f"as an array program {again:.8f}")
    scale = np.max(np.abs(array_adj))
    print(f"gradients: largest error {np.max(np.abs(poles_adj - array_adj)) / scale:.1e}")


if __name__ == "__main__":
    main()
