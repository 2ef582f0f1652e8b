"""Complex numbers: a pair of real values with the meaning of NumPy's complex64 and complex128.

The intermediate languages know real scalars alone. `parts` makes complex values of what a program holds,
`formulas` holds the functions of a complex number as functions of its parts, `operators` Python's operators,
`forms` the compiled forms of library functions, `storing` writes into complex arrays, and `fourier` and
`cosine` hold the transforms.
"""
