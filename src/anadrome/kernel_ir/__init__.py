"""The kernel IR: structured and imperative, what a machine runs."""
