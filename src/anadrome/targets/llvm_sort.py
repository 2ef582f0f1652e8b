"""The stable argsort as LLVM: merge sort, bottom up, on keys and their positions side by side.

Runs of a few elements are sorted by insertion, then merged pairwise between two buffers until one run is
left. NaN is greater than every number, so it comes last.
"""

from __future__ import annotations

from anadrome.dtypes import DType
from anadrome.targets.llvm_text import ModuleText, Value
from anadrome.targets.llvm_wrapper import Wrapper

RUN = 16
"""The length of the runs sorted by insertion."""

SOME = 1 << 12
"""Elements that are merged at once; then the routine looks whether it is to end."""


class _Sorter:
    """The variables of one argsort routine: two buffers of keys and positions, which take turns."""

    def __init__(self, module: ModuleText, name: str, dtype: DType) -> None:
        self.w = Wrapper(module, name, dtype, "ptr %values, ptr %out, i64 %n")
        w = self.w
        self.keys = [w.put("ptr", w.scratch("%n", dtype.bytes)), w.put("ptr", w.scratch("%n", dtype.bytes))]
        self.places = [w.put("ptr", "%out"), w.put("ptr", w.scratch("%n", 8))]

    def get(self, variable: Value, kind: str = "i64") -> Value:
        """A variable's value."""
        return self.w.text.value(f"load {kind}, ptr {variable}")

    def set(self, variable: Value, value: Value, kind: str = "i64") -> None:
        """Give a variable a value."""
        self.w.text.do(f"store {kind} {value}, ptr {variable}")

    def key(self, side: int, index: Value) -> Value:
        """The address of a key."""
        return self.w.element(self.get(self.keys[side], "ptr"), index)

    def place(self, side: int, index: Value) -> Value:
        """The address of a position."""
        return self.w.element(self.get(self.places[side], "ptr"), index, "i64")

    def less(self, left: Value, right: Value) -> Value:
        """left < right, where NaN is greater than all numbers and equal to itself."""
        text, dtype = self.w.text, self.w.dtype
        if not dtype.is_float:
            return text.value(f"icmp {'slt' if dtype.kind == 'int' else 'ult'} {self.w.kind} {left}, {right}")
        below = text.value(f"fcmp olt {self.w.kind} {left}, {right}")
        number = text.value(f"fcmp ord {self.w.kind} {left}, {left}")
        nan = text.value(f"fcmp uno {self.w.kind} {right}, {right}")
        return text.value(f"or i1 {below}, {text.value(f'and i1 {number}, {nan}')}")

    def least(self, left: Value, right: Value) -> Value:
        """The smaller of two sizes."""
        return self.w.text.intrinsic("llvm.smin.i64", "i64", [("i64", left), ("i64", right)])

    def copy_all(self) -> None:
        """Keys and positions 0, 1, … into the first buffers."""

        def one(i: Value) -> None:
            value = self.get(self.w.element("%values", i), self.w.kind)
            self.set(self.key(0, i), value, self.w.kind)
            self.set(self.place(0, i), i)

        self.w.loop("%n", one, work=4)

    def insert_runs(self) -> None:
        """Sort every run of `RUN` elements by insertion: move each back past the greater ones."""
        text, kind = self.w.text, self.w.kind
        at = text.alloca("i64")

        def insert(i: Value) -> None:
            start = text.value(f"and i64 {i}, {-RUN}")
            value = self.get(self.key(0, i), kind)
            self.set(at, i)

            def is_greater_before() -> Value:
                here = self.get(at)
                inside = text.value(f"icmp sgt i64 {here}, {start}")
                before = text.value(f"add i64 {here}, -1")
                safe = text.value(f"select i1 {inside}, i64 {before}, i64 {start}")
                return text.value(f"and i1 {inside}, {self.less(value, self.get(self.key(0, safe), kind))}")

            def shift() -> None:
                here = self.get(at)
                before = text.value(f"add i64 {here}, -1")
                self.set(self.key(0, here), self.get(self.key(0, before), kind), kind)
                self.set(self.place(0, here), self.get(self.place(0, before)))
                self.set(at, before)

            self.w.repeat(is_greater_before, shift)
            self.set(self.key(0, self.get(at)), value, kind)
            self.set(self.place(0, self.get(at)), i)

        self.w.loop("%n", insert, work=3 * RUN)

    def merge_all(self) -> None:
        """Merge runs of growing width from one side to the other; then the sides change."""
        text = self.w.text
        width, lo = self.w.put("i64", str(RUN)), text.alloca("i64")

        def one_round() -> None:
            self.set(lo, "0")
            self.w.repeat(lambda: text.value(f"icmp slt i64 {self.get(lo)}, %n"), one_pair)
            for pair in (self.keys, self.places):
                first, second = self.get(pair[0], "ptr"), self.get(pair[1], "ptr")
                self.set(pair[0], second, "ptr")
                self.set(pair[1], first, "ptr")
            self.set(width, text.value(f"shl i64 {self.get(width)}, 1"))

        def one_pair() -> None:
            start, step = self.get(lo), self.get(width)
            middle = self.least(text.value(f"add i64 {start}, {step}"), "%n")
            end = self.least(text.value(f"add i64 {middle}, {step}"), "%n")
            self.merge(start, middle, end)
            self.set(lo, end)

        self.w.repeat(lambda: text.value(f"icmp slt i64 {self.get(width)}, %n"), one_round)

    def merge(self, start: Value, middle: Value, end: Value) -> None:
        """Merge [start, middle) and [middle, end); of equals the left one comes first."""
        text, kind = self.w.text, self.w.kind
        left, right, target = (self.w.put("i64", at) for at in (start, middle, start))

        def both_below(left_end: Value, right_end: Value) -> Value:
            some_left = text.value(f"icmp slt i64 {self.get(left)}, {left_end}")
            some_right = text.value(f"icmp slt i64 {self.get(right)}, {right_end}")
            return text.value(f"and i1 {some_left}, {some_right}")

        def take() -> None:
            i, j = self.get(left), self.get(right)
            is_right = self.less(self.get(self.key(0, j), kind), self.get(self.key(0, i), kind))
            self.move(text.value(f"select i1 {is_right}, i64 {j}, i64 {i}"), target)
            step = text.value(f"zext i1 {is_right} to i64")
            self.set(right, text.value(f"add i64 {j}, {step}"))
            self.set(left, text.value(f"add i64 {i}, {text.value(f'sub i64 1, {step}')}"))

        def take_some() -> None:
            left_end, right_end = self.some(left, middle), self.some(right, end)
            self.w.repeat(lambda: both_below(left_end, right_end), take)

        def rest(variable: Value, stop: Value) -> None:
            def take_one() -> None:
                index = self.get(variable)
                self.move(index, target)
                self.set(variable, text.value(f"add i64 {index}, 1"))

            def is_below(last: Value) -> Value:
                return text.value(f"icmp slt i64 {self.get(variable)}, {last}")

            def take_some() -> None:
                last = self.some(variable, stop)
                self.w.repeat(lambda: is_below(last), take_one)

            self.w.repeat(lambda: is_below(stop), take_some, work=2 * SOME)

        self.w.repeat(lambda: both_below(middle, end), take_some, work=8 * SOME)
        rest(left, middle)
        rest(right, end)

    def some(self, variable: Value, stop: Value) -> Value:
        """Where the next `SOME` elements from a place on end, or all that are left."""
        return self.least(self.w.text.value(f"add i64 {self.get(variable)}, {SOME}"), stop)

    def move(self, source: Value, target: Value) -> None:
        """Put an element of side 0 at the target's place of side 1, and go on."""
        at, kind = self.get(target), self.w.kind
        self.set(self.key(1, at), self.get(self.key(0, source), kind), kind)
        self.set(self.place(1, at), self.get(self.place(0, source)))
        self.set(target, self.w.text.value(f"add i64 {at}, 1"))

    def finish(self) -> None:
        """Positions into %out, where they are not there already."""
        found = self.get(self.places[0], "ptr")
        elsewhere = self.w.text.value(f"icmp ne ptr {found}, %out")

        def copy() -> None:
            def one(i: Value) -> None:
                self.set(self.w.element("%out", i, "i64"), self.get(self.place(0, i)))

            self.w.loop("%n", one, work=2)

        self.w.when(elsewhere, copy)
        self.w.finish()


def argsort(module: ModuleText, name: str, dtype: DType) -> None:
    """The routine for one type of keys."""
    sorter = _Sorter(module, name, dtype)
    sorter.copy_all()
    sorter.insert_runs()
    sorter.merge_all()
    sorter.finish()
