"""Every `python` fence of the README and of docs/ runs, page by page, from the first to the last."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if "\n```python\n" in page.read_text(encoding="utf-8")
]


def page_program(page: str) -> str:
    """The fences of a page as one program, the other lines blank: its line numbers are the page's."""
    lines = []
    inside = False
    for line in page.splitlines():
        if line.startswith("```"):
            inside = line == "```python"
            lines.append("")
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def test_page_program_keeps_line_numbers() -> None:
    page = "text\n```python\na = 1\n```\n```python fragment\nnot run\n```\n```text\nb\n```\n"
    assert page_program(page).splitlines() == ["", "", "a = 1", "", "", "", "", "", "", ""]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / f"{page.stem}.py"
    script.write_text(page_program(page.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANADROME_THREADS", "2")  # figures of memory are those of two, on one core as well
    runpy.run_path(str(script))
