"""`t[k] op= v` writes into the object that stands there: items of containers, attributes, nests of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.p = {"w": w, "b": 0.0}
        self.state = [w, w * 2.0]

    def step(self, g: Any) -> None:
        self.p["w"] -= g

    def move(self, g: Any) -> None:
        self.w -= g


@dataclass
class Inner:
    v: Any


@dataclass
class Outer:
    inner: Inner
    items: list[Any]


def dict_item(x, n):
    w = x.copy()
    d = {"w": w}
    d["w"] *= 2.0
    return w, d["w"]


def dict_item_by_array(x, n):
    st = {"h": np.zeros(n)}
    h = st["h"]
    st["h"] += x
    return h, st["h"]


def dict_item_in_loop(x, n):
    w = x.copy()
    d = {"w": w}
    for i in range(n):
        d["w"] -= 0.5 * x
    return w, d["w"]


def dict_item_in_branch(x, n):
    w = x.copy()
    d = {"w": w}
    if n > 4:
        d["w"] *= 3.0
    return w, d["w"]


def dict_element(x, n):
    w = x.copy()
    d = {"w": w}
    d["w"][0] += 5.0
    d["w"][1:] *= 2.0
    return w


def dict_of_views(x, n):
    w = x.copy()
    d = {"head": w[:2], "tail": w[1:]}
    d["head"] += 10.0
    d["tail"] *= 2.0
    return w, d["head"], d["tail"]


def dict_item_shared_by_two_keys(x, n):
    w = x.copy()
    d = {"a": w, "b": w}
    d["a"] += 1.0
    d["b"] *= 2.0
    return w, d["a"], d["b"]


def dict_item_of_a_number(x, n):
    d = {"s": 1.0}
    e = d
    s = d["s"]
    d["s"] += x[0]
    return s, d["s"], e["s"]


def dict_item_of_a_list(x, n):
    h = [1.0, 2.0]
    d = {"h": h}
    d["h"] += [x[0]]
    return h[2], len(h), len(d["h"])


def list_item(x, n):
    v = x.copy()
    items = [v, v]
    items[0] += 1.0
    items[1] *= 2.0
    return v, items[0], items[1]


def list_item_in_loop(x, n):
    a, b = x.copy(), 2.0 * x
    items = [a, b]
    for i in range(n):
        items[0] += 1.0
        items[1] -= items[0]
    return a, b


def list_item_at_loop_index(x, n):
    a, b, c = x.copy(), 2.0 * x, 3.0 * x
    items = [a, b, c]
    for i in range(3):
        items[i] += float(i)
    return a, b, c


def tuple_item(x, n):
    """Python writes into the array, then raises."""
    v = x.copy()
    t = (v, 1.0)
    t[0] += 1.0
    return v


def element_of_tuple_item(x, n):
    v = x.copy()
    t = (v, 1.0)
    t[0][:] += 1.0
    return v, t[0]


def attribute_item(x, n):
    w = x.copy()
    layer = Layer(w)
    layer.step(0.1 * x)
    return w, layer.w, layer.p["w"]


def attribute_item_in_loop(x, n):
    w = x.copy()
    layer = Layer(w)
    for i in range(n):
        layer.step(0.1 * x)
    return w, layer.w, layer.p["w"]


def attribute_list_item(x, n):
    layer = Layer(x.copy())
    second = layer.state[1]
    layer.state[0] += 1.0
    layer.state[1] *= 2.0
    return layer.w, layer.state[0], second


def attribute(x, n):
    w = x.copy()
    layer = Layer(w)
    layer.w += 1.0
    layer.move(x)
    return w, layer.p["w"]


def nested(x, n):
    v = x.copy()
    outer = Outer(Inner(v), [v, {"w": v}])
    outer.inner.v += 1.0
    outer.items[0] *= 2.0
    outer.items[1]["w"] -= 3.0
    return v, outer.inner.v


def list_of_params(x, n):
    params = [x.copy(), 2.0 * x]
    first = params[0]
    for p in params:
        p -= 0.5 * p
    return first, params[0], params[1]


def dict_of_params(x, n):
    params = {"w": x.copy(), "b": 2.0 * x}
    w = params["w"]
    for k in params:
        params[k] -= 0.5
    return w, params["w"], params["b"]


def row_of_matrix(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m[0]
    m[0] += 1.0
    m[0] *= 2.0
    r -= 0.5
    return m, r


def mask_item(x, n):
    v = x.copy()
    w = v
    v[v > 2.0] *= 10.0
    w[v < 2.0] -= 1.0
    return v, w


def fancy_item(x, n):
    v = x.copy()
    w = v[:]
    v[np.array([0, 1])] += 10.0
    w[np.array([0, 0])] += 1.0
    return v, w


def zero_dimensional(x, n):
    z = np.array(x[0])
    w = z
    z += 2.0
    w *= 3.0
    return z, w


def list_in_place_is_seen(x, n):
    a = [1.0, 2.0]
    b = a
    a += [x[0]]
    return len(b), b[2]


def tuple_in_place_is_not_seen(x, n):
    a = (1.0, 2.0)
    b = a
    a += (x[0],)
    return len(b), len(a)


def number_in_place_is_not_seen(x, n):
    a = x[0]
    b = a
    a += 1.0
    return a, b


def reads_before_the_call(x, n):
    a = x.copy()

    def f():
        a[1] = 100.0
        return 1.0

    a[1] += f()
    return a


def index_before_value(x, n):
    a = x.copy()
    k = [0]

    def f():
        k[0] = 1
        return 5.0

    a[k[0]] += f()
    return a


def name_before_value(x, n):
    a = x.copy()
    b = a

    def f():
        b[:] = 7.0
        return 1.0

    a += f()
    return a, b


def number_before_value(x, n):
    s = [x[0]]

    def f():
        s[0] = 100.0
        return 1.0

    s[0] += f()
    return s[0]


def operands_left_to_right(x, n):
    a = x.copy()

    def f():
        a[0] += 10.0
        return 1.0

    return a[0] + f() * a[0], a


def whole_operand_left_to_right(x, n):
    a = x.copy()

    def f():
        a[0] = 50.0
        return 1.0

    return a * 1.0 + f(), a


def same_array_on_both_sides(x, n):
    a = x.copy()
    a[1:] += a[:-1]
    a[::-1] -= a
    return a


def casts_are_python_s(x, n):
    k = np.arange(3)
    k += 1
    k *= 2
    return k, k / 2


def refused_cast(x, n):
    k = np.arange(3)
    k += 0.5
    return k


def captured_by_lambda(x, n):
    a = x.copy()
    f = lambda: a[0]
    a += 1.0
    return f(), a[0]


def argument_default(x, n):
    a = x.copy()

    def f(c, v=a):
        v += c
        return v[0]

    one = f(1.0)
    two = f(2.0)
    return one, two, a


def copies_of_views_of_nothing(x, n):
    m = np.outer(x, np.ones(3))
    a = m[:0]
    rows = [np.ravel(a) for i in range(n)]
    m[:, 0] += 2.0
    a[:] = 5.0
    return m, a, rows[0], rows[-1]


def a_view_of_nothing_or_a_product(x, n):
    m = np.outer(x, np.ones(3))
    a = m[:0]
    kept = []
    for i in range(n):
        y = a if i > 3 else a * 2.0
        kept.append(y)
        a[:, 0] += 2.0
        m[0, 0] = 9.0
    return m, kept[0], kept[-1]


RIGHT = (
    *(copies_of_views_of_nothing, a_view_of_nothing_or_a_product),
    *(dict_item, dict_item_by_array, dict_item_in_loop, dict_item_in_branch, dict_element, dict_of_views),
    *(dict_item_shared_by_two_keys, dict_item_of_a_number, dict_item_of_a_list, list_item, list_item_in_loop),
    *(list_item_at_loop_index, element_of_tuple_item, attribute_item, attribute_item_in_loop, attribute),
    *(attribute_list_item, nested, list_of_params, dict_of_params, row_of_matrix, mask_item, fancy_item),
    *(zero_dimensional, list_in_place_is_seen, tuple_in_place_is_not_seen, number_in_place_is_not_seen),
    *(reads_before_the_call, index_before_value, name_before_value, number_before_value),
    *(operands_left_to_right, whole_operand_left_to_right, same_array_on_both_sides, casts_are_python_s),
    *(captured_by_lambda, argument_default),
)
EITHER = (tuple_item, refused_cast)
