"""Fourier transforms: spectra, filters, spectral solvers of differential equations, convolutions."""

from __future__ import annotations

import numpy as np
import scipy.fft

import anadrome as ad
from anadrome.errors.frontend import UnsupportedArgument
from anadrome.errors.runtime import SizeMismatch
from tests.corpus.draw import N, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


def power_spectrum_loss(x, target):
    spectrum = np.fft.rfft(x)
    power = (spectrum.real**2 + spectrum.imag**2) / len(x)
    return np.sum((power - target[: len(power)]) ** 2)


def poisson_on_a_circle(f, length):
    n = len(f)
    k = 2 * np.pi * np.fft.rfftfreq(n, length / n)
    divisor = np.where(k == 0, 1.0, -(k**2))
    u = np.fft.irfft(np.where(k == 0, 0.0, np.fft.rfft(f) / divisor), n)
    return np.sum(u**2) + u[0] * u[1]


def poisson_on_a_torus(f):
    rows, columns = f.shape
    k = 2 * np.pi * np.fft.fftfreq(rows)[:, None]
    m = 2 * np.pi * np.fft.rfftfreq(columns)[None, :]
    square = k**2 + m**2
    u = np.fft.irfft2(-np.fft.rfft2(f) / (square + 0.1), s=f.shape)
    return np.sum(u * f) + np.sum(u**3)


def heat_equation(u, rate, steps):
    n = len(u)
    k = 2 * np.pi * np.fft.rfftfreq(n)
    decay = np.exp(-rate * k**2)
    for _ in range(steps):
        u = np.fft.irfft(np.fft.rfft(u) * decay, n) + 0.1 * np.sin(u)
    return u


def burgers_equation(u, viscosity, steps):
    n = len(u)
    k = 1j * 2 * np.pi * np.fft.fftfreq(n)
    for _ in range(steps):
        transformed = np.fft.fft(u)
        slope = np.fft.ifft(k * transformed).real
        bend = np.fft.ifft(k * k * transformed).real
        u = u + 0.05 * (viscosity * bend - u * slope)
    return np.sum(u**2)


def schroedinger_equation(x, y, potential, steps):
    n = len(x)
    k = 2 * np.pi * np.fft.fftfreq(n)
    state = x + 1j * y
    free = np.exp(-0.5j * 0.1 * k**2)
    turn = np.exp(-0.1j * potential)
    for _ in range(steps):
        state = np.fft.ifft(free * np.fft.fft(state)) * turn
    return np.sum(np.abs(state) ** 2 * np.arange(n)) + np.sum(state.real * potential)


def circular_convolution(x, h):
    return np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(h), len(x))


def linear_convolution(x, h):
    n = len(x) + len(h) - 1
    y = np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(h, n), n)
    return np.sum(y**3) + np.sum(y - np.convolve(x, h))


def deconvolution(y, kernel, noise):
    h = np.fft.rfft(kernel)
    power = h.real**2 + h.imag**2
    return np.fft.irfft(np.conj(h) * np.fft.rfft(y) / (power + noise), len(y))


def autocorrelation(x):
    spectrum = np.fft.fft(x)
    return np.fft.fftshift(np.fft.ifft(spectrum * np.conj(spectrum)).real)


def phase_differences(x, y):
    cross = np.fft.rfft(x) * np.conj(np.fft.rfft(y))
    return np.sum(np.cos(np.angle(cross[1:3])))


def whole_spectrum(x, y):
    z = np.fft.fft(x + 1j * y, norm="ortho")
    w = np.fft.fft(z, norm="forward")
    return w.real, np.sum(np.abs(z) ** 3)


def hermitian_pair(x, y):
    z = np.fft.hfft(x + 1j * y)
    return np.sum(z**2) + np.sum(np.fft.ihfft(z * x[0]).imag * y)


def cut_and_filled(x):
    low = np.fft.irfft(np.fft.rfft(x, norm="ortho"), 2 * len(x), norm="ortho")
    short = np.fft.fft(x, len(x) - 2)
    long = np.fft.ifft(x, len(x) + 3)
    return np.sum(low**3) + np.sum(np.abs(short) ** 2) + np.sum(long.imag * long.real)


def filtered_image(image, width):
    rows, columns = image.shape
    distance = np.fft.fftfreq(rows)[:, None] ** 2 + np.fft.fftfreq(columns)[None, :] ** 2
    smooth = np.fft.ifft2(np.fft.fft2(image) * np.exp(-distance / width**2)).real
    return np.sum((smooth - image) ** 2)


def three_dimensions(a):
    found = np.fft.rfftn(a)
    back = np.fft.irfftn(found * found, s=a.shape, axes=(0, 1, 2))
    return np.sum(back**2) + np.sum(np.abs(np.fft.fftn(a, axes=(0, 2))) ** 2)


