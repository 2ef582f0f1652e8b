"""Complex numbers: holomorphic functions, moduli, loops, branches, writes, linear algebra, conversions."""

from __future__ import annotations

import cmath
import math

import numpy as np
import scipy.linalg

import anadrome as ad
from anadrome.errors.api import ComplexDerivative
from anadrome.errors.frontend import BranchesDiffer, ChangesType, ComplexRefused
from tests.corpus.draw import N, complex_normal, dominant, given, normal, positive, whole
from tests.corpus.harness import Program, Refused


# ---------------------------------------------------------------------------- functions of every element
def polynomial(z):
    return 1j * z**3 - 2.0 * z**2 + (1 + 2j) * z - 4


def quotients(z, w):
    return (z + 1) / (w * w + 0.5j) + 1.0 / z - z / 3.0


def exponentials(z):
    return np.exp(z) * np.log(z) + np.sqrt(z) * np.expm1(0.1 * z) + np.log1p(z) + np.log10(z)


def trigonometry(z):
    return np.sin(z) * np.cos(z) + np.tan(0.3 * z) + np.sinh(z) * np.cosh(0.5 * z) + np.tanh(z)


def inverse_trigonometry(z):
    return np.arcsin(z) + np.arccos(z) * np.arctan(z) + np.arcsinh(z) * np.arctanh(z) + np.arccosh(z)


def powers(z, w, p):
    return z**w + z**p + 2.0**w + z**-2 + z**0.5 + abs(z) ** p


def moduli(z, w):
    return abs(z - w) + np.angle(z) * (z * w.conj()).real + np.abs(z) ** 2 * w.imag


def single_precision(z):
    return z * (0.5 + 1j) + np.conj(z) / 2


def of_real_numbers(x):
    z = np.exp(1j * x) + x
    return z.real**2 + np.cos(z.imag)


# ---------------------------------------------------------------------------- one number
def by_cmath(z, x):
    r, phi = cmath.polar(z)
    w = cmath.rect(r * 0.5, phi + x) + cmath.exp(1j * x) * cmath.sqrt(z)
    return w * complex(x, 2.0) + math.sin(w.imag)


def alternating_current(resistance, inductance, capacitance, frequency):
    omega = 2 * math.pi * frequency
    impedance = resistance + 1j * omega * inductance + 1 / (1j * omega * capacitance)
    current = 10.0 / impedance
    return abs(current) ** 2 * resistance, cmath.phase(current)


def moebius(z, a, b, c, d):
    return (a * z + b) / (c * z + d)


# ---------------------------------------------------------------------------- loops
def horner(coefficients, z):
    value = 0j
    for c in coefficients:
        value = value * z + c
    return value


def fourier_sum(x, t):
    total = 0.0
    for k in range(len(x)):
        total += x[k] * np.exp(2j * np.pi * k * t)
    return total


def escape(c):
    z, power = 0j, 1.0
    for _ in range(40):
        z = z * z + c
        if abs(z) > 2.0:
            break
        power = power * 0.9
    return z * power


def newton_root(z):
    for _ in range(12):
        z = z - (z**3 - 1 + 0.1 * z) / (3 * z**2 + 0.1)
    return z


def newton_until_converged(a):
    x = 1 + 1j
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def durand_kerner(coefficients, steps):
    n = len(coefficients)
    roots = np.array([(0.4 + 0.9j) ** k for k in range(4)])
    for _ in range(steps):
        for i in range(4):
            value = 1 + 0j
            for k in range(n):
                value = value * roots[i] + coefficients[k]
            others = 1 + 0j
            for j in range(4):
                if j != i:
                    others *= roots[i] - roots[j]
            roots[i] -= value / others
    return np.sum(abs(roots) ** 2)


def gated(z, gates):
    state = np.zeros(3, dtype=complex)
    state[0] = 1.0
    for k in range(len(z)):
        turned = state * np.exp(1j * gates[k])
        state = 0.5 * turned + 0.3 * np.roll(turned, 1) * z[k]
    return abs(state[0]) ** 2 - abs(state[2])


