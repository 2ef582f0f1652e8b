"""The grammar of random programs: literal tables of expressions and statements.

`{vec}` is any expression of the kind, `{vec!}` a name of the kind that is there, `{new:vec}` a new name, and
`{block}` on a line of its own a block of statements. The kinds:

| kind | is |
|---|---|
| num | a number |
| at | an index from 0 to n - 1 |
| vec | an array of length n; x, which belongs to the caller, is none |
| row | an array of length 3 |
| mat | an array of shape (n, 3) |
| part | an array of one dimension of any length |
| zero | an array without a dimension |
| ints, mask | an array of n integers, of n booleans |
| count | an integer that counts |
| list | a list of numbers |
| vecs, rows | a list of vecs, of rows |
| table | a list of lists of numbers |
| dict | a dict with the vecs "w" and "h" and the number "s" |
| pair | a tuple (vec, vec, number) |
| box | an object with the vecs `.v` and `.u`, the number `.s`, the list `.l`, and the dict `.p` |
| act | a function of a number that changes something around it and returns a number |
| map | a function of an array, which it may change, that returns a number |
| iter | an iterator over numbers |
"""

from __future__ import annotations

AROUND: dict[str, str] = {
    "Box": """
class Box:
    def __init__(self, v, s):
        self.v = v
        self.u = v[:]
        self.s = s
        self.l = [s, s + 1.0]
        self.p = {"w": v, "s": s}

    def bump(self, c):
        self.v += c
        return self.s

    def step(self):
        self.s += 1.0
        self.v[0] = self.s
        return self
""",
    "State": """
@dataclass
class State:
    v: object
    s: float
""",
    "scaled": """
def scaled(v, c):
    v *= c
    return v
""",
    "first": """
def first(v):
    v[0] += 1.0
    return v[0]
""",
    "part": """
def part(v):
    return v[1:]
""",
    "fresh": """
def fresh(v, c):
    v = v + c
    return v
""",
}
"""Name -> its definition, which stands above a program that uses it."""

NAMES: dict[str, tuple[str, ...]] = {"num": ("t",), "at": (), "vec": ("a", "b"), "mat": ("m",)}
"""The names that every program begins with, by kind."""

