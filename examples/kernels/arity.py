"""A product of many factors at each place: one kernel for any number of arrays.

It teaches that a kernel may take a tuple of arrays: each length of the tuple makes a kernel of its own, in
which the loop over it is written out, and the gradient by all of them comes from one launch.

    y = Π_k tanh(x_k if x_k > ½ else -x_k)

Revels, Besard, Churavy, De Sutter and Vielma, "Dynamic automatic differentiation of GPU broadcast kernels",
2018.
"""

import math

import numpy as np

import anadrome as ad

THREADS, MOST = 64, 10


@ad.kernel
def product(factors, y):
    i = ad.grid(1)
    if i < len(y):
        value = 1.0
        for x in factors:
            value *= math.tanh(x[i] if x[i] > 0.5 else -x[i])
        y[i] = value


@ad.jit
def loss(factors: tuple[np.ndarray, ...]) -> float:
    y = np.zeros_like(factors[0])
    product[(len(y) + THREADS - 1) // THREADS, THREADS](factors, y)
    return np.sum(y)


value_and_gradient = ad.value_and_grad(loss)


def reference(factors: np.ndarray) -> float:
    x = np.asarray(factors)
    return float(np.sum(np.prod(np.tanh(np.where(x > 0.5, x, -x)), axis=0)))


def sample(random: np.random.Generator) -> tuple[tuple[np.ndarray, ...]]:
    return (tuple(random.uniform(size=(MOST, 100))),)


def main() -> None:
    (factors,) = sample(np.random.default_rng(0))
    for arity in range(1, MOST + 1):
        value, adjoints = value_and_gradient(factors[:arity])
        expected = reference(factors[:arity])
        print(f"{arity:2d} factors: {value:.6e}, NumPy {expected:.6e}, {len(adjoints)} adjoints")


if __name__ == "__main__":
    main()
