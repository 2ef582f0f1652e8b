"""How functions that write, edit and go over things are called; the kinds are of `recipes`.

What writes is called on the array itself too, so that each name that it has shows the write.
"""

from __future__ import annotations

_UNARY_OPERATORS = "neg pos abs not_ truth"
_BINARY_OPERATORS = "sub mul truediv floordiv mod pow lt le eq ne gt ge is_ is_not"
_INTEGER_OPERATORS = "and_ or_ xor lshift rshift"

CALLS: dict[str, tuple[str, ...]] = {
    # -------------------------------------------------------------------- out=, where=
    "np.add": (
        *("v m", "np.add({a}, 1.0, out={a})", "np.add({a}, {a}, {a})", "np.add({a}, 1, out=({a},))"),
        *("np.add({a}, 1.0, out={a}[::-1])", "np.add({a}, 1.0, out={a}, where={a} > 2)"),
        *("np.add({a}, 1.0, out=np.zeros_like({a}), where={a} > 2)", "np.add(1.0, 1.0, out={a})"),
    ),
    "np.exp": ("v", "np.exp({a} * 0.1, out={a})", "np.exp({a} * 0.1, out={a}[::-1], where={a} > 1.5)"),
    "np.multiply": ("i c", "np.multiply({a}, 2, out={a})", "np.multiply({a}, {a}, {a}, where={a} != 1)"),
    "np.cumsum": ("v", "np.cumsum({a}, out={a})", "np.cumsum({a}, 0, None, {a}[::-1])"),
    "np.sum": (
        *("v m", "np.sum({a}, where={a} > 2)", "np.sum({a}, axis=0, where={a} > 2, initial=1.0)"),
        *("np.sum({a}, axis=-1, keepdims=True, out={a}[..., :1])", "{a}.sum(where=[True])"),
    ),
    "np.prod": ("v", "np.prod({a}, keepdims=True, where={a} < 3, initial=2.0)"),
    "np.mean": ("v m", "np.mean({a}, where={a} >= 1)", "np.std({a}, where={a} >= 1)"),
    "np.max": ("v m", "np.max({a}, where={a} < 4, initial=0.0)", "np.any({a} > 2, where={a} < 3)"),
    "np.clip": ("v m", "np.clip({a}, 1.5, 3.0, out={a})", "{a}.clip(1.5, 3.0, {a})"),
    "np.copyto": (
        *("v m c k", "[np.copyto({a}, 1.5), {a}][1]", "[np.copyto({a}, {a}[::-1]), {a}][1]"),
        *("[np.copyto({a}[1:], {a}[:-1]), {a}][1]", "[np.copyto({a}, 2, where={a} != 1), {a}][1]"),
    ),
    "np.putmask": (
        *("v m", "[np.putmask({a}, {a} > 2, 0.5), {a}][1]", "[np.putmask({a}, {a} > 2, -{a}), {a}][1]"),
    ),
    "np.fill_diagonal": (
        *("m s", "[np.fill_diagonal({a}, 0.5), {a}][1]", "[np.fill_diagonal({a}.T, {a}[0]), {a}][1]"),
    ),
    "np.put_along_axis": (
        *("v m", "[np.put_along_axis({a}, np.argmax({a}, axis=0, keepdims=True), 0.5, axis=0), {a}][1]"),
    ),
    ".fill": ("v m c k", "[{a}.fill(0.5), {a}][1]", "[{a}[1:].fill({a}.sum()), {a}][1]"),
    ".sort": ("v m i c", "[{a}.sort(), {a}][1]", "[{a}.sort(axis=0), {a}][1]", "[{a}[::-1].sort(), {a}][1]"),
    ".partition": ("v", "[{a}.partition(0), {a}[0], {a}.sort()][1]"),
    ".tolist": ("v m i b", "{a}.tolist()", "[*{a}.tolist(), {a}]"),
    # -------------------------------------------------------------------- put together, taken apart
    "np.block": (
        *("v m", "np.block({a})", "np.block([{a}])", "np.block([{a}, {a}])", "np.block([[{a}], [{a}]])"),
    ),
    "np.ix_": ("i", "np.ix_({a})", "np.ix_({a}, [0, 1])", "np.ix_({a} > 1)"),
    "type(np.r_).__getitem__": (
        *("v m", "np.r_[{a}]", "np.r_[{a}, {a}]", "np.c_[{a}]", "np.c_[{a}, {a}]"),
    ),
    "type(np.mgrid).__getitem__": (
        *("v", "np.mgrid[0:len({a}), 0:2] * 1.0", "np.mgrid[1:len({a})] * 1.0"),
        "np.ogrid[0:len({a}), 0:2][0]",
    ),
    "np.r_": ("v", "np.r_[{a}, 1.0, 0:3]", "np.r_[0:1:3j, {a}]", "np.r_[{a}.astype(np.float32), 2.0]"),
    "type(np.s_).__getitem__": ("v m", "{a}[np.s_[1:]]", "{a}[np.s_[len({a}) - 1 :, ...]]"),
    "slice": ("v m", "{a}[slice(1, None)]", "{a}[slice(len({a}) - 1, None, 2)]"),
    "np.s_": ("v m", "{a}[np.s_[1:]]", "{a}[np.s_[len({a}) - 1 :, ...]]"),
    "np.index_exp": ("v m", "{a}[np.index_exp[1:]]", "{a}[np.index_exp[len({a}) - 1 :, ...]]"),
    "np.array_split": (
        *("v m", "np.array_split({a}, 2)[0]", "np.array_split({a}, 3)[1]", "np.array_split({a}, [1])"),
    ),
    "np.delete": (
        *("v m", "np.delete({a}, [], axis=0)", "np.delete({a}, slice(0, 1), axis=0)"),
        *("np.delete({a}, {a} > 2)", "np.delete({a}, [True] * len({a}), axis=0)"),
    ),
    "np.insert": (
        *("v m", "np.insert({a}, 0, 0.5, axis=0)", "np.insert({a}, len({a}), {a}[:1], axis=0)"),
        *("np.insert({a}, [0, 0], 0.5, axis=0)", "np.insert({a}, [0], [0.5, 1.5])", "np.insert({a}, 0, 0.5)"),
    ),
    "np.repeat": (
        *("v m", "np.repeat({a}, [2], axis=0)", "np.repeat({a}, np.arange(len({a})) % 3, axis=0)"),
    ),
    "np.tri": ("v", "np.tri(len({a})) * {a}", "np.tri(2, len({a}), -1) * {a}"),
    "np.logspace": ("v", "np.logspace(0.0, 1.0, len({a})) * {a}"),
    # -------------------------------------------------------------------- elements
    "np.partition": ("v i", "np.partition({a}, 0)[0]", "np.partition({a}, -1)[-1]"),
    "np.argpartition": ("v", "np.argpartition({a}, -1)[-1]"),
    "np.array_equal": ("v m i b", "np.array_equal({a}, {a})", "np.array_equal({a}, {a}[:1])"),
    "np.divmod": ("v i", "np.divmod({a}, 2)", "np.divmod({a}, 2.5)"),
    "np.divmod.outer": ("v", "np.divmod.outer({a}, {a})"),
    "np.modf": ("v m i", "np.modf({a} * 1.25)", "np.modf(-{a})"),
    "np.signbit": ("v m i", "np.signbit({a})", "np.signbit(-{a})"),
    "np.diff": ("v m c", "np.diff({a}, prepend=0.0, axis=0)", "np.diff({a}, 2, 0, prepend={a}[:1])"),
    "np.nanvar": ("v m", "np.nanvar({a})", "np.nanvar(np.where({a} > 2, np.nan, {a}))"),
    "np.nanstd": ("v m", "np.nanstd({a})", "np.nanstd({a}, axis=0)"),
    "np.nancumsum": ("v m", "np.nancumsum({a})", "np.nancumsum(np.where({a} > 2, np.nan, {a}), axis=0)"),
    "np.nancumprod": ("v", "np.nancumprod({a} * 0.1)"),
    "np.nanmedian": ("v m", "np.nanmedian({a})", "np.nanmedian(np.where({a} > 2, np.nan, {a}), axis=0)"),
    "np.nanquantile": ("v m", "np.nanquantile({a}, 0.3, method='hazen')"),
    "np.nanpercentile": ("v m", "np.nanpercentile({a}, [30], 0, method='higher')"),
    "np.nanargmin": ("v m i", "np.nanargmin({a})", "np.nanargmin({a}, axis=0)"),
    "np.nanargmax": ("v m i", "np.nanargmax(np.where({a} > 2, np.nan, {a}))"),
    "np.unwrap": ("v m", "np.unwrap({a} * 4)", "np.unwrap({a} * {a}, axis=0)", "np.unwrap({a}, 1, period=3)"),
    "np.cumulative_sum": ("v i", "np.cumulative_sum({a})", "np.cumulative_sum({a}, include_initial=True)"),
    "np.cumulative_prod": ("m b", "np.cumulative_prod({a}, axis=0, include_initial=True)"),
    # -------------------------------------------------------------------- products, shapes, norms
    "np.vecdot": ("v m i c k", "np.vecdot({a}, {a})", "np.vecdot({a}, {a}, axis=0)"),
    "np.matvec": ("m k", "np.matvec({a}, np.ones(3))", "np.matvec({a}, {a}[0])"),
    "np.vecmat": ("m k", "np.vecmat({a}[:, 0], {a})"),
    "np.linalg.vecdot": ("v m c", "np.linalg.vecdot({a}, {a})"),
    "np.linalg.outer": ("v c", "np.linalg.outer({a}, {a})"),
    "np.linalg.matmul": ("m k", "np.linalg.matmul({a}.T, {a})"),
    "np.linalg.tensordot": ("m k", "np.linalg.tensordot({a}.T, {a}, axes=1)"),
    "np.linalg.cross": ("m k", "np.linalg.cross({a}, np.ones(3))"),
    "np.linalg.diagonal": ("m q k", "np.linalg.diagonal({a})", "np.linalg.diagonal({a}, offset=1)"),
    "np.linalg.trace": ("m q k", "np.linalg.trace({a})", "np.linalg.trace({a}, offset=-1)"),
    "np.diagflat": ("v m c", "np.diagflat({a})", "np.diagflat({a}[:1], 1)"),
    "np.linalg.tensorsolve": ("s", "np.linalg.tensorsolve({a}, {a}[0])"),
    "np.linalg.tensorinv": ("s", "np.linalg.tensorinv({a}, 1)"),
    "np.linalg.vector_norm": ("v m z", "np.linalg.vector_norm({a})", "np.linalg.vector_norm({a}, ord=1)"),
    "np.linalg.matrix_norm": ("m q k", "np.linalg.matrix_norm({a})", "np.linalg.matrix_norm({a}, ord=1)"),
    "np.linalg.matrix_rank": ("m s v", "np.linalg.matrix_rank({a})"),
    "np.rollaxis": ("m q k", "np.rollaxis({a}, 1)", "np.rollaxis({a}, 0, 0)", "np.rollaxis({a}, -1)"),
    "np.matrix_transpose": ("m q k", "np.matrix_transpose({a})"),
    "np.linalg.matrix_transpose": ("m q k", "np.linalg.matrix_transpose({a})"),
    "np.resize": ("v m z c", "np.resize({a}, (2, 3))", "np.resize({a}, 1)"),
    "np.asfortranarray": ("v m q", "np.asfortranarray({a})", "np.asfortranarray({a}, np.float32)"),
    "np.astype": ("v m i b", "np.astype({a}, np.float64)", "np.astype({a}, float, copy=False)"),
    "np.broadcast_shapes": ("v m", "np.broadcast_shapes({a}.shape, {a}.shape[-1], (1, 1))"),
    # -------------------------------------------------------------------- indices
    "np.tril_indices": ("v", "np.tril_indices(len({a}))", "np.tril_indices(len({a}), -1)"),
    "np.triu_indices": ("v", "np.triu_indices(len({a}), 1)", "np.triu_indices(len({a}), 0, 2)"),
    "np.tril_indices_from": ("m", "np.tril_indices_from({a})"),
    "np.triu_indices_from": ("m", "np.triu_indices_from({a}, 1)"),
    "np.diag_indices": ("v s", "np.diag_indices(len({a}))", "np.diag_indices(len({a}), 1)"),
    "np.diag_indices_from": ("s", "np.diag_indices_from({a})"),
    "np.indices": ("v", "np.indices((len({a}), 2))", "{a} * np.indices({a}.shape)[0]"),
    "np.fromfunction": ("v", "np.fromfunction(lambda i: i * {a}, {a}.shape)"),
    "np.unravel_index": ("i", "np.unravel_index({a} % 6, (2, 3))", "np.unravel_index({a} % 6, (6,), 'F')"),
    "np.ravel_multi_index": ("i", "np.ravel_multi_index(({a}, 1), (3, 2), mode='wrap')"),
    "np.choose": (
        *("v", "np.choose(np.arange(len({a})) % 2, [{a}, 0.5])"),
        "np.choose({a}.astype(int), [{a}, {a}[::-1]], mode='clip')",
    ),
    "np.lexsort": ("v i", "np.lexsort(({a}, {a} > 2))", "np.lexsort(({a}[::-1], {a} > 1, {a} > 2))"),
    "np.unstack": ("m q", "np.unstack(np.stack([{a}, {a}]))[1]", "np.unstack(np.stack([{a}], 1), axis=1)[0]"),
    # -------------------------------------------------------------------- sets
    "np.union1d": ("v m i b", "np.union1d({a}, {a}[::-1])", "np.union1d({a}, [1, 7])"),
    "np.intersect1d": ("v m i b", "np.intersect1d({a}, {a}[1:])", "np.intersect1d({a}, [1, 2, 7])"),
    "np.setdiff1d": ("v m i b", "np.setdiff1d({a}, {a}[:1])", "np.setdiff1d({a}, [2], True)"),
    "np.setxor1d": ("v i b", "np.setxor1d({a}, [2, 9])", "np.setxor1d({a}[1:], {a}[:2])"),
    # -------------------------------------------------------------------- asked of arrays
    "np.isposinf": ("v m i b z", "np.isposinf({a})", "np.isposinf(np.exp({a} * 300))"),
    "np.isneginf": ("v m i b z", "np.isneginf({a})"),
    "np.iscomplex": ("v m i b z c k", "np.iscomplex({a})"),
    "np.isreal": ("v m i b z c k", "np.isreal({a})"),
    "np.array_equiv": ("v m i b", "np.array_equiv({a}, {a})", "np.array_equiv({a}, {a}[:1])"),
    "np.result_type": ("v i", "np.ones(len({a}), np.result_type(np.arange(2), {a} > 1))"),
    "np.geomspace": ("v", "np.geomspace(1.0, 8.0, len({a}) + 2)", "np.geomspace(np.sum({a}) + 1.0, 8.0, 3)"),
    # -------------------------------------------------------------------- polynomials, functions on rows
    "np.polyval": ("v", "np.polyval({a}, 0.5)", "np.polyval([1.0, 2.0], {a})", "np.polyval({a}[:3], {a})"),
    "np.polyder": ("v", "np.polyder({a})", "np.polyder({a}, 2)", "np.polyder({a}, 0)"),
    "np.polyint": ("v", "np.polyint({a})", "np.polyint({a}, 2, k=1.0)", "np.polyint({a}, 0)"),
    "np.polyadd": ("v", "np.polyadd({a}, {a})", "np.polyadd({a}, [1.0, 2.0])"),
    "np.polysub": ("v", "np.polysub({a}, {a})", "np.polysub([1.0, 2.0], {a})"),
    "np.polymul": ("v", "np.polymul({a}, {a})", "np.polymul({a} - 1.0, [0.0, 2.0])"),
    "np.histogram2d": ("v", "np.histogram2d(np.arange(len({a})), np.arange(len({a})), (2, 3), weights={a})"),
    "np.poly": ("v", "np.poly({a}[:4])", "np.poly([2.0, {a}[0]])"),
    "np.polydiv": ("v", "np.polydiv({a}, {a}[:2])", "np.polydiv({a}, [2.0, 1.0])[0]"),
    "np.polyfit": ("v m", "np.polyfit(np.arange(len({a})) + 1.0, {a}, 1)", "np.polyfit({a}, {a} ** 2, 0)"),
    "np.vectorize": ("v m i", "np.vectorize(lambda v: v * 2.0)({a})", "np.vectorize(max)({a}, 2.5)"),
    "np.vectorize.__call__": ("v", "np.vectorize(lambda v, w: (v, w), otypes=[float, float])({a}, 2)"),
    "np.apply_along_axis": (
        *("v m", "np.apply_along_axis(np.sum, 0, {a})", "np.apply_along_axis(lambda r: r, 0, {a})"),
        *("np.apply_along_axis(lambda r: r - np.mean(r), -1, {a})",),
    ),
    # -------------------------------------------------------------------- whole numbers
    "math.factorial": ("v", "math.factorial(n % 20)"),
    "math.perm": ("v", "math.perm(n, 2)", "math.perm(5, n % 7)"),
    "math.comb": ("v", "math.comb(n, 3)", "math.comb(60, n)"),
    "math.gcd": ("v", "math.gcd(12 * n, 18, 30)"),
    "math.lcm": ("v", "math.lcm(n, 12)"),
    "math.isqrt": ("v", "math.isqrt(n * n)", "math.isqrt(n)"),
    "math.gamma": ("z", "math.gamma({a} ** 2 + 0.5)"),
    "math.modf": ("z", "math.modf({a} * 1.25)"),
    # -------------------------------------------------------------------- statistics
    **{
        f"statistics.{name}": ("v", f"statistics.{name}({{a}})")
        for name in (
            *("mean", "fmean", "median", "median_low", "median_high", "variance", "stdev", "pvariance"),
            *("pstdev", "geometric_mean", "harmonic_mean"),
        )
    },
    # -------------------------------------------------------------------- operator
    **{f"operator.{name}": ("v m z", f"operator.{name}({{a}})") for name in _UNARY_OPERATORS.split()},
    **{
        f"operator.{name}": ("v m z i", f"operator.{name}({{a}}, {{a}})", f"operator.{name}({{a}}, 2)")
        for name in _BINARY_OPERATORS.split()
    },
    **{
        f"operator.{name}": ("i b", f"operator.{name}({{a}}, 1)", f"operator.{name}({{a}}, {{a}})")
        for name in _INTEGER_OPERATORS.split()
    },
    **{
        f"operator.i{name}": ("v m z", f"operator.i{name}({{a}}, 2)", f"operator.i{name}({{a}}, {{a}}[::-1])")
        for name in "add sub mul truediv floordiv mod pow".split()
    },
    **{
        f"operator.i{name}": ("i b", f"operator.i{name}({{a}}, 1)", f"operator.i{name}({{a}}, {{a}}[::-1])")
        for name in "and or xor lshift rshift".split()
    },
    "operator.imatmul": ("m", "operator.imatmul({a}, np.eye(3) * 2.0)"),
    "operator.matmul": ("v m", "operator.matmul({a}.T, {a})"),
    "operator.invert": ("i b", "operator.invert({a})"),
    "operator.inv": ("i b", "operator.inv({a})"),
    "operator.contains": ("v", "operator.contains({a}, 2.0)", "operator.contains([1, 2], len({a}))"),
    "operator.concat": ("v", "operator.concat([{a}], [{a}])[1]", "operator.iadd([{a}], [{a}])[1]"),
    "operator.getitem": ("v m", "operator.getitem({a}, slice(1, None))", "operator.itemgetter(0)({a})"),
    "operator.setitem": ("v m", "[operator.setitem({a}, 0, 0.5), {a}][1]"),
    "operator.delitem": ("v", "(lambda h: [operator.delitem(h, 0), h][1])([1.0, {a}])[0]"),
    "getattr": (
        *("v m", "getattr({a}, 'T')", "getattr({a}, 'nothing', {a})", "operator.attrgetter('T.shape')({a})"),
        *("operator.methodcaller('sum', axis=0)({a})", "operator.methodcaller('ravel')({a})"),
    ),
    # -------------------------------------------------------------------- functools, itertools
    "functools.reduce": (
        *("v m", "functools.reduce(lambda p, q: p + q, {a}, 0.5)", "functools.reduce(operator.mul, {a}[:3])"),
        *("functools.reduce(lambda p, q: q, [1.0, {a}])",),
    ),
    "itertools.accumulate": (
        *("v m i", "list(itertools.accumulate({a}))", "list(itertools.accumulate({a}, operator.mul))"),
        *("list(itertools.accumulate({a}, lambda p, q: 0.5 * p + q, initial=1.0))",),
        "list(itertools.accumulate({a}, max))[-1:]",
    ),
    "itertools.chain.from_iterable": ("v m", "list(itertools.chain.from_iterable([{a}, {a}[:1]]))"),
    "itertools.islice": (
        *("v m", "list(itertools.islice({a}, 1, None, 2))", "list(itertools.islice({a}, 0))"),
        *("(lambda h: [*itertools.islice(h, 2), *h])(iter({a}))",),
    ),
    "itertools.combinations": ("v", "[p * q for p, q in itertools.combinations([{a}[0], {a}[-1], 2.0], 2)]"),
    "itertools.combinations_with_replacement": (
        *("v", "[p * q for p, q in itertools.combinations_with_replacement(({a}[0], {a}[-1]), 2)]"),
    ),
    "itertools.permutations": (
        *("v", "[p / (3.0 + q * q) for p, q in itertools.permutations([{a}[0], {a}[-1]])]"),
        "[p - q for p, q in itertools.permutations([{a}[0], 1.0, 2.0], 2)]",
    ),
    "itertools.zip_longest": (
        *("v", "[p * q for p, q in itertools.zip_longest([{a}[0], {a}[-1]], [2.0], fillvalue=3.0)]"),
    ),
    "itertools.pairwise": ("v m", "[p + q for p, q in itertools.pairwise({a})]"),
    "itertools.product": (
        *("v", "sum(p * q for p, q in itertools.product({a}, repeat=2))"),
        *("[p * q for p, q in itertools.product({a}, [1.0, 2.0])]",),
        "[p for p in itertools.product([{a}], [1])]",
    ),
    "np.ndindex": (
        *("v", "sum({a}[i] * (i + 1) for (i,) in np.ndindex({a}.shape))"),
        "[{a}[0] * i + j for i, j in np.ndindex(2, 3)]",
    ),
    "np.ndenumerate": (
        *("v m", "sum(v * (1.0 + sum(k)) for k, v in np.ndenumerate({a}))"),
    ),
    "itertools.starmap": ("v", "list(itertools.starmap(operator.mul, zip({a}, {a})))"),
    # -------------------------------------------------------------------- heapq, bisect
    "heapq.heappush": ("v", "(lambda h: [heapq.heappush(h, -{a}[0]), h][1])([1.0 * v for v in {a}])"),
    "heapq.heappop": ("v", "(lambda h: [heapq.heappop(h), h])([1.0 * v for v in {a}])"),
    "heapq.heapify": ("v", "(lambda h: [heapq.heapify(h), h][1])([-1.0 * v for v in {a}])"),
    "heapq.heapreplace": ("v", "(lambda h: [heapq.heapreplace(h, 2.5), h])([1.0 * v for v in {a}])"),
    "heapq.heappushpop": ("v", "(lambda h: [heapq.heappushpop(h, 2.5), h])([1.0 * v for v in {a}])"),
    "heapq.nsmallest": ("v", "heapq.nsmallest(2, {a})", "heapq.nsmallest(2, {a}, key=lambda v: -v)"),
    "heapq.nlargest": ("v", "heapq.nlargest(2, {a})", "heapq.nlargest(1, {a}, lambda v: -v)"),
    "bisect.bisect_left": (
        *("v", "bisect.bisect_left({a}, 2.0)", "bisect.bisect_left({a}, -2.0, key=lambda v: -v)"),
    ),
    "bisect.bisect_right": ("v", "bisect.bisect_right({a}, 2.0)", "bisect.bisect({a}, 2.0, 0, 1)"),
    "bisect.insort_left": ("v", "(lambda h: [bisect.insort_left(h, 2.0), h][1])([1.0 * v for v in {a}])"),
    "bisect.insort_right": ("v", "(lambda h: [bisect.insort(h, {a}[0]), h][1])([1.0 * v for v in {a}])"),
    # -------------------------------------------------------------------- containers
    "dict.fromkeys": ("v m", "dict.fromkeys(('k', 'l'), {a})['l']", "len(dict.fromkeys('ab')) * {a}"),
    "dict": ("v m", "dict(k={a})['k']", "dict([('k', {a})])['k']"),
    "filter": ("v", "list(filter(None, [{a}.shape[0], 0]))"),

    "set": ("v", "len(set([1, 2, 2])) * {a}"),
    "copy.deepcopy": ("v", "copy.deepcopy({a})"),
    "collections.deque": ("v", "sum(collections.deque([{a}, 2.0, {a}], maxlen=2))"),
    "frozenset": ("v", "len(frozenset([1, 2, 2])) * {a}"),
}  # fmt: skip
"""Name -> the kinds, then calls."""
