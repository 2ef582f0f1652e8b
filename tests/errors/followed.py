"""Programs that are refused or fail, and those that follow their hints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.fft
import scipy.signal
import scipy.sparse as sp
import scipy.special
import scipy.stats
from scipy.sparse.linalg import cg, spsolve

import anadrome as ad
from tests.errors.followed_functions import (
    Rate,
    RateOfFields,
    Y,
    adds,
    adds_in_place,
    appends,
    appends_over_a_range,
    appends_to_a_copy,
    appends_while_large,
    changes_an_item,
    changes_instances,
    changes_it_instead,
    changes_items,
    changes_what_is_copied,
    collects,
    collects_in_a_list,
    counts_up,
    counts_up_in_integers,
    doubles_now_and_then,
    doubles_now_and_then_unrolled,
    draws_before_a_branch,
    draws_in_a_branch,
    draws_rows_first,
    draws_until_a_break,
    exchanges_what_is_changed,
    extends_a_string,
    gives_another_attribute,
    grows_by_its_first,
    grows_by_its_first_in_a_name,
    halves_on_a_stack,
    halves_on_an_array,
    leaves_an_index,
    leaves_an_iterator,
    makes_it_with_the_attribute,
    makes_new_items,
    names_its_state,
    numbers_its_state,
    prints_after_rows,
    prints_in_a_condition,
    prints_in_a_loop,
    prints_parts,
    prints_rows,
    prints_until,
    reads_a_copy_of_it,
    reads_an_exchanged_array,
    rotates,
    rotates_complex,
    running_totals,
    running_totals_in_a_loop,
    told,
    visits_padded,
    visits_unpadded,
    writes,
    writes_a_copy,
    writes_a_copy_of_what_is_around,
    writes_around,
    writes_while_large,
)


@dataclass(frozen=True)
class Followed:
    """A program that is refused or fails, pieces of its hint, and the program that follows the hint.

    What the second one gives is compared with plain Python, and with `wanted`: what the first one means.
    """

    bad: Callable[..., Any]
    hints: Sequence[str]
    good: Callable[..., Any]
    args: tuple[Any, ...]
    wanted: Callable[..., Any] | None = None


X = np.linspace(-2.0, 2.0, 20)
Z = np.exp(1j * X)
A = np.diag(Y) + 0.1
INTEGERS = np.arange(20)
SMALL = np.arange(20, dtype=np.uint8)
norm = scipy.stats.norm
SPARSE = sp.csr_array(np.diag(Y) + np.eye(20, k=1))
LISTS = SPARSE.tolil()
RANDOM = np.random.default_rng(0)


FOLLOWED: dict[str, Followed] = {
    "array that grows": Followed(
        appends_while_large, ["use a `for` over a range"], appends_over_a_range, (X, 3.0)
    ),
    "array that grows in place": Followed(
        appends_while_large, ["`v[:m] = ...`"], writes_while_large, (X, 3.0)
    ),
    "small array that grows": Followed(
        appends_while_large, ["`v[:m] = ...`"], writes_while_large, (X[:7], 3.0)
    ),
    "array that doubles": Followed(
        doubles_now_and_then, ["`for i in ad.unroll(range(8))`"], doubles_now_and_then_unrolled, (X,)
    ),
    "list as a stack": Followed(
        halves_on_a_stack, ["stack[depth] = v; depth += 1", "depth -= 1"], halves_on_an_array, (5.0,)
    ),
    "first item of a list": Followed(
        grows_by_its_first, ["keep what is read in a name"], grows_by_its_first_in_a_name, (1.5,)
    ),
    "assignment in a comprehension": Followed(
        running_totals, ["write a `for` loop with assignments"], running_totals_in_a_loop, (X,)
    ),
    "bools of which only the run knows": Followed(
        lambda x, a: (x[0] > 1 if a > 0 else a > 1) + (a > 2),
        ["`int(a > 1) + int(b > 1)`"],
        lambda x, a: int(x[0] > 1 if a > 0 else a > 1) + int(a > 2),
        (X, 3.0),
    ),
    "float index": Followed(counts_up, ["`k = int(...)`"], counts_up_in_integers, (1.5, 3)),
    "complex loop": Followed(rotates, ["`x = x.astype(complex)`"], rotates_complex, (X, 3)),
    "write into an argument": Followed(
        writes, ["`y = x.copy()`"], writes_a_copy, (X,), lambda x: writes(x.copy())
    ),
    "write around": Followed(writes_around, ["`y = x.copy()`"], writes_a_copy_of_what_is_around, (3.0,)),
    "integers += floats": Followed(adds_in_place, ["`x = x + v` for `x += v`"], adds, (INTEGERS, X), adds),
    "list argument": Followed(
        appends, ["`list(x)`", "change the copy and return it"], appends_to_a_copy, ([1.0], 2.0)
    ),
    "dict": Followed(collects, ["make a list or an array of the values"], collects_in_a_list, (X,)),
    "and": Followed(
        lambda x: np.where((x > 0.0) and (x < 1.0), x, 0.0),
        ["`&` and `|` for `and` and `or`"],
        lambda x: np.where((x > 0.0) & (x < 1.0), x, 0.0),
        (X,),
    ),
    "if of an array": Followed(
        lambda x: 1.0 if x > 0.0 else 2.0, ["`np.any(...)`"], lambda x: 1.0 if np.any(x > 0.0) else 2.0, (X,)
    ),
    "bits of floats": Followed(
        lambda x: x & 3,
        ["`x.astype(np.int64)`"],
        lambda x: x.astype(np.int64) & 3,
        (Y,),
        lambda x: x.astype(int) & 3,
    ),
    "bits of a float": Followed(lambda x: x & 3, ["`int(x)`"], lambda x: int(x) & 3, (6.0,), lambda x: 2),
    "integer power": Followed(
        lambda n, k: n**k,
        ["`x.astype(np.float64)`"],
        lambda n, k: n.astype(np.float64) ** k,
        (INTEGERS[1:], -3),
    ),
    "difference of bools": Followed(
        lambda x: (x > 0) - (x < 0),
        ["`x.astype(np.int64)`"],
        lambda x: (x > 0).astype(np.int64) - (x < 0).astype(np.int64),
        (X,),
        np.sign,
    ),
    "large integer": Followed(
        lambda n: n + 2**70,
        ["`float(1180591620717411303424)`"],
        lambda n: n + float(1180591620717411303424),
        (3,),
    ),
    "small integer type": Followed(
        lambda x: x + 300, ["`x.astype(np.int64)`"], lambda x: x.astype(np.int64) + 300, (SMALL,)
    ),
    "int of an array": Followed(
        lambda x: int(x), ["`x.astype(np.int64)`"], lambda x: x.astype(np.int64), (X,), lambda x: np.trunc(x)
    ),
    "float of an array": Followed(
        lambda x: float(x), ["`x.astype(np.float64)`"], lambda x: x.astype(np.float64), (INTEGERS,)
    ),
    "round of an array": Followed(
        lambda x: round(x), ["`np.round(x)`"], lambda x: np.round(x), (X,), np.round
    ),
    "max of arrays": Followed(
        lambda x, y: max(x, y), ["`np.maximum(x, y)`"], lambda x, y: np.maximum(x, y), (X, Y), np.maximum
    ),
    "size that is a float": Followed(
        lambda x: np.zeros(x), ["`int(n)`"], lambda x: np.zeros(int(x)), (3.0,), lambda x: np.zeros(3)
    ),
    "bound that is a float": Followed(
        lambda x, t: x[: t * 2.0], ["`int(i)`"], lambda x, t: x[: int(t * 2.0)], (X, 2.5), lambda x, t: x[:5]
    ),
    "symmetric singular values": Followed(
        lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
        ["leave it out"],
        lambda a: np.linalg.svd(a, compute_uv=False),
        (A[:5, :5],),
        lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True),
    ),
    "unpacking": Followed(
        lambda x: (lambda first, *rest: first * sum(rest))(*x),
        ["`x[0]`, `x[1:]`"],
        lambda x: x[0] * sum(x[1:]),
        (Y,),
    ),
    "counts of values": Followed(
        lambda x: np.unique(x, return_counts=True)[1],
        ["`values = np.unique(x)`", "`np.sum(x.ravel()[:, None] == values, axis=0)`"],
        lambda x: np.sum(x.ravel()[:, None] == np.unique(x), axis=0),
        (INTEGERS % 4,),
        lambda x: np.unique(x, return_counts=True)[1],
    ),
    "inverse of values": Followed(
        lambda x: np.unique(x, return_inverse=True)[1],
        ["`np.searchsorted(values, x.ravel())`"],
        lambda x: np.searchsorted(np.unique(x), x.ravel()),
        (INTEGERS % 4,),
        lambda x: np.unique(x, return_inverse=True)[1],
    ),
    "places of values": Followed(
        lambda x: np.unique(x, return_index=True)[1],
        ["`np.argmax(x.ravel()[:, None] == values, axis=0)`"],
        lambda x: np.argmax(x.ravel()[:, None] == np.unique(x), axis=0),
        (INTEGERS % 4,),
        lambda x: np.unique(x, return_index=True)[1],
    ),
    "list operand": Followed(
        lambda x: [1.0, 2.0] * x,
        ["`np.array(...)`"],
        lambda x: np.array([1.0, 2.0]) * x,
        (3.0,),
        lambda x: [3.0, 6.0],
    ),
    "list of tuples": Followed(
        lambda x: [(v, v * v) for v in x],
        ["instead of a list of tuples return a tuple of lists"],
        lambda x: ([v for v in x], [v * v for v in x]),
        (X,),
        lambda x: (x, x * x),
    ),
    "column of a vector": Followed(
        lambda x: np.tril(x), ["`x[:, None]` makes a column"], lambda x: np.tril(x[:, None]), (X,)
    ),
    "matrix product": Followed(
        lambda a: a @ a,
        ["`x.T` transposes"],
        lambda a: a @ a.T,
        (np.ones((3, 4)),),
        lambda a: np.full((3, 3), 4.0),
    ),
    "least squares": Followed(
        lambda a, y: np.linalg.solve(a, y),
        ["`np.linalg.lstsq` for least squares"],
        lambda a, y: np.linalg.lstsq(a, y)[0],
        (A[:5, :3], Y[:5]),
        lambda a, y: np.linalg.solve(a.T @ a, a.T @ y),
    ),
    "order of a norm": Followed(
        lambda a: np.linalg.norm(a, "nuclear"),
        ["`'nuc'`", "or the negative of one of the numbers"],
        lambda a: np.linalg.norm(a, "nuc") + np.linalg.norm(a, -2),
        (A[:5, :3],),
    ),
    "product of six matrices": Followed(
        lambda a: np.linalg.multi_dot([a, a, a, a, a, a]),
        ["multiply some of them with `@`"],
        lambda a: np.linalg.multi_dot([a @ a, a @ a, a @ a]),
        (0.1 * A,),
    ),
    "where with two arguments": Followed(
        lambda x: np.where(x > 0.0, x), ["all three"], lambda x: np.where(x > 0.0, x, 0.0), (X,)
    ),
    "product of complex numbers": Followed(
        lambda z: ad.reduce("mul", z),
        ["`lambda a, b: a * b`", "`1 + 0j`"],
        lambda z: ad.reduce(lambda a, b: a * b, z, identity=1 + 0j),
        (Z,),
        np.prod,
    ),
    "largest complex number": Followed(
        lambda z: ad.reduce("max", z), ["reduce `abs(z)`"], lambda z: ad.reduce("max", abs(z)), (Z * Y,)
    ),
    "sum of bools": Followed(
        lambda x: ad.reduce("add", x > 0.0),
        ["`.astype(np.int64)`"],
        lambda x: ad.reduce("add", (x > 0.0).astype(np.int64)),
        (X,),
        lambda x: np.sum(x > 0.0),
    ),
    "maximum of floats by and": Followed(
        lambda x: ad.reduce("and", x),
        ["compare first"],
        lambda x: ad.reduce("and", x > 0.0),
        (Y,),
        lambda x: True,
    ),
    "float indices": Followed(
        lambda x, i: ad.segment_sum(x, i, 20),
        ["`x.astype(np.int64)`"],
        lambda x, i: ad.segment_sum(x, i.astype(np.int64), 20),
        (X, INTEGERS.astype(float)),
        lambda x, i: x,
    ),
    "floats into integers": Followed(
        lambda x: ad.scatter(np.zeros(3, int), np.array([1]), x[:1]),
        ["`.astype(np.float64)`"],
        lambda x: ad.scatter(np.zeros(3, int).astype(np.float64), np.array([1]), x[:1]),
        (X,),
        lambda x: [0.0, x[0], 0.0],
    ),
    "while with math of an array": Followed(
        lambda x: math.sin(x), ["use `np.sin`"], lambda x: np.sin(x), (X,), np.sin
    ),
    "logarithm to a base": Followed(
        lambda x: math.log(x, 2.0),
        ["`np.log(x) / np.log(base)`"],
        lambda x: np.log(x) / np.log(2.0),
        (Y,),
        np.log2,
    ),
    "order of complex numbers": Followed(
        lambda z: z < 1, ["`abs(z)`, `z.real` or `z.imag`"], lambda z: z.real < 1, (1j,)
    ),
    "index that is a float": Followed(
        lambda x, t: x[t], ["`int(i)`"], lambda x, t: x[int(t)], (X, 3.0), lambda x, t: x[3]
    ),
    "convolution": Followed(
        lambda a, b: scipy.signal.fftconvolve(a, b),
        ["for real vectors and `mode='full'`", "`n = len(a) + len(b) - 1`"],
        lambda a, b: np.fft.irfft(
            np.fft.rfft(a, len(a) + len(b) - 1) * np.fft.rfft(b, len(a) + len(b) - 1), len(a) + len(b) - 1
        ),
        (X, Y[:7]),
        scipy.signal.fftconvolve,
    ),
    "fast length": Followed(
        lambda x: np.fft.rfft(x, scipy.fft.next_fast_len(len(x))),
        ["any number of points is allowed"],
        lambda x: np.fft.rfft(x, len(x)),
        (X,),
    ),
    "random numbers": Followed(
        lambda n: np.random.seed(0) or np.random.normal(size=n),
        ["seed it outside, before the call, or make a generator: `rng = np.random.default_rng(0)`"],
        lambda n: np.random.default_rng(0).normal(size=n),
        (3,),
    ),
    "draws in a branch": Followed(draws_in_a_branch, ["draw before the `if`"], draws_before_a_branch, (0.5,)),
    "draws until a break": Followed(
        draws_until_a_break, ["`z = rng.standard_normal((n, 3))`, and take `z[i]`"], draws_rows_first, (0.5,)
    ),
    "draws in any order": Followed(
        lambda x: np.vectorize(lambda v: v * RANDOM.random())(x),
        ["draw in a `for` loop, or before"],
        lambda x: x * np.random.default_rng(0).standard_normal(len(x)),
        (X,),
    ),
    "correlated draws": Followed(
        lambda x: RANDOM.multivariate_normal(x, A),
        ["write `mean + np.linalg.cholesky(cov) @ rng.standard_normal(len(mean))`"],
        lambda x: x + np.linalg.cholesky(A.T @ A) @ np.random.default_rng(0).standard_normal(len(x)),
        (X,),
    ),
    "shuffled lists": Followed(
        lambda x: RANDOM.shuffle([x, 2.0 * x]),
        ["write `order = rng.permutation(len(x))` and take `x[k]` for k in it"],
        lambda x: x[np.random.default_rng(0).permutation(len(x))],
        (X,),
    ),
    "print of rows": Followed(prints_rows, ["print outside of it"], prints_after_rows, (X,)),
    "print in a map": Followed(
        lambda x: ad.map(told, x), ["print in a `for` loop"], lambda x: np.array([told(v) for v in x]), (X,)
    ),
    "print in a condition": Followed(
        prints_in_a_condition, ["write `while True:`", "`if …: break`"], prints_in_a_loop, (3.0,)
    ),
    "a list in a string": Followed(
        lambda x: told([v * v for v in x]),
        ["`np.array(x)`"],
        lambda x: told(np.array([v * v for v in x])),
        (X,),
    ),
    "a string that a loop extends": Followed(
        extends_a_string, ["`print(part, end='')`"], prints_parts, (X,), extends_a_string
    ),
    "a state with a name": Followed(
        names_its_state, ["`IDLE, ON = 0, 1`"], numbers_its_state, (X,), names_its_state
    ),
    "an object that is returned": Followed(
        lambda x: Rate(x), ["make `Rate` a dataclass"], lambda x: RateOfFields(x).value, (1.5,)
    ),
    "an object changed after it is in a list": Followed(
        changes_an_item, ["`copy.copy(x)`"], changes_what_is_copied, (1.5, 3), lambda x, n: float(n)
    ),
    "an iterator that was left": Followed(
        leaves_an_iterator, ["by their index"], leaves_an_index, (Y,), leaves_an_iterator
    ),
    "an item that is changed": Followed(
        changes_items, ["make a list of new objects"], makes_new_items, (1.5, 20), changes_items
    ),
    "an item that is changed, as an instance": Followed(
        changes_items, ["an instance of a class"], changes_instances, (1.5, 20), changes_items
    ),
    "an attribute that items are not made with": Followed(
        gives_another_attribute,
        ["make the items with an attribute like it"],
        makes_it_with_the_attribute,
        (1.5, 20),
    ),
    "what an item holds is changed and exchanged": Followed(
        exchanges_what_is_changed, ["change the object that it holds"], changes_it_instead, (1.5, 20)
    ),
    "an array of an item that was exchanged": Followed(
        reads_an_exchanged_array, ["`a.copy()`"], reads_a_copy_of_it, (1.5, 20)
    ),
    "rows of which one is empty": Followed(
        visits_unpadded, ["pad them", "`[1, 2, -1]`"], visits_padded, (Y,), visits_unpadded
    ),
    "a string as a result": Followed(
        lambda x: f"{x}", ["return the numbers, and make the string outside"], lambda x: x, (X,)
    ),
    "any that prints": Followed(
        lambda x: any(told(v) > 1 for v in x), ["a `for` loop with `break`"], prints_until, (X,)
    ),
    "sparse product": Followed(
        lambda S, x: (S @ S) @ x, ["`A @ (B @ x)`"], lambda S, x: S @ (S @ x), (SPARSE, X)
    ),
    "sparse sum": Followed(
        lambda S, T, x: (S + T) @ x,
        ["`A.tocsr()`"],
        lambda S, T, x: (S.tocsr() + T.tocsr()) @ x,
        (SPARSE.tocoo(), SPARSE.tocoo(), X),
    ),
    "sparse quotient": Followed(
        lambda S, x: S / x, ["`A.multiply(1 / b)`"], lambda S, x: S.multiply(1 / x).toarray(), (SPARSE, Y)
    ),
    "sparse plus number": Followed(
        lambda S: S + 1.0, ["`A.toarray()`"], lambda S: S.toarray() + 1.0, (SPARSE,)
    ),
    "sparse item": Followed(
        lambda S: S[0, 1], ["`A.toarray()[i, j]`"], lambda S: S.toarray()[0, 1], (SPARSE,)
    ),
    "sparse rows": Followed(
        lambda S: S.sum(axis=1), ["`A @ np.ones(n)`"], lambda S: S @ np.ones(20), (sp.csr_matrix(SPARSE),)
    ),
    "sparse in NumPy": Followed(lambda S, x: np.dot(S, x), ["`A @ x`"], lambda S, x: S @ x, (SPARSE, X)),
    "sparse format": Followed(lambda x: LISTS @ x, ["`A.tocsr()`"], lambda x: LISTS.tocsr() @ x, (X,)),
    "sparse by iteration": Followed(
        lambda S, x: cg(S, x)[0],
        ["`scipy.sparse.linalg.spsolve(A, b)`"],
        lambda S, x: spsolve(S, x),
        (SPARSE, X),
    ),
}
