"""A list argument that is appended to."""

def program(values):
    values.append(1.0)
    return sum(values)


ARGUMENTS = ([1.0, 2.0],)
