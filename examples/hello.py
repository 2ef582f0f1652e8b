"""Hello: the square of a number, and its derivative.

    f(x) = x²,    f'(x) = 2x

GradBench eval `hello`.
"""

import anadrome as ad


@ad.jit
def square(x: float) -> float:
    return x * x


double = ad.grad(square)


def main() -> None:
    for x in (1.0, 2.0, 8.0, 128.0):
        print(f"x = {x:g}    x² = {square(x):g}    d(x²)/dx = {double(x):g}")


if __name__ == "__main__":
    main()
