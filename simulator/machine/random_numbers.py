"""The generators of curand_kernel.h: XORWOW and Philox, and the distributions made of their words.

A word is a random unsigned int of 32 bits. XORWOW is Marsaglia's xorshift of five words with a
counter (Xorshift RNGs, 2003), Philox4x32-10 is of Salmon et al. (Parallel Random Numbers: As Easy
as 1, 2, 3, 2011); how a seed becomes a state, and words a number, is as cuRAND has it, and what
makes numbers normal as a GPU computes it, so that words and numbers have the GPU's bits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.language.ctype import Array
from simulator.machine.arithmetic import fma
from simulator.machine.compiled_functions import log, logf, sincospi
from simulator.machine.multifunction_unit import cosine, sine

WORDS = 5  # of XORWOW's xorshift
OCTETS = 4 * WORDS
UNIT_BITS = np.eye(8 * OCTETS, dtype=np.uint8)
# The states of which one bit is set: uint32 [160, 5].
UNIT_STATES = np.packbits(UNIT_BITS, axis=-1, bitorder="little").view("<u4").astype(np.uint32)
COUNTER_STEP = 362437  # what XORWOW's counter grows by
SEQUENCE_LENGTH_LOG2 = 67  # a sequence begins 2**67 words after the one before it (cuRAND)
PHILOX_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
PHILOX_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10
UNIT = np.float32(2.0**-32)  # words of 32 bits as numbers from 0 to 1
UNIT_53 = np.float64(2.0**-53)
TURN = UNIT * np.float32(6.2831855)  # words as angles in a full turn


def words_of(number: Any) -> tuple[Any, Any]:
    """The low and the high word of unsigned numbers of 64 bits."""
    wide = np.asarray(number).astype(np.uint64)
    return wide.astype(np.uint32), (wide >> np.uint64(32)).astype(np.uint32)


# XORWOW ------------------------------------------------------------------------------------------


def seed_xorwow(seed: Any) -> tuple[Any, ...]:
    """The counter and the five words that a seed, uint64, begins with."""
    low, high = words_of(seed)
    a = np.uint32(1099087573) * (low ^ np.uint32(0xAAD26B49))
    b = np.uint32(2591861531) * (high ^ np.uint32(0xF7DCEFDD))
    return (
        np.uint32(6615241) + b + a, np.uint32(123456789) + a, np.uint32(362436069) ^ a,
        np.uint32(521288629) + b, np.uint32(88675123) ^ b, np.uint32(5783321) + a,
    )  # fmt: skip


def step_xorwow(state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The next word, and the state after it: the counter, then five words."""
    counter, first, *others = state
    t = first ^ (first >> np.uint32(2))
    last = others[-1]
    new = (last ^ (last << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
    counter = counter + np.uint32(COUNTER_STEP)
    return new + counter, (counter, *others, new)


def skip_xorwow(state: tuple[Any, ...], count: Any, log2_length: int = 0) -> tuple[Any, ...]:
    """A state, count times 2**log2_length words later; count is uint64, one number or [lanes]."""
    counter, *words = state
    low, _ = words_of(count)
    ahead = 0 if log2_length >= 32 else COUNTER_STEP << log2_length  # the counter has 32 bits
    arrays = np.broadcast_arrays(np.asarray(count).astype(np.uint64), *words)
    counts, shape = arrays[0].reshape(-1), arrays[0].shape
    moved = _advance(np.stack([each.reshape(-1) for each in arrays[1:]], -1), counts, log2_length)
    return (
        counter + np.uint32(ahead % 2**32) * low,
        *(moved[:, number].reshape(shape)[()] for number in range(WORDS)),
    )


def _advance(states: Array, counts: Array, log2_length: int) -> Array:
    """States uint32 [n, 5], each as many times 2**log2_length steps later as counts [n] says.

    Those that begin alike share the way to the half of their counts, as the threads of a launch do
    that differ in the sequence alone.
    """
    if not counts.any():
        return states
    if (states == states[0]).all():
        halves, which = np.unique(counts >> np.uint64(1), return_inverse=True)
        states = _advance(np.repeat(states[:1], len(halves), 0), halves, log2_length + 1)[which]
    else:
        states = _advance(states, counts >> np.uint64(1), log2_length + 1)
    odd = (counts & np.uint64(1)) != 0
    states[odd] = _apply(_jump(log2_length), states[odd])
    return states


@functools.cache
def _jump(log2_length: int) -> Array:
    """The matrix of bits that moves a state by 2**log2_length steps, as a table.

    uint32 [20, 256, 5]: of each octet of a state, and of each value that it may have, what it adds
    to the state that the matrix gives.
    """
    if log2_length:
        half = _jump(log2_length - 1)
        rows = _apply(half, _apply(half, UNIT_STATES))
    else:
        _, state = step_xorwow((np.uint32(0), *UNIT_STATES.T))
        rows = np.stack(state[1:], -1)
    table = np.zeros((OCTETS, 256, WORDS), np.uint32)
    for bit in range(8):
        begin = 1 << bit
        table[:, begin : 2 * begin] = table[:, :begin] ^ rows[bit::8, None]
    return table


def _apply(table: Array, states: Array) -> Array:
    """A matrix, as _jump gives it, times states uint32 [n, 5]."""
    octets = np.ascontiguousarray(states.astype("<u4")).view(np.uint8)
    product: Array = np.bitwise_xor.reduce(table[np.arange(OCTETS), octets], axis=1)
    return product


# Philox ------------------------------------------------------------------------------------------


def philox(counter: tuple[Any, ...], key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The four words that a counter of four words becomes under a key of two.

    >>> [hex(word) for word in philox((np.uint32(0),) * 4, (np.uint32(0),) * 2)]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    a, b, c, d = counter
    first, second = key
    for number in range(PHILOX_ROUNDS):
        if number:
            first = first + np.uint32(PHILOX_KEY_STEPS[0])
            second = second + np.uint32(PHILOX_KEY_STEPS[1])
        low_a, high_a = words_of(np.asarray(a).astype(np.uint64) * PHILOX_MULTIPLIERS[0])
        low_c, high_c = words_of(np.asarray(c).astype(np.uint64) * PHILOX_MULTIPLIERS[1])
        a, b, c, d = high_c ^ b ^ first, low_c, high_a ^ d ^ second, low_a
    return a, b, c, d


def next_counter(counter: tuple[Any, ...]) -> tuple[Any, ...]:
    """The counter of four words, the lowest first, that comes after one."""
    found = []
    carry: Any = np.uint32(1)
    for word in counter:
        word = word + carry
        carry = np.where(word == 0, carry, np.uint32(0))
        found.append(word)
    return tuple(found)


def skip_philox(counter: tuple[Any, ...], count: Any) -> tuple[Any, ...]:
    """A counter, count (uint64) later, with the carry that cuRAND takes to its upper half."""
    a, b, c, d = counter
    low, high = words_of(count)
    a = a + low
    high = high + (a < low)
    b = b + high
    carries = high > b
    c = c + carries
    return a, b, c, d + (carries & (c == 0))


def skip_philox_sequences(counter: tuple[Any, ...], count: Any) -> tuple[Any, ...]:
    """A counter, count (uint64) sequences later: its upper half says which sequence it is of."""
    a, b, c, d = counter
    low, high = words_of(count)
    c = c + low
    return a, b, c, d + (high + (c < low))


# Distributions -----------------------------------------------------------------------------------


def uniform(word: Any) -> Any:
    """A float above 0, at most 1."""
    return np.asarray(word).astype(np.float32)[()] * UNIT + UNIT / 2


def uniform_of_one(word: Any) -> Any:
    """A double above 0, at most 1, of one word."""
    return (np.asarray(word).astype(np.float64)[()] + 1) * np.float64(UNIT)


def uniform_of_two(low: Any, high: Any) -> Any:
    """A double above 0, at most 1, of the 53 bits that are made of two words."""
    return _wide(low, high) * UNIT_53 + UNIT_53 / 2


def normal_pair(first: Any, second: Any) -> tuple[Any, Any]:
    """Two floats of the standard normal distribution, of two words (Box and Muller)."""
    u = uniform(np.atleast_1d(first))
    angle = fma(np.atleast_1d(second).astype(np.float32), TURN, TURN / 2)
    distance = np.sqrt(np.float32(-2) * logf(u))
    found = np.broadcast_arrays(sine(angle) * distance, cosine(angle) * distance)
    return _as_given(found, first, second)


def normal_double_pair(*words: Any) -> tuple[Any, Any]:
    """Two doubles of the standard normal distribution, of four words."""
    four = tuple(map(np.atleast_1d, words))
    halves = _wide(*four[2:]) * (2 * UNIT_53) + UNIT_53  # of a turn
    distance = np.sqrt(-2 * log(uniform_of_two(*four[:2])))
    return _as_given([one * distance for one in sincospi(halves)], *words)


def _as_given(found: Sequence[Any], *words: Any) -> tuple[Any, Any]:
    """Two arrays, or of words that are single numbers the only number of each."""
    one, other = found if any(map(np.ndim, words)) else (each[0] for each in found)
    return one, other


def _wide(low: Any, high: Any) -> Any:
    """The 53 bits of two words, as a double."""
    bits = np.asarray(low).astype(np.uint64) ^ (np.asarray(high).astype(np.uint64) << np.uint64(21))
    return bits.astype(np.float64)[()]
