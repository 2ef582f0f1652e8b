"""`docs/errors.md` says what the classes and the corpus say."""

from __future__ import annotations

from anadrome.errors.codes import CODES
from tests.errors.catalogue import BASES, PAGE, ROOMS, classes_of, examples, page

WITHOUT_PROGRAM = {
    "GradientMismatch",  # check_grads finds a bug of ours
    "IRError",
    "IRSyntaxError",
    "MissingFunction",  # an old C library
    "MissingTransforms",  # another NumPy
    "RoomUsedUp",  # the call runs again with more
    "OutputError",  # a picture, by matplotlib
    "NonFinite",  # trace_nan shows it, nothing raises it
    "NotDifferentiable",  # every operation of the tables has a rule
    "StagedOutside",
    "SizeUnknown",
}


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.errors.catalogue"


def test_every_class_has_a_code_of_its_own() -> None:
    names = {kind.__name__ for _, module in ROOMS for kind in classes_of(module)}
    assert names == set(CODES)
    assert len(set(CODES.values())) == len(CODES)


def test_every_class_has_a_program() -> None:
    known = examples()
    missing = set()
    for _, module in ROOMS:
        for kind in classes_of(module):
            family = {one.__name__ for one in (kind, *kind.__subclasses__())}
            if kind not in BASES and kind.__name__ not in WITHOUT_PROGRAM:
                missing |= set() if family & set(known) else {kind.__name__}
    assert not missing
