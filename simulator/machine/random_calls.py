"""Calls of curand_kernel.h: each reads its generator's state through a pointer and writes it back.

What is read and written of a state, and when, is as in cuRAND's own source: single numbers of 4 or
8 bytes. A normal number comes with a second one, which the state keeps for the next call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simulator.language.ctype import Pointer, Struct, parts
from simulator.language.functions import RANDOM_FUNCTIONS
from simulator.language.tree import Call, Dereference, Expression, FieldOf
from simulator.machine import random_numbers
from simulator.machine.arithmetic import fma
from simulator.machine.buffers import Address
from simulator.machine.closures import Closure, CompileCall, ExpressionCompiler
from simulator.machine.compiled_functions import exp, expf
from simulator.machine.group import Group
from simulator.machine.load_store import MemoryOperand
from simulator.machine.masks import NONE, Mask, narrow, negate

XORWOW = (".d", *(f".v[{number}]" for number in range(random_numbers.WORDS)))
PHILOX_COUNTER, PHILOX_OUTPUT = (
    tuple(f".{name}.{axis}" for axis in "xyzw") for name in ("ctr", "output")
)
PHILOX_KEY, PHILOX_PLACE = (".key.x", ".key.y"), ".STATE"
SPARE = {"": ".boxmuller_extra", "_double": ".boxmuller_extra_double"}
SPARE_KIND = {"": ".boxmuller_flag", "_double": ".boxmuller_flag_double"}
NOTHING, NORMAL, LOG_NORMAL = (np.int32(kind) for kind in range(3))  # what a state keeps


class StateMemory:
    """The states of a generator that a call's pointer points to, a lane's each."""

    def __init__(self, pointer: Expression, compiler: ExpressionCompiler) -> None:
        assert isinstance(pointer.ctype, Pointer)
        struct = pointer.ctype.target
        assert isinstance(struct, Struct)
        self._memory, self._address = compiler.memory, compiler.compile(pointer)
        self._fields: dict[str, tuple[int, MemoryOperand, MemoryOperand]] = {}
        state = Dereference(struct, pointer.span, pointer)
        for part in parts(struct):
            name = part.name.removeprefix(".")
            lvalue = FieldOf(part.scalar, pointer.span, state, name, part.offset)
            loaded, stored = (compiler.operand(lvalue, part.scalar) for _ in range(2))
            self._fields[part.name] = part.offset, loaded, stored

    def at(self, group: Group, mask: Mask) -> State:
        """The states of a mask's lanes."""
        return State(self, group, mask, self._address(group, mask))

    def load(self, state: State, mask: Mask, name: str) -> Any:
        """A number of each state, one or [lanes]."""
        offset, operand, _ = self._fields[name]
        return self._memory.load(state.group, mask, state.address.moved(offset), operand)

    def store(self, state: State, mask: Mask, name: str, value: Any) -> None:
        """Write a number of each state, one or [lanes]."""
        offset, _, operand = self._fields[name]
        self._memory.store(state.group, mask, state.address.moved(offset), operand, value)


class State:
    """The states of some lanes at one call."""

    def __init__(self, memory: StateMemory, group: Group, mask: Mask, address: Address) -> None:
        self._memory = memory
        self.group, self.mask, self.address = group, mask, address

    def among(self, condition: Any) -> State | None:
        """Those of the lanes for which a condition holds; None where there are none."""
        mask = narrow(self.mask, condition)
        if mask is NONE:
            return None
        return State(self._memory, self.group, mask, self.address)

    def read(self, *names: str) -> tuple[Any, ...]:
        """Some numbers of each state."""
        return tuple(self._memory.load(self, self.mask, name) for name in names)

    def write(self, names: Any, values: Any) -> None:
        """Write some numbers of each state."""
        for name, value in zip(names, values, strict=True):
            self._memory.store(self, self.mask, name, np.asarray(value)[()])


class Xorwow:
    """XORWOW: a counter and five words."""

    def seed(self, state: State, seed: Any) -> None:
        """Begin with a seed, uint64."""
        state.write(XORWOW, random_numbers.seed_xorwow(seed))

    def skip(self, state: State, count: Any) -> None:
        """Go on by a number of words."""
        state.write(XORWOW, random_numbers.skip_xorwow(state.read(*XORWOW), count))

    def skip_sequences(self, state: State, count: Any) -> None:
        """Go on by a number of sequences."""
        length = random_numbers.SEQUENCE_LENGTH_LOG2
        state.write(XORWOW, random_numbers.skip_xorwow(state.read(*XORWOW), count, length))

    def word(self, state: State) -> Any:
        """The next word."""
        word, after = random_numbers.step_xorwow(state.read(*XORWOW))
        state.write(XORWOW, after)
        return word

    def words(self, state: State) -> tuple[Any, ...]:
        """Four words, one after another."""
        return tuple(self.word(state) for _ in range(4))

    def uniform_double(self, state: State) -> Any:
        """The next double, of two words."""
        return random_numbers.uniform_of_two(self.word(state), self.word(state))


