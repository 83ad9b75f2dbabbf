"""All kinds of requirements: what `kind` of a table in an exercise's file may be."""

from __future__ import annotations

from typing import TypeAlias

from simulator.exercises.requirements.access_patterns import BankConflicts, SectorsPerRequest
from simulator.exercises.requirements.correctness import NoHazards, Right
from simulator.exercises.requirements.resources import Barriers, SharedBytes, Shuffles
from simulator.exercises.requirements.traffic import (
    GlobalBytes,
    GlobalRequests,
    LikeTheLadder,
    SharedLoads,
    SharedWavefronts,
)

Requirement: TypeAlias = (
    Right
    | NoHazards
    | BankConflicts
    | SectorsPerRequest
    | GlobalBytes
    | GlobalRequests
    | SharedWavefronts
    | SharedLoads
    | SharedBytes
    | Barriers
    | Shuffles
    | LikeTheLadder
)
