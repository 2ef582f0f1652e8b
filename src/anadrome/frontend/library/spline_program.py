"""The slopes of cubic splines at their knots, as a program that is compiled like a user's.

A cubic spline with the slopes s at knots x has a continuous second derivative where

    dx_{i+1}·s_i + 2(dx_i + dx_{i+1})·s_{i+1} + dx_i·s_{i+2} = 3(dx_{i+1}·m_i + dx_i·m_{i+1})

with the differences m = dy/dx (de Boor 1978, IV.8); two more equations are the conditions at the ends. Values
may be rows: everything but the knots is along the first axis.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NOT_A_KNOT = "not-a-knot"


def tridiagonal(lower: Any, diagonal: Any, upper: Any, right: Any) -> Any:
    """The solution of a tridiagonal system by Thomas' algorithm; no pivot of these systems is small."""
    n = len(diagonal)
    ratio = np.zeros(n)
    result = np.zeros(right.shape)
    ratio[0] = upper[0] / diagonal[0]
    result[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * ratio[i - 1]
        ratio[i] = upper[i] / pivot
        result[i] = (right[i] - lower[i] * result[i - 1]) / pivot
    for j in range(1, n):
        i = n - 1 - j
        result[i] = result[i] - ratio[i] * result[i + 1]
    return result


def spline_slopes(x: Any, y: Any, start: Any, first: Any, end: Any, last: Any) -> Any:
    """The slopes where each end is not a knot, or has a given first or second derivative."""
    dx = np.diff(x)
    wide = dx.reshape((-1,) + (1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / wide
    if start == NOT_A_KNOT:
        d = x[2] - x[0]
        head, beside_head = dx[1], d
        first = ((wide[0] + 2.0 * d) * wide[1] * slope[0] + wide[0] ** 2 * slope[1]) / d
    elif start == 1:
        head, beside_head = 1.0, 0.0
    else:
        head, beside_head = 2.0 * dx[0], dx[0]
        first = -0.5 * first * dx[0] ** 2 + 3.0 * (y[1] - y[0])
    if end == NOT_A_KNOT:
        d = x[-1] - x[-3]
        tail, beside_tail = dx[-2], d
        last = (wide[-1] ** 2 * slope[-2] + (2.0 * d + wide[-1]) * wide[-2] * slope[-1]) / d
    elif end == 1:
        tail, beside_tail = 1.0, 0.0
    else:
        tail, beside_tail = 2.0 * dx[-1], dx[-1]
        last = 0.5 * last * dx[-1] ** 2 + 3.0 * (y[-1] - y[-2])
    right = 3.0 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    return tridiagonal(
        np.concatenate([np.array([0.0]), dx[1:], np.array([beside_tail])]),
        np.concatenate([np.array([head]), 2.0 * (dx[:-1] + dx[1:]), np.array([tail])]),
        np.concatenate([np.array([beside_head]), dx[:-1], np.array([0.0])]),
        np.concatenate([np.array([first]), right, np.array([last])]),
    )


def parabola_slopes(x: Any, y: Any) -> Any:
    """The slopes of the parabola through three points: that no end is a knot is one condition there."""
    dx = np.diff(x)
    before, after = (y[1] - y[0]) / dx[0], (y[2] - y[1]) / dx[1]
    middle = (dx[0] * after + dx[1] * before) / (dx[0] + dx[1])
    return np.array([2.0 * before - middle, middle, 2.0 * after - middle])


def line_slopes(x: Any, y: Any, start: Any, first: Any, end: Any, last: Any) -> Any:
    """The slopes of a spline of two points, where an end that is no knot has the slope of the line."""
    line = (y[1] - y[0]) / (x[1] - x[0])
    if start == NOT_A_KNOT:
        start, first = 1, line
    if end == NOT_A_KNOT:
        end, last = 1, line
    return spline_slopes(x, y, start, first, end, last)


def periodic_slopes(x: Any, y: Any) -> Any:
    """The slopes where the curve goes on from its end at its start: a cyclic system without its last row and
    column, solved for two right-hand sides."""
    dx = np.diff(x)
    wide = dx.reshape((-1,) + (1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / wide
    right = 3.0 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    first = 3.0 * (wide[0] * slope[-1] + wide[-1] * slope[0])
    inner = np.concatenate([np.array([first]), right[:-1]])
    lower = np.concatenate([np.array([0.0]), dx[1:-1]])
    diagonal = np.concatenate([np.array([2.0 * (dx[-1] + dx[0])]), 2.0 * (dx[:-2] + dx[1:-1])])
    upper = np.concatenate([np.array([dx[-1]]), dx[:-2]])
    edge = np.zeros(len(diagonal))
    edge[0] = -dx[0]
    edge[-1] = edge[-1] - dx[-3]
    one = tridiagonal(lower, diagonal, upper, inner)
    two = tridiagonal(lower, diagonal, upper, edge)
    rest = right[-1] - dx[-2] * one[0] - dx[-1] * one[-1]
    last = rest / (2.0 * (dx[-1] + dx[-2]) + dx[-2] * two[0] + dx[-1] * two[-1])
    whole = one + last * two.reshape((-1,) + (1,) * (y.ndim - 1))
    return np.concatenate([whole, np.array([last]), whole[:1]])


def periodic_slopes_of_three(x: Any, y: Any) -> Any:
    """The slope at the knots of two intervals, which is the same at all three."""
    wide = np.diff(x).reshape((-1,) + (1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / wide
    mean = np.sum(slope / wide, axis=0) / np.sum(1.0 / wide, axis=0)
    return np.stack([mean, mean, mean])


def coefficients(x: Any, y: Any, slopes: Any) -> Any:
    """The cubic of each interval in powers of the distance from its left end, the highest first."""
    wide = np.diff(x).reshape((-1,) + (1,) * (y.ndim - 1))
    slope = np.diff(y, axis=0) / wide
    bend = (slopes[:-1] + slopes[1:] - 2.0 * slope) / wide
    return np.stack([bend / wide, (slope - slopes[:-1]) / wide - bend, slopes[:-1], y[:-1]])


def derivative(c: Any, nu: Any) -> Any:
    """The coefficients of the derivative of this order."""
    degree = c.shape[0] - 1
    if nu > degree:
        return np.zeros((1, *c.shape[1:]))
    factors = np.array([float(math.perm(power, nu)) for power in range(degree, nu - 1, -1)])
    return c[: degree + 1 - nu] * factors.reshape((-1,) + (1,) * (c.ndim - 1))


def antiderivative(x: Any, c: Any) -> Any:
    """The coefficients of the integral from the first knot."""
    wide = np.diff(x).reshape((-1,) + (1,) * (c.ndim - 2))
    degree = c.shape[0]
    rows = c / np.arange(float(degree), 0.0, -1.0).reshape((-1,) + (1,) * (c.ndim - 1))
    piece = np.zeros(c.shape[1:])
    for k in range(degree):
        piece = (piece + rows[k]) * wide
    starts = np.concatenate([np.zeros((1, *c.shape[2:])), np.cumsum(piece, axis=0)[:-1]])
    return np.concatenate([rows, starts[None]])
