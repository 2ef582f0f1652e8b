"""The table in words: a row for each program, and one more where C is measured without vectors too."""

from __future__ import annotations

from typing import Any

from bench.peers import PEERS

COLUMNS = (
    "program",
    "size",
    "C ms",
    "C gradient",
    "objective",
    "gradient",
    "of own",
    "GFLOP/s",
    "GB/s",
    "memory",
    "predicted",
    "first s",
    "cached s",
)
LEGEND = (
    "C ms, C gradient: milliseconds of the objective in C, and of a gradient derived by hand where there is",
    "    one; cc -O3 -march=native -ffast-math, one thread",
    "objective: ours as a multiple of C's; gradient: as a multiple of C's gradient, else of C's objective;",
    "    without C milliseconds of ours",
    "of own: our gradient as a multiple of our objective",
    "GFLOP/s, GB/s: of our gradient, by the plan of its schedule: at most so many operations (an exponential",
    "    is ten), each element of an array once; ~ by a formula, - where neither knows",
    "memory, predicted: most that the gradient holds above its inputs, as the process grows and as",
    "    ad.explain predicts",
    "first s, cached s: the gradient's first call, without and with the object cache",
)


def heading(others: list[str]) -> list[str]:
    """What the columns mean, and their names."""
    names = [PEERS[peer] for peer in others]
    legend = [*LEGEND]
    if names:
        legend.append(f"{', '.join(names)}: objective | gradient, the same multiples of C as ours;")
        legend.append("    gradients in Numba are derived by hand, and on one thread")
    return ["", *legend, "", row((*COLUMNS, *names))]


def lines(name: str, size: str, found: dict[str, Any], others: list[str]) -> list[str]:
    """The rows of one program."""
    spent, ratios = found["seconds"], found["ratios"]
    base = "C gradient" if "C gradient" in spent else "C objective"
    cells = (
        name,
        size,
        milliseconds(spent.get("C objective")),
        milliseconds(spent.get("C gradient")),
        beside(found, "objective", "C objective"),
        beside(found, "gradient", base),
        multiple(ratios["gradient / objective"]),
        rate(found, "operations"),
        rate(found, "bytes"),
        memory(found["memory"]),
        memory(found["predicted"]),
        f"{found['cold']['gradient']:.2f}",
        f"{found['cached']['gradient']:.2f}",
        *(
            f"{beside(found, f'{peer} objective', 'C objective')} | {beside(found, f'{peer} gradient', base)}"
            if f"{peer} objective" in spent
            else "-"
            for peer in others
        ),
    )
    rows = [row(cells)]
    if "scalar C objective" in spent:
        over = (multiple(ratios[f"{version} / scalar C objective"]) for version in ("objective", "gradient"))
        scalar = milliseconds(spent["scalar C objective"])
        rows.append(row(("", "beside C without vectors", scalar, "", *over)))
    return rows


def beside(found: dict[str, Any], version: str, base: str) -> str:
    """A version as a multiple of another; its milliseconds, where that was not measured."""
    ratio = found["ratios"].get(f"{version} / {base}")
    return multiple(ratio) or milliseconds(found["seconds"][version], " ms")


def row(cells: tuple[str, ...]) -> str:
    """Words in columns."""
    name, size, *rest = cells
    known, others = rest[: len(COLUMNS) - 2], rest[len(COLUMNS) - 2 :]
    line = f"{name:<16} {size:<25}" + "".join(f"{cell:>11}" for cell in known)
    return (line + "".join(f"{cell:>15}" for cell in others)).rstrip()


def milliseconds(spent: float | None, unit: str = "") -> str:
    """A duration with three digits."""
    return (
        "" if spent is None else f"{1e3 * spent:.3g}{unit}" if spent < 0.9995 else f"{1e3 * spent:.0f}{unit}"
    )


def multiple(ratio: float | None) -> str:
    """A ratio."""
    return "" if ratio is None else f"{ratio:.2f}"


def rate(found: dict[str, Any], what: str) -> str:
    """Thousands of millions of operations or bytes of the gradient in a second."""
    if what not in found:
        return "-"
    sign = "~" if found["counted"] == "formula" else ""
    return f"{sign}{found[what] / found['seconds']['gradient'] / 1e9:.3g}"


def memory(count: int | None) -> str:
    """A number of bytes for people."""
    if count is None:
        return "unknown"
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 1024:.0f} KiB"
