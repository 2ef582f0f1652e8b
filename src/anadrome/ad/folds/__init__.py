"""Reductions, scans, histograms and scatters whose operators have rules of their own, on arrays."""
