"""Sine, cosine and powers of two as a GPU's multifunction unit gives them, bit for bit.

It cuts the part of a quarter turn, or of one, to 23 bits, of which the first 6 choose a row of a
table; with x of the other 17 it adds C0 + C1 x + C2 x², where the partial products of x² below bit
19 are left out, and cuts the sum to 24 bits (Oberman and Siu, A High-Performance Area-Efficient
Multifunction Interpolator, 2005, has the design). The numbers here are what an H100 showed: of 2^24
angles and 2^22 fractions a single row of whole numbers explains all that are of one part.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

X_BITS, ROW_BITS = 17, 6
FRACTION_BITS = X_BITS + ROW_BITS
LOWEST = 19  # of the bits of x²
SIGNIFICAND_BITS = 24
TURNS_OF_RADIAN = np.float32(0.15915494)
SINE_UNIT, POWER_UNIT = 2.0**-37, 2.0**-38  # of the sums
C0_UNIT = 2**11  # of these
POWER_START = 2018  # added to C0

# C0, C1 and C2 of each row.
# fmt: off
SINE = np.array((
    (0, 25737, -14), (1646926, 25730, -48), (3292872, 25706, -76), (4936828, 25668, -110),
    (6577812, 25613, -137), (8214836, 25544, -171), (9846906, 25459, -201),
    (11473052, 25358, -229), (13092282, 25243, -262), (14703632, 25112, -292),
    (16306120, 24966, -322), (17898788, 24805, -352), (19480670, 24629, -381),
    (21050826, 24438, -410), (22608290, 24233, -441), (24152140, 24013, -470),
    (25681450, 23778, -497), (27195286, 23529, -525), (28692734, 23266, -553),
    (30172904, 22989, -581), (31634900, 22698, -608), (33077832, 22394, -637),
    (34500844, 22076, -664), (35903084, 21744, -688), (37283680, 21400, -715),
    (38641832, 21042, -738), (39976700, 20672, -763), (41287492, 20290, -790),
    (42573406, 19895, -812), (43833682, 19489, -839), (45067552, 19070, -859),
    (46274276, 18640, -881), (47453130, 18199, -904), (48603396, 17747, -926),
    (49724388, 17284, -946), (50815422, 16811, -967), (51875848, 16328, -988),
    (52905036, 15834, -1004), (53902340, 15332, -1025), (54867186, 14820, -1043),
    (55798976, 14299, -1059), (56697166, 13769, -1074), (57561188, 13232, -1093),
    (58390546, 12686, -1107), (59184728, 12133, -1123), (59943264, 11572, -1136),
    (60665692, 11004, -1148), (61351576, 10430, -1162), (62000506, 9849, -1172),
    (62612084, 9263, -1185), (63185948, 8671, -1196), (63721758, 8073, -1203),
    (64219180, 7471, -1213), (64677922, 6864, -1220), (65097690, 6254, -1230),
    (65478264, 5639, -1236), (65819388, 5021, -1242), (66120864, 4400, -1247),
    (66382514, 3776, -1250), (66604174, 3151, -1258), (66785714, 2523, -1260),
    (66927034, 1893, -1260), (67028028, 1263, -1263), (67088652, 632, -1265),
), np.int64)
POWER = np.array((
    (134217742, 22713, 494), (135679274, 22960, 501), (137156730, 23210, 506),
    (138650262, 23463, 511), (140160074, 23718, 518), (141686310, 23977, 521),
    (143229170, 24238, 527), (144788838, 24502, 532), (146365490, 24768, 541),
    (147959302, 25038, 546), (149570466, 25311, 551), (151199190, 25586, 559),
    (152845638, 25865, 564), (154510018, 26147, 568), (156192526, 26431, 577),
    (157893350, 26719, 583), (159612694, 27010, 589), (161350762, 27304, 596),
    (163107750, 27602, 600), (164883882, 27902, 609), (166679346, 28206, 615),
    (168494370, 28513, 622), (170329146, 28824, 627), (172183910, 29138, 633),
    (174058870, 29455, 641), (175954246, 29776, 647), (177870262, 30100, 655),
    (179807146, 30428, 661), (181765114, 30759, 670), (183744406, 31094, 677),
    (185745258, 31432, 686), (187767886, 31775, 691), (189812542, 32121, 699),
    (191879470, 32471, 705), (193968902, 32824, 715), (196081078, 33182, 721),
    (198216262, 33543, 730), (200374698, 33908, 739), (202556638, 34277, 748),
    (204762330, 34651, 753), (206992046, 35028, 763), (209246042, 35409, 773),
    (211524586, 35795, 779), (213827934, 36185, 787), (216156366, 36579, 796),
    (218510154, 36977, 806), (220889574, 37380, 813), (223294902, 37787, 822),
    (225726430, 38198, 833), (228184426, 38614, 842), (230669190, 39035, 849),
    (233181018, 39460, 858), (235720194, 39889, 870), (238287018, 40324, 877),
    (240881790, 40763, 887), (243504822, 41207, 896), (246156418, 41655, 909),
    (248836882, 42109, 917), (251546538, 42568, 925), (254285698, 43031, 938),
    (257054690, 43500, 946), (259853834, 43973, 959), (262683454, 44452, 969),
    (265543890, 44936, 980),
), np.int64)
# fmt: on


FURTHEST = 300  # exponents of two for which a float32 number is infinite or zero


def sine(angle: Array) -> Array:
    """The sine of finite float32 angles [n] in radians, as sin.approx gives it."""
    size = _of_turns(_turns(np.abs(angle)))
    return np.where(np.signbit(angle), -size, size)


def cosine(angle: Array) -> Array:
    """The cosine of finite float32 angles [n] in radians, as cos.approx gives it."""
    return _of_turns(_turns(np.abs(angle)) + (1 << FRACTION_BITS))


def power_of_two(exponent: Array) -> Array:
    """2 to the power of float32 exponents [n] from -126 on, as ex2.approx gives it."""
    near = np.minimum(np.abs(exponent.astype(np.float64)), FURTHEST)
    size = np.floor(near * 2**FRACTION_BITS).astype(np.int64)
    # Of a negative exponent every bit changes, except where no fraction is left of it.
    within = size & ((1 << FRACTION_BITS) - 1)
    fixed = np.where(exponent < 0, np.where(within == 0, -size, ~size), size)
    sums = POWER_START + _sums(POWER, fixed & ((1 << FRACTION_BITS) - 1))
    with np.errstate(over="ignore"):
        found = np.ldexp(_cut(sums) * POWER_UNIT, fixed >> FRACTION_BITS)
        return np.asarray(found, np.float32)


def _turns(angle: Array) -> Array:
    """Angles as whole numbers, of which a quarter of a turn has FRACTION_BITS bits."""
    product = angle.astype(np.float64) * np.float64(TURNS_OF_RADIAN)
    turns = product.astype(np.float32)
    turns = np.where(turns > product, np.nextafter(turns, np.float32(0)), turns)  # toward zero
    whole = 2.0 ** (FRACTION_BITS + 2)
    return np.asarray(np.fmod(np.floor(turns.astype(np.float64) * whole), whole), np.int64)


def _of_turns(turns: Array) -> Array:
    quarter, within = turns >> FRACTION_BITS & 3, turns & ((1 << FRACTION_BITS) - 1)
    within = np.where(quarter & 1, ~within & ((1 << FRACTION_BITS) - 1), within)
    size = _cut(_sums(SINE, within)) * SINE_UNIT
    return np.where(quarter & 2, -size, size).astype(np.float32)


def _sums(table: Array, fraction: Array) -> Array:
    """C0 + C1 x + C2 x² of fractions, int64 [n], of FRACTION_BITS bits."""
    constant, slope, curve = table[fraction >> X_BITS].T
    x = fraction & ((1 << X_BITS) - 1)
    sums: Array = constant * C0_UNIT + slope * x + curve * _squares()[x]
    return sums


def _cut(sums: Array) -> Array:
    """Sums without the bits after the first SIGNIFICAND_BITS."""
    _, exponent = np.frexp(sums.astype(np.float64))
    left_out = np.maximum(exponent - SIGNIFICAND_BITS, 0)
    cut: Array = sums >> left_out << left_out
    return cut


@functools.cache
def _squares() -> Array:
    """What the unit takes for the square of each x, in units of 2 ** LOWEST: int64."""
    x = np.arange(1 << X_BITS)
    bits = [x >> i & 1 for i in range(X_BITS)]
    found = np.zeros_like(x)
    for i in range(X_BITS):
        if 2 * i >= LOWEST:
            found += bits[i] << 2 * i
        for j in range(max(i + 1, LOWEST - 1 - i), X_BITS):
            found += (bits[i] & bits[j]) << (i + j + 1)
    return found >> LOWEST
