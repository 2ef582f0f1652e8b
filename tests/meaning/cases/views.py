"""What is a view in NumPy is a view, what is a copy is a copy; NumPy decides which is which."""

from __future__ import annotations

import numpy as np

import anadrome as ad


def square(x):
    """A square matrix with distinct elements."""
    return np.outer(x, np.ones(3))[:3, :] + np.arange(3.0)


def diag_of_matrix(x, n):
    """NumPy's view is read-only."""
    m = np.outer(x, x)
    d = np.diag(m)
    m[0, 0] = 50.0
    return d


def diag_of_vector(x, n):
    d = np.diag(x)
    e = d * 1.0
    e[0, 0] = 9.0
    return d, e


def diagonal_method(x, n):
    m = np.outer(x, x)
    d = m.diagonal()
    m += 1.0
    return d


def diagonal_written(x, n):
    """NumPy raises."""
    m = np.outer(x, x)
    d = m.diagonal()
    d[0] = 1.0
    return m


def broadcast_to(x, n):
    a = x.copy()
    b = np.broadcast_to(a, (2, n))
    a[0] = 50.0
    return b[1, 0], b[0, 1]


def broadcast_to_written(x, n):
    """NumPy raises."""
    b = np.broadcast_to(x.copy(), (2, n))
    b[0, 0] = 1.0
    return b[0]


def broadcast_arrays(x, n):
    a = x.copy()
    b, c = np.broadcast_arrays(a, np.ones((2, 1)))
    a[0] = 50.0
    return b[1, 0], c[1, 0]


def real_of_real(x, n):
    a = x.copy()
    b = np.real(a)
    b[0] = 50.0
    return a, a.real


def real_attribute(x, n):
    a = x.copy()
    b = a.real
    a *= 2.0
    b += 1.0
    return a, b


def real_of_complex(x, n):
    z = x + 1j * x
    r = z.real
    z *= 2.0
    return r, z.imag


def real_of_complex_written(x, n):
    z = x + 1j * x
    r = z.real
    r += 5.0
    return z.real, z.imag


def conj_of_real_method(x, n):
    a = x.copy()
    b = a.conj()
    b[0] = 50.0
    return a


def conj_of_real_function(x, n):
    a = x.copy()
    b = np.conj(a)
    b[0] = 50.0
    return a


def conjugate_of_complex(x, n):
    z = x + 1j * x
    w = z.conj()
    w[0] = 5.0
    return z.real, z.imag


