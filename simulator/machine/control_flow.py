"""How lanes leave a loop, a switch or a function, and where they join the others again.

break, continue and return add their lanes to a mask that waits on a stack of the group, an entry
for each construct that is being executed. The construct takes them from there at its end.
"""

from __future__ import annotations

from simulator.language.tree import Loop
from simulator.machine.budget import LoopState
from simulator.machine.group import Group
from simulator.machine.masks import NONE, Mask, union

# Statements that lanes leave by --------------------------------------------------------------


def break_(group: Group, mask: Mask) -> Mask:
    """Lanes wait for the end of the innermost loop or switch."""
    group.breaks[-1] = union(group.breaks[-1], mask)
    return NONE


def continue_(group: Group, mask: Mask) -> Mask:
    """Lanes wait for the end of the innermost loop's iteration."""
    group.continues[-1] = union(group.continues[-1], mask)
    return NONE


def return_(group: Group, mask: Mask) -> Mask:
    """Lanes wait for the end of the function, or of the kernel."""
    group.returns[-1] = union(group.returns[-1], mask)
    return NONE


# Constructs that they leave ------------------------------------------------------------------


def enter_loop(group: Group, loop: Loop) -> LoopState:
    """Begin a loop; its state counts iterations."""
    state = LoopState(loop)
    group.loops.append(state)
    group.breaks.append(NONE)
    group.continues.append(NONE)
    return state


def join_continued(group: Group, mask: Mask) -> Mask:
    """The lanes at the end of an iteration: those of a mask, and those that took a continue."""
    mask = union(mask, group.continues[-1])
    group.continues[-1] = NONE
    return mask


def leave_loop(group: Group, finished: Mask) -> Mask:
    """End a loop; gives the lanes whose condition failed (finished), and those of a break."""
    group.loops.pop()
    group.continues.pop()
    return union(finished, group.breaks.pop())


def enter_switch(group: Group) -> None:
    """Begin the body of a switch."""
    group.breaks.append(NONE)


def leave_switch(group: Group, mask: Mask) -> Mask:
    """End a switch; gives the lanes of a mask, and those of a break."""
    return union(mask, group.breaks.pop())


def enter_function(group: Group) -> None:
    """Begin a called function."""
    group.returns.append(NONE)


def leave_function(group: Group) -> None:
    """End a called function: all lanes that entered it go on in the caller."""
    group.returns.pop()
