"""`donate_argnums`: the same results with and without, memory that is taken where it may be, and errors."""

from __future__ import annotations

import functools
import gc
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp

import anadrome as ad
from anadrome.config import Config
from anadrome.errors.api import DonatedArray, SettingMismatch
from tests.in_place import CASES

ONE = Config(threads=1)
N = 1000


def doubled(x):
    return 2.0 * x + 1.0


def bumped(x, i, v):
    y = x.copy()
    y[i] += v
    return y


def heat(u, steps):
    for _ in range(steps):
        u = np.concatenate([u[:1], u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return u


def address(array):
    return array.__array_interface__["data"][0]


def test_a_map_is_written_where_its_argument_is():
    x = np.linspace(0.0, 1.0, N)
    place, expected = address(x), doubled(x)
    y = ad.jit(doubled, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, expected)
    assert address(y) == place
    assert y.flags.writeable and y is not x


@pytest.mark.parametrize("shape", [(40, 50), (6, 10, 40)])
def test_a_map_over_a_matrix_is_written_where_its_argument_is(shape):
    x = np.random.default_rng(3).normal(size=shape)
    place, expected = address(x), np.exp(x) * x
    y = ad.jit(lambda x: np.exp(x) * x, donate_argnums=0)(x)
    np.testing.assert_allclose(y, expected, rtol=1e-15)
    assert address(y) == place


def test_an_update_needs_no_copy():
    x = np.arange(1.0 * N)
    place = address(x)
    y = ad.jit(bumped, donate_argnums=0)(x, 3, 2.0)
    assert address(y) == place
    assert y[3] == 5.0 and y[4] == 4.0


def test_a_result_is_given_on_and_on():
    step = ad.jit(bumped, donate_argnums=0)
    x = np.zeros(N)
    place = address(x)
    gone = []
    for count in range(50):
        gone.append(x)
        x = step(x, count, 1.0)
        assert address(x) == place
    assert np.sum(x) == 50.0
    assert x.base.holder is gone[0], "no chain of arrays"


@pytest.mark.parametrize("steps", range(5))
def test_two_buffers_in_turn_with_the_argument_as_one(steps):
    u = np.random.default_rng(steps).normal(size=N)
    plain, step = ad.jit(heat, config=ONE), ad.jit(heat, donate_argnums=0, config=ONE)
    expected = plain(u, steps)
    v = step(u, steps)
    np.testing.assert_array_equal(v, expected)
    again = step(v, steps)
    np.testing.assert_array_equal(again, plain(expected, steps))
    for _ in range(30):
        again = step(again, steps)
    assert np.isfinite(again).all()


def test_memory_of_results_that_took_an_argument_is_freed_once():
    step = ad.jit(heat, donate_argnums=0, config=ONE)
    held = []
    for count in range(60):
        u = np.full(20_000, 1.0 * count)
        for steps in (1, 2, 3):
            u = step(u, steps)
        held.append(u)
        if len(held) > 7:
            del held[count % 7]
    gc.collect()
    for v in held:
        assert (v == v[0]).all()


def test_one_array_is_allocated_less():
    x = np.ones(100_000)

    def peak(**options):
        return ad.explain(ad.jit(heat, config=ONE, **options), x, 4, measure=True)

    plain, donated = peak(), peak(donate_argnums=0)
    assert plain.measured == plain.predicted
    assert donated.measured == donated.predicted == plain.measured - x.nbytes
    map_ = ad.explain(ad.jit(doubled, donate_argnums=0), x, measure=True)
    assert map_.measured == map_.predicted == 0
    assert (x == 1.0).all() and x.flags.writeable, "who only explains gives nothing away"
    assert ad.jit(doubled, donate_argnums=0)(x)[0] == 3.0


def test_numpy_allocates_nothing_either():
    step = ad.jit(doubled, donate_argnums=0, config=ONE)
    x = step(np.ones(500_000))
    ad.release_memory()
    tracemalloc.start()
    for _ in range(5):
        x = step(x)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20_000
    assert ad.release_memory() == 0


# ---------------------------------------------------------------------------- after the call
def test_a_donated_array_is_no_argument_any_more():
    step = ad.jit(doubled, donate_argnums=0)
    x = np.ones(N)
    step(x)
    for use in (step, ad.jit(doubled), ad.grad(lambda x: np.sum(x * x)), lambda x: step({"a": x}["a"])):
        with pytest.raises(DonatedArray, match="was donated to a compiled function") as caught:
            use(x)
        assert caught.value.code == "A328"
        assert "argument `x`" in str(caught.value)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1.0
    assert step(x.copy()).shape == (N,)


def test_an_array_around_a_function_that_was_donated_is_found():
    weights = np.ones(N)
    total = ad.jit(lambda x: np.sum(weights * x))
    assert total(np.ones(N)) == N
    ad.jit(doubled, donate_argnums=0)(weights)
    with pytest.raises(DonatedArray, match="an array around it"):
        total(np.ones(N))


def test_what_is_forgotten_may_have_its_place_again():
    step = ad.jit(lambda x: np.sum(x), donate_argnums=0)
    for count in range(200):
        assert step(np.full(N, float(count))) == count * N


def test_arguments_are_given_away_whether_they_are_needed_or_not():
    x, y = np.ones(N), np.ones(N)[::2]
    assert ad.jit(lambda x, y: np.sum(x) + np.sum(y), donate_argnums=(0, 1))(x, y) == 1.5 * N
    for gone in (x, y):
        assert not gone.flags.writeable


# ---------------------------------------------------------------------------- memory that others see
def views():
    base = np.arange(4.0 * N)
    yield "a part", base[N : 2 * N], base
    yield "a part in steps", base[::4], base
    yield "a reversed part", base[N - 1 :: -1], base
    yield "a reshape", base[:N].reshape(N), base
    frozen = np.arange(1.0 * N)
    frozen.flags.writeable = False
    yield "read-only", frozen, frozen
    yield "a broadcast", np.broadcast_to(np.float64(3.0), (N,)), np.zeros(1)
    raw = np.zeros(8 * N + 1, np.uint8)
    yield "unaligned", raw[1:].view(np.float64), raw
    yield "a buffer", np.frombuffer(bytearray(8 * N)), np.zeros(1)


@pytest.mark.parametrize(("name", "x", "base"), list(views()), ids=[name for name, _, _ in views()])
def test_memory_that_others_see_is_copied(name, x, base):
    before, expected = base.copy(), doubled(x)
    y = ad.jit(doubled, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(base, before)
    assert not np.may_share_memory(y, base)


def test_a_file_in_memory_is_not_written(tmp_path):
    path = tmp_path / "numbers"
    np.arange(1.0 * N).tofile(path)
    x = np.memmap(path, np.float64, "r+")
    y = ad.jit(doubled, donate_argnums=0)(x)
    np.testing.assert_array_equal(y, doubled(np.arange(1.0 * N)))
    del x
    np.testing.assert_array_equal(np.fromfile(path), np.arange(1.0 * N))


def test_a_view_of_a_result_is_copied():
    y = ad.jit(doubled)(np.ones(N))
    half = y[: N // 2]
    ad.jit(doubled, donate_argnums=0)(half)
    assert (y == 3.0).all()


@pytest.mark.parametrize("places", [0, 1, (0, 1)])
def test_one_array_twice(places):
    def mixed(x, y):
        a = x.copy()
        a[0] = 7.0
        return a, 2.0 * y + x[1]

    x = np.arange(1.0 * N)
    expected = mixed(x.copy(), x.copy())
    found = ad.jit(mixed, donate_argnums=places)(x, x)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.may_share_memory(*found)


def test_arguments_that_overlap():
    x = np.arange(1.0 * N)
    part = x[10:-10]
    expected = doubled(x)
    y, s = ad.jit(lambda x, part: (2.0 * x + 1.0, np.sum(part)), donate_argnums=0)(x, part)
    np.testing.assert_array_equal(y, expected)
    assert s == np.sum(np.arange(1.0 * N)[10:-10])
    assert (part == np.arange(1.0 * N)[10:-10]).all()


def test_an_array_around_the_function_overlaps():
    weights = np.arange(1.0 * N)
    f = ad.jit(lambda x: (2.0 * x + 1.0) * weights[::-1], donate_argnums=0)
    expected = doubled(weights) * weights[::-1]
    np.testing.assert_array_equal(f(weights), expected)


@pytest.mark.parametrize(
    "x",
    [
        3.0,
        np.float64(3.0),
        [1.0, 2.0],
        np.ones(N, np.float32),
        np.arange(N),
        np.ones(N) + 1j,
        np.ones((N, 2), order="F"),
        np.zeros(()),
        np.zeros(0),
        np.zeros((0, 3)),
        np.ones(1),
        np.ones((3, 3)),
    ],
    ids=[
        "number",
        "scalar",
        "list",
        "f32",
        "i64",
        "complex",
        "F",
        "rank 0",
        "empty",
        "empty rows",
        "one",
        "small",
    ],
)
def test_other_arguments(x):
    def f(x):
        return x * 2 if not isinstance(x, list) else [2 * v for v in x]

    expected = f(x)
    found = ad.jit(f, donate_argnums=0)(x)
    np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------------------- results
def test_results_that_are_the_argument():
    f = ad.jit(lambda x: (x, x, x[::-1], x.reshape(-1, 2), x), donate_argnums=0)
    x = np.arange(1.0 * N)
    expected, place = x.copy(), address(x)
    found = f(x)
    assert [address(one) == place for one in found] == [True, False, False, False, False]
    for one in (found[0], found[1], found[2][::-1], found[3].ravel(), found[4]):
        np.testing.assert_array_equal(one, expected)
    for count, one in enumerate(found):
        assert not any(np.may_share_memory(one, other) for other in found[:count])


def test_two_arguments_change_places():
    x, y = np.ones(N), np.zeros(N)
    f = ad.jit(lambda x, y: (y, x), donate_argnums=(0, 1))
    for _ in range(5):
        x, y = f(x, y)
    assert (x == 0.0).all() and (y == 1.0).all()


def test_a_row_of_an_argument():
    x = np.random.default_rng(0).normal(size=(20, N))
    expected = x[0].copy()
    first = ad.jit(lambda x: x[0], donate_argnums=0)(x)
    del x
    gc.collect()
    np.testing.assert_array_equal(first, expected)


def test_an_argument_that_is_read_after_the_result_was_computed():
    f = ad.jit(lambda x: (2.0 * x + 1.0, np.sum(x), np.cumsum(x) + x[::-1]), donate_argnums=0)
    x = np.random.default_rng(0).normal(size=N)
    expected = (doubled(x), np.sum(x), np.cumsum(x) + x[::-1])
    for one, other in zip(f(x), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


# ---------------------------------------------------------------------------- which arguments
def test_positions_and_names():
    def f(x, *, scale):
        return scale * x

    x, scale = np.ones(N), np.ones(N)
    ad.jit(f, donate_argnames="scale")(x, scale=scale)
    assert x.flags.writeable and not scale.flags.writeable
    for options in ({"donate_argnums": -2}, {"donate_argnames": "x"}, {"donate_argnums": (0,)}):
        x, y = np.ones(N), np.ones(N)
        ad.jit(lambda x, y: x + y, **options)(x, y)
        assert not x.flags.writeable and y.flags.writeable
        x = np.ones(N)
        ad.jit(lambda x, y: x + y, **options)(x=x, y=y)
        assert not x.flags.writeable and y.flags.writeable


@dataclass
class State:
    position: np.ndarray
    speed: np.ndarray
    mass: float


def test_the_arrays_of_a_container():
    @ad.jit(donate_argnums=0)
    def step(state, dt):
        return State(state.position + dt * state.speed, state.speed - dt * state.position, state.mass)

    state = State(np.ones(N), np.zeros(N), 2.0)
    places = {address(state.position), address(state.speed)}
    new = step(state, 0.5)
    assert (new.position == 1.0).all() and (new.speed == -0.5).all() and new.mass == 2.0
    assert {address(new.position), address(new.speed)} & places
    with pytest.raises(DonatedArray, match=r"state\.position"):
        step(state, 0.5)


def test_a_method():
    class Model:
        @functools.partial(ad.jit, donate_argnums=1)
        def step(self, x):
            return 2.0 * x

    x = np.ones(N)
    place = address(x)
    assert address(Model().step(x)) == place


def test_a_sparse_matrix():
    matrix = sp.csr_array(np.diag(np.arange(1.0, 101.0)))
    expected = (matrix * 2.0).toarray()
    found = ad.jit(lambda a: a * 2.0, donate_argnums=0)(matrix)
    np.testing.assert_array_equal(found.toarray(), expected)


@pytest.mark.parametrize("given", [2, -3, "x", 0.5, (0, 7)])
def test_positions_that_there_are_not(given):
    with pytest.raises(ValueError, match="`donate_argnums` must be the position of a parameter"):
        ad.jit(lambda x, y: x, donate_argnums=given)


@pytest.mark.parametrize("given", ["z", 0, ("x", "z")])
def test_names_that_there_are_not(given):
    with pytest.raises(ValueError, match="`donate_argnames` must be the name of a parameter"):
        ad.jit(lambda x, y: x, donate_argnames=given)


@pytest.mark.parametrize(
    "options",
    [
        {"static_argnums": 1, "donate_argnums": 1},
        {"static_argnums": -1, "donate_argnums": (0, 1)},
        {"static_argnames": "y", "donate_argnums": 1},
        {"static_argnums": 1, "donate_argnames": ("x", "y")},
    ],
)
def test_a_static_argument_is_not_donated(options):
    with pytest.raises(SettingMismatch, match="must be arguments that are not static"):
        ad.jit(lambda x, y: x, **options)


# ---------------------------------------------------------------------------- derivatives
def test_a_gradient_is_written_where_its_point_is():
    def cost(x):
        return np.sum(np.sin(x) * x)

    x = np.linspace(0.1, 2.0, N)
    place, expected = address(x), np.cos(x) * x + np.sin(x)
    slope = ad.jit(ad.grad(cost), donate_argnums=0)(x)
    np.testing.assert_allclose(slope, expected, rtol=1e-14)
    assert address(slope) == place
    x = np.linspace(0.1, 2.0, N)
    _, slope = ad.jit(ad.value_and_grad(cost), donate_argnums=0)(x)
    np.testing.assert_allclose(slope, expected, rtol=1e-14)


def test_transforms_of_a_function_that_takes_its_arguments_leave_theirs():
    x = np.ones(N)
    f = ad.jit(doubled, donate_argnums=0)
    total = ad.jit(lambda x: np.sum(f(x) * x), donate_argnums=0)
    for use in (ad.grad(total), ad.jit(lambda x: f(x) + x), ad.vmap(f), lambda x: ad.jvp(f, (x,), (x,))):
        use(x)
        use(x)
    assert x.flags.writeable and (x == 1.0).all()


@pytest.mark.parametrize("name", CASES)
def test_programs_that_update_in_place(name):
    program, arguments = CASES[name]
    args = arguments(30, np.random.default_rng(5))

    def own():
        return [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args]

    places = range(len(args))
    expected = ad.jit(program, config=ONE)(*args)
    found = ad.jit(program, config=ONE, donate_argnums=places)(*own())
    np.testing.assert_allclose(found, expected, rtol=1e-12)

    def weighted(*args):
        found = program(*args)
        return np.sum(found * found)

    plain = ad.jit(ad.grad(weighted), config=ONE)(*args)
    slope = ad.jit(ad.grad(weighted), config=ONE, donate_argnums=places)(*own())
    np.testing.assert_allclose(slope, plain, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("policy", ["all", "sqrt", "log", 2])
def test_checkpoints_start_from_what_the_argument_was(policy):
    def cost(u):
        for _ in ad.range(20, checkpoint=policy):
            u = u + 0.1 * np.sin(u) * u[::-1]
        return np.sum(u * u)

    u = np.random.default_rng(1).uniform(0.1, 0.4, 200)
    expected = ad.jit(ad.value_and_grad(cost))(u)
    found = ad.jit(ad.value_and_grad(cost), donate_argnums=0)(u.copy())
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)


def test_kernels():
    @ad.kernel
    def scaled(x, out):
        i = ad.grid(1)
        if i < len(x):
            out[i] = 2.0 * x[i]
            x[i] = -1.0

    def run(x):
        y, out = x.copy(), np.zeros(len(x))
        scaled[8, 128](y, out)
        return y, out

    x = np.arange(1.0 * N)
    place = address(x)
    y, out = ad.jit(run, donate_argnums=0)(x)
    assert (y == -1.0).all()
    np.testing.assert_array_equal(out, 2.0 * np.arange(1.0 * N))
    assert address(y) == place


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads(threads):
    x = np.random.default_rng(2).normal(size=(400, 1000))
    expected = ad.jit(lambda x: np.exp(np.sin(x)), config=ONE)(x)
    place = address(x)
    y = ad.jit(lambda x: np.exp(np.sin(x)), config=Config(threads=threads), donate_argnums=0)(x)
    np.testing.assert_allclose(y, expected, rtol=1e-14)
    assert address(y) == place


ORDERS = {
    "a scan read backwards": lambda x: np.cumsum(x)[::-1],
    "a scan from the end": lambda x: np.cumsum(x[::-1])[::-1],
    "a scan of a scan": lambda x: np.cumsum(np.cumsum(x)[::-1])[::-1],
    "a scan read backwards beside the array": lambda x: (np.cumsum(x)[::-1], x + 1.0),
    "halves that change places": lambda x: np.concatenate((x[len(x) // 2 :], x[: len(x) // 2])),
    "computed halves that change places": lambda x: np.concatenate(
        (np.exp(x[len(x) // 2 :]), 2.0 * x[: len(x) // 2])
    ),
    "a computed half in its place": lambda x: np.concatenate((x[: len(x) // 2] * 2.0, x[len(x) // 2 :])),
    "a half twice": lambda x: np.concatenate((np.sin(x[: len(x) // 2]), x[: len(x) - len(x) // 2])),
    "shifted": lambda x: np.concatenate((x[1:] * 3.0, x[:1])),
    "rolled": lambda x: np.roll(np.exp(x), 3),
    "turned": lambda x: x[::-1] * 2.0,
    "a gradient with scans": lambda x: ad.grad(lambda x: np.sum(np.cumsum(x) ** 3))(x),
    "a soft maximum": lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))),
    "sorted": lambda x: np.sort(x)[::-1] - x,
}
"""Results that read elsewhere than where they are put."""


@pytest.mark.parametrize("n", [2, 17, 5_000])
@pytest.mark.parametrize("name", ORDERS)
def test_results_that_read_elsewhere(name, n):
    f, x = ORDERS[name], np.random.default_rng(n).normal(size=n)
    kept, given = ad.jit(f)(x), ad.jit(f, donate_argnums=0)(x.copy())
    for one, other in zip(np.atleast_2d(kept), np.atleast_2d(given), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-13)
    if "gradient" not in name:
        np.testing.assert_allclose(np.asarray(given), np.asarray(f(x)), rtol=1e-9, atol=1e-12)
