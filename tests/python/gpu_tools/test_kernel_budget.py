"""`tools/kernel_budget.py` counts what a disassembled kernel issues, and holds it to a record."""

import json
import re

import pytest


@pytest.fixture
def kernel(budget, heaviest_path):
    """Find the path of a kernel whose thread block is this one."""

    def found(code, block):
        return heaviest_path(code, lambda steps: budget.trip_count(steps, block), budget.is_rare)

    return found


@pytest.fixture
def figures_of(budget, kernel):
    def worked_out(code, block, **resources):
        resources = {"registers": 32, "local_bytes": 0} | resources
        return budget.figures_of(kernel(code, block), resources, block)

    return worked_out


MATCH_LARGE = """
    S2R R0, SR_TID.X
    .L_x_8:
    @P2 LDG.E.CONSTANT R25, desc[UR10][R10.64]
    @P0 LDG.E.CONSTANT R21, desc[UR10][R18.64]
    @P2 STG.E desc[UR10][R22.64], R25
    @P0 STG.E desc[UR10][R10.64], R21
    @!P1 BRA `(.L_x_8)
    EXIT
"""
RING = """
    .L_x_8:
    DEPBAR.LE SB0, 0x0
    BAR.SYNC.DEFER_BLOCKING 0x0
    @P0 LDGSTS.E.BYPASS.128 [R59], desc[UR16][R22.64]
    LDGDEPBAR
    @P2 LDS.128 R24, [R3]
    @P2 STG.E.128 desc[UR10][R22.64], R24
    @!P1 BRA `(.L_x_8)
    EXIT
"""
MOVE_ONE = """
    @P2 LDG.E.CONSTANT R25, desc[UR10][R10.64]
    @P2 STG.E desc[UR10][R22.64], R25
"""


@pytest.mark.parametrize(
    ("code", "block", "registers", "held", "in_flight", "instructions", "further"),
    [
        (MATCH_LARGE, (256, 16384, 0), 32, 8, 8, 2 + 8 * 5, 8 * 5),
        # A ring of buffers.
        (RING, (512, 512 * 16, 2 * 512 * 16), 64, 2, 16, 8, 7),
        # An unrolled loop and the one for what it leaves over.
        (
            MATCH_LARGE.replace("EXIT", f".L_x_9:\n{MOVE_ONE} @P1 BRA `(.L_x_9)\n EXIT"),
            *((256, 16384, 0), 32, 8, 8, 2 + 8 * 5, 16 * 3),
        ),
        # The first pass of a loop, and what peeling it off has left.
        (
            f"{MOVE_ONE} .L_x_9:\n{MOVE_ONE} @P1 BRA `(.L_x_9)\n EXIT",
            *((256, 1024, 0), 32, 8, 4, 3, 3),
        ),
        # What is loaded twice moves once.
        (
            MATCH_LARGE.replace("@P0 STG.E desc[UR10][R10.64], R21", "NOP"),
            *((256, 16384, 0), 32, 8, 4, 2 + 16 * 5, 16 * 5),
        ),
    ],
    ids=["loop", "ring", "rest", "peeled", "twice"],
)
def test_figures_of_a_kernel(
    budget, figures_of, code, block, registers, held, in_flight, instructions, further
):
    block = budget.ThreadBlock(*block)
    moved = block.bytes_per_thread
    assert figures_of(code, block, registers=registers) == {
        "registers": registers,
        "local_bytes": 0,
        "blocks_per_sm": held,
        "bytes_in_flight_per_sm": in_flight * block.threads * held,
        "instructions_per_line": round(instructions * 128 / 32 / moved, 1),
        "instructions_per_further_line": round(further * 128 / 32 / moved, 1),
    }


def test_loops_are_listed(budget, kernel):
    assert list(budget.loops_of(kernel(MATCH_LARGE, budget.ThreadBlock(256, 16384, 0)))) == [
        "2 instructions, 1 times: ",
        "  5 instructions, 8 times: 2 LDG, 2 STG",
    ]


