"""A list of the module that is appended to."""

LOG = []


def program(x):
    LOG.append(x)
    return x


ARGUMENTS = (1.0,)
