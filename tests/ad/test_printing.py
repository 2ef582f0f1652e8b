"""A derivative prints what its function prints, once and in its order; what is run again does not print."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import anadrome as ad
from anadrome.errors.frontend import UnsupportedCall


def printed(function: Callable[..., object], *args: Any) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        function(*args)
    return out.getvalue()


def counted_loops(x):
    y = x
    while y < 50.0:
        y = y * x + 1.0
        print("while", y)
    for i in range(4):
        y = 0.5 * y
        if y > 3.0:
            print("for", i, y)
    return y


def in_place(a):
    print("a", a)
    s, b = 0.0, a.copy()
    for i in range(len(a)):
        b[i] = b[i] * b[i] + s
        s = s + b[i]
        print(f"{i}: {s:.6f}", b)
    return s


@ad.checkpoint
def layer(x):
    print("layer", x)
    return np.sin(x)


def checkpointed(x):
    return layer(layer(x))


def checkpointed_loop(x):
    y = x
    for i in ad.range(50, checkpoint="sqrt"):
        y = y + np.sin(y) / (i + 1.0)
        if i % 10 == 0:
            print(i, y)
    return y


def inner_gradient(x):
    def cube(y):
        print("cube", y)
        return y**3

    d = ad.grad(cube)(x)
    print("d", d)
    return d * x


def inner_auxiliary(x):
    def pair(y):
        print("pair", y)
        return y * y, y

    d, auxiliary = ad.grad(pair, has_aux=True)(x)
    return d + auxiliary


def comprehension(a):
    def one(v):
        print("one", v)
        return np.exp(v)

    return sum([one(v) for v in a])


def gradient_in_a_loop(x):
    def loss(y):
        print(f"loss {y * y:.6f}")
        return y * y

    for i in range(60):
        x = x - 0.1 * ad.grad(loss)(x)
    print(f"end {x:.6f}")
    return x


PROGRAMS = {
    "while and for": (counted_loops, 1.5),
    "in place, unrolled": (in_place, np.arange(4.0)),
    "in place": (in_place, np.arange(30.0) / 30),
    "checkpoint": (checkpointed, 1.0),
    "gradient inside": (inner_gradient, 1.5),
    "auxiliary inside": (inner_auxiliary, 1.5),
    "comprehension": (comprehension, np.arange(30.0) / 30),
    "gradient in a loop": (gradient_in_a_loop, 1.0),
}


def one_like(x):
    return np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


def by_vjp(f):
    def run(x):
        _, pull = ad.vjp(f, x)
        return pull(1.0), pull(2.0)

    return run


def by_linearize(f):
    def run(x):
        _, push = ad.linearize(f, x)
        return push(one_like(x)), push(one_like(x))

    return run


DERIVATIVES = {
    **{
        verb.__name__: verb
        for verb in (ad.grad, ad.value_and_grad, ad.jacfwd, ad.jacrev, ad.jacobian, ad.hessian)
    },
    "gradient of a gradient": lambda f: ad.grad(lambda x: np.sum(ad.grad(f)(x))),
    "jvp": lambda f: lambda x: ad.jvp(f, (x,), (one_like(x),)),
    "hvp": lambda f: lambda x: ad.hvp(f, (x,), (one_like(x),)),
    "vjp": by_vjp,
    "vjp in a program": lambda f: ad.jit(by_vjp(f)),
    "linearize": by_linearize,
    "linearize in a program": lambda f: ad.jit(by_linearize(f)),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_print_once(name: str, derivative: str) -> None:
    function, x = PROGRAMS[name]
    expected = printed(function, x)
    assert expected
    assert printed(DERIVATIVES[derivative](function), x) == expected


def test_a_loop_with_a_policy_prints_once() -> None:
    text = printed(ad.jit(checkpointed_loop), 1.0)
    assert [line.split()[0] for line in text.splitlines()] == ["0", "10", "20", "30", "40"]
    assert printed(ad.grad(checkpointed_loop), 1.0) == text
    assert printed(ad.hessian(checkpointed_loop), 1.0) == text


def test_printing_changes_no_derivative() -> None:
    def silent(x):
        y = x
        while y < 50.0:
            y = y * x + 1.0
        for _ in range(4):
            y = 0.5 * y
        return y

    with contextlib.redirect_stdout(io.StringIO()):
        assert ad.grad(counted_loops)(1.5) == pytest.approx(ad.grad(silent)(1.5), rel=1e-12)
        assert ad.hessian(counted_loops)(1.5) == pytest.approx(ad.hessian(silent)(1.5), rel=1e-12)


@ad.custom_jvp
def ruled(x):
    print("ruled", x)
    return np.sin(x)


ruled.defjvp(lambda primals, tangents: (np.sin(primals[0]), np.cos(primals[0]) * tangents[0]))


def test_a_function_with_a_rule_prints_its_own_text() -> None:
    assert printed(ad.jit(ruled), 1.0) == printed(ad.grad(ruled), 1.0) == "ruled 1.0\n"


@ad.custom_jvp
def loud_rule(x):
    return np.sin(x)


def _loud(primals, tangents):
    print("rule")
    return np.sin(primals[0]), np.cos(primals[0]) * tangents[0]


loud_rule.defjvp(_loud)


def _contraction(y, x):
    print(y)
    return 0.5 * np.cos(y) + x


REFUSED = {
    "a rule": (lambda: ad.grad(loud_rule)(1.0), "a rule is run as often"),
    "a fixed point": (lambda: ad.fixed_point(_contraction, 0.0, 1.0), "as often as it needs"),
    "rows": (lambda: ad.vmap(counted_loops)(np.ones(3)), "`vmap` runs rows in any order"),
    "gradients of rows": (
        lambda: ad.vmap(ad.grad(counted_loops))(np.ones(3)),
        "`vmap` runs rows in any order",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_runs_in_any_order_does_not_print(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(UnsupportedCall, match=words):
        call()
