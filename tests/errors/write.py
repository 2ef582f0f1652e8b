"""Write the expected text of every bad program: `python -m tests.errors.write [NAME…]`."""

from __future__ import annotations

import sys

from tests.errors.corpus import EXPECTED, NAMES, error_of, text_of


def main(names: list[str]) -> None:
    """Write the expected files of these programs, or of all."""
    EXPECTED.mkdir(exist_ok=True)
    for stale in EXPECTED.glob("*.txt"):
        if stale.stem not in NAMES:
            stale.unlink()
    for name in names or NAMES:
        (EXPECTED / f"{name}.txt").write_text(text_of(error_of(name)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
