"""A raise that is reached while compiling."""

def program(x, kind="cubic"):
    if kind == "linear":
        return x
    raise NotImplementedError(f"no kind {kind}")


ARGUMENTS = (1.0,)
