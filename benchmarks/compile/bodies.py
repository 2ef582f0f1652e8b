"""Three bodies, each an object of its own, that attract each other."""

from dataclasses import dataclass, replace

import numpy as np

import anadrome as ad


@dataclass(frozen=True)
class Body:
    """A mass at a place, on its way."""

    position: np.ndarray
    velocity: np.ndarray
    mass: float


def pull(body: Body, other: Body):
    """The acceleration of one body by another."""
    d = other.position - body.position
    r2 = np.sum(d * d) + 1e-3
    return other.mass * d / (r2 * np.sqrt(r2))


def step(bodies, h: float):
    """All bodies after a time h, by the method of Störmer and Verlet."""
    forces = [
        sum((pull(body, other) for other in bodies if other is not body), np.zeros(3)) for body in bodies
    ]
    halves = [body.velocity + 0.5 * h * force for body, force in zip(bodies, forces, strict=True)]
    moved = [
        replace(body, position=body.position + h * half) for body, half in zip(bodies, halves, strict=True)
    ]
    forces = [sum((pull(body, other) for other in moved if other is not body), np.zeros(3)) for body in moved]
    return [
        replace(body, velocity=half + 0.5 * h * force)
        for body, half, force in zip(moved, halves, forces, strict=True)
    ]


def energy(bodies):
    """Kinetic and potential."""
    total = 0.0
    for i, body in enumerate(bodies):
        total = total + 0.5 * body.mass * np.sum(body.velocity * body.velocity)
        for other in bodies[i + 1 :]:
            d = other.position - body.position
            total = total - body.mass * other.mass / np.sqrt(np.sum(d * d) + 1e-3)
    return total


def after(velocities, places, masses):
    """The energy and the place of the first body after 100 steps."""
    bodies = [Body(places[i], velocities[i], masses[i]) for i in range(3)]
    for _ in range(100):
        bodies = step(bodies, 0.01)
    return energy(bodies) + np.sum(bodies[0].position ** 2)


def arguments():
    rng = np.random.default_rng(0)
    return rng.normal(size=(3, 3)) * 0.1, rng.normal(size=(3, 3)), np.array([1.0, 0.5, 0.2])


gradient = ad.grad(after)