START = (
    "a = x.copy()",
    "b = x * 2.0",
    "m = np.outer(x, np.array([1.0, 2.0, 3.0]))",
)

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "num": (
        "1.0",
        "2.0",
        "-3.0",
        "0.5",
        "{vec!}[{at}]",
        "{vec}[{at}]",
        "{row}[{small}]",
        "{vec}.sum()",
        "{vec!}.max()",
        "np.dot({vec!}, {vec!})",
        "{list!}[{small}]",
        "sum({list!})",
        "{list!}[-1]",
        "float(len({list!}))",
        "{dict!}['s']",
        "{box!}.s",
        "{pair!}[2]",
        "{table!}[{small}][{small}]",
        "({num} + {num})",
        "({num} * {num})",
        "({num} - {num})",
        "{act!}({num})",
        "{map!}({vec!})",
        "{map!}({vec!}[1:])",
        "first({vec})",
        "next({iter!}, 9.0)",
        "sum({iter!})",
        "({num} if {test} else {num})",
        "{box!}.bump({num})",
        "sum(v * {num} for v in {vec})",
        "sum([{num} for i in range(n)])",
        "float({num})",
        "{zero!}",
        "{zero!}[()]",
    ),
    "at": ("0", "-1", "1", "n - 1", "n // 2", "{at!}", "{at!}", "{count!} % n"),
    "small": ("0", "1", "-1", "2"),
    "test": (
        "t > 0",
        "{num} > 2.0",
        "{at!} % 2 == 0",
        "{at!} == 1",
        "x[0] > 0",
        "{vec!}[{at}] > 3.0",
        "n > 3",
    ),
    "vec": (
        "{view}",
        "{vec!}",
        "({vec} + {num})",
        "({vec} * {vec})",
        "({vec} - {vec})",
        "{vec}.copy()",
        "np.zeros(n)",
        "+{vec!}",
        "np.maximum({vec}, {num})",
        "np.array([{num} for i in range(n)])",
        "np.array([v + {num} for v in {vec}])",
        "fresh({vec}, {num})",
        "np.where({vec!} > 2.0, {vec}, {num})",
        "m @ np.array([1.0, {num}, 2.0])",
        "np.cumsum({vec})",
        "np.array({list!} + [{num}] * n)[:n]",
    ),
    "view": (
        "{vec!}",
        "{vec!}[:]",
        "{vec!}[::-1]",
        "{mat!}[:, {small}]",
        "{mat!}.T[{small}]",
        "np.asarray({vec!})",
        "{vec!}.reshape(n)",
        "{vec!}.ravel()",
        "{dict!}['w']",
        "{dict!}['h']",
        "{box!}.v",
        "{box!}.u",
        "{box!}.p['w']",
        "{pair!}[0]",
        "{pair!}[1]",
        "{vecs!}[0]",
        "{vecs!}[-1]",
        "scaled({vec!}, {num})",
        "({vec!} if {test} else {vec!})",
    ),
    "row": (
        "{row!}",
        "{mat!}[{at}]",
        "{rows!}[{at}]",
        "{mat!}[{at}, :]",
        "np.array([{num}, {num}, {num}])",
        "({row} + {num})",
        "{mat!}.sum(axis=0)",
    ),
    "part": (
        "{part!}",
        "{vec!}[1:]",
        "{vec!}[:-1]",
        "{vec!}[::2]",
        "{part!}[::-1]",
        "{mat!}[1:, 0]",
        "{mat!}.ravel()",
    ),
    "mat": (
        "{mat!}",
        "({mat} + {num})",
        "{mat!}[:]",
        "{mat!}.copy()",
        "np.zeros((n, 3))",
        "np.array({rows!})",
        "{mat!}[::-1]",
    ),
    "zero": ("np.array({num})", "{vec!}[{at}, ...]", "np.zeros(())", "np.asarray({vec!}[0])"),
    "ints": (
        "np.arange(n)",
        "({ints!} + 1)",
        "np.argsort(-x)",
        "({ints!} * 2)",
        "{ints!}[::-1]",
        "{ints!}",
    ),
    "mask": ("({vec!} > {num})", "~{mask!}", "({mask!} & ({vec!} < 4.0))", "{mask!}", "np.isfinite({vec!})"),
    "count": ("0", "len({list!})", "({count!} + 1)", "int(t)"),
    "list": (
        "[{num}, {num}, {num}]",
        "list({vec})",
        "[v * 2 for v in {vec!}]",
        "[{num} for i in range(n)]",
        "[0.0] * n",
        "[0] * 3",
        "{list!}[:]",
        "{list!}.copy()",
        "{list!} + [{num}]",
        "{list!}[:3] * 2",
        "list({iter!})",
        "[v for v in {list!} if v > 1.0]",
        "list(reversed({list!}))",
        "sorted({list!})",
    ),
    "vecs": (
        "[{vec}, {vec}]",
        "[{vec!}, {vec!}, {vec}]",
        "[{vec!}] * 2",
        "{vecs!}[:]",
        "[v + {num} for v in {vecs!}]",
        "[v for v in {vecs!}]",
        "[v[:] for v in {vecs!}]",
        "list({vecs!})",
        "[scaled(v, {num}) for v in {vecs!}]",
    ),
    "rows": (
        "list({mat!})",
        "[r for r in {mat!}]",
        "[{mat!}[i] for i in range(n)]",
        "[{row}, {row}]",
        "[r + {num} for r in {mat!}]",
        "[np.zeros(3) for i in range(n)]",
        "[np.zeros(3)] * n",
        "{rows!}[::-1]",
    ),
    "table": (
        "[[0.0] * 3 for i in range(n)]",
        "[[0] * 3 for i in range(n)]",
        "[[0] * n for i in range(n)]",
        "[[0.0] * 3] * 3",
        "[{list!}, {list!}]",
        "[{list}, {list}]",
        "[list(r) for r in {mat!}]",
        "[[{num} for j in range(3)] for i in range(n)]",
        "{table!}[:]",
        "[r[:] for r in {table!}]",
        "[r for r in {table!}]",
    ),
    "dict": (
        "{'w': {vec}, 'h': {vec}, 's': {num}}",
        "dict(w={vec}, h={vec!}, s={num})",
        "dict({dict!})",
        "{**{dict!}}",
        "{dict!}.copy()",
        "{k: v for k, v in {dict!}.items()}",
    ),
    "pair": ("({vec}, {vec}, {num})", "({vec!}, {vec!}, {num})", "{pair!}[:]"),
    "box": ("Box({vec}, {num})", "Box({vec!}, {num})", "{box!}.step()"),
    "state": ("State({vec}, {num})", "dataclasses.replace({state!}, s={num})"),
    "iter": (
        "iter({list!})",
        "iter({vec!})",
        "(v * {num} for v in {list!})",
        "(v + {num} for v in {vec!})",
        "({num} for i in range(n))",
        "map(lambda v: v + {num}, {list!})",
        "map(lambda v: v * 2.0, {vec!})",
        "reversed({list!})",
        "reversed({vec!})",
        "(v + w for v, w in zip({vec!}, {list!}))",
        "(i * v for i, v in enumerate({vec!}))",
        "map(lambda p: p[0] + p[1], zip({vec!}, {vec!}))",
        "filter(lambda v: v > {num}, {list!})",
        "itertools.chain({list!}, {vec!})",
    ),
    "op": ("+=", "-=", "*=", "+=", "*="),
    "extent": ("n", "n", "3", "n - 1", "len(x)", "2"),
}
"""Kind -> how an expression of it can be written."""

