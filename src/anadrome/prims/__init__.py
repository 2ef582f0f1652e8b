"""Scalar operations: what a row says (`record`) and the rows (`table`)."""
