"""async for"""

import numpy as np


async def program(x):
    total = 0.0
    async for value in x:
        total += value
    return total


ARGUMENTS = (np.ones(20),)
