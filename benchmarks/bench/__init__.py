"""Measuring the programs of `examples/`: what is measured, in which process, and how it is printed."""
