"""await"""

async def program(x):
    return await x


ARGUMENTS = (1.0,)
