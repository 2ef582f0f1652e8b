"""Steer a charged particle through the origin: a derivative inside a `while` loop inside a derivative.

The particle starts at (0, 8) with velocity (0.75, 0) and is repelled by charges at (10, 10 - w) and (10, 0):

    p(x; w) = Σ_c 1/‖x - c‖,    ẍ = -∇_x p(x; w)

Euler steps of 0.1 go on while the particle stays above the axis; how many, the particle decides. The last,
shortened one puts it on the axis, at x(t_f), and the control w is chosen to minimise x_0(t_f)².

Both derivatives may be taken forward or in reverse: `fr` is forward in w, with forces in reverse.

GradBench eval `particle`; Siskind and Pearlmutter, "Putting the automatic back into AD", 2008.
"""

import math
from collections.abc import Callable

import numpy as np
from descent import minimise

import anadrome as ad

STEP = 0.1


def distance(x: np.ndarray, charge: np.ndarray) -> float:
    return math.sqrt((x[0] - charge[0]) ** 2 + (x[1] - charge[1]) ** 2)


def potential(x: np.ndarray, w: float) -> float:
    return 1.0 / distance(x, np.array([10.0, 10.0 - w])) + 1.0 / distance(x, np.array([10.0, 0.0]))


def landing_with(derivative: Callable) -> Callable:
    """x_0(t_f)² as a function of the control, with forces by `ad.grad` or `ad.jacfwd`."""

    @ad.jit
    def landing(control: np.ndarray) -> float:
        w = control[0]
        slope_of = derivative(potential)
        x, velocity = np.array([0.0, 8.0]), np.array([0.75, 0.0])
        following = x + STEP * velocity
        while following[1] > 0.0:
            velocity = velocity - STEP * slope_of(x, w)
            x = following
            following = x + STEP * velocity
        last_step = -x[1] / velocity[1]
        return (x[0] + last_step * velocity[0]) ** 2

    return landing


def steering(outer: Callable, inner: Callable) -> Callable:
    """The best control, from a first guess, with these two derivatives."""
    landing = landing_with(inner)

    @ad.jit
    def control(guess: float) -> float:
        return minimise(landing, outer, np.array([guess]))[0]

    return control


ff = steering(ad.jacfwd, ad.jacfwd)
fr = steering(ad.jacfwd, ad.grad)
rf = steering(ad.grad, ad.jacfwd)
rr = steering(ad.grad, ad.grad)


def main() -> None:
    landing = landing_with(ad.grad)
    print(f"uncontrolled, the particle lands {math.sqrt(landing(np.array([0.0]))):.6f} from the origin")
    for name, control in (("ff", ff), ("fr", fr), ("rf", rf), ("rr", rr)):
        w = control(0.0)
        print(f"{name}: w = {w:.10f}, it lands {math.sqrt(landing(np.array([w]))):.1e} from the origin")


if __name__ == "__main__":
    main()
