"""Ways to carry a problem out: the planner's candidates and others drawn at random."""

import math
import random
from typing import Any

from ttlg import _core
from ttlg._calibrate.problems import Problem
from ttlg._plan.output import LINE_BYTES

_MAX_RUN_BYTES = 8 << 10
_MAX_BLOCK_BYTES = 512 << 10
_MAX_PREFETCH = 4
# Drawing ends after this many in a row that no plan can be built from or that came before.
_ATTEMPTS = 20


def _log_uniform(draw: random.Random, low: int, high: int) -> int:
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


class _Blocks:
    """Blocks and loop orders of one problem, by folded mode, drawn at random."""

    def __init__(self, plan: _core.CpuPlan, draw: random.Random) -> None:
        self._draw = draw
        # A run that is contiguous on both sides counts as one element: mode 0 is folded away.
        folded = int(plan.element_bytes != plan.itemsize)
        self._element_bytes = plan.element_bytes
        self._extents = plan.extents[folded:]
        self._perm = [mode - folded for mode in plan.perm[folded:]]

    def _grow(self, block: list[int], order: list[int], run_bytes: int, limit: int) -> None:
        """Take modes in an order until a run of `run_bytes` lies in the block."""
        inner = self._element_bytes
        size = math.prod(block) * self._element_bytes
        grain = max(LINE_BYTES // self._element_bytes, 1)
        for mode in order:
            extent = self._extents[mode]
            room = min(run_bytes // inner, limit // (size // block[mode]), extent)
            if room > block[mode]:
                if room < extent and self._draw.random() < 0.5:
                    room = math.ceil(extent / math.ceil(extent / room))  # even pieces
                elif grain < room < extent and inner == self._element_bytes:
                    room -= room % grain  # whole lines
                size = size // block[mode] * room
                block[mode] = room
            if block[mode] < extent:
                return
            inner *= extent

    def block(self) -> list[int]:
        """Grow a block from both sides to lengths of runs and a limit that are drawn."""
        draw = self._draw
        runs = [_log_uniform(draw, LINE_BYTES, _MAX_RUN_BYTES) for _ in range(2)]
        limit = _log_uniform(draw, 4 * LINE_BYTES, _MAX_BLOCK_BYTES)
        block = [1] * len(self._extents)
        sides = [(list(range(len(block))), runs[0]), (self._perm, runs[1])]
        draw.shuffle(sides)
        for order, run_bytes in sides:
            self._grow(block, order, run_bytes, limit)
        return block

    def loop_order(self, block: list[int]) -> list[int]:
        """Order the loops as the input is stored, as the output is, or at random."""
        cut = [mode for mode, extent in enumerate(self._extents) if block[mode] < extent]
        shuffled = self._draw.sample(cut, len(cut))
        as_input = cut[::-1]
        as_output = [mode for mode in reversed(self._perm) if mode in cut]
        order = self._draw.choice((as_input, as_output, as_input, as_output, shuffled))
        if cut and self._draw.random() < 0.3:  # the innermost loop matters most
            inner = self._draw.choice(cut)
            order = [mode for mode in order if mode != inner] + [inner]
        return order


def _parameters(
    plan: _core.CpuPlan, kernel: str, blocks: _Blocks, threads: int, draw: random.Random
) -> dict[str, Any]:
    if kernel == "copy":
        block, order = [_log_uniform(draw, 16 << 10, 4 << 20)], []
    else:
        block = blocks.block()
        order = blocks.loop_order(block)
    return {
        "block": block,
        "loop_order": order,
        "staged": draw.random() < 0.5,
        "streaming": draw.random() < 0.5,
        "prefetch": draw.randint(0, _MAX_PREFETCH),
        "threads": threads if draw.random() < 0.75 else 1,
    }


def sample(problem: Problem, threads: int, count: int, draw: random.Random) -> list[_core.CpuPlan]:
    """Build plans for a problem: the planner's choice, its other candidates, and `count` drawn.

    Each is there once. Fewer are drawn where the problem is too small for many.
    """
    request = problem.request()
    first = _core.cached_cpu_plan(request, threads, None)
    plans = [first]
    seen: list[tuple[str, dict[str, Any]]] = [(first.kernel, first.parameters)]

    def add(kernel: str, parameters: dict[str, Any]) -> bool:
        try:
            plan = _core.build_cpu_plan(request, kernel=kernel, **parameters)
        except ValueError:
            return False  # no such plan: a block too large to stage, too small to stream
        if (kernel, plan.parameters) in seen:
            return False
        seen.append((kernel, plan.parameters))
        plans.append(plan)
        return True

    for listed, parameters, _ in first.candidates(threads):
        add(listed, parameters)
    kernels = [kernel for kernel in first.applicable_kernels() if kernel != "reference"]
    blocks = _Blocks(first, draw)
    most, attempts = len(plans) + count, 0
    while len(plans) < most and attempts < _ATTEMPTS:
        kernel = draw.choice(kernels)
        added = add(kernel, _parameters(first, kernel, blocks, threads, draw))
        attempts = 0 if added else attempts + 1
    return plans
