"""The optional build of Anadrome by mypyc: `ANADROME_COMPILED=1 pip install .`

hatchling calls this for every wheel. Without the variable, and for editable installations, it does nothing,
and the wheel is pure Python. It needs a C compiler, and some minutes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = """\
[mypy]
explicit_package_bases = True
ignore_missing_imports = True
ignore_errors = True
allow_redefinition = True
"""
"""mypy's: types are checked where the sources stand, and a name that patterns bind has the types of all."""


class CompiledBuild(BuildHookInterface[Any]):  # type: ignore[misc]  # hatchling is there when wheels are built
    """Puts compiled modules beside the sources of a wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling."""
        return ["mypy>=2.4,<3", "setuptools>=65"] if _is_wanted() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if self.target_name != "wheel" or version == "editable" or not _is_wanted():
            return
        folder = ROOT / "build" / "written_out"
        shutil.rmtree(folder / "anadrome", ignore_errors=True)  # what C files became stays for the next time
        for old in (*folder.glob("*.so"), *folder.glob("*.pyd")):
            old.unlink()
        for path in compile_into(folder):
            build_data["force_include"][str(path)] = str(path.relative_to(folder))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def _is_wanted() -> bool:
    return os.environ.get("ANADROME_COMPILED", "") not in ("", "0")


def compile_into(folder: Path) -> list[Path]:
    """Write the sources out into a folder and compile them there; the libraries that this makes."""
    sys.path.insert(0, str(ROOT))
    from mypyc.build import mypycify  # noqa: PLC0415 - only this build needs it
    from setuptools import Distribution  # noqa: PLC0415 - only this build needs it

    from scripts.written_out import write  # noqa: PLC0415 - stands beside this file

    modules = [str(path.relative_to(folder)) for path in write(folder)]
    (folder / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    with contextlib.chdir(folder):
        extensions = mypycify(["--config-file", "mypy.ini", *modules], opt_level="1", multi_file=True)
        build = Distribution({"name": "anadrome", "ext_modules": extensions}).get_command_obj("build_ext")
        build.build_lib = "."
        build.ensure_finalized()
        build.run()
    made = [path for path in folder.rglob("*") if path.suffix in (".so", ".pyd")]
    return [path for path in made if path.relative_to(folder).parts[0] != "build"]