def schroedinger(psi, potential, steps):
    for _ in range(steps):
        bend = np.roll(psi, 1) + np.roll(psi, -1) - 2 * psi
        psi = psi - 0.01j * (potential * psi - 0.5 * bend)
    density = abs(psi) ** 2
    return np.sum(density * np.arange(len(psi))) / np.sum(density)


# ---------------------------------------------------------------------------- branches
def folded_plane(z):
    if z.imag > 0:
        w = z * z
    elif z.real > 1:
        w = 1j
    else:
        w = 2.0
    return w * z


def clipped_modulus(z):
    return np.where(abs(z) > 1, z / abs(z), z) * 2


def early_return(z):
    for w in z:
        if abs(w) > 1.2:
            return w * w
    return z[0].conj()


# ---------------------------------------------------------------------------- writes
def filled(z):
    out = np.zeros(len(z), dtype=complex)
    for i in range(len(z)):
        out[i] = z[i] * 1j
        if i > 0:
            out[i] += 0.5 * out[i - 1]
    return out


def parts_written(z):
    w = z.copy()
    w.real[0] = 2.0
    w.imag *= 3.0
    w[1:] = w[1:] * z[:-1]
    w.real = w.real + 1.0
    return w


def masked(z):
    w = z.copy()
    w[w.real < 0] = 1j
    w[[0, 2]] *= 2j
    return np.sum(w**2)


# ---------------------------------------------------------------------------- comprehensions and reductions
def listed(z):
    rows = np.array([[a * b.conj() for b in z] for a in z])
    return np.sum(rows * rows.T)


def summed(z, x):
    first = sum(a * b for a, b in zip(z, x, strict=True))
    second = sum(a**2 for a in z if a.real > 0)
    return first * second + math.prod(1 + 0.1 * a for a in z)


def statistics(z):
    centred = z - z.mean()
    return np.mean(abs(centred) ** 2) + np.std(z) + np.prod(z) * np.cumsum(z)[-1] + np.linalg.norm(z)


def running_products(z):
    return np.cumprod(z) + np.cumsum(z)


def appended(z):
    out = []
    w = 1 + 0j
    for a in z:
        w = w * a + 0.2j
        out.append(w)
    return np.array(out)


def folded(z):
    return ad.reduce(lambda a, b: a * b + a + b, z, 0j) + ad.scan(lambda a, b: a * b, z, 1 + 0j)[-1]


# ---------------------------------------------------------------------------- linear algebra
def hermitian_form(a, z):
    return np.vdot(z, a @ z).real + np.einsum("i,ij,j->", z, a, z).imag


def products(a, b, x):
    return a @ b + np.outer(x, b[0]) + np.dot(a, x) + np.kron(b[0], x)[1 : len(x) + 1]


def transfer_matrix(a, b):
    return abs(np.linalg.solve(a + 3 * np.eye(len(b)), b)) ** 2


def resolvent(a, energy):
    n = len(a)
    green = np.linalg.inv(a - (energy + 0.5j) * np.eye(n))
    return -np.trace(green).imag / np.pi


def unitary_steps(theta, phi, psi):
    for k in range(len(theta)):
        c, s = np.cos(theta[k]), np.sin(theta[k])
        turn = np.array([[c, -s * np.exp(-1j * phi[k])], [s * np.exp(1j * phi[k]), c]])
        psi = turn @ psi
    return abs(psi[1]) ** 2


def correlated(z, w):
    return np.correlate(z, w) + np.convolve(z, w, "valid")


# ---------------------------------------------------------------------------- structures and transforms
def pairs(tree):
    return {"product": tree["a"] * tree["b"], "rest": (abs(tree["a"]), tree["b"].conj())}


def arranged(z):
    m = z.reshape(-1, 2)
    return np.concatenate([m.T.ravel(), np.flip(z)]) * np.stack([z, z]).reshape(-1)


