"""The volume term of a discontinuous Galerkin method for Euler's equations: a block for each element.

It teaches shared memory that is written anew in a loop, with barriers on either side, beside arrays of a
thread's own: each thread has a column of points, computes fluxes plane by plane, and differentiates them
along all three axes with the matrix D. Everything carries derivatives, the geometry too.

The kernel is that of Abdi, Wilcox, Warburton and Giraldo, "A GPU-accelerated continuous and discontinuous
Galerkin non-hydrostatic atmospheric model", 2019, as Moses et al. (2021) differentiate it.
"""

import numpy as np

import anadrome as ad

POINTS = 5
"""Points along an edge of an element: polynomials of degree 4."""
MASS, INVERSE_MASS, HEIGHT = 9, 10, 13
"""Rows of the geometry; the first nine are the metric, ∂(ξ, η, ζ)/∂x, then by y, then by z."""
GRAVITY, GAS = 9.81, 0.4


def fluxes(state, height):
    """What flows in each direction: of density, of momentum, of energy."""
    density, u, v, w, energy = state
    pressure = GAS * (energy - (u * u + v * v + w * w) / (2.0 * density) - density * GRAVITY * height)
    found = []
    for axis, speed in enumerate((u / density, v / density, w / density)):
        carried = [speed * density, speed * u, speed * v, speed * w, speed * (energy + pressure)]
        carried[1 + axis] = carried[1 + axis] + pressure
        found.append(carried)
    return found


@ad.kernel
def volume(q, geometry, matrix, rates):
    d = ad.shared.array((POINTS, POINTS), np.float64)
    f = ad.shared.array((5, POINTS, POINTS), np.float64)
    g = ad.shared.array((5, POINTS, POINTS), np.float64)
    own = ad.local.array((5, POINTS), np.float64)
    e, i, j = ad.blockIdx.x, ad.threadIdx.x, ad.threadIdx.y
    d[j, i] = matrix[j, i]
    for k in range(POINTS):
        ad.syncthreads()
        metric = [geometry[e, m, k, j, i] for m in ad.unroll(range(9))]
        mass = geometry[e, MASS, k, j, i]
        state = [q[e, s, k, j, i] for s in ad.unroll(range(5))]
        in_x, in_y, in_z = fluxes(state, geometry[e, HEIGHT, k, j, i])
        for s in ad.unroll(range(5)):
            f[s, j, i] = mass * (metric[0] * in_x[s] + metric[3] * in_y[s] + metric[6] * in_z[s])
            g[s, j, i] = mass * (metric[1] * in_x[s] + metric[4] * in_y[s] + metric[7] * in_z[s])
            up = mass * (metric[2] * in_x[s] + metric[5] * in_y[s] + metric[8] * in_z[s])
            for n in range(POINTS):
                own[s, n] += d[k, n] * up
        own[3, k] -= mass * state[0] * GRAVITY
        ad.syncthreads()
        for n in range(POINTS):
            for s in ad.unroll(range(5)):
                own[s, k] += d[n, i] * f[s, j, n] + d[n, j] * g[s, n, i]
    for k in range(POINTS):
        for s in ad.unroll(range(5)):
            rates[e, s, k, j, i] += geometry[e, INVERSE_MASS, k, j, i] * own[s, k]


@ad.jit
def loss(q: np.ndarray, geometry: np.ndarray, matrix: np.ndarray) -> float:
    """½ Σ of the squares of all rates of change."""
    rates = np.zeros(q.shape)
    volume[len(q), (POINTS, POINTS)](q, geometry, matrix, rates)
    return 0.5 * np.sum(rates**2)


value_and_gradient = ad.value_and_grad(loss, argnums=(0, 1, 2))


def reference(q: np.ndarray, geometry: np.ndarray, matrix: np.ndarray) -> float:
    """The same with whole arrays."""
    metric = geometry[:, :9].reshape(len(q), 3, 3, POINTS, POINTS, POINTS)
    mass, height = geometry[:, MASS], geometry[:, HEIGHT]
    density, momentum, energy = q[:, 0], q[:, 1:4], q[:, 4]
    kinetic = np.sum(momentum**2, axis=1) / (2.0 * density)
    pressure = GAS * (energy - kinetic - density * GRAVITY * height)
    flux = np.einsum("eakji,eskji->easkji", momentum / density[:, None], q)
    flux[:, :, 4] += momentum / density[:, None] * pressure[:, None]
    for axis in range(3):
        flux[:, axis, 1 + axis] += pressure
    along = mass[:, None, None] * np.einsum("eamkji,easkji->emskji", metric, flux)
    rates = np.einsum("ni,eskjn->eskji", matrix, along[:, 0]) + np.einsum(
        "nj,eskni->eskji", matrix, along[:, 1]
    )
    rates += np.einsum("nk,esnji->eskji", matrix, along[:, 2])
    rates[:, 3] -= mass * density * GRAVITY
    return 0.5 * float(np.sum((geometry[:, INVERSE_MASS, None] * rates) ** 2))


def sample(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    elements = 3
    q = 1.0 + random.uniform(size=(elements, 5, POINTS, POINTS, POINTS))
    q[:, 4] += 20.0
    geometry = random.uniform(size=(elements, 14, POINTS, POINTS, POINTS))
    geometry[:, MASS] += 3.0
    geometry[:, INVERSE_MASS] = 1.0 / geometry[:, MASS]
    return q, geometry, random.uniform(size=(POINTS, POINTS))


def main() -> None:
    q, geometry, matrix = sample(np.random.default_rng(0))
    value, (_, geometry_adj, _) = value_and_gradient(q, geometry, matrix)
    print(f"½ Σ of all squares {value:.6f}, with whole arrays {reference(q, geometry, matrix):.6f}")
    inverse, adjoint = geometry[:, INVERSE_MASS], geometry_adj[:, INVERSE_MASS]
    print(f"it is quadratic in the inverse masses: ½⟨1/m, ∂/∂(1/m)⟩ = {0.5 * np.sum(inverse * adjoint):.6f}")
    unread = np.max(np.abs(geometry_adj[:, 11:13]))
    print(f"rows of the geometry that are not read have no derivative: {unread:.1f}")


if __name__ == "__main__":
    main()
