"""Gradients, Jacobians, implicit functions, rules of the user's own."""
