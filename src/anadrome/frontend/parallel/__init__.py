"""The compiled forms of the parallel operations: `reduce`, `scan`, `scatter`, `filter`, `map` and their kin.

Each becomes one `ParFor` whose yields are the operation. What the operations mean is written a second time,
in plain Python on NumPy, in `api.plain`; the tests hold the two together.
"""