def test_a_path_that_leaves_out_data_is_refused(budget, figures_of):
    with pytest.raises(ValueError, match="does not move the whole slice"):
        figures_of("MOV R1, R2\nEXIT", budget.ThreadBlock(256, 16384, 0))


def test_the_loop_around_a_pass_runs_once_for_every_pass(budget, kernel):
    inner = (
        MATCH_LARGE.replace("G.E", "G.E.U8").partition("EXIT")[0].replace("S2R R0, SR_TID.X", "")
    )
    path = kernel(
        f".L_pass:\nIMAD R1, R1, R2, RZ\n{inner}\n@!P2 BRA `(.L_pass)\nEXIT",
        budget.ThreadBlock(256, 32768, 32768, passes=4),
    )
    assert [step.times for step in path] == [4, 64, 64, 64, 64, 64, 4, 1]


@pytest.mark.parametrize(
    ("registers", "threads", "shared_bytes", "blocks"),
    [
        (32, 256, 0, 8),  # threads
        (33, 256, 0, 6),  # registers, which come by eight
        (64, 512, 16384, 2),
        (32, 256, 32768, 6),  # shared memory, of which a block takes 1 KB more
        (16, 32, 0, 32),  # blocks
    ],
)
def test_blocks_of_a_multiprocessor(budget, registers, threads, shared_bytes, blocks):
    block = budget.ThreadBlock(threads, threads * 4, shared_bytes)
    assert budget.blocks_per_sm(registers, block) == blocks


def test_kernels_are_named_by_their_template_arguments(budget):
    mangled = (
        "_ZN4ttlg4cuda55_GLOBAL__N__03b3c416_22_orthogonal_distinct_cu_9619004726"
        "orthogonal_distinct_kernelILi4ELb0ELb1ELi6EEEvNS0_4GridIXT2_EEEPKSt4bytePS6_"
    )
    assert budget.label_of(mangled) == ("orthogonal_distinct<4,0,1>", 6)
    mangled = "_ZN4ttlg4cuda39_GLOBAL__N__2e6341ed_7_copy_cu_6b5266af11copy_kernelILi8EEEvPKSt4byte"
    assert budget.label_of(mangled) == ("copy<8>", 0)
    assert budget.label_of("_Z4mainv") is None


def test_resources_are_read_from_the_compilers_report(budget):
    report = """ptxas info    : Compiling entry function '_Z1a' for 'sm_90'
ptxas info    : Function properties for _Z1a
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 50 registers, used 1 barriers, 8 bytes cumulative stack size
ptxas info    : Compile time = 24.234 ms
"""
    assert budget.resources_of(report) == {"_Z1a": {"registers": 50, "local_bytes": 8}}


RESOURCES = {"registers": 32, "local_bytes": 0, "blocks_per_sm": 8}
INSTRUCTIONS = ("instructions_per_line", "instructions_per_further_line")
RECORDED = {
    "copy<4>": RESOURCES | dict.fromkeys(INSTRUCTIONS, 16.0),
    "copy<8>": RESOURCES | dict.fromkeys(INSTRUCTIONS, 8.0),
}


@pytest.fixture
def record(budget, monkeypatch, tmp_path):
    """Keep the record, and what the planner reads of it, in files of this test."""
    monkeypatch.setattr(budget, "BUDGET", tmp_path / "budget.json")
    monkeypatch.setattr(budget.kernel_header, "HEADER", tmp_path / "kernel_figures.hpp")
    return budget.BUDGET


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"instructions_per_line": 16.5}, 0, "2 kernels: within budget"),
        ({"instructions_per_line": 20}, 1, "copy<4>: instructions_per_line recorded 16, found 20"),
        ({"blocks_per_sm": 7}, 1, "copy<4>: blocks_per_sm recorded 8, found 7"),
        ({"local_bytes": 8}, 1, "copy<4>: local_bytes recorded 0, found 8"),
        ({"instructions_per_line": 12}, 0, "found 12: the budget could be tightened"),
        ({"blocks_per_sm": 9}, 0, "found 9: the budget could be tightened"),
    ],
    ids=str,
)
def test_figures_that_leave_the_budget(budget, capsys, change, status, message):
    found = {**RECORDED, "copy<4>": RECORDED["copy<4>"] | change}
    assert budget.check(found, RECORDED) == status
    assert message in capsys.readouterr().out


