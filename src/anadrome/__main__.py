"""`python -m anadrome` is the command `anadrome`."""

from __future__ import annotations

import sys

from anadrome.cli import main

sys.exit(main())
