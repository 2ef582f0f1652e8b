"""docs/compiled.md is what the tables and the tests hold."""

from __future__ import annotations

from tests.meaning.page import PAGE, page


def test_page_is_what_the_tables_and_tests_hold() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.meaning.page"
