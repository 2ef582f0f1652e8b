"""Numbers that only a run knows: bounds hold, and formulas give what the operations give."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from anadrome.prediction.symbolic_intervals import Count, Value, bounds, call, counts, formula, growth

BINARY = ("add", "sub", "mul", "min", "max")
COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def drawn(draw: Any, known: dict[Count, int], depth: int) -> tuple[Value, int]:
    """An expression in counts, and its value where the counts are `known`."""
    kind = draw(st.integers(0, 3 if depth else 1))
    if kind == 0:
        value = draw(st.integers(-3, 9))
        return value, value
    if kind == 1:
        return draw(st.sampled_from(list(known.items())))
    (left, one), (right, two) = (drawn(draw, known, depth - 1) for _ in range(2))
    if kind == 2:
        name = draw(st.sampled_from(BINARY))
        return call(name, left, right), int(call(name, one, two))  # type: ignore[arg-type]
    (low, small), (high, large) = (drawn(draw, known, depth - 1) for _ in range(2))
    name = draw(st.sampled_from(COMPARED))
    condition, holds = call(name, low, high), call(name, small, large)
    return call("select", condition, left, right), one if holds else two


@given(st.data())
def test_bounds_hold_and_formulas_say_the_value(data: st.DataObject) -> None:
    ranges = ((0, 5), (2, 9), (-4, 4))
    known = {Count(lo, hi, "a count"): data.draw(st.integers(lo, hi)) for lo, hi in ranges}
    found, value = drawn(data.draw, known, 4)
    lo, hi = bounds(found)
    assert lo <= value <= hi
    names: dict[Count, str] = {}
    text = formula(found, names)
    assert set(names) == set(counts(found))
    given_ = {name: known[count] for count, name in names.items() if count in known}
    if len(given_) == len(names):  # none was made because an expression was long
        assert eval(text, {"min": min, "max": max, **given_}) == value


def test_what_a_sum_grows_by() -> None:
    start, step = Count(0, 10, ""), Count(0, 2, "")
    after = call("add", call("add", start, step), 3)
    assert growth(after, start) == (3, 5)
    assert growth(call("select", Count(False, True, ""), after, start), start) == (0, 5)
    assert growth(call("mul", start, 2), start) is None
    assert growth(call("sub", step, start), start) is None
