"""Derivatives of kernels: kernel IR to kernel IR (Enzyme on GPUs, SC21)."""
