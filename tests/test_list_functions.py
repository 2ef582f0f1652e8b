"""docs/functions.md is what the tables hold."""

from __future__ import annotations

from scripts.list_functions import PAGE, page


def test_page_is_what_the_tables_hold() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python scripts/list_functions.py"
