"""Which arrays of a kernel are A, B and C of a product, and how the scene draws all its arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator import LaunchError, Recording
from simulator.language.ctype import ArrayOf, CType, Pointer
from simulator.language.tree import ArraySpace, MemorySpace
from simulator.size_expression import evaluate
from simulator.verdict.form import LaunchForm
from simulator.verdict.launches import known_values
from simulator.verdict.tasks import PRODUCT_ROLES

Shape = tuple[int, int]  # rows, columns


@dataclass(frozen=True, slots=True)
class Product:
    """C = A B: what a kernel calls the matrices, and their sizes."""

    A: str  # the name of its parameter
    B: str
    C: str
    M: int  # rows of A and C
    N: int  # columns of B and C
    K: int  # columns of A, rows of B

    @property
    def factors(self) -> tuple[str, str]:
        """The names of A and B."""
        return self.A, self.B

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of A, B and C."""
        return self.A, self.B, self.C

    @property
    def shapes(self) -> dict[str, Shape]:
        """Rows and columns of A, B and C, by their names."""
        return {self.A: (self.M, self.K), self.B: (self.K, self.N), self.C: (self.M, self.N)}

    def columns(self, name: str) -> int:
        """Columns of the matrix of a name."""
        return self.shapes[name][1]


def product_of_catalogue(recording: Recording) -> Product:
    """The product of a kernel of the catalogue, whose parameters all have the same names."""
    M, N, K = (int(recording.arguments[name]) for name in "MNK")
    return Product("A", "B", "C", M, N, K)


def product_of_form(recording: Recording, form: LaunchForm) -> Product | None:
    """The product of a user kernel, by the roles of its form.

    None if it has another task, or its arrays are not such matrices row by row.
    """
    meant = PRODUCT_ROLES.get(form.task)
    if meant is None:
        return None
    roles, shapes = dict(form.roles), array_shapes(recording)
    A, B, C = (roles.get(meant[role], "") for role in "ABC")
    if len({A, B, C}) < 3 or not shapes.keys() >= {A, B, C}:
        return None
    try:
        known = known_values(recording.kernel, form)
        M, N, K = (evaluate(roles.get(meant[role], ""), known) for role in "MNK")
    except LaunchError:
        return None
    product = Product(A, B, C, M, N, K)
    is_such = all(
        shapes[name] in (shape, (1, shape[0] * shape[1])) for name, shape in product.shapes.items()
    )
    return product if is_such else None


def array_shapes(recording: Recording) -> Mapping[str, Shape]:
    """Rows and columns of each array in global and constant memory, by name.

    The planes of three dimensions are one under another; a struct is a row, and each of its
    members a column.
    """
    arrays = {
        name: np.shape(value) for name, value in recording.arguments.items() if np.ndim(value)
    }
    return {name: two_dimensions(shape) for name, shape in arrays.items()}


def two_dimensions(shape: tuple[int, ...]) -> Shape:
    """Rows and columns of an array of any number of dimensions."""
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def element_of(recording: Recording, name: str, space: ArraySpace) -> CType | None:
    """What an array's elements are; None if its declaration is not found."""
    if space is MemorySpace.SHARED:
        declared = {array.name: array.ctype for array in recording.shared}
    else:
        kernel = recording.kernel
        declared = {one.variable.name: one.variable.ctype for one in kernel.globals}
        declared |= {one.name: one.ctype for one in kernel.parameters}
    ctype = declared.get(name)
    if isinstance(ctype, Pointer):
        return ctype.target
    return ctype.innermost if isinstance(ctype, ArrayOf) else ctype
