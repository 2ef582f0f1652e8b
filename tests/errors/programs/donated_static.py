"""An argument that is declared static and donated."""

import anadrome as ad


def program(state, steps):
    return state * (1.0 - 0.1) ** steps


def call():
    return ad.jit(program, static_argnums=1, donate_argnums=(0, 1))
