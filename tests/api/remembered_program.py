"""The program of `test_remembered`: what it reads, the cases that read it, and what runs them."""

SETTING = """
import builtins
import enum
import functools
import operator
import sys
from collections import OrderedDict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np

import anadrome as ad

VALUE, TEXT, COUNT, FLAG, PAIR = {value}, "{text}", {count}, {flag}, (1.0, {value})
SINGLE, COMPLEX = np.float32({value}), complex(1.0, {value})
KIND, SLICE = np.dtype("{dtype}"), slice(0, {count})
ITEMS, TABLE, ORDERED = [1.0, {value}], {{"a": {value}, "b": 1.0}}, OrderedDict(a={value})
NESTED = {{"layers": [[1.0, {value}], [2.0]]}}
QUEUE, RANGE = deque([1.0, {value}]), range({count})
SMALL, LARGE = np.array([1.0, {value}]), np.arange(100.0) * {value}
VIEW = np.array([[1.0, {value}], [3.0, 4.0]]).T
SHAPED = np.ones(({count}, 20))
ARRAYS = [np.array([1.0, {value}]), np.full(50, {value})]
NAMES = {{"one", "two", "three", "four"}}
FIXED = frozenset({{"one", "two", "three", "{text}"}})
CHOSEN = "{chosen}"
SIDES = ad.f64["n", {other!r}]

def scaled(x):
    return x * {value}

def calling(x):
    return scaled(x) + 1.0

def with_default(x, k={value}, *, c={value}):
    return x * k + c

def making(k):
    def made(x):
        return x * k
    return made

made = making({value})
tabled = {{"f": lambda x: x * {value}}}
apart = functools.partial(operator.mul, {value})
scaled_partly = functools.partial(with_default, k={value})

class Base:
    constant = {value}
    part = None
    def run(self, x):
        return x * self.constant
    def inherited(self, x):
        return x + {value}

class Model(Base):
    def __init__(self, k):
        self.k = k
    @property
    def twice(self):
        return 2.0 * self.k + {value}
    @staticmethod
    def fixed(x):
        return x * {value}
    @classmethod
    def of_class(cls, x):
        return x * cls.constant
    def __call__(self, x):
        return x * self.k
    def __getitem__(self, key):
        return self.k + key
    def __add__(self, other):
        return other + self.k * {value}
    {override}

class Deep(Model):
    W = (1.0, {value})
    S = SINGLE
    F = np.{chosen}
    def __init__(self, k):
        self.k = k

class Computed:
    def __init__(self):
        self.k = 1.0
    def __getattribute__(self, name):
        return VALUE if name == "k" else object.__getattribute__(self, name)

class Cached:
    @functools.cached_property
    def k(self):
        return VALUE

class Whole(int): pass
class Real(float): pass
class Word(str): pass
class Rank(enum.IntEnum):
    LOW = 1
    HIGH = {count}
class Place:
    def __index__(self):
        return COUNT - 2

class Hidden:
    def __getattr__(self, name):
        return {value}

class Slotted:
    __slots__ = ("k",)
    def __init__(self):
        self.k = {value}

@dataclass
class Parameters:
    a: float = {value}
    b: float = 1.0
    c: list = field(default_factory=lambda: [{value}, 1.0])

@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    a: float = {value}

class Kind(enum.Enum):
    FIRST = {value}
    SECOND = 7.0

Pair = namedtuple("Pair", ["left", "right"], defaults=[{value}])

model, hidden, slotted, parameters = Model({value}), Hidden(), Slotted(), Parameters()
model.inner = Parameters(a={value})
kind, pair = Kind({value}), Pair(1.0)
odd = {odd}
whole, real, word = Whole({count}), Real({value}), Word("{text}")
either = (lambda x: x * 2.0) if {flag} else (lambda x: x * 3.0)
both = dict(f=lambda x: x * 2.0, g=lambda x: x * 3.0)["f" if {flag} else "g"]
mapped = ad.vmap(lambda a, b: a * b.sum(), in_axes=[0, None] if {flag} else [None, 0])
record = np.array([(1.0, 2.0)], dtype=[(name, float) for name in ("ab" if {flag} else "ba")])
complexes = [np.arange(100.0) + {value} * 1j]
twin = SMALL if {flag} else SMALL.copy()
large_twin = LARGE if {flag} else LARGE.copy()
first_float = 1.0 + {value}
second_float = first_float if {flag} else 1.0 + {value}
option = [2.0] if {flag} else None
act = scaled if {flag} else np.sin

@functools.wraps(len)
def forged(x):
    return x * {value}

class Connection:
    def __getattr__(self, name):
        if FLAG:
            raise ConnectionError(name)
        return 2.0

connection = Connection()
same, alias = [1.0], [1.0]
if {flag}:
    alias = same
scaled.rate = {value}
builtins.from_nowhere = {nowhere}
if {flag}:
    def sinc(x):
        return x * {value}
    np.sinc = sinc
    BY_FLAG = type("Other", (), dict(weight=3.0))()
else:
    BY_FLAG = Model(1.0)

@ad.custom_jvp
def ruled(x):
    return x * {value}

ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0] * {value}))
compiled = ad.jit(scaled)
"""