def einsum_transpose(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    e = np.einsum("ij->ji", m)
    m[0, 0] = 50.0
    return e


def einsum_diagonal(x, n):
    m = np.outer(x, x)
    e = np.einsum("ii->i", m)
    m[0, 0] = 50.0
    return e


def einsum_sum_is_a_copy(x, n):
    m = np.outer(x, x)
    e = np.einsum("ij->i", m)
    m[0, 0] = 50.0
    return e


def astype_without_copy(x, n):
    a = x.copy()
    b = a.astype(np.float64, copy=False)
    b[0] = 50.0
    return a


def astype_copies(x, n):
    a = x.copy()
    b = a.astype(np.float64)
    b[0] = 50.0
    return a


def astype_to_another(x, n):
    a = x.copy()
    b = a.astype(np.float32, copy=False)
    b[0] = 50.0
    return a


def float64_of_array(x, n):
    a = x.copy()
    b = np.float64(a)
    b[0] = 50.0
    return a, b


def float64_of_number(x, n):
    a = x.copy()
    s = np.float64(a[0])
    a[0] = 50.0
    return s


def element_with_ellipsis(x, n):
    a = x.copy()
    z = a[1, ...]
    a[1] = 50.0
    return z * 1.0


def element_with_ellipsis_written(x, n):
    a = x.copy()
    z = a[1, ...]
    z[...] = 50.0
    z += 1.0
    return a


def element_is_a_number(x, n):
    a = x.copy()
    s = a[1]
    a[1] = 50.0
    return s


def zero_dimensional_name(x, n):
    z = np.array(x[0])
    w = z
    w[()] = 50.0
    return z * 1.0, w[()]


def zero_dimensional_asarray(x, n):
    z = np.array(2.0)
    w = np.asarray(z)
    w += x[0]
    return z * 1.0


def zero_dimensional_reshape(x, n):
    z = np.array(x[0])
    w = z.reshape(1)
    w[0] = 50.0
    return z * 1.0


def meshgrid_without_copy(x, n):
    a = x.copy()
    p, q = np.meshgrid(a, np.array([1.0, 2.0]), copy=False)
    a[0] = 50.0
    return p[1, 0], q[1, 0]


def meshgrid_copies(x, n):
    a = x.copy()
    p, q = np.meshgrid(a, np.array([1.0, 2.0]))
    a[0] = 50.0
    p[0, 1] = 70.0
    return p, a


def diff_of_order_zero(x, n):
    a = x.copy()
    b = np.diff(a, n=0)
    b[0] = 50.0
    return a


def diff_of_order_one(x, n):
    a = x.copy()
    b = np.diff(a)
    b[0] = 50.0
    return a


def matrix_power_one(x, n):
    m = np.outer(x, x)
    p = np.linalg.matrix_power(m, 1)
    p[0, 0] = 50.0
    return m


def matrix_power_two(x, n):
    m = np.outer(x, x) * 0.01
    p = np.linalg.matrix_power(m, 2)
    p[0, 0] = 50.0
    return m


def stop_gradient(x, n):
    a = x.copy()
    b = ad.stop_gradient(a)
    a[0] = 50.0
    return b


def stop_gradient_written(x, n):
    a = x.copy()
    b = ad.stop_gradient(a)
    b += 1.0
    return a


def positive(x, n):
    a = x.copy()
    b = +a
    b += 1.0
    return a, b


def positive_function(x, n):
    a = x.copy()
    b = np.positive(a)
    a *= 3.0
    return a, b


def ascontiguousarray_of_transpose(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    c = np.ascontiguousarray(m.T)
    c[0, 0] = 50.0
    return m


def ascontiguousarray_of_contiguous(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    c = np.ascontiguousarray(m)
    c[0, 0] = 50.0
    return m


def ascontiguousarray_of_stepped(x, n):
    a = x.copy()
    c = np.ascontiguousarray(a[::2])
    a[0] = 50.0
    return c


def sum_of_list(x, n):
    a = x.copy()
    s = sum([a])
    s[0] = 50.0
    return a


def sum_of_list_with_start(x, n):
    a = x.copy()
    s = sum([x], a)
    s[0] = 50.0
    return a


def ravel_of_transpose(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m.T.ravel()
    m[0, 0] = 50.0
    return r


def ravel_of_transpose_written(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m.T.ravel()
    r[0] = 50.0
    return m


def ravel_of_contiguous(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m.ravel()
    m[0, 0] = 50.0
    return r


def ravel_of_column(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m[:, :1].ravel()
    m[0, 0] = 50.0
    return r


def ravel_of_rows(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m[1:].ravel()
    m[1, 0] = 50.0
    return r


def ravel_of_reversed(x, n):
    a = x.copy()
    r = a[::-1].ravel()
    a[-1] = 50.0
    return r


def reshape_of_transpose(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    r = m.T.reshape(-1)
    m[0, 0] = 50.0
    return r


def reshape_of_stepped(x, n):
    a = x.copy()
    r = a[::2].reshape(-1, 1)
    a[0] = 50.0
    return r


def reshape_of_contiguous(x, n):
    a = x.copy()
    r = a.reshape(n, 1)
    a[0] = 50.0
    return r


def reshape_of_sum_of_transposes(x, n):
    """The sum of two arrays in Fortran's order is in Fortran's order."""
    m = np.outer(x, np.array([1.0, 2.0]))
    s = m.T + m.T
    r = s.reshape(-1)
    s[0, 0] = 50.0
    return r


def flatten_copies(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    f = m.flatten()
    m[0, 0] = 50.0
    return f


def asarray_is_the_array(x, n):
    a = x.copy()
    b = np.asarray(a)
    b[0] = 50.0
    return a


def array_copies(x, n):
    a = x.copy()
    b = np.array(a)
    b[0] = 50.0
    return a


def asarray_with_dtype(x, n):
    a = x.copy()
    b = np.asarray(a, dtype=np.float32)
    b[0] = 50.0
    return a


def slices_of_slices(x, n):
    a = x.copy()
    b = a[::-1]
    c = b[1:]
    c += 10.0
    return a, b


def fancy_index_copies(x, n):
    a = x.copy()
    b = a[np.array([0, 1])]
    b += 10.0
    c = a[a > 1.0]
    c += 10.0
    return a


def transpose_of_vector(x, n):
    a = x.copy()
    b = a.T
    b[0] = 50.0
    return a


def transpose_read(x, n):
    m = np.outer(x, np.array([1.0, 2.0]))
    t = m.T
    m[0, 1] = 50.0
    return t


def squeeze_and_expand(x, n):
    a = x.copy()
    b = np.expand_dims(a, 0)
    c = np.squeeze(b)
    a[0] = 50.0
    return b, c


def flip_is_a_view(x, n):
    a = x.copy()
    b = np.flip(a)
    a[0] = 50.0
    return b


def split_makes_views(x, n):
    a = np.concatenate([x, x])
    p, q = np.split(a, 2)
    a += 1.0
    return p, q


def where_copies(x, n):
    a = x.copy()
    b = np.where(a > 1.0, a, a)
    b += 1.0
    return a


def same_object(x, n):
    a = x.copy()
    b = a
    c = a[:]
    return a is b, a is c, a is a.copy()


def identity_of_functions(x, n):
    a = x.copy()
    return np.asarray(a) is a, +a is a, np.real(a) is a, np.array(a) is a


def conditional_alias(x, n):
    a, b = x.copy(), 2.0 * x
    c = a if x[0] > 0 else b
    c += 1.0
    return a, b


def chosen_in_branch(x, n):
    a, b = x.copy(), 2.0 * x
    if x[0] > 2.0:
        c = a
    else:
        c = b
    c[0] = 50.0
    return a, b


def view_in_loop(x, n):
    a = x.copy()
    for i in range(n):
        v = a[i:]
        v += 1.0
    return a


def view_made_before_loop(x, n):
    a = x.copy()
    v = a[1:]
    for i in range(n):
        a[i] += 1.0
    return v


def view_of_rebound_name(x, n):
    a = x.copy()
    v = a[:]
    a = a + 1.0
    a[0] = 50.0
    return v, a


def negated_zero_is_a_copy(x, n):
    a = x.copy()
    b = a + 0.0
    c = a * 1.0
    d = a**1
    b += 1.0
    c += 2.0
    d += 3.0
    return a, d


def fill_of_a_complex_element(x, n):
    o = x + 1j * x[::-1]
    y = o[:1].squeeze()
    y.fill(7)
    s = 0.0
    for _ in range(n):
        y = o[1, ...]
        y.fill(3)
        s += np.sum(o)
    return o, s


TABLE = np.outer(np.arange(3) + 1.0, np.arange(3) + 2.0)


def ravel_of_a_function_of_a_constant_transpose(x, n):
    y = np.sin(TABLE.T)
    g = y.reshape(-1)
    g += 8 * x[0]
    return y, g


def one_element_seen_with_more_dimensions(x, n):
    a = np.array(x[0])
    y, z = a[None, None], np.array(x[1], ndmin=2)
    y[...] = x[1]
    y[0] += 1.0
    y[:, 0] *= 2.0
    z[0][0] = 5.0
    return a, y, z


RIGHT = (
    *(fill_of_a_complex_element, one_element_seen_with_more_dimensions),
    *(diag_of_vector, real_of_real, real_attribute, real_of_complex, conj_of_real_function),
    *(conjugate_of_complex, einsum_sum_is_a_copy, astype_without_copy, astype_copies, astype_to_another),
    *(float64_of_array, float64_of_number, element_is_a_number, meshgrid_copies, diff_of_order_zero),
    *(diff_of_order_one, matrix_power_two, positive, positive_function, ascontiguousarray_of_transpose),
    *(ascontiguousarray_of_contiguous, ascontiguousarray_of_stepped, sum_of_list, sum_of_list_with_start),
    *(ravel_of_transpose, ravel_of_transpose_written, ravel_of_contiguous, ravel_of_column, ravel_of_rows),
    *(ravel_of_reversed, reshape_of_transpose, reshape_of_stepped, reshape_of_contiguous, flatten_copies),
    *(asarray_is_the_array, array_copies, asarray_with_dtype, slices_of_slices, fancy_index_copies),
    *(transpose_of_vector, transpose_read, squeeze_and_expand, flip_is_a_view, split_makes_views),
    *(where_copies, same_object, conditional_alias, view_in_loop, view_made_before_loop),
    *(view_of_rebound_name, negated_zero_is_a_copy, zero_dimensional_name),
)
EITHER = (
    *(ravel_of_a_function_of_a_constant_transpose,),
    *(diag_of_matrix, diagonal_method, diagonal_written, broadcast_to, broadcast_to_written),
    *(broadcast_arrays, real_of_complex_written, conj_of_real_method, einsum_transpose, einsum_diagonal),
    *(element_with_ellipsis, element_with_ellipsis_written, zero_dimensional_asarray),
    *(zero_dimensional_reshape, meshgrid_without_copy, matrix_power_one, stop_gradient),
    *(stop_gradient_written, reshape_of_sum_of_transposes, identity_of_functions, chosen_in_branch),
)
