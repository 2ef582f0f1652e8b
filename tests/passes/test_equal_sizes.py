"""Text in, text out: which sizes become one, what is read how, and where the checks go; and what fuses so."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import becomes

import anadrome as ad
from anadrome.config import Config
from anadrome.errors import AnadromeError
from anadrome.passes.equal_sizes import equal_sizes

HEAD = "fn f(x: f64[n], y: f64[m], z: f64[l], a: f64[m, l], k: i64) -> {result} {{\n{body}\n}}"

CHECKED = 'c = eq m n\ncheck c size "no" m n\n'
"""In all programs m is replaced by n."""

RULES = {
    "elements, read where they were": (
        "f64",
        CHECKED + "s = parfor i < m { v = y[i]; w = a[i, 0]; u = mul v w; yield reduce add u }\nreturn s",
        CHECKED + "s = parfor i < n { v = y[i]; w = a[i, 0]; u = mul v w; yield reduce add u }\nreturn s",
    ),
    "an array that is taken whole": (
        "f64[m]",
        CHECKED + "b = update y[0] 2.0\nreturn b",
        CHECKED + "y1 = reshape y [n]\nb = update y1[0] 2.0\nb1 = reshape b [m]\nreturn b1",
    ),
    "a row": (
        "f64",
        'c = eq l n\ncheck c size "no"\nr = a[k]\n'
        "s = parfor i < l { v = r[i]; yield reduce add v }\nreturn s",
        'c = eq l n\ncheck c size "no"\na1 = reshape a [m, n]\nr = a1[k]\n'
        "s = parfor i < n { v = r[i]; yield reduce add v }\nreturn s",
    ),
    "one after the other": (
        "f64",
        CHECKED + 'd = eq l m\ncheck d size "no"\n'
        "s = parfor i < l { v = a[i, i]; w = z[i]; u = add v w; yield reduce add u }\nreturn s",
        CHECKED + 'd = eq l n\ncheck d size "no"\n'
        "s = parfor i < n { v = a[i, i]; w = z[i]; u = add v w; yield reduce add u }\nreturn s",
    ),
    "both sides united before": (
        "f64",
        'c = eq l m\ncheck c size "no"\nd = eq n l\ncheck d size "no"\n'
        "s = parfor i < l { t = parfor j < m { yield reduce add 1.0 }; yield reduce add t }\nreturn s",
        'c = eq l m\ncheck c size "no"\nd = eq n m\ncheck d size "no"\n'
        "s = parfor i < n { t = parfor j < n { yield reduce add 1.0 }; yield reduce add t }\nreturn s",
    ),
    "a check goes before a loop": (
        "f64",
        "s = parfor i < n { v = x[k]?; yield reduce add v }\n" + CHECKED + "t = add s 1.0\nreturn t",
        CHECKED + "s = parfor i < n { v = x[k]?; yield reduce add v }\nt = add s 1.0\nreturn t",
    ),
    "a check stays behind another one": (
        "f64",
        'e = gt k 0\ncheck e assert "mine"\nb = parfor i < m { v = y[i]; yield stack v }\n'
        + CHECKED
        + "return 1.0",
        'e = gt k 0\ncheck e assert "mine"\n'
        + CHECKED
        + "b = parfor i < n { v = y[i]; yield stack v }\nreturn 1.0",
    ),
    "a check waits for what it compares": (
        "f64",
        "s = parfor i < n { v = x[i]; w = to_i64 v; yield reduce add w }\nt = exp 1.0\n"
        'c = eq m s\ncheck c size "no"\nreturn t',
        "s = parfor i < n { v = x[i]; w = to_i64 v; yield reduce add w }\n"
        'c = eq m s\ncheck c size "no"\nt = exp 1.0\nreturn t',
    ),
    "another check that compares sizes": (
        "f64",
        'c = eq m n\ncheck c assert "mine"\ns = parfor i < m { v = y[i]; yield reduce add v }\nreturn s',
        'c = eq m n\ncheck c assert "mine"\ns = parfor i < n { v = y[i]; yield reduce add v }\nreturn s',
    ),
    "nothing in a branch": (
        "f64",
        'e = gt k 0\ns = if e { c = eq m n\ncheck c size "no"\n'
        "t = parfor i < m { yield reduce add 1.0 }; return t } else { return 0.0 }\nreturn s",
        'e = gt k 0\ns = if e { c = eq m n\ncheck c size "no"\n'
        "t = parfor i < m { yield reduce add 1.0 }; return t } else { return 0.0 }\nreturn s",
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule):
    result, before, after = RULES[rule]
    becomes(equal_sizes, HEAD.format(result=result, body=before), HEAD.format(result=result, body=after))


# ---------------------------------------------------------------------------- programs
PLAIN = Config(cache=False, threads=1)


def weighted(table, places, weights):
    return np.sum(weights * table[places] ** 3)


def gathered(count=20):
    rng = np.random.default_rng(0)
    return rng.normal(size=30), rng.integers(0, 30, 20), rng.normal(size=count)


def test_a_gather_and_what_it_is_multiplied_by_are_one_loop():
    function = ad.jit(weighted, config=PLAIN)
    assert ad.show(function, *gathered()).count("parfor") == 1
    np.testing.assert_allclose(function(*gathered()), weighted(*gathered()), rtol=1e-14)
    ad.check_grads(function, gathered())


@pytest.mark.parametrize("count", [19, 21])
def test_sizes_that_differ_are_refused_with_their_line(count):
    function = ad.jit(weighted, config=PLAIN)
    for call in (function, ad.grad(function)):
        with pytest.raises(AnadromeError, match=rf"sizes {count} and 20 differ \(.*test_equal_sizes.py:"):
            call(*gathered(count))


def test_products_of_matrices_whose_sizes_a_check_has_united():
    def loss(a, b, c):
        d = a @ b + c
        return np.sum(d * c) + np.sum(d[0] * c[1])

    rng = np.random.default_rng(0)
    arguments = rng.normal(size=(40, 30)), rng.normal(size=(30, 20)), rng.normal(size=(40, 20))
    function = ad.jit(loss, config=PLAIN)
    np.testing.assert_allclose(function(*arguments), loss(*arguments), rtol=1e-13)
    ad.check_grads(function, arguments)
    ad.check_grads(ad.jit(lambda *given: np.sum(ad.grad(loss)(*given) ** 2), config=PLAIN), arguments)
