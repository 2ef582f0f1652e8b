"""The interface as a user meets it: names, signatures, docstrings, help."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re
from collections.abc import Callable

import numpy as np
import pytest

import anadrome as ad

PUBLIC = [name for name in ad.__all__ if not name.startswith("__")]
CALLABLE = [name for name in PUBLIC if callable(getattr(ad, name))]


def scaled(x, scale=2.0):
    """A number times another."""
    return np.sum(x) * scale


def shown(value: object) -> str:
    """What `help` shows."""
    return pydoc.plain(pydoc.render_doc(value))


def squeezed(text: str) -> str:
    """A text without the line breaks, margins and commas by which versions of Python differ."""
    return re.sub(r"[\s,|]", "", text)


def test_dir_shows_the_public_names() -> None:
    assert dir(ad) == sorted(ad.__all__)
    assert {"api", "ad", "config", "errors", "frontend"}.isdisjoint(dir(ad))
    assert all(hasattr(ad, name) for name in dir(ad))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_has_a_docstring_with_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(ad, name)) or ""
    assert text.splitlines()[0].endswith(".")
    examples = doctest.DocTestParser().get_examples(text)
    assert examples
    assert any("ad." in example.source for example in examples), "it is called as a user calls it"


@pytest.mark.parametrize("name", PUBLIC)
def test_help_shows_the_docstring(name: str) -> None:
    value = getattr(ad, name)
    first = (inspect.getdoc(value) or "").splitlines()[0]
    assert first in shown(value)


@pytest.mark.parametrize("name", CALLABLE)
def test_help_shows_the_signature(name: str) -> None:
    value = getattr(ad, name)
    signature = str(inspect.signature(value))
    assert squeezed(f"{name}{signature}") in squeezed(shown(value))


def test_help_of_a_gradient() -> None:
    words = squeezed(shown(ad.grad))
    assert words.startswith(squeezed("Python Library Documentation: Verb in module anadrome.api.transforms"))
    assert (
        squeezed("grad(function: 'Function', argnums: 'Argnums | None' = None, has_aux: 'bool' = False")
        in words
    )
    assert "\n    The gradient of a scalar-valued function" in shown(ad.grad)


@pytest.mark.parametrize(
    ("made", "signature", "first"),
    [
        (ad.jit(scaled), "(x, scale=2.0)", "A number times another."),
        (ad.grad(scaled), "(x, scale=2.0)", "`grad` of `scaled`."),
        (ad.jacobian(scaled), "(x, scale=2.0)", "`jacobian` of `scaled`."),
        (ad.vmap(scaled), "(*args, **kwargs)", "`vmap` of `scaled`."),
        (ad.jacobian(scaled, sparse=True), "(x, scale=2.0)", "`jacobian(…, sparse=True)` of `scaled`."),
        (ad.grad(lambda x: x), "(x)", "`grad` of `<lambda>`."),
        (ad.custom_jvp(scaled), "(x, scale=2.0)", "A number times another."),
        (ad.checkpoint(scaled), "(x, scale=2.0)", "A number times another."),
        (ad.vjp(scaled, 1.0, 2.0)[1], "(cotangent: 'Any') -> 'Any'", "`pullback` of `scaled`."),
        (ad.linearize(scaled, 1.0)[1], "(*tangents: 'Any') -> 'Any'", "`pushforward` of `scaled`."),
        (ad.trace_nan(scaled), "(x, scale=2.0)", "A number times another."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_transforms_give_is_documented(made: Callable[..., object], signature: str, first: str) -> None:
    assert str(inspect.signature(made)) == signature
    assert (inspect.getdoc(made) or "").splitlines()[0] == first
    assert first in shown(made)
    assert "object at 0x" not in repr(made)


def test_verbs_stay_what_they_are() -> None:
    class Holder:
        transform = ad.grad

    assert Holder().transform is ad.grad is Holder.transform
    assert repr(ad.grad) == "anadrome.grad" and repr(ad.range) == "anadrome.range"
    assert ad.grad.__name__ == "grad" and ad.segment_sum.__name__ == "segment_sum"