SIMPLE: tuple[str, ...] = (
    "{new:num} = {num}",
    "{new:num} = 0",
    "{new:vec} = {vec}",
    "{new:vec} = {view}",
    "{new:vec} = {view}",
    "{new:mat} = {mat}",
    "{new:row} = {row}",
    "{new:part} = {part}",
    "{new:zero} = {zero}",
    "{new:list} = {list}",
    "{new:list} = {list!}",
    "{new:vecs} = {vecs}",
    "{new:rows} = {rows}",
    "{new:table} = {table}",
    "{new:dict} = {dict}",
    "{new:dict} = {dict!}",
    "{new:pair} = {pair}",
    "{new:box} = {box}",
    "{new:box} = {box!}",
    "{new:state} = {state}",
    "{new:iter} = {iter}",
    "{new:iter} = {iter!}",
    "{new:vec}, {new:vec} = {vec}, {view}",
    "{new:vec}, {new:vec}, {new:num} = {pair!}",
    "{new:num}, *{new:list} = {list!}",
    "{num!} {op} {num}",
    "{num!} = {num}",
    "{vec!} = {vec}",
    "{vec!} {op} {num}",
    "{vec!} {op} {vec}",
    "{vec!}[{at}] = {num}",
    "{vec!}[{at}] {op} {num}",
    "{vec!}[{at}] {op} {num}",
    "{vec!}[:] = {vec}",
    "{vec!}[1:] {op} {num}",
    "{vec!}[1:] {op} {vec!}[:-1]",
    "{vec!}[::2] = {num}",
    "{vec!}[{vec!} > 2.0] {op} {num}",
    "{vec!}[np.array([0, 1])] {op} {num}",
    "{vec!}[[0, -1]] = {num}",
    "{vec!}[...] = {num}",
    "{vec!}.fill({num})",
    "{vec!}.sort()",
    "{part!} {op} {num}",
    "{part!}[0] {op} {num}",
    "{row!} {op} {num}",
    "{row!}[{small}] = {num}",
    "{mat!} {op} {num}",
    "{mat!}[{at}] {op} {num}",
    "{mat!}[{at}] = {row}",
    "{mat!}[{at}][{small}] {op} {num}",
    "{mat!}[{at}, {small}] {op} {num}",
    "{mat!}[:, {small}] {op} {vec}",
    "{mat!}.T[{small}] {op} {num}",
    "{new:ints} = {ints}",
    "{new:mask} = {mask}",
    "{new:count} = {count}",
    "{count!} += 1",
    "{ints!} += 1",
    "{ints!}[{at}] = {count!}",
    "{ints!}[1:] += {ints!}[:-1]",
    "{mask!}[{at}] = False",
    "{mask!} &= {vec!} > 1.0",
    "{vec!}[{mask!}] {op} {num}",
    "{vec!}[{ints!} % n] = {vec}",
    "{vec!}[{ints!} % n] {op} {num}",
    "{num!} += {vec!}[{mask!}].sum()",
    "{num!} += {vec!}[{ints!} % n][0]",
    "part({vec!})[...] {op} {num}",
    "{zero!} {op} {num}",
    "{zero!}[()] = {num}",
    "{zero!}[...] {op} {num}",
    "{list!}.append({num})",
    "{list!}.append({num})",
    "{list!}.extend([{num}, {num}])",
    "{list!}.extend({vec!})",
    "{list!}.insert(0, {num})",
    "{list!}.pop()",
    "{new:num} = {list!}.pop(0)",
    "{list!}.reverse()",
    "{list!}.sort()",
    "{list!}[{small}] {op} {num}",
    "{list!}[{small}] = {num}",
    "{list!}[1:2] = [{num}]",
    "{list!} += [{num}]",
    "{list!} = {list}",
    "del {list!}[0]",
    "{vecs!}[{small}] {op} {num}",
    "{vecs!}[0][{at}] {op} {num}",
    "{vecs!}[-1] = {vec}",
    "{vecs!}.append({vec!})",
    "{vecs!}[0] = {vecs!}[1]",
    "{rows!}[{at}] {op} {num}",
    "{rows!}[{at}][{small}] {op} {num}",
    "{rows!}[{at}] = {row}",
    "{rows!}.append({row})",
    "{table!}[{small}][{small}] {op} {num}",
    "{table!}[{small}][{small}] = {num}",
    "{table!}[1] = {table!}[0]",
    "{table!}[0] = {list}",
    "{table!}[{small}].append({num})",
    "{table!}.append({list})",
    "{dict!}['w'] {op} {num}",
    "{dict!}['w'] {op} {vec}",
    "{dict!}['w'][{at}] {op} {num}",
    "{dict!}['w'] = {vec}",
    "{dict!}['s'] {op} {num}",
    "{dict!}['h'] = {dict!}['w']",
    "{dict!}['z'] = {num}",
    "{dict!}.update(w={vec})",
    "{box!}.v {op} {num}",
    "{box!}.v {op} {vec}",
    "{box!}.v[{at}] {op} {num}",
    "{box!}.v = {vec}",
    "{box!}.s {op} {num}",
    "{box!}.l.append({num})",
    "{box!}.l[0] {op} {num}",
    "{box!}.p['w'] {op} {num}",
    "{box!}.p['s'] {op} {num}",
    "{box!}.bump({num})",
    "{box!}.step()",
    "{state!}.v {op} {num}",
    "{state!}.s {op} {num}",
    "{pair!}[0][{at}] {op} {num}",
    "{new:act} = lambda c: first({vec!}) + c",
    "{new:map} = lambda v: v[0] + {num}",
    "{vec!}, {vec!} = {vec!}, {vec!}",
    "{vec!}[0], {vec!}[-1] = {vec!}[-1], {vec!}[0]",
    "{num!}, {num!} = {num!}, {num!}",
    "{vec!}[{at}], {num!} = {num}, {num}",
    "{new:vec} = {vec!} = {vec}",
    "scaled({view}, {num})",
    "first({view})",
    "first({part})",
    "first({row})",
    "{num!} = {act!}({num})",
    "{num!} += {map!}({view})",
    "np.add.at({vec!}, np.array([0, 0, 1]), {num})",
)
"""Statements without a block."""

