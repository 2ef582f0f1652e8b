"""Random draws: the numbers, the order and the state afterwards are NumPy's and Python's."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.stats

import anadrome as ad
from anadrome.errors.frontend import UnsupportedCall
from anadrome.errors.parallel import DrawsInParallel

SEED = 20
AROUND = np.random.default_rng(7)


def generator() -> np.random.Generator:
    return np.random.default_rng(SEED)


def same_state(one: Any, two: Any) -> bool:
    if isinstance(one, random.Random):
        return bool(one.getstate() == two.getstate())
    if isinstance(one, np.random.RandomState):
        return str(one.get_state(legacy=False)) == str(two.get_state(legacy=False))
    return bool(one.bit_generator.state == two.bit_generator.state)


def assert_alike(function: Any, *args: Any, make: Any = generator, is_exact: bool = False) -> None:
    """The compiled function draws what Python draws, twice, and compiles once."""
    compiled, ours, theirs = ad.jit(function), make(), make()
    for _ in range(2):
        found, expected = compiled(*args, ours), function(*args, theirs)
        if is_exact:
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
        assert np.shape(found) == np.shape(expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert same_state(ours, theirs)
    compiled(*args, make())
    assert compiled.compilations == 1


# ---------------------------------------------------------------------------- distributions
PLAIN: dict[str, tuple[Any, ...]] = {
    "random": (),
    "standard_normal": (),
    "standard_exponential": (),
    "standard_cauchy": (),
    "standard_gamma": (2.5,),
    "standard_t": (3.0,),
    "beta": (2.0, 3.0),
    "chisquare": (3.0,),
    "f": (3.0, 4.0),
    "pareto": (2.0,),
    "power": (2.0,),
    "triangular": (0.0, 0.3, 1.0),
    "vonmises": (0.5, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (1.5,),
    "binomial": (10, 0.3),
    "geometric": (0.3,),
    "negative_binomial": (5, 0.4),
    "poisson": (3.0,),
    "integers": (2, 50),
    "normal": (1.5, 2.0),
    "laplace": (1.5, 2.0),
    "logistic": (1.5, 2.0),
    "gumbel": (1.5, 2.0),
    "exponential": (2.5,),
    "rayleigh": (2.5,),
    "gamma": (2.5, 1.5),
    "lognormal": (0.1, 0.5),
    "uniform": (-1.0, 3.0),
}


@pytest.mark.parametrize("method", PLAIN)
@pytest.mark.parametrize("size", [None, 3, 100, (4, 30)], ids=str)
def test_parameters_that_are_known(method: str, size: Any) -> None:
    parameters = PLAIN[method]

    def draw(rng):
        return getattr(rng, method)(*parameters, size=size)

    assert_alike(draw, is_exact=method != "lognormal")


@pytest.mark.parametrize("method", ["normal", "laplace", "logistic", "gumbel", "uniform"])
@pytest.mark.parametrize("size", [3, 100])
def test_locations_and_scales_that_the_run_knows(method: str, size: int) -> None:
    """What is drawn is moved and stretched as NumPy does it, up to one rounding."""

    def scalars(loc, scale, rng):
        return getattr(rng, method)(loc, scale)

    def rows(loc, scale, rng):
        return getattr(rng, method)(loc, scale, size=(5, len(loc)))

    assert_alike(scalars, 0.3, 1.7)
    assert_alike(scalars, np.linspace(0.0, 1.0, size), 2)
    assert_alike(rows, np.linspace(0.0, 1.0, size), np.linspace(1.5, 2.5, size))


@pytest.mark.parametrize("method", ["exponential", "rayleigh"])
def test_scales_that_the_run_knows(method: str) -> None:
    assert_alike(lambda scale, rng: getattr(rng, method)(scale, 40), 2.5)
    assert_alike(lambda scale, rng: getattr(rng, method)(scale), np.linspace(0.1, 2.0, 40))
    assert_alike(lambda scale, rng: rng.gamma(2.5, scale, size=40), 2.5)
    assert_alike(lambda mean, rng: rng.lognormal(mean, 0.5, 40), 0.2)


@pytest.mark.parametrize("size", [3, 100])
def test_choices_and_orders(size: int) -> None:
    x = np.linspace(1.0, 2.0, size)
    assert_alike(lambda x, rng: rng.integers(len(x), size=5), x, is_exact=True)
    assert_alike(lambda x, rng: x[rng.integers(0, len(x) - 1, size=7, endpoint=True)], x, is_exact=True)
    assert_alike(lambda x, rng: rng.choice(x, 4), x, is_exact=True)
    assert_alike(lambda x, rng: rng.choice(len(x), size=3, replace=False), x, is_exact=True)
    assert_alike(lambda x, rng: rng.choice(x), x, is_exact=True)
    assert_alike(lambda rng: rng.choice(3, 8, p=[0.2, 0.3, 0.5]), is_exact=True)
    assert_alike(lambda x, rng: rng.permutation(x), x, is_exact=True)
    assert_alike(lambda x, rng: rng.permutation(len(x)), x, is_exact=True)
    assert_alike(lambda m, rng: rng.permutation(m), np.stack([x, -x], axis=1), is_exact=True)

    def shuffled(x, rng):
        y, m = x.copy(), np.stack([x, -x], axis=1)
        rng.shuffle(y)
        rng.shuffle(m)
        return y + m[:, 0]

    assert_alike(shuffled, x, is_exact=True)


def test_types() -> None:
    for dtype in (np.float32, np.float64):
        assert_alike(lambda rng, dtype=dtype: rng.random(20, dtype=dtype), is_exact=True)
        assert_alike(lambda rng, dtype=dtype: rng.standard_normal(20, dtype), is_exact=True)
    assert_alike(lambda rng: rng.integers(0, 200, 20, dtype=np.uint8), is_exact=True)
    found = ad.jit(lambda rng: (rng.random(), rng.normal(), rng.integers(9)))(generator())
    assert [type(one) for one in found] == [float, float, np.int64]


# ---------------------------------------------------------------------------- the order of the program
def mixed(theta, rng):
    z = rng.standard_normal(len(theta))
    z[0] = 1.0
    z *= rng.uniform(0.5, 1.5)
    return np.sum(theta * z) + rng.normal(theta[0], 2.0) + np.sum(rng.random((2, len(theta) + 1)))


def walk(theta, steps, rng):
    x = theta
    for _ in range(steps):
        x = x + 0.1 * rng.standard_normal() * x
    return x


def alternating(theta, steps, rng):
    x, total = theta, rng.random()
    for step in range(1, steps):
        x = x + 0.1 * rng.normal(x, 0.5)
        for _ in range(3):
            total += rng.random() * np.sum(rng.standard_normal(2)) * step
        x = x * rng.uniform(0.5, 1.0)
    return x + total + rng.random()


def listed(theta, steps, rng):
    many = [theta * rng.normal() for _ in range(steps)]
    return sum(rng.random() for _ in range(steps)) + np.sum(np.array(many) ** 2) + rng.random()


def rows(theta, steps, rng):
    out = np.zeros((steps, 4))
    for k in range(steps):
        out[k] = theta * rng.standard_normal(4)
    return out


@pytest.mark.parametrize("size", [3, 100])
def test_one_after_the_other(size: int) -> None:
    assert_alike(mixed, np.linspace(0.5, 1.0, size))


@pytest.mark.parametrize("program", [walk, alternating, listed, rows])
@pytest.mark.parametrize("steps", [1, 3, 100])
def test_loops(program: Any, steps: int) -> None:
    """A row of numbers for each iteration, in the order of the program, below and above every threshold."""
    assert_alike(program, 0.7, steps)


def test_a_loop_that_does_not_run() -> None:
    assert_alike(walk, 0.7, 0)


def test_one_program_serves_all_numbers_of_iterations() -> None:
    compiled = ad.jit(walk)
    for steps in (0, 1, 5, 70):
        assert np.isclose(compiled(0.7, steps, generator()), walk(0.7, steps, generator()))
    assert compiled.compilations == 1


def test_generators_in_containers_and_calls() -> None:
    @dataclass
    class Noise:
        scale: float
        rng: Any

        def draw(self, n):
            return self.scale * self.rng.standard_normal(n)

    def program(theta, noise):
        return np.sum(theta * noise.draw(30)) + noise.rng.random()

    ours, theirs = Noise(2.0, generator()), Noise(2.0, generator())
    compiled = ad.jit(program)
    for _ in range(2):
        assert np.isclose(compiled(1.5, ours), program(1.5, theirs))
        assert same_state(ours.rng, theirs.rng)
    rng, other = generator(), generator()
    twice = ad.jit(lambda one, two: one.random() + 2.0 * two.random())
    assert twice(rng, rng) == other.random() + 2.0 * other.random()


def test_generators_that_a_program_makes() -> None:
    def program(theta, seed):
        rng = np.random.default_rng(seed)
        return theta * rng.standard_normal(5) + rng.random()

    compiled = ad.jit(program)
    for seed in (1, 1, 2, 12345):
        np.testing.assert_array_equal(compiled(2.0, seed), program(2.0, seed))
    assert compiled.compilations == 1
    fixed = ad.jit(lambda: np.random.default_rng([1, 2]).random(3))
    np.testing.assert_array_equal(fixed(), np.random.default_rng([1, 2]).random(3))
    np.testing.assert_array_equal(fixed(), fixed())
    fresh = ad.jit(lambda: np.random.default_rng().random())
    assert fresh() != fresh()
    rng = generator()
    assert ad.jit(lambda rng: np.random.default_rng(rng).random())(rng) == generator().random()


def test_generators_that_an_object_makes() -> None:
    @dataclass
    class Noise:
        seed: int
        rng: Any = field(default_factory=lambda: np.random.default_rng(5))

        def draw(self):
            return self.rng.random() + np.random.default_rng(self.seed).random()

    def program(x):
        noise = Noise(3)
        return x * noise.draw() + noise.draw()

    compiled = ad.jit(program)
    for _ in range(2):
        assert compiled(2.0) == program(2.0)


def test_generators_around_a_program() -> None:
    around = {"rng": np.random.default_rng(7)}
    compiled = ad.jit(lambda theta: theta * around["rng"].standard_normal(3))
    expected = np.random.default_rng(7)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(2.0), 2.0 * expected.standard_normal(3))
    assert compiled.compilations == 1
    around["rng"], expected = np.random.default_rng(8), np.random.default_rng(8)
    np.testing.assert_array_equal(compiled(2.0), 2.0 * expected.standard_normal(3))


# ---------------------------------------------------------------------------- derivatives
def cost(theta, rng):
    z = rng.normal(theta, np.exp(theta), 50)
    return np.mean(z**2) * rng.uniform(theta, 2.0) + rng.standard_normal() * theta**3


def difference(function: Any, theta: float, eps: float = 1e-5) -> float:
    values = [function(theta + sign * eps, generator()) for sign in (1.0, -1.0)]
    return float(values[0] - values[1]) / (2.0 * eps)


def test_derivatives_at_the_same_draws() -> None:
    slope = difference(cost, 0.4)
    rng, after = generator(), generator()
    value, found = ad.value_and_grad(cost)(0.4, rng)
    assert np.isclose(value, cost(0.4, after)) and np.isclose(found, slope, rtol=1e-8)
    assert same_state(rng, after)
    assert not np.isclose(ad.grad(cost)(0.4, rng), slope)  # other draws
    for transform in (
        ad.grad(cost),
        ad.jacfwd(cost),
        ad.jacrev(cost),
        ad.jit(lambda x, r: ad.grad(cost)(x, r)),
    ):
        assert np.isclose(transform(0.4, generator()), slope, rtol=1e-8)
    rng = generator()
    _, tangent = ad.jvp(lambda theta: cost(theta, rng), (0.4,), (1.0,))
    assert np.isclose(tangent, slope, rtol=1e-8) and same_state(rng, after)
    curvature = difference(lambda x, r: ad.grad(cost)(x, r), 0.4)
    rng = generator()
    assert np.isclose(ad.hessian(cost)(0.4, rng), curvature, rtol=1e-6) and same_state(rng, after)
    assert np.isclose(ad.grad(ad.grad(cost))(0.4, generator()), curvature, rtol=1e-6)


@pytest.mark.parametrize("program", [walk, alternating, listed])
@pytest.mark.parametrize("steps", [3, 40])
def test_derivatives_of_loops(program: Any, steps: int) -> None:
    slope = difference(lambda theta, rng: program(theta, steps, rng), 0.7)
    for transform in (ad.grad, ad.jacfwd):
        rng, after = generator(), generator()
        program(0.7, steps, after)
        assert np.isclose(transform(program)(0.7, steps, rng), slope, rtol=1e-6)
        assert same_state(rng, after)


def test_drawn_data() -> None:
    """A gradient of a minibatch, of rows that are drawn."""
    data = np.linspace(0.0, 1.0, 300).reshape(100, 3)

    def loss(theta, data, rng):
        rows = data[rng.integers(0, len(data), size=16)]
        return np.mean((rows @ theta - 1.0) ** 2)

    theta = np.array([0.3, -0.2, 0.9])
    rows = data[generator().integers(0, len(data), size=16)]
    expected = 2.0 * rows.T @ (rows @ theta - 1.0) / 16
    np.testing.assert_allclose(ad.grad(loss)(theta, data, generator()), expected)


# ---------------------------------------------------------------------------- Python's generators
def gaussian_walk(theta, steps, rng):
    x = theta + rng.gauss(theta, 2.0) + rng.uniform(0.0, theta) + rng.normalvariate(theta, 0.5)
    for _ in range(steps):
        x += 0.1 * x * rng.random() + rng.expovariate(2.0) * rng.randint(1, 6) + rng.randrange(3)
    return x + rng.choice([1.0, 2.0, 4.0])


@pytest.mark.parametrize("steps", [3, 100])
def test_generators_of_python(steps: int) -> None:
    assert_alike(gaussian_walk, 0.7, steps, make=lambda: random.Random(3))
    theirs = [gaussian_walk(0.7 + eps, steps, random.Random(3)) for eps in (1e-6, -1e-6)]
    found = ad.grad(gaussian_walk)(0.7, steps, random.Random(3))
    assert np.isclose(found, (theirs[0] - theirs[1]) / 2e-6, rtol=1e-5)
    made = ad.jit(lambda seed: random.Random(seed).random())
    assert made(4) == random.Random(4).random() and made(5) == random.Random(5).random()


# ---------------------------------------------------------------------------- what is refused
def under_a_condition(x, rng):
    return rng.random() if x > 0.0 else x


def in_a_while(x, rng):
    while x < 10.0:
        x = x + rng.random()
    return x


def until_it_breaks(x, n, rng):
    for _ in range(n):
        x = x + rng.random()
        if x > 1.0:
            break
    return x


def in_a_triangle(x, n, rng):
    for i in range(n):
        for _ in range(i):
            x = x + rng.random()
    return x


def test_draws_that_the_run_decides() -> None:
    for program, args, words in (
        (under_a_condition, (1.0,), "whether it draws is decided at run time"),
        (in_a_while, (1.0,), "how often it draws is decided at run time"),
        (until_it_breaks, (0.1, 50), "the loop may end early"),
        (in_a_triangle, (0.1, 50), "how often it draws is decided at run time"),
        (lambda x, rng: rng.standard_normal(int(2.0 * x)), (3.0,), "int64, which only the run knows"),
        (lambda x, rng: rng.poisson(x), (3.0,), "float64, which only the run knows"),
    ):
        rng = generator()
        with pytest.raises(UnsupportedCall, match=words):
            ad.jit(program)(*args, rng)
        assert same_state(rng, generator())


def test_what_runs_more_than_once() -> None:
    rng = generator()

    def noisy(x):
        return x * rng.random()

    rows = np.ones(20)
    with pytest.raises(UnsupportedCall, match="runs rows in any order"):
        ad.vmap(noisy)(rows)
    with pytest.raises(DrawsInParallel, match="has no order"):
        ad.jit(lambda x: np.vectorize(noisy)(x))(rows)
    with pytest.raises(UnsupportedCall, match="run once more for its derivative"):
        ad.vjp(noisy, 2.0)[1](1.0)
    with pytest.raises(UnsupportedCall, match="as often as it needs"):
        ad.jacobian(lambda x: x * rng.random(), sparse=True)(rows)
    with pytest.raises(UnsupportedCall, match="as often as it needs"):
        ad.fixed_point(lambda x: 0.5 * x + rng.random(), 1.0)
    ruled = ad.custom_jvp(noisy)
    ruled.defjvp(lambda primals, tangents: (noisy(*primals), tangents[0]))
    with pytest.raises(UnsupportedCall, match="draw outside"):
        ad.grad(ruled)(2.0)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda x: np.random.seed(0), "seed it outside"),
        (lambda x: random.seed(0), "seed it outside"),
        (lambda x: AROUND.multivariate_normal(x, x), "np.linalg.cholesky"),
        (lambda x: generator().spawn(1), "make the generators outside"),
        (lambda x: generator().bit_generator.state, "read it outside"),
        (lambda x: AROUND.bit_generator.random_raw(), "read it outside"),
        (lambda x: AROUND.shuffle([1.0, x]), "no array"),
        (lambda x: np.random.Generator(np.random.PCG64(3)).random() * x, "made once, while compiling"),
        (lambda x: copy.deepcopy(AROUND).random() * x, "drawn once, while compiling"),
        (lambda x: scipy.stats.norm.rvs(size=3) * x, "drawn once, while compiling"),
        (lambda x: scipy.stats.norm.rvs(size=3, random_state=AROUND) * x, "drawn once, while compiling"),
    ],
)
def test_what_is_not_drawn(program: Any, words: str) -> None:
    with pytest.raises(UnsupportedCall, match=words):
        ad.jit(program)(2.0)


def test_a_generator_is_no_result() -> None:
    with pytest.raises(TypeError, match="the caller has it already"):
        ad.jit(lambda rng: (rng.random(), rng))(generator())


def test_what_numpy_raises_is_raised_at_the_line() -> None:
    compiled = ad.jit(lambda n, rng: rng.integers(5, n))
    assert compiled(9, generator()) == generator().integers(5, 9)
    with pytest.raises(ValueError, match="low >= high") as caught:
        compiled(2, generator())
    assert caught.value.span.file == __file__
    with pytest.raises(ValueError, match="scale < 0"):
        ad.jit(lambda scale, rng: rng.normal(0.0, scale))(-1.0, generator())
    assert compiled(9, generator()) == generator().integers(5, 9)


def test_sizes_that_the_call_cannot_have() -> None:
    compiled = ad.jit(lambda n, rng: np.sum(rng.standard_normal(n)))
    for size, words in ((-3, "negative"), (2**50, "allocate")):
        with pytest.raises(ad.AnadromeError, match=words) as caught:
            compiled(size, generator())
        assert caught.value.span.file == __file__
    assert np.isclose(compiled(4, generator()), np.sum(generator().standard_normal(4)))
    assert ad.jit(walk)(0.7, -3, generator()) == 0.7


def test_who_looks_draws_nothing() -> None:
    rng = generator()
    ad.explain(ad.grad(walk), 0.7, 50, rng)
    assert same_state(rng, generator())


# ---------------------------------------------------------------------------- the old interface
def old_generator() -> np.random.RandomState:
    return np.random.RandomState(SEED)


def of_the_old_interface(x, rng):
    whole = rng.randint(0, 9, size=4)
    noise = rng.normal(x, 2.0, size=3) + rng.uniform(0.0, x) + rng.exponential(x, 3) + rng.laplace(x)
    chosen, order = rng.choice(7, 3, replace=False), rng.permutation(5)
    total = rng.rand() + rng.gamma(2.0, x) + rng.poisson(3.0) + rng.lognormal(0.1, x)
    for i in range(4):
        total += rng.random_sample() * x + rng.standard_normal() * i
    shuffled = np.array([x, 2.0 * x, 3.0, 4.0])
    rng.shuffle(shuffled)
    return x * rng.randn(4, 3) + total + noise, whole, chosen * order[:3], shuffled


@pytest.mark.parametrize("part", range(4))
def test_the_old_interface(part: int) -> None:
    assert_alike(lambda x, rng: of_the_old_interface(x, rng)[part], 1.7, make=old_generator)


@pytest.mark.parametrize("name", sorted({*PLAIN} & {*dir(np.random.RandomState)}))
def test_every_method_of_the_old_interface(name: str) -> None:
    given = PLAIN[name]
    assert_alike(lambda rng: getattr(rng, name)(*given, size=5), make=old_generator, is_exact=True)


def of_the_modules(x):
    return np.sum(np.random.randn(4) * x) + random.random() * x + random.gauss(0.0, x) + np.random.ranf()


def test_functions_of_the_modules_draw_from_their_state() -> None:
    before = np.random.get_state(), random.getstate()
    try:
        found: list[list[Any]] = []
        for function in (of_the_modules, ad.jit(of_the_modules)):
            np.random.seed(SEED)
            random.seed(SEED)
            found.append([function(2.0), function(2.0), np.random.rand(), random.random()])
        np.testing.assert_allclose(found[1], found[0], rtol=1e-14)
        assert found[1][0] != found[1][1]
        np.random.seed(SEED)
        random.seed(SEED)
        slope = ad.grad(of_the_modules)(2.0)
        np.random.seed(SEED)
        random.seed(SEED)
        value, other = of_the_modules(2.0), np.random.RandomState(SEED)
        other.randn(4)
        np.testing.assert_allclose(2.0 * slope, value - other.random_sample(), rtol=1e-13)
    finally:
        np.random.set_state(before[0])
        random.setstate(before[1])


def test_an_old_generator_made_inside() -> None:
    def drawn(x):
        return np.random.RandomState(5).randn(3) * x

    np.testing.assert_array_equal(ad.jit(drawn)(2.0), drawn(2.0))
