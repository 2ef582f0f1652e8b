"""Loops that clear an array or copy one into another, as one statement each.

Gradients clear their accumulators and copy what they are to change. In lanes such a loop is a strip of
vectors, a loop for the rest under a mask, and strips between which the program looks whether it is to end: a
tenth of the text of many gradients, for what the C library does as fast. (LLVM calls such loops idioms.)
Inside of other loops arrays may be short, and a call would cost more than it saves; but a worker clears its
own copies once.

Before:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc z: f64 global [n]
      alloc c: f64 global [mul(workers, 8)]
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
      for w in 0 .. workers threads {
        for e in 0 .. 8 parallel {
          c[add(mul(w, 8), e)] = 0.0
        }
      }
      return y as f64 [n], z as f64 [n], c as f64 [mul(workers, 8)]
    }
After:
    fn main(n: i64, x: f64 buffer) {
      alloc y: f64 global [n]
      alloc z: f64 global [n]
      alloc c: f64 global [mul(workers, 8)]
      fill y [n] = 0.0
      copy z [n] = x
      for t in 0 .. n sequential {
        for k in 0 .. t parallel {
          y[k] = 0.0
        }
      }
      for w in 0 .. workers threads {
        view c_1 = c [mul(w, 8)]
        fill c_1 [8] = 0.0
      }
      return y as f64 [n], z as f64 [n], c as f64 [mul(workers, 8)]
    }

"""

from __future__ import annotations

from anadrome.kernel_ir.affine import Bindings, bindings_of
from anadrome.kernel_ir.nodes import (
    Binding,
    Buffer,
    Compute,
    Const,
    Copy,
    Expr,
    Fill,
    For,
    Function,
    If,
    Load,
    Space,
    Stmt,
    Store,
    View,
)
from anadrome.kernel_ir.walk import is_zero, offset_of, subexpressions
from anadrome.prims.node import replace


def with_idioms(fn: Function) -> Function:
    """The host program with its outermost loops that clear or copy arrays as statements, those of each worker
    among them; the same one if it has none."""
    body = _body(fn.body, bindings_of(fn.body))
    return fn if body is fn.body else replace(fn, body=body)


def _body(stmts: tuple[Stmt, ...], bindings: Bindings) -> tuple[Stmt, ...]:
    found = tuple(made for stmt in stmts for made in _statement(stmt, bindings))
    is_same = len(found) == len(stmts) and all(one is two for one, two in zip(found, stmts, strict=True))
    return stmts if is_same else found


def _statement(stmt: Stmt, bindings: Bindings) -> tuple[Stmt, ...]:
    match stmt:
        case For(binding=Binding.THREADS, body=body):
            inside = _body(body, bindings)
            return (stmt if inside is body else replace(stmt, body=inside),)
        case For():
            return _idiom(stmt, bindings) or (stmt,)
        case If(then=then, other=other):
            then, other = _body(then, bindings), _body(other, bindings)
            is_same = then is stmt.then and other is stmt.other
            return (stmt if is_same else replace(stmt, then=then, other=other),)
        case _:
            return (stmt,)


def _idiom(loop: For, bindings: Bindings) -> tuple[Stmt, ...]:
    """What a loop is that stores zero, or the element of another array that goes along; else nothing."""
    is_whole = isinstance(loop.lo, Const) and loop.lo.value == 0
    if loop.binding not in (Binding.PARALLEL, Binding.SEQUENTIAL) or not is_whole:
        return ()
    match loop.body:
        case (Store(buffer=buffer, indices=indices, value=value),):
            target = _from(buffer, indices, loop)
        case _:
            return ()
    if target is None or buffer.space is not Space.GLOBAL:
        return ()
    views, whole = target
    match value:
        case Const() if is_zero(value):
            return (*views, Fill(whole, loop.hi, value))
        case Load(buffer=source, indices=places) if source.dtype is buffer.dtype:
            read = _from(source, places, loop)
            if read is None or bindings.root(buffer) is bindings.root(source):
                return ()
            return (*views, *read[0], Copy(whole, read[1], loop.hi))
        case _:
            return ()


def _from(buffer: Buffer, indices: tuple[Expr, ...], loop: For) -> tuple[tuple[View, ...], Buffer] | None:
    """The array whose element i a loop means in iteration i, and the view that it is, if it is one."""
    if buffer.strides:
        return None
    match offset_of(buffer, indices):
        case place if place is loop.index:
            return (), buffer
        case Compute(prim=prim, args=(start, place)) if prim.name == "add" and place is loop.index:
            parts = list(subexpressions(start))
            if loop.index in parts or any(isinstance(part, Load) for part in parts):
                return None
            view = Buffer(buffer.name, buffer.dtype)
            return (View(view, buffer, start),), view
        case _:
            return None