def columns_one_by_one(a):
    return np.sum(np.abs(np.fft.fft(a, axis=0)[1]) ** 2) + np.sum(np.fft.rfft(a, axis=0).imag ** 3)


def windows_of_a_signal(x, window):
    width = len(window)
    powers = [np.abs(np.fft.rfft(x[i : i + width] * window)) ** 2 for i in range(len(x) - width + 1)]
    return np.array(powers)


def shifts_there_and_back(a):
    turned = np.fft.ifftshift(np.fft.fftshift(a, axes=0) * a, axes=(0, 1))
    return np.sum(turned * a)


def smoothed_until_flat(x, limit):
    steps = 0
    while np.sum(np.diff(x) ** 2) > limit:
        spectrum = np.fft.rfft(x)
        x = np.fft.irfft(spectrum * 0.7 ** np.arange(len(spectrum)), len(x))
        steps += 1
    return x * steps


def transform_in_a_branch(x, is_low):
    if is_low > 0:
        y = np.fft.irfft(np.fft.rfft(x)[:2], len(x))
    else:
        y = x * x
    return np.sum(y**3)


def scipy_transforms(x, y):
    z = scipy.fft.fft(x, norm="forward") * scipy.fft.ifft(y)
    return np.sum(np.abs(z) ** 2) + np.sum(scipy.fft.irfft(scipy.fft.rfft(x) * 2.0, len(x)) * y)


def cosine_transform(x):
    n = len(x)
    turn = np.exp(-0.5j * np.pi * np.arange(n) / n)
    found = (turn * np.fft.rfft(np.concatenate((x, x[::-1])))[:n]).real
    return found * np.arange(n)


def points_of_a_known_number(x):
    return np.sum(np.abs(np.fft.fft(x[:8])) ** 3) + np.sum(np.fft.irfft(np.fft.rfft(x[:7]), 7) ** 3)


PROGRAMS = [
    Program(power_spectrum_loss, (normal(N), positive(N)), at=6),
    Program(power_spectrum_loss, (normal(N), positive(N)), name="power_spectrum_loss_odd"),
    Program(poisson_on_a_circle, (normal(N), given(2.0))),
    Program(poisson_on_a_torus, (normal(N, 6),), sizes=(8, 16, 24)),
    Program(heat_equation, (normal(N), given(0.3), whole(3)), argnums=(0, 1)),
    Program(burgers_equation, (normal(N), given(0.4), whole(2)), argnums=(0, 1)),
    Program(schroedinger_equation, (normal(N), normal(N), normal(N), whole(2))),
    Program(circular_convolution, (normal(N), normal(N))),
    Program(linear_convolution, (normal(N), normal(4))),
    Program(deconvolution, (normal(N), positive(N), given(0.2)), at=6),
    Program(autocorrelation, (normal(N),)),
    Program(phase_differences, (normal(N), normal(N))),
    Program(whole_spectrum, (normal(N), normal(N))),
    Program(hermitian_pair, (normal(N), normal(N))),
    Program(cut_and_filled, (normal(N),)),
    Program(filtered_image, (normal(N, 5), given(0.4)), sizes=(8, 16, 24)),
    Program(three_dimensions, (normal(2, N, 4),)),
    Program(columns_one_by_one, (normal(N, 3),)),
    Program(windows_of_a_signal, (normal(N + 4), positive(4))),
    Program(shifts_there_and_back, (normal(N, 4),)),
    Program(smoothed_until_flat, (normal(N), given(0.05)), argnums=(0,)),
    Program(transform_in_a_branch, (normal(N), given(1.0)), argnums=(0,)),
    Program(scipy_transforms, (normal(N), normal(N))),
    Program(cosine_transform, (normal(N),)),
    Program(points_of_a_known_number, (normal(N + 8),)),
]

REFUSED = (
    Refused(
        "no_points",
        lambda: ad.grad(lambda x: np.sum(np.fft.rfft(x).real))(np.zeros(0)),
        (SizeMismatch, UnsupportedArgument),
    ),
    Refused(
        "half_of_one_element",
        lambda: ad.grad(lambda x: np.sum(np.fft.irfft(x[: len(x) - 19])))(np.ones(20)),
        SizeMismatch,
        "0 points",
    ),
    Refused(
        "real_transform_of_complex_numbers",
        lambda: ad.grad(lambda x: np.sum(np.fft.rfft(1j * x).real))(np.ones(20)),
        UnsupportedArgument,
        "complex",
    ),
    Refused(
        "unknown_norm",
        lambda: ad.grad(lambda x: np.sum(np.fft.rfft(x, norm="unitary").real))(np.ones(20)),
        UnsupportedArgument,
        "ortho",
    ),
    Refused(
        "axis_twice",
        lambda: ad.grad(lambda x: np.sum(np.fft.fftn(x, axes=(0, 0)).real))(np.ones((20, 3))),
        UnsupportedArgument,
        "each once",
    ),
)
