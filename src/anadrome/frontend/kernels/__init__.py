"""Kernels: what one thread of a launch does, staged as a function of where it is and what memory holds."""
