"""Derivative rules of library operations, a file for each family; `table` joins them."""
