"""Rows for packages that are imported later: there when a program can name them, and not before."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from anadrome.frontend.tables import Late, Table

PACKAGES = ("fft", "interpolate", "linalg", "sparse", "special", "stats")

PROGRAMS = {
    "nothing": ("", "np.sin(x) * x", "np.sin(x) + x * np.cos(x)"),
    "fft": ("import scipy.fft", "np.sum(np.abs(scipy.fft.fft(np.array([x, 1.0]))) ** 2)", "4 * x"),
    "dct": ("from scipy.fft import dct", "np.sum(dct(np.array([x, 2.0]), norm='ortho') ** 2)", "2 * x"),
    "interpolate": (
        "from scipy.interpolate import CubicSpline",
        "CubicSpline(np.arange(5.0), np.arange(5.0) ** 2)(x)",
        "2 * x",
    ),
    "linalg": (
        "import scipy.linalg",
        "scipy.linalg.solve_triangular(np.array([[x]]), np.array([1.0]))[0]",
        "-1 / x**2",
    ),
    "LAPACK": ("", "np.linalg.det(np.linalg.inv(np.array([[x, 1.0], [0.0, 2.0]])))", "-0.5 / x**2"),
    "sparse": (
        "import scipy.sparse as sp\nA = sp.csr_array(np.eye(2))",
        "np.sum((A @ np.array([x, 1.0])) ** 2)",
        "2 * x",
    ),
    "sparse.linalg": (
        "import scipy.sparse as sp, scipy.sparse.linalg as solvers\nA = sp.csr_array(2.0 * np.eye(2))",
        "np.sum(solvers.spsolve(A, np.array([x, 1.0])) ** 2)",
        "x / 2",
    ),
    "special": ("from scipy.special import erf", "erf(x)", "2 / np.sqrt(np.pi) * np.exp(-x * x)"),
    "special, a row of the table": ("", "math.lgamma(x) + math.erf(x)", None),
    "outer": ("import scipy.special as s", "np.sum(s.xlogy.outer(np.array([x]), [2.0]))", "np.log(2.0)"),
    "stats": ("import scipy.stats", "scipy.stats.norm.logpdf(x)", "-x"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_package_is_imported_by_its_user_alone(name: str) -> None:
    """In a process of its own: what the program does not name is not imported, and what it names is known."""
    imports, value, slope = PROGRAMS[name]
    script = f"""
import math, sys
import numpy as np
import anadrome as ad
packages = {PACKAGES}
early = [one for one in packages if f"scipy.{{one}}" in sys.modules]
assert not early, early
{imports}
def f(x):
    return {value}
x = 1.25
found, step = ad.grad(f)(x), 1e-6
expected = {slope or "(f(x + step) - f(x - step)) / (2 * step)"}
assert abs(ad.jit(f)(x) - f(x)) < 1e-12, (ad.jit(f)(x), f(x))
assert abs(found - expected) < 1e-8, (found, expected)
print(*[one for one in packages if f"scipy.{{one}}" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported = done.stdout.split()
    assert name != "nothing" or imported == []
    assert name == "stats" or "stats" not in imported
    assert name in ("interpolate", "stats") or "interpolate" not in imported


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A package that nobody has imported."""
    module = types.ModuleType("late_package")
    module.function = lambda x: x  # type: ignore[attr-defined]
    monkeypatch.setattr("importlib.import_module", lambda _: sys.modules.setdefault("late_package", module))
    monkeypatch.delitem(sys.modules, "late_package", raising=False)
    return module


def test_rows_are_there_once_the_package_is(package: types.ModuleType) -> None:
    made = []

    def make() -> dict[object, str]:
        made.append(1)
        return {package.function: "late", abs: "overridden"}

    table: Table[str] = Table(({abs: "abs", len: "len"}, Late("late_package", make)))  # type: ignore[arg-type]
    assert package.function not in table and table[abs] == "abs" and not made
    sys.modules["late_package"] = package
    assert table[package.function] == "late" and table[abs] == "overridden" and table[len] == "len"
    assert made == [1] and len(table) == 3


def test_who_asks_for_all_rows_imports_the_packages(package: types.ModuleType) -> None:
    late: Late[str] = Late("late_package", lambda: {package.function: "late"})
    table = Table(
        (Table(({abs: "abs"}, late)), {len: "len"}), lambda function, row: f"{function.__name__} {row}"
    )
    assert [*table.values()] == ["abs abs", "len len", "<lambda> late"]
    assert "late_package" in sys.modules and len(late) == 1 and late[package.function] == "late"


def test_other_families_are_made_of_the_same_callables(package: types.ModuleType) -> None:
    late: Late[str] = Late("late_package", lambda: {package.function: "late"})
    table = Table(({abs: "abs"}, late))
    other = Table(table.mapped(lambda functions: {function: "other" for function in functions}))
    assert package.function not in other and other[abs] == "other"
    sys.modules["late_package"] = package
    assert other[package.function] == "other"


def test_what_has_no_hash_is_refused_as_by_a_dictionary() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        _ = [] in Table(({abs: 1},))