def test_kernels_without_a_record_and_records_without_a_kernel(budget, capsys):
    one = {"copy<4>": RECORDED["copy<4>"]}
    assert budget.check(one, RECORDED) == budget.check(RECORDED, one) == 1
    output = capsys.readouterr().out
    assert "copy<8>: recorded, but not found" in output
    assert "copy<8>: not recorded" in output


@pytest.mark.parametrize("missing", ["nvcc", "nvdisasm"])
def test_without_its_tools_nothing_is_checked(budget, monkeypatch, capsys, missing):
    monkeypatch.setattr(budget.shutil, "which", lambda name: None if name == missing else name)
    monkeypatch.setattr(budget.importlib.util, "find_spec", lambda name: None)
    assert budget.main(["--check"]) == 0
    assert capsys.readouterr().out.startswith(f"{missing} was not found")


def test_main_checks_records_and_lists(budget, record, monkeypatch, capsys):
    def measure(source, *_):
        return {f"{source.stem}<4>": ([], RECORDED["copy<4>"])}, set()

    monkeypatch.setattr(budget.shutil, "which", lambda name: name)
    monkeypatch.setattr(budget, "nvcc_release", lambda: "13.0")
    monkeypatch.setattr(budget, "thread_blocks", lambda work: {})
    monkeypatch.setattr(budget, "measure", measure)
    monkeypatch.setattr(budget.budget_marks, "mistakes", lambda *_: [])
    assert budget.main(["--record"]) == 0
    written = json.loads(record.read_text())
    assert written["nvcc"] == "13.0"
    assert written["kernels"]["copy<4>"] == RECORDED["copy<4>"]
    assert budget.main(["--check"]) == 0
    record.write_text(json.dumps(written | {"kernels": RECORDED}))
    assert budget.main(["--check"]) == 1
    budget.write_budget("12.4", RECORDED)
    assert budget.main(["--check"]) == 0
    output = capsys.readouterr().out
    assert "recorded with nvcc 12.4, not 13.0" in output
    assert re.search(r"copy<4> +32 +0 +8 +16 +16\n", output)


def test_the_planner_reads_the_record(budget, capsys):
    """What it has of the kernels is what was recorded of them last."""
    kernels = json.loads(budget.BUDGET.read_text())["kernels"]
    assert budget.kernel_header.check(kernels) == 0
    name = "orthogonal_distinct<2,0,1>"
    kernels[name] |= {"registers": 51, "instructions_per_further_line": 35.9}
    first = f"{kernels[name]['instructions_per_line']:g}"
    assert f"{{Schema::orthogonal_distinct, 2, false, true, 51, {first}, 35.9}}," in (
        budget.kernel_header.text_of(kernels)
    )
    assert budget.kernel_header.check(kernels) == 1
    assert "kernel_figures.hpp is not that of the record" in capsys.readouterr().out


def test_the_record_says_what_it_assumes_of_every_kernel(budget, capsys):
    record = json.loads(budget.BUDGET.read_text())
    assumptions = budget.kernel_assumptions
    assert {*map(assumptions.kernel_of, record["kernels"])} == set(assumptions.ASSUMPTIONS)
    assert assumptions.check(record) == 0
    record["assumes"]["runs"] = "nothing"
    assert assumptions.check(record) == 1
    assert "the assumptions are not those of the record" in capsys.readouterr().out


@pytest.mark.parametrize("compiler", ["13.0", "12.4"])
def test_a_stale_header_fails_the_check(budget, record, compiler):
    budget.write_budget("13.0", RECORDED)
    assert budget.check_budget(compiler, RECORDED) == 0
    budget.kernel_header.HEADER.write_text("older")
    assert budget.check_budget(compiler, RECORDED) == 1
