"""Whose a function is: the user's, whose text is evaluated, or a library's, which runs as it is."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import anadrome as ad
from anadrome.frontend.own import is_library

SOURCE = """
import numpy as np

rate = 2.0

class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return np.sum(self.k * x**2)

def total(x):
    return rate * np.sum(np.sin(x)) + Spring(3.0).energy(x)
"""


@pytest.mark.parametrize("name", ("profile", "code", "my_own_model"))
def test_a_file_of_the_users_may_bear_the_name_of_one_of_pythons(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / f"{name}.py"
    file.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    spec.loader.exec_module(module)
    x = np.array([0.1, 0.2])
    for derivative in (ad.grad(module.total), ad.grad(lambda x: module.total(x))):
        for rate in (2.0, 4.0):
            module.rate = rate
            np.testing.assert_allclose(derivative(x), rate * np.cos(x) + 6.0 * x)


@pytest.mark.parametrize(
    "name", ("math", "statistics", "os.path", "collections.abc", "builtins", "_operator", "sys")
)
def test_what_comes_with_python_is_a_library(name: str) -> None:
    importlib.import_module(name)
    assert is_library(name)


@pytest.mark.parametrize("name", ("numpy", "numpy.linalg", "scipy.special", "anadrome.api"))
def test_so_are_numpy_and_scipy(name: str) -> None:
    assert is_library(name)


@pytest.mark.parametrize("name", ("pytest", "numpy_of_mine", "", "__main__", "tests.own"))
def test_other_packages_are_evaluated(name: str) -> None:
    assert not is_library(name)
