"""What an exercise asks of a kernel: requirements as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec


class _Requirement(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    """A table of an exercise's file; its `kind` says which of these classes it is."""


class Right(_Requirement, frozen=True, tag="right"):
    """The result is right at some sizes, and where the counters are read."""

    sizes: tuple[Mapping[str, int], ...]  # the launch's numbers, by parameter


class NoHazards(_Requirement, frozen=True, tag="no-hazards"):
    """No hazards at any of these sizes."""


class BankConflicts(_Requirement, frozen=True, tag="bank-conflicts"):
    """No line takes more wavefronts of shared memory than without bank conflicts."""


class SectorsPerRequest(_Requirement, frozen=True, tag="sectors-per-request"):
    """Sectors of global memory that a request of each line touches, on average."""

    at_most: float


class GlobalBytes(_Requirement, frozen=True, tag="global-bytes"):
    """Bytes of global memory, in sectors of 32, for each unit of the work."""

    at_most: float


class GlobalRequests(_Requirement, frozen=True, tag="global-requests"):
    """A warp's loads and stores of global memory, for each unit of the work."""

    at_most: float


class SharedWavefronts(_Requirement, frozen=True, tag="shared-wavefronts"):
    """Wavefronts of shared memory for each unit of the work."""

    at_most: float


class SharedBytes(_Requirement, frozen=True, tag="shared-bytes"):
    """Bytes of shared memory that a block takes."""

    at_most: int


class Barriers(_Requirement, frozen=True, tag="barriers"):
    """Barriers of the block that a thread passes."""

    at_most: str  # an expression over the launch's numbers


class Shuffles(_Requirement, frozen=True, tag="shuffles"):
    """Shuffles that a thread takes part in."""

    at_most: int


class LikeTheLadder(_Requirement, frozen=True, tag="like-the-ladder"):
    """Global bytes and shared wavefronts a product: no more than a rung of the ladder.

    It is the first rung that reached a share of cuBLAS's speed in the recording.
    """

    share_of_cublas: float


Requirement: TypeAlias = (
    Right
    | NoHazards
    | BankConflicts
    | SectorsPerRequest
    | GlobalBytes
    | GlobalRequests
    | SharedWavefronts
    | SharedBytes
    | Barriers
    | Shuffles
    | LikeTheLadder
)
