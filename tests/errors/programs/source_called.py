"""A called function made by exec."""

namespace = {}
exec("def helper(x): return x * 2.0", namespace)


def program(x):
    return 1.0 + namespace["helper"](x)


ARGUMENTS = (1.0,)