COMPOUND: tuple[str, ...] = (
    "for {new:at} in range(n):\n    {block}",
    "for {new:at} in range(n):\n    {block}",
    "for {new:at} in range(n - 1):\n    {block}",
    "for {new:at} in range(2):\n    {block}",
    "for {new:at} in range(len(x)):\n    {block}",
    "for {new:num} in {vec!}:\n    {block}",
    "for {new:num} in {list!}:\n    {block}",
    "for {new:num} in {list}:\n    {block}",
    "for {new:num} in {iter!}:\n    {block}",
    "for {new:num} in {iter!}:\n    {block}\n    if {test}:\n        break",
    "for {new:at}, {new:num} in enumerate({vec!}):\n    {block}",
    "for {new:at}, {new:num} in enumerate({vec!}[:-1]):\n    {block}",
    "for {new:num}, {new:num} in zip({vec!}, {vec}):\n    {block}",
    "for {new:num}, {new:num} in zip({iter!}, {list!}):\n    {block}",
    "for {new:row} in {mat!}:\n    {block}",
    "for {new:row} in {rows!}:\n    {block}",
    "for {new:vec} in {vecs!}:\n    {block}",
    "for {new:list} in {table!}:\n    {block}",
    "for key, {new:vec} in list({dict!}.items())[:2]:\n    {block}",
    "for key in ('w', 'h'):\n    {dict!}[key] {op} {num}\n    {block}",
    "for v in {vecs!}:\n    v {op} {num}",
    "for v in {list!}:\n    if len({list!}) < 9:\n        {list!}.append(v + {num})",
    "for {new:at} in range(n):\n    {list!}.append({num})",
    "for {new:at} in range(n):\n    {vecs!}.append({vec!}.copy())",
    "{new:num} = 0.0\nfor v in {iter!}:\n    {num!} += v\n    if v > {num}:\n        break",
    "k = 0\nwhile k < n:\n    {block}\n    k += 1",
    "{new:count} = 0\nwhile {count!} < 3:\n    {block}\n    {count!} += 1",
    "for {new:at} in range(n):\n    if {test}:\n        {count!} += 1",
    "for {new:at} in range(n):\n    if {mask!}[{at}]:\n        {block}",
    "for {new:count} in {ints!}:\n    {block}",
    "k = 0\nwhile k < 3 and {num} < 50.0:\n    {block}\n    k += 1",
    "if {test}:\n    {block}",
    "if {test}:\n    {block}\nelse:\n    {block}",
    "if {test}:\n    {vec!} = {view}\nelse:\n    {vec!} = {vec}",
    "if {test}:\n    {list!} = {list!}\nelse:\n    {list!} = {list}",
    "if {test}:\n    {vec!}, {vec!} = {vec!}, {vec!}",
    "for {new:at} in range(n):\n    {vec!}, {vec!} = {vec!}, {vec!}\n    {block}",
    "for {new:at} in range(n):\n    {vec!}, {vec!} = {vec!}, {vec} * 0.5\n    {block}",
    "for {new:at} in range(n):\n    if {test}:\n        continue\n    {block}",
    "def {new:act}(c):\n    {vec!}[{small}] += c\n    return {vec!}[0]",
    "def {new:act}(c, v={vec!}):\n    v[0] += c\n    return v[-1]",
    "def {new:act}(c, store=[0.0]):\n    store.append(c)\n    return store[-1]",
    "def {new:act}(c):\n    {list!}.append(c)\n    return {list!}[0]",
    "def {new:act}(c):\n    {dict!}['s'] += c\n    {dict!}['w'] *= c\n    return {dict!}['s']",
    "def {new:act}(c):\n    {box!}.v -= c\n    return {box!}.v[0]",
    "def {new:map}(v):\n    v *= 2.0\n    return v[0]",
    "def {new:map}(v):\n    w = v\n    w[0] += 1.0\n    v = v + 1.0\n    v[0] = 3.0\n    return w[0] + v[0]",
    "{new:list} = [first({vec!}) for i in range(n)]",
    "{new:vec} = np.array([first({vec!}) + v for v in {vec!}])",
)
"""Statements with a block, and those that take several lines."""

