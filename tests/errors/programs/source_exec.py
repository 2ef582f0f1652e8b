"""A function made by exec."""

namespace = {}
exec("program = lambda x: x * 2.0", namespace)
program = namespace["program"]
ARGUMENTS = (1.0,)
