"""Launches inside whatever else a program may be: loops, branches, transforms of each other, rules."""

import numpy as np
import pytest

import anadrome as ad

STATE = np.random.default_rng(0).random(20)
BATCH = np.random.default_rng(1).random((3, 20))


@ad.kernel
def step(u, v, dt):
    i = ad.grid(1)
    n = len(u)
    if i < n:
        left = u[i - 1] if i > 0 else 0.0
        right = u[i + 1] if i < n - 1 else 0.0
        v[i] = u[i] + dt * (left - 2 * u[i] + right) * np.sin(u[i])


def stepped(u, dt):
    v = np.zeros(len(u))
    step[(len(u) + 7) // 8, 8](u, v, dt)
    return v


def plain_step(u, dt):
    p = np.concatenate((np.zeros(1), u, np.zeros(1)))
    return u + dt * (p[:-2] - 2 * u + p[2:]) * np.sin(u)


def run(u, dt=0.1, steps=4):
    for _ in range(steps):
        u = stepped(u, dt)
    return np.sum(u * u)


def plain(u, dt=0.1, steps=4):
    for _ in range(steps):
        u = plain_step(u, dt)
    return np.sum(u * u)


def run_with_checkpoints(u):
    for _ in ad.range(23, checkpoint="log"):
        u = stepped(u, 0.1)
    return np.sum(u * u)


def run_again(u):
    return ad.checkpoint(run)(u)


def run_either(u):
    v = stepped(u, 0.1) if u[0] > 0.5 else stepped(2 * u, 0.2)
    return np.sum(v * v)


def plain_either(u):
    v = plain_step(u, 0.1) if u[0] > 0.5 else plain_step(2 * u, 0.2)
    return np.sum(v * v)


def run_until(u):
    while np.sum(u * u) > 2.0:
        u = 0.9 * stepped(u, 0.1)
    return np.sum(u)


def plain_until(u):
    while np.sum(u * u) > 2.0:
        u = 0.9 * plain_step(u, 0.1)
    return np.sum(u)


PAIRS = {
    "a loop": (run, plain),
    "a long loop": (lambda u: run(u, 0.1, 23), lambda u: plain(u, 0.1, 23)),
    "a loop with a checkpoint policy": (run_with_checkpoints, lambda u: plain(u, 0.1, 23)),
    "a checkpoint": (run_again, plain),
    "a branch": (run_either, plain_either),
    "a loop until": (run_until, plain_until),
}


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_in_control_flow(name):
    kernel, array = PAIRS[name]
    for u in (STATE, 0.6 * STATE):
        assert ad.jit(kernel)(u) == pytest.approx(array(u), rel=1e-13)
        np.testing.assert_allclose(ad.grad(kernel)(u), ad.grad(array)(u), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    "second", [ad.hessian, lambda f: ad.jacfwd(ad.grad(f)), lambda f: ad.jacrev(ad.grad(f))]
)
def test_second_derivatives(second):
    np.testing.assert_allclose(second(run)(STATE), second(plain)(STATE), rtol=1e-10, atol=1e-12)


def test_every_transform():
    both = ad.grad(run, argnums=(0, 1))(STATE, 0.1), ad.grad(plain, argnums=(0, 1))(STATE, 0.1)
    for ours, theirs in zip(*both, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(ad.jvp(run, (STATE,), (STATE,)), ad.jvp(plain, (STATE,), (STATE,)), rtol=1e-12)
    value, push = ad.linearize(run, STATE)
    assert push(STATE) == pytest.approx(ad.jvp(plain, (STATE,), (STATE,))[1], rel=1e-12)
    assert value == pytest.approx(plain(STATE))
    np.testing.assert_allclose(ad.vjp(run, STATE)[1](2.0)[0], 2.0 * ad.grad(plain)(STATE), rtol=1e-11)
    np.testing.assert_allclose(
        ad.jacrev(stepped)(STATE, 0.1), ad.jacfwd(plain_step)(STATE, 0.1), rtol=1e-11, atol=1e-14
    )


def test_batches():
    np.testing.assert_allclose(ad.vmap(run)(BATCH), [plain(u) for u in BATCH], rtol=1e-13)
    gradients = np.array([ad.grad(plain)(u) for u in BATCH])
    np.testing.assert_allclose(ad.vmap(ad.grad(run))(BATCH), gradients, rtol=1e-11, atol=1e-13)
    total = ad.grad(lambda batch: np.sum(ad.vmap(run)(batch)))
    np.testing.assert_allclose(total(BATCH), gradients, rtol=1e-11, atol=1e-13)


@ad.custom_vjp
def smoothed(u):
    return stepped(u, 0.1)


def _run(u):
    return smoothed(u), u


def _back(u, g):
    return (2.0 * stepped(g, 0.0),)


smoothed.defvjp(_run, _back)


def test_rules_of_a_users_own_hold_launches():
    np.testing.assert_allclose(ad.grad(lambda u: np.sum(smoothed(u)))(STATE), np.full(20, 2.0))
    assert ad.jit(lambda u: np.sum(smoothed(u)))(STATE) == pytest.approx(np.sum(plain_step(STATE, 0.1)))


def test_what_a_kernel_keeps_is_explained_and_measured():
    @ad.kernel
    def powers(x, y):
        i = ad.grid(1)
        if i < len(x):
            p = x[i]
            for _ in range(6):
                p = np.sin(p * x[i]) * p
            y[i] = p

    def total(x):
        y = np.zeros(len(x))
        powers[(len(x) + 31) // 32, 32](x, y)
        return np.sum(y)

    found = ad.explain(ad.grad(total), np.linspace(0.1, 1.0, 500), measure=True)
    (sweep,) = found.kernels
    assert [value.how for value in sweep.kept] == ["kept"]
    assert sweep.bytes_per_thread == 6 * 8
    assert {value.name for value in sweep.residuals if value.how == "recomputed"}
    assert found.measured is not None
    assert found.measured <= found.predicted
    assert "each thread keeps 48 B" in str(found)


def kept_of(kernel, *args):
    """What a thread keeps for the gradient of one launch: name, bits of an entry, entries; and all bytes."""

    def total(*args):
        y = np.zeros(len(args[0]))
        kernel[1, 32](*args, y)
        return np.sum(y * y)

    ad.check_grads(total, args, order=2)
    found = ad.explain(ad.grad(total), *args)
    (sweep,) = found.kernels
    return [(value.name, value.bits, value.entries) for value in sweep.kept], sweep.bytes_per_thread


def test_loops_that_do_not_change_a_value_keep_it_once():
    @ad.kernel
    def filtered(x, w, y):
        i = ad.grid(1)
        if i < len(x):
            v = np.array([x[i], 0.5])
            total = 0.0
            for j in range(len(w)):
                if j >= 0:
                    total += v[0] * v[0] * w[j]
            v[0] = total
            y[i] = v[0] * v[1]

    kept, size = kept_of(filtered, np.linspace(0.1, 1.0, 7), np.linspace(0.3, 0.9, 5))
    assert size is not None and size <= 16, kept


def test_bools_are_kept_as_bits():
    @ad.kernel
    def halved(x, w, y):
        i = ad.grid(1)
        if i < len(x):
            v = x[i]
            for j in ad.unroll(range(2)):
                for k in range(19):
                    v = v * 0.5 + w[k] if v * v > w[k] else v + 0.5
            y[i] = v

    kept, size = kept_of(halved, np.linspace(0.5, 0.9, 6), np.linspace(0.1, 0.8, 19))
    assert sorted(bits for _, bits, _ in kept) == [1, 1]
    assert [entries for _, _, entries in kept] == [19, 19]
    assert size == 3 + 3