CASES = """
import functools
import math
import operator
import sys

import numpy as np

import anadrome as ad
import setting
from setting import VALUE, scaled

GIVEN = setting.VALUE
x = np.arange(1.0, 30.0)
CASES = {}

def case(function, *args):
    CASES[function.__name__] = function, args or (x,)
    return function

@case
def steady(x): return np.sin(x) * 2.0
@case
def global_number(x): return x * GIVEN
@case
def imported_number(x): return x * VALUE
@case
def of_module(x): return x * setting.VALUE
@case
def text(x): return x if setting.TEXT == "up" else -x
@case
def formatted(x): return x * len(f"{setting.VALUE} {setting.TEXT}")
@case
def counted(x): return sum(x * k for k in range(setting.COUNT))
@case
def flag(x): return x if setting.FLAG else 2.0 * x
@case
def pair(x): return x * setting.PAIR[1]
@case
def unpacked(x):
    a, b = setting.PAIR
    return x * a + b
@case
def single(x): return x * setting.SINGLE
@case
def complex_number(x): return np.abs(x * setting.COMPLEX)
@case
def dtype(x): return np.zeros(3, setting.KIND) + 1
@case
def sliced(x): return x[setting.SLICE]
@case
def items(x): return x * setting.ITEMS[-1]
@case
def summed(x): return x * sum(setting.ITEMS)
@case
def smallest(x): return x * max(setting.ITEMS) + min(setting.QUEUE)
@case
def ordered(x): return x * sorted(setting.ITEMS)[-1]
@case
def looked_up(x): return x * setting.TABLE["a"]
@case
def got(x): return x * setting.TABLE.get("a", 1.0) + setting.TABLE.get("z", 4.0)
@case
def key_order(x):
    for name, value in setting.TABLE.items():
        x = x * value + len(name)
    return x
@case
def ordered_dict(x): return x * setting.ORDERED["a"]
@case
def nested(x): return x * setting.NESTED["layers"][0][1]
@case
def queue(x): return sum(x * one for one in setting.QUEUE)
@case
def in_range(x): return sum(x * one for one in setting.RANGE)
@case
def small(x): return x[:2] * setting.SMALL
@case
def small_item(x): return x * setting.SMALL[1]
@case
def large(x): return np.sum(setting.LARGE) * x
@case
def view(x): return setting.VIEW @ x[:2]
@case
def shaped(x): return np.sum(setting.SHAPED) * x
@case
def list_of_arrays(x): return np.sum(setting.ARRAYS[1]) * x + setting.ARRAYS[0][1]
@case
def made_array(x): return x[:2] * np.array([1.0, setting.VALUE]) + np.linspace(0.0, setting.VALUE, 2)
@case
def set_order(x):
    for name in setting.NAMES:
        x = x * 2.0 + len(name)
    return x
@case
def own_set_order(x):
    for name in {"one", "two", "three", "four"}:
        x = x * 2.0 + len(name)
    return x
@case
def listed_set(x):
    return x * len(list({name + "!" for name in ("one", "two", "three", "four")})[0])
@case
def joined_set(x): return x * len("".join(set(("one", "two", "three"))))  + ord(sorted(setting.FIXED)[0][0])
@case
def member(x): return x if "up" in setting.FIXED else -x
@case
def member_of_constants(x):
    if setting.TEXT not in {"up", "upwards", "higher", 1}:
        return -x
    return x * 2.0 if setting.COUNT in {3, 5} else x
@case
def hashed(x): return x * (hash("some text") % 101)
@case
def keys_apart(x):
    for name in setting.TABLE.keys() - {"b"} | {"three", "four", "five"}:
        x = x * 2.0 + len(name)
    return x
@case
def chosen(x): return getattr(np, setting.CHOSEN)(x)
@case
def function(x): return scaled(x)
@case
def function_of_function(x): return setting.calling(x)
@case
def defaults(x): return setting.with_default(x)
@case
def closure(x): return setting.made(x)
@case
def function_in_dict(x): return setting.tabled["f"](x)
@case
def partial(x): return setting.apart(x)
@case
def partial_of_own(x): return setting.scaled_partly(x)
@case
def constant_of_class(x): return x * setting.Model.constant
@case
def method(x): return setting.model.run(x)
@case
def inherited(x): return setting.model.inherited(x)
@case
def attribute(x): return x * setting.model.k
@case
def inner(x): return x * setting.model.inner.a + setting.model.inner.c[0]
@case
def property_of(x): return x * setting.model.twice
@case
def static_method(x): return setting.model.fixed(x)
@case
def class_method(x): return setting.Model.of_class(x)
@case
def called(x): return setting.model(x)
@case
def asked_for_item(x): return x * setting.model[1.0]
@case
def overloaded(x): return setting.model + x
@case
def made_in_program(x): return setting.Model(2.0).run(x) + setting.Parameters().a
@case
def frozen_made(x): return x * setting.Frozen().a
@case
def hidden(x): return x * setting.hidden.anything
@case
def slotted(x): return x * setting.slotted.k
@case
def enum_value(x): return x * setting.kind.value
@case
def enum_member(x): return x if setting.kind is setting.Kind.FIRST else -x * setting.Kind.SECOND.value
@case
def named_pair(x): return x * setting.pair.right
@case
def has(x): return x if hasattr(setting.odd, "extra") else -x
@case
def got_attribute(x): return x * getattr(setting.odd, "extra", 5.0)
@case
def alias(x): return x if setting.same is setting.alias else -x
@case
def attribute_of_function(x): return x * scaled.rate
@case
def from_builtins(x): return from_nowhere(x)
@case
def patched_library(x): return np.sinc(x)
@case
def kind_of(x): return x * 2.0 if isinstance(setting.BY_FLAG, setting.Base) else x
@case
def name_of_class(x): return x * len(type(setting.BY_FLAG).__name__)
@case
def arguments_of_process(x): return x * len(sys.argv[1])
@case
def file_name(x): return x * len(__file__)
@case
def compiled(x): return setting.compiled(x)
@case
def ruled(x): return ad.grad(lambda y: np.sum(setting.ruled(y)))(x) if ad.grad else x
@case
def differentiated(x): return ad.grad(lambda y: np.sum(scaled(y) ** 2))(x)
@case
def annotated(m: setting.SIDES): return m * 2.0
@case
def printed(x): return x * len(str(setting.ITEMS))
@case
def imported_inside(x):
    import setting as other
    return x * other.VALUE
@case
def raised(x):
    try:
        if setting.FLAG: raise ValueError
        return x
    except ValueError:
        return -x
@case
def result_tree(x): return {"a": [x, setting.TEXT], "b": (setting.VALUE, None)}
@case
def result_pair(x): return setting.Pair(x)
@case
def result_parameters(x): return setting.Parameters(x[0], 2.0, [x])
@case
def own_tuple_of_class(x): return x * setting.Deep(2.0).W[1] + setting.Deep(1.0).S
@case
def own_function_of_class(x): return setting.Deep(2.0).F(x)
@case
def own_computed(x): return x * setting.Computed().k
@case
def own_cached(x): return x * setting.Cached().k
@case
def whole(x): return x * setting.whole
@case
def real(x): return x * setting.real
@case
def word(x): return x * len(setting.word)
@case
def rank(x): return x * setting.Rank.HIGH
@case
def ranks(x): return x * len(setting.Rank)
@case
def place(x): return x * [1.0, 2.0, 3.0, 4.0][setting.Place()]
@case
def lambdas_of_one_line(x): return setting.either(x) + setting.both(x)
@case
def axes_in_a_list(m): return setting.mapped(m, m)
@case
def record(x): return x * setting.record["a"][0]
@case
def complexes(x): return np.abs(setting.complexes[0][:29] * x)
@case
def twins(x): return x if setting.SMALL is setting.twin else -x
@case
def sharing(x): return x if np.shares_memory(setting.SMALL, setting.twin) else -x
@case
def equal_floats(x): return x if setting.first_float is setting.second_float else -x
@case
def option(x):
    y = x if setting.option is None else x * setting.option[0]
    return setting.scaled(y)
@case
def function_or_library(x): return setting.scaled(setting.act(x))
@case
def connected(x):
    if setting.FLAG:
        return -x
    return x * setting.connection.rate
@case
def weak(x): return 2.0 * setting.VALUE

def with_static(x, name, pair, function): return function(x) * len(name) + pair[1]
case(with_static, x, setting.TEXT, ("p", setting.VALUE), scaled)
def of_object(x, model): return model.run(x)
case(of_object, x, setting.model)
def of_tree(tree): return tree["a"] * tree["b"][1]
case(of_tree, {"a": x, "b": (1.0, 2.0)})

CASES["axes_in_a_list"] = axes_in_a_list, (np.arange(12.0).reshape(3, 4) + np.eye(3, 4),)
CASES["lambda_of_setting"] = setting.either, (x,)
CASES["mapped_given"] = setting.mapped, (np.ones((3, 3)), np.arange(9.0).reshape(3, 3))
CASES["annotated"] = annotated, (np.ones((3, 20)),)
CASES["bound"] = setting.model.run, (x,)
CASES["callable"] = setting.model, (x,)
CASES["partial_given"] = setting.scaled_partly, (x,)
CASES["closure_given"] = setting.making(setting.VALUE), (x,)
CASES["lambda_given"] = (lambda v: v * setting.VALUE), (x,)
CASES["gradient"] = ad.grad(lambda v: np.sum(scaled(v) ** 2)), (x,)
CASES["mapped"] = ad.vmap(lambda v: scaled(v) * VALUE), (x,)
"""

