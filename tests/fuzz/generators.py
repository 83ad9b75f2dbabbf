"""Random draws from the generators of curand_kernel.h."""

from __future__ import annotations

from tests.fuzz.halves import Halves
from tests.fuzz.values import Variable

XORWOW, PHILOX = "curandState", "curandStatePhilox4_32_10_t"
DRAWS = (("unsigned", "curand"), ("float", "curand_uniform"), ("double", "curand_uniform_double"))
DRAWS_OF_FOUR = (("uint4", "curand4"), ("float4", "curand_uniform4"))


class Generators(Halves):
    """Writes generators and what is drawn from them."""

    def generator(self) -> None:
        """A generator with a seed, and a few draws from it."""
        e, draw = self.expressions, self.expressions.draw
        kind, state = draw.choice((XORWOW, PHILOX)), self.name()
        e.begin()
        seed = e.whole(1).text
        # The shim moves XORWOW on word by word.
        sequence = 0 if kind == XORWOW else draw.choice((0, 3, 2**33 - 1))
        self.put(f"{kind} {state};")
        self.put(f"curand_init({seed}, {sequence}, {draw.randrange(9)}, &{state});")
        for _ in range(draw.randint(1, 4)):
            if draw.random() < 0.2:
                self.put(f"skipahead({draw.randrange(9)}, &{state});")
            ctype, function = draw.choice(DRAWS + DRAWS_OF_FOUR * (kind == PHILOX))
            name = self.name()
            self.put(f"{ctype} {name} = {function}(&{state});")
            is_vector = ctype.endswith("4")
            e.scope.append(Variable(name, ctype, "vector" if is_vector else "scalar"))
