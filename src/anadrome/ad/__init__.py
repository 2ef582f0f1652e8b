"""Differentiation: array IR function to array IR function, forward (`forward`) and reverse (`reverse`)."""
