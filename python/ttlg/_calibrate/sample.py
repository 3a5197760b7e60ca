"""Ways to carry a problem out: the planner's candidates and others drawn at random."""

import random
from typing import Any

from ttlg import _core
from ttlg._calibrate.problems import Problem

# Drawing ends after this many in a row that came before.
_ATTEMPTS = 20
# Of the plans drawn, those that use all threads.
_TEAMS = 0.75


def sample(problem: Problem, threads: int, count: int, draw: random.Random) -> list[_core.CpuPlan]:
    """Build plans for a problem: the planner's choice, its other candidates, and `count` drawn.

    They are drawn from all that the planner might choose: a model is of use where it was measured.
    Each is there once. Fewer are drawn where the problem is too small for many.
    """
    request = problem.request()
    first = _core.cached_cpu_plan(request, threads, None)
    plans = [first]
    seen: list[tuple[str, dict[str, Any]]] = [(first.kernel, first.parameters)]

    def add(kernel: str, parameters: dict[str, Any]) -> bool:
        if (kernel, parameters) in seen:
            return False
        seen.append((kernel, parameters))
        plans.append(_core.build_cpu_plan(request, kernel=kernel, **parameters))
        return True

    for listed, parameters, _ in first.candidates(threads):
        add(listed, parameters)
    alone = first.candidates(1, all=True)
    together = alone if threads == 1 else first.candidates(threads, all=True)
    most, attempts = len(plans) + count, 0
    while len(plans) < most and attempts < _ATTEMPTS:
        kernel, parameters, _ = draw.choice(together if draw.random() <= _TEAMS else alone)
        attempts = 0 if add(kernel, parameters) else attempts + 1
    return plans
