"""A ray tracer: rays through three aspheric surfaces, where they meet each by Newton's iteration."""

import numpy as np

import anadrome as ad

RAYS = 32


def sag(c: float, conic: float, fourth: float, r2: float) -> float:
    """How far a surface lies behind its vertex, at the square of a radius."""
    return c * r2 / (1.0 + np.sqrt(1.0 - (1.0 + conic) * c * c * r2)) + fourth * r2 * r2


def steepness(c: float, conic: float, fourth: float, r2: float) -> float:
    """The derivative of the sag by the square of the radius, twice."""
    return c / np.sqrt(1.0 - (1.0 + conic) * c * c * r2) + 4.0 * fourth * r2


def meet(p, d, c: float, conic: float, fourth: float):
    """The point in which a ray meets a surface, by Newton's iteration along the ray."""
    t = -p[2] / d[2]
    for _ in range(20):
        x = p[0] + t * d[0]
        y = p[1] + t * d[1]
        r2 = x * x + y * y
        miss = p[2] + t * d[2] - sag(c, conic, fourth, r2)
        slope = d[2] - steepness(c, conic, fourth, r2) * (x * d[0] + y * d[1])
        step = miss / slope
        t = t - step
        if abs(step) < 1e-13:
            break
    return p + t * d


def normal(p, c: float, conic: float, fourth: float):
    """The unit normal of a surface at a point."""
    s = steepness(c, conic, fourth, p[0] * p[0] + p[1] * p[1])
    n = np.array([-s * p[0], -s * p[1], 1.0])
    return n / np.sqrt(np.sum(n * n))


def bend(d, n, ratio: float):
    """Snell's law for a direction, a normal and the ratio of two refractive indices."""
    cosine = np.sum(d * n)
    below = 1.0 - ratio * ratio * (1.0 - cosine * cosine)
    if below < 0.0:
        return d - 2.0 * cosine * n
    return ratio * d + (np.sqrt(below) - ratio * cosine) * n


def through(p, d, c: float, conic: float, fourth: float, ratio: float, apart: float):
    """A ray behind a surface, seen from the vertex of the next one."""
    p = meet(p, d, c, conic, fourth)
    d = bend(d, normal(p, c, conic, fourth), ratio)
    return p - np.array([0.0, 0.0, apart]), d


def spot(curvatures, conics, fourths, rays) -> float:
    """The mean square of the distance from the axis at which rays along the axis arrive."""
    total = 0.0
    for i in range(rays.shape[0]):
        p = np.array([rays[i, 0], rays[i, 1], 0.0])
        d = np.array([0.0, 0.0, 1.0])
        p, d = through(p, d, curvatures[0], conics[0], fourths[0], 1.0 / 1.5168, 4.0)
        p, d = through(p, d, curvatures[1], conics[1], fourths[1], 1.5168 / 1.6727, 2.0)
        p, d = through(p, d, curvatures[2], conics[2], fourths[2], 1.6727, 30.0)
        q = p - p[2] / d[2] * d
        total = total + q[0] * q[0] + q[1] * q[1]
    return total / rays.shape[0]


def arguments() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    rays = rng.uniform(-4.0, 4.0, (RAYS, 2))
    return np.array([0.03, -0.02, -0.025]), np.array([-0.5, 0.1, 0.2]), np.array([1e-6, -1e-6, 2e-6]), rays


gradient = ad.grad(spot, argnums=(0, 1, 2))
hessian = ad.hessian(spot)