SELDOM = (
    *(".fill(", ".sort()", "sorted(", ".T[", "np.add.at", "dict(", ".ravel()", ".reshape(", "[[0, -1]]"),
    *(
        "filter(",
        "chain(",
        "next(",
        "= iter(",
        ".step()",
        "['z']",
        "del ",
        ".extend({vec",
        "lambda c",
        "] * n",
    ),
    # a name whose array depends on a condition, or on how often a loop ran
    *("{vec!} if {test} else {vec!}", "{vec!} = {view}\nelse", "{list!} = {list!}\nelse"),
    *("if {test}:\n    {vec!}, ", "in range(n):\n    {vec!}, {vec!} = {vec!}, {vec!}"),
    # expressions that write: the order of evaluation, comprehensions whose callees write
    *("first({vec})", "first({vec!})", "scaled({vec!}", "{act!}(", "{map!}(", "bump({num})"),
)
"""Most programs have nothing of this."""

SHOWN: dict[str, str] = {
    "box": "({0}.v, {0}.u, {0}.s, {0}.l, {0}.p)",
    "state": "({0}.v, {0}.s)",
    "iter": "list({0})",
}
"""How a name of a kind is returned, where it is not as it is; functions are not returned."""
HIDDEN = frozenset({"act", "map", "at"})
