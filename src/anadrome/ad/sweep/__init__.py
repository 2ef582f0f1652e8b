"""The return sweep: its scopes, sequential loops, and how it gets the primal values that it reads."""
