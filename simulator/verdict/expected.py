"""What a launch by a form should leave in its arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simulator.language.ctype import Array
from simulator.language.tree import Kernel
from simulator.launch import Launch
from simulator.verdict.form import LaunchForm
from simulator.verdict.launches import arrays_by_role
from simulator.verdict.tasks import ALPHA, BETA, FACTOR, START, Task


def expected_results(
    kernel: Kernel, form: LaunchForm, launch: Launch, task: Task, sizes: Mapping[str, int]
) -> Mapping[str, Array]:
    """The results of the form's task by their roles, float64, in the shapes of the task's arrays.

    A product with the factors alpha and beta is alpha A B + beta C.
    """
    roles = dict(form.roles)
    given = arrays_by_role(kernel, form, launch, [*task.arrays, *({START} & roles.keys())])
    if task.has_factor:
        given[FACTOR] = np.asarray(launch.arguments[roles[FACTOR]])
    results = task.expected(given, sizes)
    alpha, beta = (float(launch.arguments[roles[one]]) if one in roles else None
                   for one in (ALPHA, BETA))  # fmt: skip
    if alpha is not None:
        results = {role: alpha * result for role, result in results.items()}
    if beta is not None:
        before = {role: np.asarray(given.get(START, given[role])) for role in results}
        results = {
            role: result + beta * before[role].reshape(-1)[: result.size].reshape(result.shape)
            for role, result in results.items()
        }
    return results
