"""A pattern that is not written with `if`."""

def program(x):
    match {"value": x}:
        case {"value": value}:
            return value
        case _:
            return x


ARGUMENTS = (1.0,)