class Philox:
    """Philox: a counter, the four words made of it, and which of these is next."""

    def seed(self, state: State, seed: Any) -> None:
        """Begin with a seed, which is the key; skip_sequences and skip make the first words."""
        zero = np.uint32(0)
        state.write(PHILOX_COUNTER, (zero,) * 4)
        state.write(PHILOX_KEY, random_numbers.words_of(seed))
        state.write((PHILOX_PLACE,), (zero,))

    def skip(self, state: State, count: Any) -> None:
        """Go on by a number of words."""
        (place,) = state.read(PHILOX_PLACE)
        four = np.uint32(4)
        place = place + random_numbers.words_of(count)[0] % four
        blocks = np.asarray(count).astype(np.uint64) // np.uint64(4) + (place >= four)
        state.write((PHILOX_PLACE,), (place - four * (place >= four),))
        counter = random_numbers.skip_philox(state.read(*PHILOX_COUNTER), blocks)
        self._fill(state, counter)

    def skip_sequences(self, state: State, count: Any) -> None:
        """Go on by a number of sequences."""
        counter = state.read(*PHILOX_COUNTER)
        self._fill(state, random_numbers.skip_philox_sequences(counter, count))

    def word(self, state: State) -> Any:
        """The next word; after the fourth come those of the next counter."""
        (place,) = state.read(PHILOX_PLACE)
        word: Any = np.uint32(0)
        for number, name in enumerate(PHILOX_OUTPUT):
            chosen = place == number if number else (place == 0) | (place > 3)
            some = state.among(chosen)
            if some is not None:
                (found,) = some.read(name)
                word = np.where(chosen, found, word)
        after = place + np.uint32(1)
        is_last = after == 4
        state.write((PHILOX_PLACE,), (np.where(is_last, np.uint32(0), after),))
        last = state.among(is_last)
        if last is not None:
            self._fill(last, random_numbers.next_counter(last.read(*PHILOX_COUNTER)))
        return word

    def words(self, state: State) -> tuple[Any, ...]:
        """The next four words at once."""
        old = state.read(*PHILOX_OUTPUT)
        new = self._fill(state, random_numbers.next_counter(state.read(*PHILOX_COUNTER)))
        (place,) = state.read(PHILOX_PLACE)
        row, places = (*old, *new), [place == number for number in range(1, 4)]
        return tuple(
            np.select(places, [row[number + each] for each in range(1, 4)], row[number])
            for number in range(4)
        )

    def uniform_double(self, state: State) -> Any:
        """The next double, of one word."""
        return random_numbers.uniform_of_one(self.word(state))

    def _fill(self, state: State, counter: tuple[Any, ...]) -> tuple[Any, ...]:
        """Set a counter and the four words that are made of it, which it gives."""
        output = random_numbers.philox(counter, state.read(*PHILOX_KEY))
        state.write(PHILOX_COUNTER, counter)
        state.write(PHILOX_OUTPUT, output)
        return output


Generator = Xorwow | Philox
# By the names of the states' structs.
GENERATORS: Mapping[str, Generator] = {
    "curandStateXORWOW": Xorwow(),
    "curandStatePhilox4_32_10": Philox(),
}


# A call's value from its states and its other arguments' values, one or [lanes] each.
Draw = Callable[..., Any]


def _initialize(generator: Generator, state: State, seed: Any, sequence: Any, offset: Any) -> Any:
    generator.seed(state, seed)
    for width in SPARE:
        state.write((SPARE_KIND[width],), (NOTHING,))
        state.write((SPARE[width],), (np.float32(0) if not width else np.float64(0),))
    generator.skip_sequences(state, sequence)
    generator.skip(state, offset)
    return np.int32(0)


def _skip(generator: Generator, state: State, count: Any) -> Any:
    generator.skip(state, count)
    return np.int32(0)


def _skip_sequences(generator: Generator, state: State, count: Any) -> Any:
    generator.skip_sequences(state, count)
    return np.int32(0)


