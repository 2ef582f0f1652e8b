"""Loops that clear an array or copy one into another, as one statement each.

Gradients clear their accumulators and copy what they are to change. In lanes such a loop is a strip of
vectors, a loop for the rest under a mask, and strips between which the program looks whether it is to end: a
tenth of the text of many gradients, for what the C library does as fast. (LLVM calls such loops idioms.)
Inside of other loops arrays may be short, and a call would cost more than it saves.

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc z: f64 global [n]
      for i in 0 .. n parallel {
        y[i] = 0.0
      }
      for j in 0 .. n parallel {
        z[j] = x[j]
      }
      for t in 0 .. n sequential {
        for k in 0 .. t parallel {
          y[k] = 0.0
        }
      }
      return y as f64 [n], z as f64 [n]
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc z: f64 global [n]
      fill y [n] = 0.0
      copy z [n] = x
      for t in 0 .. n sequential {
        for k in 0 .. t parallel {
          y[k] = 0.0
        }
      }
      return y as f64 [n], z as f64 [n]
    }

"""

from __future__ import annotations

from dataclasses import replace

from anadrome.kernel_ir.affine import Bindings, bindings_of
from anadrome.kernel_ir.nodes import Binding, Const, Copy, Fill, For, Function, If, Load, Space, Stmt, Store
from anadrome.kernel_ir.walk import is_zero


def with_idioms(fn: Function) -> Function:
    """The host program with its outermost loops that clear or copy arrays as statements; the same one if it
    has none."""
    body = _body(fn.body, bindings_of(fn.body))
    return fn if body is fn.body else replace(fn, body=body)


def _body(stmts: tuple[Stmt, ...], bindings: Bindings) -> tuple[Stmt, ...]:
    found = tuple(_statement(stmt, bindings) for stmt in stmts)
    return stmts if all(one is two for one, two in zip(found, stmts, strict=True)) else found


def _statement(stmt: Stmt, bindings: Bindings) -> Stmt:
    match stmt:
        case For():
            return _idiom(stmt, bindings) or stmt
        case If(then=then, other=other):
            then, other = _body(then, bindings), _body(other, bindings)
            return (
                stmt if then is stmt.then and other is stmt.other else replace(stmt, then=then, other=other)
            )
        case _:
            return stmt


def _idiom(loop: For, bindings: Bindings) -> Fill | Copy | None:
    """What a loop is that stores zero, or the element of another array at the same place."""
    is_whole = isinstance(loop.lo, Const) and loop.lo.value == 0
    if loop.binding not in (Binding.PARALLEL, Binding.SEQUENTIAL) or not is_whole:
        return None
    match loop.body:
        case (Store(buffer=buffer, indices=(place,), value=value),):
            if place is not loop.index or buffer.space is not Space.GLOBAL or buffer.strides:
                return None
        case _:
            return None
    match value:
        case Const() if is_zero(value):
            return Fill(buffer, loop.hi, value)
        case Load(buffer=source, indices=(place,)) if place is loop.index and not source.strides:
            is_apart = bindings.root(buffer) is not bindings.root(source)
            return Copy(buffer, source, loop.hi) if is_apart and source.dtype is buffer.dtype else None
        case _:
            return None
