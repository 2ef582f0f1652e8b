"""Columns of rows that lanes store together: what the interpreter stores one element after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anadrome.dtypes import ALL, BOOL, DType
from tests.targets.oracle import agree, compiled

RNG = np.random.default_rng(9)
STRIPS = 3


def program(body: str, width: int, stride: int, dtype: str = "f64") -> str:
    """Lanes that run a body for the rows of an array, `row` the first element of each."""
    count = STRIPS * width
    return f"""fn f(x: {dtype} buffer, k: i64 buffer) {{
      alloc out: {dtype} global [{count * stride + 64}]
      for e in 0 .. {count * stride + 64} sequential {{ out[e] = x[mod(e, 5)] }}
      alloc other: {dtype} global [{count}]
      view seen = out [0]
      for strip in 0 .. {STRIPS} sequential {{
        for lane in 0 .. {width} lanes {{
          let i: i64 = add(mul(strip, {width}), lane)
          let row: i64 = mul(i, {stride})
          other[i] = x[i]
          {body}
        }}
      }}
      return out as {dtype} [{count * stride + 64}], other as {dtype} [{count}]
    }}"""


def arguments(width: int, dtype: DType, stride: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Numbers to store, and places."""
    count = STRIPS * width * stride + 64
    return RNG.integers(0, 2 if dtype is BOOL else 100, count), RNG.integers(0, 50, STRIPS * width)


def stores(columns: list[int], width: int) -> str:
    return " ".join(f"out[add(row, {c})] = x[add(i, {width * c})]" for c in columns)


@pytest.mark.parametrize("width", [2, 4, 8, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 30])
@pytest.mark.parametrize("gap", [0, 1, 6])
def test_columns(count: int, gap: int, width: int) -> None:
    columns = list(range(gap, gap + count))
    stride = max(count + gap, 2)
    agree(program(stores(columns[::-1], width), width, stride), *arguments(width, named("f64"), stride))


def named(name: str) -> DType:
    return next(dtype for dtype in ALL if dtype.name == name)


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_all_types(dtype: DType) -> None:
    for columns, stride in (([0, 1, 2], 3), ([0, 1, 2, 3, 4, 5, 6, 7], 11), ([1, 2, 5, 6, 7], 9)):
        agree(program(stores(columns, 8), 8, stride, dtype.name), *arguments(8, dtype, stride))


STATEMENTS = {
    "column": "out[add(row, {c})] = x[add(i, {d})]",
    "column counted backwards": "out[sub(add(row, {stride}), {d})] = x[add(i, {c})]",
    "other rows": "out[add(add(mul(i, 2), {end}), {bit})] = x[add(i, {d})]",
    "rows that end elsewhere": "out[add(add(mul(i, 2), {end}), {bit})] = out[add(row, {c})]",
    "read": "other[i] = out[add(row, {c})]",
    "read through a view": "other[i] = seen[add(row, {c})]",
    "write through a view": "seen[add(row, {c})] = x[{d}]",
    "read of one for all": "other[i] = out[add({end}, 60)]",
    "places from data": "out[add(row, mod(k[i], {stride}))] = x[add(i, {d})]",
    "under a mask": "if gt(k[i], 25) {{ out[add(row, {c})] = x[{d}] }}",
    "in a branch": "if gt(k[0], 25) {{ out[add(row, {c})] = x[{d}] out[add(row, {bit})] = x[{c}] }}",
    "a sum": "combine add out[add(row, {c})] = x[add(i, {d})]",
    "a copied row": "alloc a{n}: f64 local [3] a{n}[0] = x[i] a{n}[1] = x[{c}] a{n}[2] = x[add(i, {d})] "
    "for j{n} in 0 .. 3 sequential {{ out[add(add(row, {three}), j{n})] = a{n}[j{n}] }}",
}


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, int, int]:
    """Statements in some order, the lanes of a strip, and the elements of a row."""
    width, stride = draw(st.sampled_from([2, 4, 8])), draw(st.sampled_from([3, 7, 8, 13]))
    kinds = draw(st.lists(st.sampled_from([*STATEMENTS, *["column"] * 8]), min_size=2, max_size=16))
    body = " ".join(
        STATEMENTS[kind].format(
            c=draw(st.integers(0, stride - 1)),
            d=draw(st.integers(1, stride)),
            three=draw(st.integers(0, stride - 3)),
            bit=draw(st.integers(0, 1)),
            end=STRIPS * width * stride,
            stride=stride,
            n=n,
        )
        for n, kind in enumerate(kinds)
    )
    return body, width, stride


@given(bodies())
def test_any_order(case: tuple[str, int, int]) -> None:
    body, width, stride = case
    agree(program(body, width, stride), *arguments(width, named("f64"), stride))


def test_rows_are_not_scattered() -> None:
    for columns, stride in (([0, 1, 2], 3), (list(range(15)), 15), ([0, 1, 2, 3], 9)):
        text = compiled(program(stores(columns, 8), 8, stride)).llvm_text
        assert "scatter" not in text and "shufflevector" in text


WRITTEN_BEFORE = {
    "a read": "{two} other[i] = out[add(row, 1)] {third}",
    "a read through a view": "{two} other[i] = seen[row] {third}",
    "a write through a view": "{two} seen[add(row, 1)] = 5.0 {third}",
    "a write under a mask": "{two} if gt(k[i], 25) {{ out[row] = 7.0 }} {third}",
    "a write to the same column": "{two} out[add(row, 1)] = 9.0 {third}",
    "a write where data say": "{two} out[add(row, mod(k[i], 3))] = 6.0 {third}",
    "a sum": "{two} combine add out[row] = 3.0 {third}",
    "a branch": "{two} if gt(k[0], -1) {{ out[add(row, 1)] = 4.0 }} {third}",
    "a loop": "{two} for j in 0 .. k[0] sequential {{ out[add(row, 1)] = to_f64(j) }} {third}",
}


@pytest.mark.parametrize("rule", WRITTEN_BEFORE)
def test_waits_no_longer_than_until(rule: str) -> None:
    body = WRITTEN_BEFORE[rule].format(two=stores([0, 1], 8), third=stores([2], 8))
    agree(program(body, 8, 5), *arguments(8, named("f64"), 5))


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("width", [2, 4, 8, 16])
@pytest.mark.parametrize("stride", [-4, -3, -2, 2, 3, 4])
def test_columns_are_read(stride: int, width: int, dtype: DType) -> None:
    """Elements some apart, to the very last one of the array, whichever way they go."""
    count = STRIPS * width
    size = abs(stride) * (count - 1) + 1
    first = 0 if stride > 0 else size - 1
    text = f"""fn f(x: {dtype} buffer) {{
      alloc out: {dtype} global [{count}]
      for strip in 0 .. {STRIPS} sequential {{
        for lane in 0 .. {width} lanes {{
          let i: i64 = add(mul(strip, {width}), lane)
          out[i] = x[add(mul(i, {stride}), {first})]
        }}
      }}
      return out as {dtype} [{count}]
    }}"""
    (got,) = agree(text, RNG.integers(0, 2 if dtype is BOOL else 100, size))
    assert got.size == count
    loads = [line for line in compiled(text).llvm_text.splitlines() if "load <" in line]
    assert loads and all(f"load <{width} x" in line for line in loads)
