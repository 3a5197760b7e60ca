"""What `Plan.candidates` lists."""

from typing import Any, NamedTuple


class Candidate(NamedTuple):
    """One way to carry a plan's request out, as `Plan.candidates` lists them.

    ``cost`` is what the planner expects, in the time that a copy of the same bytes takes.
    """

    kernel: str
    parameters: dict[str, Any]
    cost: float


class CudaCandidate(NamedTuple):
    """The same for a GPU, with the features that its predicted time in ``seconds`` depends on."""

    kernel: str
    parameters: dict[str, Any]
    features: dict[str, float]
    seconds: float
