"""What a plan shows of itself: explanation, candidates in the planner's order, a table."""

import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ttlg

from .. import time_models
from ..arrays import problems
from .test_cuda_plan import PLANS as CUDA_PLANS
from .test_plan import PLANS


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_explain_shows_every_kernel_and_one_choice(plan):
    lines = plan.explain().splitlines()
    assert str(plan.shape) in lines[0]
    assert str(plan.axes) in lines[0]
    (chosen,) = [line for line in lines if line.startswith("->")]
    assert plan.kernel in chosen
    start = lines.index("planner, the least predicted time of each kernel:") + 1
    kernel_reports = plan._compiled.kernel_reports()
    for line, (kernel, obstacle, seconds) in zip(lines[start:], kernel_reports, strict=False):
        assert line[:4].strip() in (("no",) if obstacle else ("", "->", "yes"))
        assert line[4:] == f"{kernel:12} {obstacle or f'{1e6 * seconds:.1f} microseconds'}"
    best = plan.candidates()[0].kernel
    assert ("instead: forced" in chosen) == (plan.kernel != best)


def test_explain_says_that_a_kernel_was_forced():
    forced = ttlg.plan((64, 64), kernel="reference", threads=1).explain().splitlines()
    free = ttlg.plan((64, 64), threads=1).explain().splitlines()
    assert forced[-1] == "->  reference    instead: forced"
    assert [line.replace("->  ", "yes ") for line in free[-4:]] == forced[-5:-1]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_explain_tells_the_predicted_time(plan):
    (line,) = [line for line in plan.explain().splitlines() if line.startswith("  predicted")]
    fresh = ttlg.predict_time(
        plan.shape,
        plan.axes,
        f"V{plan._compiled.itemsize}",
        strides=plan.strides,
        threads=plan.threads,
    )
    into_out = f"  predicted  {1e6 * plan.predicted_time:.1f} microseconds into out=, "
    assert line.startswith(into_out)
    if plan.kernel != "reference":  # which was forced
        assert line == f"{into_out}{1e6 * fresh:.1f} microseconds into a new array"


def test_explain_counts_the_vectors_of_a_shuffle():
    def lines(*arguments):
        plan = ttlg.plan(*arguments, threads=1, kernel="shuffle")
        rows = dict(line.strip().split(maxsplit=1) for line in plan.explain().splitlines()[2:7])
        return rows["vectors"], rows["shuffles"]

    # GenTT, section 4.2: 2^steps vectors, steps = lg(16 / element bytes) - common indices.
    for dtype, steps in (("u1", 4), ("u2", 3), ("u4", 2), ("u8", 1)):
        count = 2**steps
        full = f"{count} {{}}, {16 * count} of {16 * count} bytes in use"
        vectors, shuffles = lines((2,) * 10, None, dtype)
        assert vectors == f"{full.format('loaded')}; {full.format('stored')}"
        assert shuffles.split()[:2] == [str(steps), "steps" if steps > 1 else "step"]
    # Nine runs of 18 bytes on either side, each of two vectors that overlap.
    vectors, _ = lines((3, 3, 5, 3, 3), None, "u2")
    assert vectors == "18 loaded, 162 of 288 bytes in use; 18 stored, 162 of 288 bytes in use"
    assert "vectors  " not in ttlg.plan((64, 64)).explain()