def _two_normal(generator: Generator, state: State) -> tuple[Any, ...]:
    return random_numbers.normal_pair(generator.word(state), generator.word(state))


def _four_normal(generator: Generator, state: State) -> tuple[Any, ...]:
    words = generator.words(state)
    return (*random_numbers.normal_pair(*words[:2]), *random_numbers.normal_pair(*words[2:]))


def _two_normal_doubles(generator: Generator, state: State) -> tuple[Any, ...]:
    return random_numbers.normal_double_pair(*generator.words(state))


def _two_uniform_doubles(generator: Generator, state: State) -> tuple[Any, ...]:
    words = generator.words(state)
    return tuple(random_numbers.uniform_of_two(*words[i : i + 2]) for i in (0, 2))


def _as_they_are(numbers: Draw) -> Draw:
    """Normal numbers as they are drawn."""
    return numbers


def _exponential(numbers: Draw) -> Draw:
    """The exponential of normal numbers of some mean and standard deviation."""

    def draw(generator: Generator, state: State, mean: Any, deviation: Any) -> tuple[Any, ...]:
        drawn = numbers(generator, state)
        return tuple(_power_of_e(fma(deviation, number, mean)) for number in drawn)

    return draw


def _power_of_e(number: Any) -> Any:
    """e to the power of floats or doubles, one or [lanes]."""
    function = expf if number.dtype == np.float32 else exp
    found = function(np.atleast_1d(number))
    return found if np.ndim(number) else found[0]


def _one_of(pair: Draw, width: str, kind: Any) -> Draw:
    """The first of two numbers; the state keeps the second, which the next call gives."""

    def draw(generator: Generator, state: State, *given: Any) -> Any:
        (kept,) = state.read(SPARE_KIND[width])
        is_kept = kept == kind
        result: Any = None
        old, new = state.among(is_kept), state.among(negate(is_kept))
        if new is not None:
            result, spare = pair(generator, new, *given)
            new.write((SPARE[width], SPARE_KIND[width]), (spare, kind))
        if old is not None:
            old.write((SPARE_KIND[width],), (NOTHING,))
            (spare,) = old.read(SPARE[width])
            result = spare if result is None else np.where(is_kept, spare, result)
        return result

    return draw


DRAWS: Mapping[str, Draw] = {
    "curand_init": _initialize,
    "skipahead": _skip,
    "skipahead_sequence": _skip_sequences,
    "curand": lambda generator, state: generator.word(state),
    "curand4": lambda generator, state: generator.words(state),
    "curand_uniform": lambda generator, state: random_numbers.uniform(generator.word(state)),
    "curand_uniform4": lambda generator, state: tuple(
        map(random_numbers.uniform, generator.words(state))
    ),
    "curand_uniform_double": lambda generator, state: generator.uniform_double(state),
    "curand_uniform2_double": _two_uniform_doubles,
    **{
        f"curand_{name}{form}": distribution(numbers)
        for name, distribution in (("normal", _as_they_are), ("log_normal", _exponential))
        for form, numbers in (
            ("2", _two_normal), ("4", _four_normal), ("2_double", _two_normal_doubles),
        )
    },
    **{
        f"curand_{name}{width}": _one_of(distribution(numbers), width, kind)
        for name, distribution, kind in (
            ("normal", _as_they_are, NORMAL), ("log_normal", _exponential, LOG_NORMAL),
        )
        for width, numbers in (("", _two_normal), ("_double", _two_normal_doubles))
    },
}  # fmt: skip


def _random_call(call: Call, compiler: ExpressionCompiler) -> Closure:
    """A call by its generator, which the type of its pointer tells."""
    place = RANDOM_FUNCTIONS[call.function]
    pointer = call.arguments[place]
    memory = StateMemory(pointer, compiler)
    assert isinstance(pointer.ctype, Pointer)
    generator, draw = GENERATORS[str(pointer.ctype.target)], DRAWS[call.function]
    others = [compiler.compile(a) for number, a in enumerate(call.arguments) if number != place]

    def run(group: Group, mask: Mask) -> Any:
        given = [other(group, mask) for other in others]
        drawn = draw(generator, memory.at(group, mask), *given)
        if isinstance(drawn, tuple):
            return tuple(np.asarray(number)[()] for number in drawn)
        return np.asarray(drawn)[()]

    return run


RANDOM_CALLS: Mapping[str, CompileCall] = dict.fromkeys(RANDOM_FUNCTIONS, _random_call)
