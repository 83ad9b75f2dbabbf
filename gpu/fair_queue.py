"""A fair queue: no owner has a second turn before another's first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Name = TypeVar("Name", bound=Hashable)


@dataclass(slots=True)
class Place:
    """A job's place."""

    owner: Hashable
    round: int
    first: bool  # whether its owner has had no turn, and has no other job in the queue
    work: float  # as estimated, in any unit
    arrival: int
    running: bool = False


class FairQueue(Generic[Name]):
    """Jobs in the order in which they run, by name.

    An owner's jobs are of one round after another, and none is of an earlier round than the job at
    the head of the queue: who comes late does not make up for the turns of others. Within a round
    first jobs of an owner come before others, then those of less work, then those that came
    earlier. Once the queue is empty, all turns are forgotten.

    >>> queue = FairQueue[str]()
    >>> for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
    ...     queue.join(name, owner=name[0])
    >>> list(queue)
    ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']
    """

    def __init__(self) -> None:
        self._places: dict[Name, Place] = {}
        self._turns: dict[Hashable, int] = {}  # the round of an owner's latest job that has run
        self._arrivals = 0

    def __iter__(self) -> Iterator[Name]:
        """The jobs in their order; those that run are the first."""
        return iter(sorted(self._places, key=self._order))

    def join(self, name: Name, owner: Hashable = None, work: float = 0.0) -> None:
        """Add a job; None is an owner of this job alone."""
        head = next((self._places[one].round for one in self), 0)
        owner = object() if owner is None else owner
        rounds = [one.round for one in self._places.values() if one.owner == owner]
        if owner in self._turns:
            rounds.append(self._turns[owner])
        latest = max(rounds, default=None)
        self._arrivals += 1
        turn = head if latest is None else max(head, latest + 1)
        self._places[name] = Place(owner, turn, latest is None, work, self._arrivals)

    def start(self, name: Name) -> None:
        """A job has its turn."""
        place = self._places[name]
        place.running = True
        self._turns[place.owner] = place.round

    def leave(self, name: Name) -> None:
        """Remove a job, wherever it is; nothing where it is not in the queue."""
        self._places.pop(name, None)
        if not self._places:
            self._turns.clear()

    def before(self, name: Name) -> int:
        """How many jobs are before this one, those that run included."""
        return list(self).index(name)

    def _order(self, name: Name) -> tuple[bool, int, bool, float, int]:
        place = self._places[name]
        return not place.running, place.round, not place.first, place.work, place.arrival
