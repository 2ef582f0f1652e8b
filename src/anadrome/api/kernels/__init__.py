"""Kernels of the user's, and their launches."""
