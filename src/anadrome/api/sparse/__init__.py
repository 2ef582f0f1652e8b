"""Sparse Jacobians and Hessians: colouring, compression, and the functions that use them."""