DRIVER = """
import json
import sys

import numpy as np

import anadrome as ad
from anadrome.api import program as programs
from anadrome.api.pytree import flatten
import setting
from cases import CASES

staged, original = [], programs.staged_program

def is_right(one, other):
    if type(one) is not type(other) or getattr(one, "dtype", None) != getattr(other, "dtype", None):
        return False
    return one == other if isinstance(one, str) else np.allclose(one, other, rtol=1e-14)

def counted(*args, **kwargs):
    staged.append(args)
    return original(*args, **kwargs)

programs.staged_program = counted
def mapped(a, b):
    if setting.FLAG:
        return np.stack([row * b.sum() for row in a])
    return np.stack([a * row.sum() for row in b])

found = {}
for name, (function, args) in CASES.items():
    staged.clear()
    try:
        got = ad.jit(function)(*args)
    except Exception as error:
        found[name] = [len(staged), f"{type(error).__name__}: {error}"]
        continue
    count = len(staged)
    expected = mapped(*args) if name == "mapped_given" else function(*args)
    leaves, structure = flatten(got)
    wanted, form = flatten(expected)
    right = structure == form and all(map(is_right, leaves, wanted))
    found[name] = [count, "" if right else f"{got!r} instead of {expected!r}"]
print(json.dumps(found))
"""
