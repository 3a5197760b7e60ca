"""What `Plan.candidates` lists."""

from typing import TYPE_CHECKING, Any, NamedTuple

from ttlg import _core
from ttlg._plan.json import AnyPlan, builder_of
from ttlg._typing import CpuKernel, CudaKernel


class Candidate(NamedTuple):
    """One way to carry a plan's request out on the CPU.

    Attributes
    ----------
    kernel : str
        As `Plan.kernel`.
    parameters : dict
        As `Plan.parameters`: extents of blocks in elements, for ``copy`` in bytes.
    seconds : float
        The predicted time of a call into an ``out=`` that has been in use, in seconds.
    measured_seconds : float or None
        The least time that a call took in a measurement; None where there was none.
    """

    kernel: CpuKernel
    parameters: dict[str, Any]
    seconds: float
    measured_seconds: float | None = None


class CudaCandidate(NamedTuple):
    """One way to carry a plan's request out on a GPU.

    Attributes
    ----------
    kernel : str
        The schema, as `Plan.kernel`.
    parameters : dict
        As `Plan.parameters`: ``in_modes`` and ``out_modes`` are numbers of modes, ``in_block`` and
        ``out_block`` extents in elements, ``coarsened_mode`` is the number of a mode or -1,
        ``stages`` a number of buffers, ``band_width`` a number of slices.
    features : dict of str to int
        What regressions as TTLG's depend on (section V, Table II); see the notes.
    seconds : float
        The predicted time of the launch in seconds.
    measured_seconds : float or None
        What a call took on the device, where calls that learn have tried it; else None.

    Notes
    -----
    An element is what a thread moves at once; where neighbours stay together that is several
    elements of the array. All counts are for the whole launch, all lengths for a slice that is not
    cut short at the end of a mode.

    ============= ====================================== =======================================
    Feature       Unit                                   Kernels
    ============= ====================================== =======================================
    Volume        bytes of the input                     all but Orthogonal-Arbitrary
    Volume        elements                               Orthogonal-Arbitrary
    NumBlocks     thread blocks                          all but Orthogonal-Arbitrary and copy
    NumThreads    threads                                Orthogonal-Arbitrary
    Input slice   elements along the slice's input side  all but Orthogonal-Arbitrary and copy
    Output slice  elements along its output side         all but Orthogonal-Arbitrary and copy
    Total Slice   elements of all slices that a block    Orthogonal-Arbitrary
                  takes along the coarsened mode
    Input Stride  elements of a slice that are           Orthogonal-Arbitrary
                  contiguous in the input
    Output Stride elements of a slice that are           Orthogonal-Arbitrary
                  contiguous in the output
    Special Instr integer divisions and remainders       Orthogonal-Arbitrary
    FVI           elements of the fastest-varying mode   FVI-Match-Large and -Small
    Cycles        warp instructions                      Orthogonal-Distinct
    Cycles        memory transactions of 128 bytes       FVI-Match-Large and -Small,
                                                         Orthogonal-Arbitrary
    ============= ====================================== =======================================

    The features of the two Orthogonal kernels are those of TTLG, section V, Table II; transactions
    are counted by TTLG, Table I. The paper leaves out the models of the FVI-Match kernels: their
    features are this library's own.
    """

    kernel: CudaKernel
    parameters: dict[str, Any]
    features: dict[str, int]
    seconds: float
    measured_seconds: float | None = None


if TYPE_CHECKING:
    from typing_extensions import TypeVar  # typing's has no default before Python 3.13

    # What a plan's candidates are: either, where the device is known at run time only.
    CandidateT_co = TypeVar(
        "CandidateT_co",
        bound=Candidate | CudaCandidate,
        default=Candidate | CudaCandidate,
        covariant=True,
    )
else:
    from typing import TypeVar

    CandidateT_co = TypeVar("CandidateT_co", covariant=True)


def candidate_of(core: AnyPlan, measured_seconds: float | None = None) -> Candidate | CudaCandidate:
    """Return the way in which a plan carries its request out."""
    kernel: Any = core.kernel
    times = core.predicted_seconds, measured_seconds
    if isinstance(core, _core.CudaPlan):
        return CudaCandidate(kernel, core.parameters, core.features, *times)
    return Candidate(kernel, core.parameters, *times)


def list_candidates(core: AnyPlan, *, is_given: bool) -> list[Any]:
    """List what was measured, the plan's own way first, then what else the planner has.

    A plan whose parameters were given comes first.
    """
    measured: list[Any] = core.measured or core.trials
    planned: list[Any]
    if isinstance(core, _core.CpuPlan) and measured:
        planned = core.candidates(measured[0][1]["threads"])
    else:
        planned = core.candidates()
    build = builder_of(core)
    own = candidate_of(core)
    listed: list[Any] = [
        candidate_of(build(kernel, parameters), seconds) for kernel, parameters, seconds in measured
    ]
    listed.sort(key=lambda each: (each[:2] != own[:2], each.measured_seconds))
    known = [each[:2] for each in listed]
    fields = len(own) - 1  # all but the measured time
    listed += [type(own)(*each[:fields]) for each in planned if each[:2] not in known]
    if not is_given:
        return listed
    return [own, *(each for each in listed if each[:2] != own[:2])]


def gain(core: AnyPlan) -> float | None:
    """Return how many times as fast as the planner's choice a plan was measured to be, or None."""
    for kernel, parameters, seconds in core.measured:
        if (kernel, parameters) == (core.kernel, core.parameters):
            return core.measured[0][2] / seconds
    return None
