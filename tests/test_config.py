"""Settings: what each may be, from the program and from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import anadrome as ad
from anadrome.config import KINDS, Config, from_environment
from anadrome.errors.config import UnsuitableSetting


def test_variables() -> None:
    found = from_environment(
        {
            "ANADROME_THREADS": "2",
            "ANADROME_CHECKS": "no",
            "ANADROME_VERIFY": "True",
            "ANADROME_CACHE": "off",
            "ANADROME_MIXED": "store",
            "ANADROME_DUMP": "",
            "ANADROME_SMALL_DIMENSION": "",
            "OTHER": "x",
        }
    )
    assert found == Config(threads=2, checks=False, verify=True, cache=False, mixed="store")


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("ANADROME_THREADS", "abc", "an integer from 0 to 1024"),
        ("ANADROME_THREADS", "2.5", "an integer from 0 to 1024"),
        ("ANADROME_THREADS", "-1", "an integer from 0 to 1024"),
        ("ANADROME_THREADS", "1" * 30, "an integer from 0 to 1024"),
        ("ANADROME_THREADS", "9" * 5000, "an integer from 0 to 1024"),
        ("ANADROME_SMALL_DIMENSION", "-1", "an integer from 0 to 2147483647"),
        ("ANADROME_CACHE_MEGABYTES", "1GB", "an integer from 0 to 2147483647"),
        ("ANADROME_CACHE", "maybe", "1 or 0 (True or False)"),
        ("ANADROME_MIXED", "foo", "one of auto, reverse, store, recompute"),
        ("ANADROME_CACHE_DIR", f"{__file__}/cache", f"made ({__file__} is a file)"),
    ],
)
def test_a_bad_variable_is_named_with_what_it_may_be(variable: str, text: str, expected: str) -> None:
    with pytest.raises(UnsuitableSetting) as caught:
        from_environment({variable: text})
    words = str(caught.value)
    assert f"the setting `{variable}` must be " in words and expected in words
    assert f"`unset {variable}`" in words
    assert len(words) < 400


@pytest.mark.parametrize("field", KINDS)
def test_no_field_takes_anything(field: str) -> None:
    with pytest.raises(ValueError, match=f"the setting `{field}` must be "):
        Config(**{field: 2.5})


def test_a_bad_variable_is_an_error_where_something_is_compiled(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import anadrome as ad\nprint('imported')\nad.jit(abs)\n")
    environment = {**os.environ, "ANADROME_THREADS": "many", "ANADROME_TRACEBACK": "short"}
    command = [sys.executable, str(program)]
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.stdout == "imported\n"
    shown = [line for line in found.stderr.splitlines() if line.strip(" ~^")]  # Python 3.13 underlines more
    assert "\n".join(shown) == (
        f'Traceback (most recent call last):\n  File "{program}", line 3, in <module>\n    ad.jit(abs)\n'
        "anadrome.errors.config.UnsuitableSetting: error: the setting `ANADROME_THREADS` must be an integer "
        "from 0 to 1024, and is 'many'\nhelp: set the environment variable to such a value, or remove it: "
        "`unset ANADROME_THREADS`"
    )


def test_the_command_names_a_bad_variable() -> None:
    environment = {**os.environ, "ANADROME_CACHE_MEGABYTES": "1GB", "ANADROME_TRACEBACK": "short"}
    command = [sys.executable, "-m", "anadrome", "doctor"]
    found = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert found.returncode == 1 and not found.stdout
    assert found.stderr.startswith("error: the setting `ANADROME_CACHE_MEGABYTES` must be an integer from 0 ")


def test_a_stage_to_dump_is_one() -> None:
    with pytest.raises(UnsuitableSetting, match=r"the setting `dump` must be .*, fuse, .*and is 'fuze'"):
        ad.jit(lambda x: x * x, config=Config(dump="array,fuze"))(2.0)


def test_cache_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert Config().cache_path == tmp_path / ".cache" / "anadrome"
    assert Config(cache_dir="~/mine").cache_path == tmp_path / "mine"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert Config().cache_path == tmp_path / "other" / "anadrome"


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert Config().cache_path.name == f"anadrome-{os.getuid()}"
