"""What Anadrome says when something is wrong: spans, diagnostics and one class per kind of error.

Each room's errors stand in the file of its name here; `anadrome.errors` is the table of contents.
"""

from anadrome.errors.base import AnadromeError, Diagnostic, Span, render

__all__ = ["AnadromeError", "Diagnostic", "Span", "render"]