def inner_gradient(z):
    slope = ad.grad(lambda w: np.sum(abs(w) ** 4))(z)
    return np.sum(slope * z).real


def inner_products(z, v):
    out, tangent = ad.jvp(lambda w: w * w * w, (z,), (v,))
    _, pull_back = ad.vjp(lambda w: w * w.conj() * w, z)
    return np.sum(out * tangent + pull_back(v)[0])


def mapped(z):
    return ad.vmap(lambda a: np.exp(1j * a) * abs(a))(z)


@ad.custom_vjp
def _squared(z):
    return z * z


_squared.defvjp(lambda z: (z * z, z), lambda z, cotangent: (2 * z * cotangent,))


def with_a_rule(z):
    return np.sum(abs(_squared(z) + 1) ** 2)


def a_fixed_point(a):
    return ad.fixed_point(lambda x, a: 0.2 * x * x + a, 0j, a)


def _large_half_way(random, size):
    drawn = complex_normal(N, scale=0.1)(random, size)
    drawn[size // 2] = 1.5 - 0.8j
    return drawn


CUBIC = (4, 8, 16)


def energies_of_a_hamiltonian(a):
    values, vectors = np.linalg.eigh(a + np.conj(a.T))
    occupied = vectors[:, :2]
    return np.sum(np.sin(values)), np.abs(occupied @ np.conj(occupied.T)) ** 2


def closest_of_low_rank(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (u[:, :2] * s[:2]) @ vh[:2]


def spectrum_of_any_matrix(a):
    values, vectors = np.linalg.eig(a)
    return np.sum(values**2), np.abs(vectors) ** 2


def evolution_of_a_state(a, state, time):
    return scipy.linalg.expm(-1j * time * (a + a.T)) @ state


PROGRAMS = (
    Program(energies_of_a_hamiltonian, (complex_normal(N, N),), sizes=CUBIC),
    Program(closest_of_low_rank, (complex_normal(N + 1, N),), sizes=CUBIC),
    Program(spectrum_of_any_matrix, (complex_normal(N, N),), sizes=CUBIC),
    Program(evolution_of_a_state, (dominant(N), complex_normal(N), given(0.4)), sizes=(8, 16, 32)),
    Program(polynomial, (complex_normal(N),)),
    Program(quotients, (complex_normal(N), complex_normal(N))),
    Program(exponentials, (complex_normal(N),)),
    Program(trigonometry, (complex_normal(N, scale=0.7),)),
    Program(inverse_trigonometry, (complex_normal(N, scale=0.7),)),
    Program(powers, (complex_normal(N), complex_normal(N), positive(N))),
    Program(moduli, (complex_normal(N), complex_normal(N))),
    Program(of_real_numbers, (normal(N),)),
    Program(by_cmath, (given(0.7 - 1.1j), given(0.3)), sizes=(1,)),
    Program(alternating_current, (given(2.0), given(0.7), given(0.4), given(0.5)), sizes=(1,)),
    Program(
        moebius,
        (complex_normal(), complex_normal(), complex_normal(), complex_normal(), given(2.0)),
        sizes=(1,),
    ),
    Program(horner, (complex_normal(N), complex_normal(scale=0.5))),
    Program(fourier_sum, (normal(N), given(0.13))),
    Program(escape, (given(-0.4 + 0.5j),), sizes=(1,)),
    Program(escape, (given(0.7 + 0.5j),), name="escape_left_early", sizes=(1,)),
    Program(newton_root, (given(0.9 + 0.4j),), sizes=(1,)),
    Program(newton_until_converged, (given(0.4 + 1.3j),), sizes=(1,), rtol=1e-5),
    Program(durand_kerner, (complex_normal(4), whole(N)), at=3, sizes=(3, 6, 12)),
    Program(gated, (complex_normal(N), normal(N, 3))),
    Program(schroedinger, (complex_normal(N), normal(N), whole(4))),
    Program(folded_plane, (given(0.4 + 0.5j),), sizes=(1,)),
    Program(folded_plane, (given(1.4 - 0.5j),), name="folded_plane_of_a_constant", sizes=(1,)),
    Program(clipped_modulus, (complex_normal(N),)),
    Program(early_return, (_large_half_way,), sizes=(64, 128, 256)),
    Program(
        early_return,
        (complex_normal(N, scale=0.1),),
        name="early_return_that_never_comes",
        sizes=(64, 128, 256),
    ),
    Program(filled, (complex_normal(N),)),
    Program(parts_written, (complex_normal(N),)),
    Program(masked, (complex_normal(N),)),
    Program(listed, (complex_normal(N),), sizes=CUBIC),
    Program(summed, (complex_normal(N), normal(N))),
    Program(statistics, (complex_normal(N),)),
    Program(running_products, (complex_normal(N),)),
    Program(appended, (complex_normal(N),)),
    Program(folded, (complex_normal(N, scale=0.4),)),
    Program(hermitian_form, (complex_normal(N, N), complex_normal(N)), sizes=CUBIC),
    Program(products, (complex_normal(N, N), complex_normal(N, N), normal(N)), sizes=CUBIC),
    Program(transfer_matrix, (complex_normal(N, N, scale=0.2), complex_normal(N)), sizes=CUBIC),
    Program(resolvent, (complex_normal(N, N, scale=0.3), given(0.2)), sizes=CUBIC),
    Program(unitary_steps, (normal(N), normal(N), complex_normal(2))),
    Program(correlated, (complex_normal(2 * N), complex_normal(3))),
    Program(pairs, (given({"a": np.array([1 + 2j, 0.5j]), "b": np.complex128(2 - 1j)}),), sizes=(1,)),
    Program(arranged, (complex_normal(2 * N),)),
    Program(inner_gradient, (complex_normal(N),)),
    Program(inner_products, (complex_normal(N), complex_normal(N))),
    Program(mapped, (complex_normal(N),)),
    Program(with_a_rule, (complex_normal(N),)),
    Program(a_fixed_point, (given(0.3 + 0.2j),), sizes=(1,), rtol=1e-5),
)


# ---------------------------------------------------------------------------- refused
def _ordered(z):
    return z < 1


def _into_a_real_array(z):
    out = np.zeros(3)
    out[0] = z
    return out


def _array_on_one_way(z, x):
    if z.real > 0:
        w = x
    else:
        w = x * 1j
    return w


def _becomes_complex(x, z):
    k = 0
    while k < len(x):
        x = x * z
        k += 1
    return x


LARGE = np.arange(30) * 1j
REFUSED = (
    Refused("ordered", lambda: ad.jit(_ordered)(1j), ComplexRefused, "does not support complex numbers"),
    Refused("stored_in_a_real_array", lambda: ad.jit(_into_a_real_array)(1j), ComplexRefused),
    Refused("orthogonal_factors", lambda: ad.jit(lambda z: np.linalg.qr(z))(np.eye(3) * 1j), ComplexRefused),
    Refused("as_a_float", lambda: ad.jit(lambda z: float(z))(1j), ComplexRefused),
    Refused("real_and_complex_array", lambda: ad.jit(_array_on_one_way)(1j, np.ones(20)), BranchesDiffer),
    Refused("array_becomes_complex", lambda: ad.jit(_becomes_complex)(np.ones(20), LARGE[:20]), ChangesType),
    Refused("gradient_of_a_complex_result", lambda: ad.grad(lambda z: z * z)(1j), ComplexDerivative),
    Refused("forward_by_a_complex_argument", lambda: ad.jacfwd(lambda z: abs(z))(LARGE), ComplexDerivative),
    Refused(
        "reverse_of_a_complex_result", lambda: ad.jacrev(lambda x: x * 1j)(np.ones(4)), ComplexDerivative
    ),
    Refused("sparse", lambda: ad.jacobian(lambda z: abs(z) ** 2, sparse=True)(LARGE), ComplexDerivative),
    Refused("root", lambda: ad.jit(lambda: ad.root(lambda x: x * x + 1, 1j))(), ComplexDerivative),
)
