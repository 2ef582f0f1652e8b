"""Every bad program ends in its exact error, in one process, and the next good call works.

`python -m tests.errors.write` writes the expected texts anew: read the difference before it is kept.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import anadrome as ad
from tests.errors.corpus import EXPECTED, NAMES, PROGRAMS, builtin_of, error_of, text_of

POINT = np.linspace(0.5, 2.0, 20)

SPANLESS = {
    "annotation_malformed",
    "donated_name",
    "donated_static",
    "grad_no_function",
    "jvp_no_tuple",
    "kernel_call",
    "kernel_size_block",
    "settings_threads",
    "source_exec",
    "sparse_auxiliary",
    "sparse_mode",
    "static_name",
    "tool_argument_huge",
    "tool_argument_size",
    "tool_data_header",
    "tool_data_short",
    "tool_points_equal",
    "tool_points_few",
    "tool_points_nan",
    "tool_program_fails",
    "tool_stage",
    "tool_target",
}
"""Calls in which there is no text of the user's to point at."""

WORDLESS = {"check_", "loop_range_step"}
"""Programs whose words are the user's own: no help is added to them."""

INTERNAL = re.compile(r"Scalar\(|Var\(|Missing|<[a-z_.]+ object|\bassert_never\b|NoneType|malformed program")


def cost(x):
    return sum(np.exp(-v * v) for v in x)


good = ad.value_and_grad(cost)


@pytest.mark.parametrize("name", NAMES)
def test_error_is_exact(name: str) -> None:
    error = error_of(name)
    expected = EXPECTED / f"{name}.txt"
    assert expected.exists(), "python -m tests.errors.write"
    assert text_of(error) == expected.read_text(encoding="utf-8")
    value, slope = good(POINT)
    np.testing.assert_allclose(value, np.exp(-POINT * POINT).sum(), rtol=1e-14)
    np.testing.assert_allclose(slope, -2 * POINT * np.exp(-POINT * POINT), rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_error_says_what_a_user_needs(name: str) -> None:
    text = (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")
    first, _, words = text.partition("\n\n")
    assert not first.endswith("(Exception)"), "an error is an instance of a builtin class"
    assert words.startswith("error: ")
    assert not INTERNAL.search(words)
    if not name.startswith(tuple(WORDLESS)):
        assert "\nhelp: " in words
    if name not in SPANLESS:
        assert f"({name}.py:" in words.partition("\n")[0]
        assert re.search(r"^ *\| +\^+ \S", words, re.MULTILINE), "a caret with a label"


def test_corpus_is_whole() -> None:
    assert len(NAMES) >= 50
    assert {path.stem for path in EXPECTED.glob("*.txt")} == set(NAMES)
    assert all((PROGRAMS / f"{name}.py").read_text().startswith('"""') for name in NAMES)


def test_an_error_is_raised_again_at_the_next_call() -> None:
    compiled = ad.jit(lambda x, i: x[i] * 2.0)
    for _ in range(3):
        with pytest.raises(IndexError):
            compiled(POINT, 20)
        assert compiled(POINT, 19) == 4.0
        with pytest.raises(ad.AnadromeError) as caught:
            compiled(POINT, -21)
        assert builtin_of(caught.value) == "IndexError"
