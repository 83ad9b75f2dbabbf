"""Which accesses of a kernel are as good as atomics: they race with none."""

from __future__ import annotations

from simulator.language.functions import ATOMIC_FUNCTIONS
from simulator.language.retries import retried_reads
from simulator.language.tree import Call, Dereference, Index, Statement
from simulator.language.visit import expressions_within
from simulator.language.waiting import polled_lvalues, spins
from simulator.machine.observer import Access, AccessKind


class StrongAccesses:
    """The accesses of a kernel by which its threads may wait for each other."""

    def __init__(self, body: Statement) -> None:
        self.spins = spins(body)  # whether loops wait for other threads
        self.polled = polled_lvalues(body)  # volatile lvalues read by loops that wait for them
        self.retried = retried_reads(body)  # reads that begin a try of atomicCAS
        # The pointers of atomics for the threads of one block.
        self._block_pointers = frozenset(
            expression.arguments[0]
            for expression in expressions_within(body)
            if isinstance(expression, Call)
            and expression.function in ATOMIC_FUNCTIONS
            and expression.function.endswith("_block")
        )

    def is_strong(self, access: Access) -> bool:
        """Whether an access is as good as an atomic: no race with one.

        It is a volatile load of a loop that waits, or a volatile store in a kernel with one. So is
        a read that only begins a try of an atomicCAS, which fails if the value is not the present.
        """
        if access.lvalue in self.retried:
            return True
        return self.spins and (access.lvalue in self.polled or is_volatile(access))

    def is_of_one_block(self, access: Access) -> bool:
        """Whether an access is an atomic for the threads of its own block alone."""
        lvalue = access.lvalue
        return (
            access.kind is AccessKind.ATOMIC
            and isinstance(lvalue, Dereference)
            and lvalue.pointer in self._block_pointers
        )


def is_volatile(access: Access) -> bool:
    """Whether an access is a store to a volatile lvalue."""
    lvalue = access.lvalue
    return (
        access.kind is AccessKind.STORE
        and isinstance(lvalue, (Index, Dereference))
        and lvalue.volatile
    )
