"""Digests of bytes and LLVM text of some gradients of the corpus: `python -m tests.corpus.texts EVERY`."""

from __future__ import annotations

import hashlib
import io
import sys
from contextlib import redirect_stdout

import anadrome as ad
from anadrome.array_ir.key import bytes_of
from tests.corpus.harness import SYMBOLIC, Case, quiet
from tests.corpus.test_corpus import PROGRAMS


def digest(case: Case) -> str:
    """What a program's reverse mode is found by on disk, and what its machine code is made of, in short; what
    the program prints is dropped."""
    with quiet(), redirect_stdout(io.StringIO()):
        _, weights = case.directions(1)
        pulled = ad.jit(case.derived.pulled, config=SYMBOLIC)
        program = pulled.make(pulled.signature((case.args, weights), {}))
    found = bytes_of(program.staged().function)
    assert found is not None
    return hashlib.sha256(found + program.executable.llvm_text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    for place, (name, program) in enumerate(PROGRAMS.items()):
        if place % int(sys.argv[1]) == 0:
            print(name, digest(Case(program)))
