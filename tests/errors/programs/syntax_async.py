"""async def"""

async def program(x):
    return x * 2.0


ARGUMENTS = (1.0,)
