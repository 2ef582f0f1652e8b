"""An extension function with a run-time argument."""

import json


def program(x):
    return json.dumps(x)


ARGUMENTS = (1.0,)
