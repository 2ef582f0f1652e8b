"""Python in: a staged evaluator of the syntax tree that gives a function of the array IR."""
