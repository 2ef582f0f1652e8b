"""Cases of the Fourier transforms of NumPy and SciPy: sizes, axes, norms, scalar types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft

from tests.frontend.library.staging import Case, case

RANDOM = np.random.default_rng(17)


def drawn(*shape: int) -> Any:
    """Numbers of a shape."""
    return RANDOM.normal(size=shape)


LINE, ODD, ONE = drawn(6), drawn(5), drawn(1)
A, B = drawn(4, 5), drawn(4, 5)
BLOCK = drawn(2, 3, 4)
NORMS = (None, "backward", "ortho", "forward")
MODULES = (np.fft, scipy.fft)


def of_line(function: Callable[..., Any], **settings: Any) -> list[Case]:
    """A transform of one dimension of real values and of complex ones."""
    cases = [
        *(case(function, lambda x: function(x, **settings), x) for x in (LINE, ODD, A, BLOCK)),
        *(case(function, lambda x: function(x, **settings), x.astype(np.float32)) for x in (LINE, A)),
    ]
    if function.__name__ in ("rfft", "ihfft"):
        return cases
    return cases + [
        case(function, lambda x, y: function(x + 1j * y, **settings), *pair)
        for pair in ((A, B), (ODD, drawn(5)), (LINE, drawn(6)), (BLOCK, drawn(2, 3, 4)))
    ]


CASES: list[Case] = []
for module in MODULES:
    ONE_DIMENSION = (module.fft, module.ifft, module.rfft, module.irfft, module.hfft, module.ihfft)
    SEVERAL = (module.fftn, module.ifftn, module.rfftn, module.irfftn)
    OF_TWO = (module.fft2, module.ifft2, module.rfft2, module.irfft2)
    for function in ONE_DIMENSION:
        CASES += of_line(function)
        for settings in ({"n": 8}, {"n": 3}, {"axis": 0}, {"n": 7, "axis": -2}):
            CASES.append(case(function, lambda x, f=function, s=settings: f(x, **s), A))
        for norm in NORMS[1:]:
            CASES.append(case(function, lambda x, f=function, s=norm: f(x, norm=s), LINE))
            CASES.append(case(function, lambda x, f=function, s=norm: f(x, 7, 0, s), LINE.astype(np.float32)))
        CASES.append(case(function, lambda x, f=function: f(x, len(x) + 3), LINE))
        CASES.append(case(function, lambda x, f=function: f(x, len(x) - 2), LINE))
        CASES.append(case(function, lambda x, f=function: f(x), np.arange(5)))
        CASES.append(case(function, lambda x, f=function: f(x), LINE > 0))
    for function in (*SEVERAL, *OF_TWO):
        CASES += of_line(function)[2 if function in OF_TWO else 0 : 4]
        for norm in NORMS[1:]:
            CASES.append(case(function, lambda x, f=function, s=norm: f(x, norm=s), BLOCK))
        for settings in (
            {"axes": (0, 1)},
            {"axes": (1, 0)},
            {"s": (3, 6)},
            {"s": (6, 3), "axes": (1, -1)},
            {"s": (-1, 3), "axes": (-2, -1)},
        ):
            is_of_numpy_alone, is_deprecated = -1 in settings.get("s", ()), list(settings) == ["s"]
            if is_of_numpy_alone if module is scipy.fft else is_deprecated:
                continue
            CASES.append(case(function, lambda x, f=function, s=settings: f(x, **s), BLOCK))
    for function in (module.fft2, module.ifft2, module.irfft2, *SEVERAL[:2], SEVERAL[3]):
        CASES.append(case(function, lambda x, y, f=function: f(x + 1j * y), A, B))
    for function in (module.fftfreq, module.rfftfreq):
        CASES += [case(function, lambda x, f=function: f(len(x)), x) for x in (LINE, ODD, ONE)]
        CASES += [case(function, lambda x, d, f=function: f(len(x), d=d * 2), x, 0.1) for x in (LINE, ODD)]
        CASES.append(case(function, lambda x, f=function: f(20, 0.5) + x, 1.0))
    for function in (module.fftshift, module.ifftshift):
        CASES += [case(function, lambda x, f=function: f(x), x) for x in (LINE, ODD, A, ONE, np.arange(3))]
        CASES += [
            case(function, lambda x, f=function, a=axes: f(x, axes=a), A) for axes in (0, -1, (1,), (0, 1))
        ]
        CASES.append(case(function, lambda x, y, f=function: f(x + 1j * y), A, B))
CASES += [
    case(scipy.fft.fft, lambda x: scipy.fft.fft(x, overwrite_x=True, workers=2), LINE),
    case(scipy.fft.rfftn, lambda x: scipy.fft.rfftn(x, overwrite_x=True, workers=1), A),
]
for function in (scipy.fft.dct, scipy.fft.idct, scipy.fft.dst, scipy.fft.idst):
    for kind in (2, 3):
        for x in (LINE, ODD, ONE, A, LINE.astype(np.float32)):
            CASES.append(case(function, lambda x, f=function, k=kind: f(x, k), x))
        for norm in NORMS[1:]:
            CASES.append(case(function, lambda x, f=function, k=kind, s=norm: f(x, k, norm=s), LINE))
            CASES.append(case(function, lambda x, f=function, k=kind, s=norm: f(x, k, 7, 0, s), A))
        for flag in (True, False):
            for settings in ({"norm": "ortho", "orthogonalize": flag}, {"n": 3, "orthogonalize": flag}):
                CASES.append(case(function, lambda x, f=function, k=kind, s=settings: f(x, k, **s), A))
    CASES.append(case(function, lambda x, f=function: f(x), np.arange(4)))
