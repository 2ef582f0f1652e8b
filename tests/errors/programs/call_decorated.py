"""An error in a function behind a decorator."""

import functools


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@logged
def program(x):
    return x + undefined


ARGUMENTS = (1.0,)