@pytest.mark.parametrize(
    ("shape", "axes", "dtype", "code"),
    [
        ((1000, 3), (1, 0), "uint16", "structures of 3, in vectors of {level} bytes"),
        (
            (2,) * 8,
            (7, 5, 4, 1, 3, 2, 6, 0),
            "float32",
            "tiles of {vectors} vectors of {level} bytes",
        ),
        ((256, 6), (1, 0), "float32", None),
        ((256, 256), (1, 0), "float32", None),
    ],
)
def test_explain_names_generated_code(shape, axes, dtype, code):
    plan = ttlg.plan(shape, axes, dtype, threads=1, kernel="shuffle")
    level = plan._compiled.describe()["level_bytes"]
    assert level in (16, 32, 64)
    lines = [line for line in plan.explain().splitlines() if "generated" in line]
    if code is None:
        assert lines == []
    else:
        wanted = code.format(level=level, vectors=level // 8)
        assert lines == [f"  code       generated for {wanted}"]


@pytest.mark.parametrize(
    ("dtype", "bytes_of_window"),
    [
        ("uint8", {16: 15, 32: 15, 64: 15}),
        ("uint16", {16: 12, 32: 12, 64: 12}),
        ("float32", {16: 12, 32: 24, 64: 60}),
        ("complex128", {}),
    ],
)
def test_explain_names_windows(dtype, bytes_of_window):
    pixels = np.zeros((500, 3), dtype)[:, ::-1]
    plan = ttlg.plan_for(pixels, (0, 1), threads=1)
    level = plan._compiled.describe()["level_bytes"]
    wanted = [
        f"  code       windows: one vector is read, shuffled and written for every {taken} bytes"
        for taken in [bytes_of_window.get(level)]
        if taken
    ]
    assert [line for line in plan.explain().splitlines() if "windows" in line] == wanted


def test_explain_names_the_loops():
    plan = ttlg.plan((64, 64), (1, 0), threads=1)
    record = json.loads(plan.to_json())
    record["parameters"] |= {"block": [20, 40], "loop_order": [1, 0], "prefetch": 1}
    text = ttlg.Plan.from_json(json.dumps(record)).explain()
    assert "8 blocks of 20 x 40 elements of 4 bytes, cut along modes 1, 0 (outermost first)" in text
    assert "  prefetch   of the next block" in text


def test_explain_says_where_an_output_begins():
    phrase = "an output that begins at a cache line"
    small, large = (ttlg.plan((n, n), dtype="f8") for n in (40, 4000))
    assert (small._compiled.out_alignment, large._compiled.out_alignment) == (1, 64)
    assert phrase not in small.explain()
    assert phrase in large.explain()


def test_of_equal_kernels_the_plans_own_is_marked():
    with time_models.installed(coefficients=dict.fromkeys(time_models.COEFFICIENTS, 0.0)):
        for kernel in (None, "tile", "strided_copy"):
            text = ttlg.plan((64, 64), kernel=kernel, threads=1).explain()
            assert "forced" not in text
            assert f"->  {kernel or ''}" in text


NARROW = "the input's fastest mode has a stride of 8 bytes, its elements 4 bytes"
NO_TILE = "no tile with runs of 16 bytes on both sides fits in the registers"


@pytest.mark.parametrize(
    ("problem", "strides", "kernel", "reason"),
    [
        (((8, 9),), None, "copy", "2 modes are left besides what is contiguous on both sides"),
        (((40,),), (8,), "copy", "1 mode is left besides what is contiguous on both sides"),
        (((1000, 5), (1, 0), "V12"), None, "tile", "elements (runs included) of 12 bytes"),
        (((1000, 5), (1, 0), "V12"), None, "shuffle", "elements (runs included) of 12 bytes"),
        (((9, 8, 6), (1, 0, 2)), None, "tile", "elements (runs included) of 24 bytes"),
        (((2, 3, 5, 40), (2, 0, 1, 3), "u1"), None, "tile", "elements (runs included) of 40 bytes"),
        (((30, 40),), (400, 8), "tile", NARROW),
        (((30, 40),), (1600, 40), "shuffle", NO_TILE),
        (((30, 40, 20), (1, 0, 2)), (4000, 100, 8), "tile", "the same fastest mode on both sides"),
    ],
)
def test_explain_says_why_a_kernel_does_not_apply(problem, strides, kernel, reason):
    text = ttlg.plan(*problem, threads=1, strides=strides).explain()
    assert f"no  {kernel:12} {reason}" in text.splitlines()


def test_explain_says_what_is_stepped_through_backwards():
    """A quarter turn is written backwards, a mirror image read so; what lies still is neither."""
    x = np.zeros((40, 30), "f4")
    for view, end in (
        (np.rot90(x), "perm 1 0, 0 written backwards"),
        (x[:, ::-1], "perm 0 1, 0 read backwards"),
        (x[::-1].T, "perm 1 0, 1 read backwards"),
        (x.T, "perm 1 0"),
    ):
        text = ttlg.plan_for(view, (0, 1)).explain()
        assert f"{end} (fastest mode first)" in text


def test_explain_says_which_stride_of_the_output_is_in_the_way():
    x, out = np.zeros((30, 40), "f4"), np.zeros((40, 60), "f4")[:, ::2]
    text = ttlg.plan_for(x, out=out).explain()
    assert "no  tile         the output's fastest mode has a stride of 8 bytes" in text


def test_explain_shows_strides_of_both_sides():
    plan = ttlg.plan((30, 40), (1, 0), strides=(-320, 8))
    assert "  strides    (-320, 8) -> (120, 4) bytes" in plan.explain().splitlines()


def test_the_taxonomy_marks_what_was_passed_over():
    plan = ttlg.plan((64, 128), (0, 1), strides=(1024, 8), device="tesla-k40c")
    lines = plan.explain().splitlines()
    rows = lines[lines.index(next(line for line in lines if line.startswith("taxonomy"))) + 1 :]
    marks = [line[:4].strip() for line in rows]
    decided = marks.index("->")
    assert marks == ["no"] * decided + ["->"] + [""] * (6 - decided)
    assert decided > 0


def is_own(plan, candidate):
    return (candidate.kernel, candidate.parameters) == (plan.kernel, plan.parameters)


@given(problems(max_elements=50_000), st.sampled_from([1, 2, 8]))
def test_the_first_candidate_is_what_the_planner_takes(problem, threads):
    layout, axes = problem
    x = layout.of(np.zeros(layout.count, np.uint8))
    for device in ("cpu", "tesla-k40c"):
        options = {"strides": x.strides, "device": device}
        more = {"threads": threads} if device == "cpu" else {}
        plan = ttlg.plan(x.shape, axes, x.dtype, **options, **more)
        candidates = plan.candidates()
        assert is_own(plan, candidates[0])
        for kernel in {each.kernel for each in candidates} - {plan.kernel}:
            forced = ttlg.plan(x.shape, axes, x.dtype, **options, **more, kernel=kernel)
            assert forced.candidates() == candidates
            listed = next(each for each in candidates if each.kernel == kernel)
            # Asked for one kernel, the CPU's planner may look further.
            assert is_own(forced, listed) or forced.predicted_time <= listed.seconds


def test_the_first_candidate_of_large_problems():
    random = np.random.default_rng(0)
    kernels = set()
    for _ in range(300):
        shape = tuple(
            map(int, random.choice([2, 3, 5, 16, 27, 64, 100, 300], random.integers(1, 5)))
        )
        axes = tuple(map(int, random.permutation(len(shape))))
        dtype = f"V{random.choice([1, 2, 3, 4, 8, 12, 16])}"
        for device in ("cpu", "tesla-k40c"):
            plan = ttlg.plan(shape, axes, dtype, device=device)
            candidates = plan.candidates()
            assert is_own(plan, candidates[0])
            if device == "cpu":
                seconds = [each.seconds for each in candidates]
                assert seconds == sorted(seconds)
            kernels.add(plan.kernel)
    assert len(kernels) >= 7


class Cells(HTMLParser):
    """The text in the cells of tables; tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.texts[-1] += data


@pytest.mark.parametrize("plan", [*PLANS, *CUDA_PLANS], ids=str)
def test_what_a_notebook_shows(plan):
    text = plan.explain()
    assert repr(text) == str(text) == "".join(text), "it shows itself"
    cells = Cells(plan._repr_html_()).texts
    assert cells[:2] == [
        "transpose",
        f"{plan.dtype} {plan.shape} by axes {plan.axes} -> {plan.out_shape}",
    ]
    for name, value in {"kernel": plan.kernel, "device": plan.device, **plan.parameters}.items():
        assert cells[cells.index(name) + 1] == str(value)
    listed = cells[cells.index("candidate") + 3 :]
    candidates = plan.candidates()
    assert listed[::3] == [each.kernel for each in candidates[:5]]
    more = re.findall(r"(\d+) more in", plan._repr_html_())
    assert more == ([str(len(candidates) - 5)] if len(candidates) > 5 else [])


def test_the_table_escapes_what_it_shows():
    text = ttlg.plan((2, 3), dtype=[("<script>&", "f8")])._repr_html_()
    assert "<script>" not in text
    assert html.escape("<script>&") in text
