"""Makes the programs in `examples/kernels/` importable."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[2] / "examples" / "kernels")

if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
