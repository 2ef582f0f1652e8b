"""Library operations: calls into BLAS, LAPACK, NumPy's transforms and our runtime, one record for each."""
