"""A file that is read while the program runs."""

def program(x, path):
    return x * len(open(path).read())


ARGUMENTS = (1.0, "no/such/file")
