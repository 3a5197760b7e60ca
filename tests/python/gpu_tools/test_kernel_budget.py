"""`tools/kernel_budget.py` counts what a disassembled kernel issues, and holds it to a record."""

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(not (ROOT / "tools").is_dir(), reason="needs a checkout")

KERNEL = "_ZN4ttlg4cuda39_GLOBAL__N__2e6341ed_7_copy_cu_6b5266af11copy_kernelILi8EEEvPKSt4bytePS4_"


@pytest.fixture(scope="module")
def budget():
    sys.path.insert(0, str(ROOT / "tools"))
    yield importlib.import_module("kernel_budget")
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture(scope="module")
def sass(budget):
    return importlib.import_module("sass")


@pytest.fixture
def blocks(sass):
    """Parse a function's code, a label or an instruction a line."""

    def parsed(code):
        lines = [f".text.{KERNEL}:"]
        for line in code.strip().splitlines():
            text = line.strip()
            lines.append(text if text.endswith(":") else f"        /*0010*/        {text} ;")
        return sass.parse(lines, lambda name: name == KERNEL)[KERNEL]

    return parsed


def opcodes(path):
    return [step.instruction.opcode for step in path]


def nothing(_):
    return False


# As nvdisasm prints it; the endless branch after the exit is padding.
LISTING = """
.text.other:
        /*0000*/                   EXIT ;
.text.{kernel}:
        //## File "{source}", line 2
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        //## File "{source}", line 1 inlined at "{source}", line 3
        //## File "{source}", line 3
        /*0010*/              @!P0 LDG.E.64.CONSTANT R4, desc[UR4][R18.64] ;
        /*0020*/             @!UP0 UMOV UR4, 0x400 ;
        /*0030*/               @P1 BRA `(.L_x_0) ;
        /*0040*/                   NOP ;
.L_x_0:
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   BRA `(.L_x_1);
"""


def test_listings_are_read_as_blocks_with_source_lines(sass, tmp_path):
    source = tmp_path / "copy.hpp"
    source.write_text("return __ldg(from);\nvoid copy() {\n  load(0);\n")
    text = LISTING.format(kernel=KERNEL, source=source)
    functions = sass.parse(text.splitlines(), lambda name: name != "other")
    assert list(functions) == [KERNEL]
    blocks = functions[KERNEL]
    assert [block.successors for block in blocks] == [[2, 1], [2], [-1], [3]]
    first, load, move, branch = blocks[0].instructions
    assert (first.guard, first.opcode, first.lines) == ("", "LDC", ("void copy() {",))
    assert (load.guard, load.name, load.bytes) == ("!P0", "LDG", 8)
    assert load.loaded == {"R4", "R5"}
    assert load.lines == move.lines == ("return __ldg(from);", "load(0);")
    assert (move.guard, branch.target) == ("!UP0", ".L_x_0")
    assert sass.find_loops(blocks) == {}


@pytest.mark.parametrize(
    ("opcode", "size"),
    [
        ("LDG.E.U8.CONSTANT", 1),
        ("LDG.E.U16.CONSTANT", 2),
        ("LDG.E.CONSTANT", 4),
        ("STG.E.64", 8),
        ("LDG.E.128.CONSTANT", 16),
        ("LDGSTS.E", 4),
        ("LDGSTS.E.BYPASS.128", 16),
        ("STG.E.U8", 1),
    ],
)
def test_widths_of_accesses(sass, opcode, size):
    assert sass.Instruction("", opcode, "R8, desc[UR4][R2.64]").bytes == size


def test_loops_run_as_often_as_the_caller_says(sass, blocks):
    nested = blocks("""
        MOV R0, RZ
        .L_outer:
        IADD3 R0, R0, 0x1, RZ
        .L_inner:
        IMAD R1, R1, R2, RZ
        @P2 BRA `(.L_out)
        FADD R1, R1, R2
        @P0 BRA `(.L_inner)
        .L_out:
        ISETP.NE.AND P1, PT, R0, RZ, PT
        @P1 BRA `(.L_outer)
        EXIT
    """)
    passes = []

    def trips(steps):
        passes.append(opcodes(steps))
        return {4: 10, 7: 3}[len(steps)]

    path = sass.heaviest_path(nested, trips, nothing)
    assert passes[0] == ["IMAD", "BRA", "FADD", "BRA"]
    assert [step.times for step in path] == [1, 3, 30, 30, 30, 30, 3, 3, 1]
    assert [len(step.loops) for step in path] == [0, 1, 2, 2, 2, 2, 1, 1, 0]


def test_the_heavier_side_of_a_fork_counts_unless_it_is_avoided(sass, blocks):
    fork = blocks("""
        @P0 BRA `(.L_light)
        FADD R1, R1, R1
        FADD R1, R1, R1
        BRA `(.L_join)
        .L_light:
        FMUL R1, R1, R1
        .L_join:
        @P1 EXIT
        MOV R2, R1
        EXIT
    """)
    last = sass.Instruction("", "EXIT", "")
    path = sass.heaviest_path(fork, len, nothing)
    assert opcodes(path) == ["BRA", "FADD", "FADD", "BRA", "EXIT", "MOV", "EXIT"]
    path = sass.heaviest_path(fork, len, lambda i: i.name in ("FADD", "MOV"))
    assert opcodes(path) == ["BRA", "FMUL", "EXIT", "MOV", "EXIT"]  # one instruction of two
    path = sass.heaviest_path(fork, len, lambda i: i.name in ("FADD", "MOV") or i == last)
    assert opcodes(path) == ["BRA", "FMUL", "EXIT"]


def test_a_loop_with_no_way_around_what_is_avoided_is_avoided_itself(sass, blocks):
    fork = blocks("""
        @P0 BRA `(.L_light)
        .L_loop:
        IMAD R1, R1, R1, RZ
        @P2 BRA `(.L_next)
        EXIT
        .L_next:
        FADD R1, R1, R1
        FADD R1, R1, R1
        @P1 BRA `(.L_loop)
        BRA `(.L_join)
        .L_light:
        FMUL R1, R1, R1
        .L_join:
        EXIT
    """)
    path = sass.heaviest_path(fork, lambda _: 5, nothing)
    assert "FADD" in opcodes(path)
    path = sass.heaviest_path(fork, lambda _: 5, lambda i: i.name == "FADD")
    assert opcodes(path) == ["BRA", "FMUL", "EXIT"]


def test_code_that_is_moved_out_of_line_is_no_loop(sass, blocks):
    moved = blocks("""
        @P0 BRA `(.L_away)
        .L_back:
        MOV R2, R1
        EXIT
        .L_away:
        FADD R1, R1, R1
        BRA `(.L_back)
    """)
    assert sass.find_loops(moved) == {}
    path = sass.heaviest_path(moved, len, nothing)
    assert opcodes(path) == ["BRA", "FADD", "BRA", "MOV", "EXIT"]


def test_calls_are_refused(blocks):
    with pytest.raises(ValueError, match=r"CALL\.REL\.NOINC: only branches"):
        blocks("CALL.REL.NOINC `(.L_x_9)")


LOAD = "LDG.E.128.CONSTANT R{}, desc[UR4][R2.64]"
COPY = "LDGSTS.E.BYPASS.128 [R59], desc[UR16][R22.64]"
WAIT = "DEPBAR.LE SB0, 0x0"


@pytest.mark.parametrize(
    ("code", "size"),
    [
        ([LOAD.format(4), LOAD.format(8), "STS.128 [R3], R4", "STS.128 [R3], R8"], 32),
        ([LOAD.format(4), "STS [R3], R7", LOAD.format(4), "STS [R3], R4"], 16),
        ([LOAD.format(4), LOAD.format(8)], 32),
        (["MOV R1, R2"], 0),
        ([WAIT, COPY, "LDGSTS.E [R59], desc[UR16][R22.64]", "LDGDEPBAR", "LDS R1, [R3]"], 20),
        ([COPY, WAIT, "LDS R1, [R3]", COPY, COPY, WAIT], 24),
    ],
    ids=["together", "one by one", "unused", "none", "copied ahead", "copied and waited for"],
)
def test_bytes_loaded_before_one_is_needed(sass, blocks, code, size):
    path = sass.heaviest_path(blocks("\n".join([*code, "EXIT"])), len, nothing)
    assert sass.bytes_per_wait(path) == size


def test_a_load_before_a_loop_hides_none_of_the_loops_waits(sass, blocks):
    path = sass.heaviest_path(
        blocks(f"""
            LDG.E.U8.CONSTANT R30, desc[UR4][R2.64]
            .L_x_1:
            {LOAD.format(4)}
            STG.E.128 desc[UR4][R12.64], R4
            @P0 BRA `(.L_x_1)
            STG.E.U8 desc[UR4][R12.64], R30
            EXIT
        """),
        lambda steps: 10,
        nothing,
    )
    assert sass.bytes_per_wait(path) == (1 + 10 * 16) / 10


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


def test_figures_of_a_kernel(budget, sass, blocks):
    block = budget.ThreadBlock(256, 16384, 0)
    path = sass.heaviest_path(
        blocks(MATCH_LARGE), lambda steps: budget.trip_count(steps, block), budget.is_rare
    )
    figures = budget.figures_of(path, {"registers": 32, "local_bytes": 0}, block)
    assert figures == {
        "registers": 32,
        "local_bytes": 0,
        "blocks_per_sm": 8,
        "bytes_in_flight_per_sm": 8 * 256 * 8,
        "instructions_per_line": round((2 + 8 * 5) * 8 / 128, 1),
        "instructions_per_further_line": 8 * 5 * 8 / 128,
    }
    assert list(budget.loops_of(path)) == [
        "2 instructions, 1 times: ",
        "  5 instructions, 8 times: 2 LDG, 2 STG",
    ]


RING = f"""
    .L_x_8:
    {WAIT}
    BAR.SYNC.DEFER_BLOCKING 0x0
    @P0 {COPY}
    LDGDEPBAR
    @P2 LDS.128 R24, [R3]
    @P2 STG.E.128 desc[UR10][R22.64], R24
    @!P1 BRA `(.L_x_8)
    EXIT
"""


def test_figures_of_a_ring_of_buffers(budget, sass, blocks):
    block = budget.ThreadBlock(512, 512 * 16, 2 * 512 * 16)
    path = sass.heaviest_path(
        blocks(RING), lambda steps: budget.trip_count(steps, block), budget.is_rare
    )
    figures = budget.figures_of(path, {"registers": 64, "local_bytes": 0}, block)
    assert figures["bytes_in_flight_per_sm"] == 2 * 512 * 16
    assert figures["instructions_per_line"] == round(8 * 128 / 32 / 16, 1)
    assert figures["instructions_per_further_line"] == round(7 * 128 / 32 / 16, 1)


MOVE_ONE = """
    @P2 LDG.E.CONSTANT R25, desc[UR10][R10.64]
    @P2 STG.E desc[UR10][R22.64], R25
"""


@pytest.mark.parametrize(
    ("code", "moved_bytes", "instructions", "in_flight"),
    [
        # An unrolled loop and the one for what it leaves over.
        (MATCH_LARGE.replace("EXIT", f".L_x_9: {MOVE_ONE} @P1 BRA `(.L_x_9)\n EXIT"), 64, 42, 8),
        # The first pass of a loop, and what peeling it off has left.
        (f"{MOVE_ONE} .L_x_9: {MOVE_ONE} @P1 BRA `(.L_x_9)\n EXIT", 4, 3, 4),
    ],
    ids=["rest", "peeled"],
)
def test_loops_that_are_left_out(budget, sass, blocks, code, moved_bytes, instructions, in_flight):
    block = budget.ThreadBlock(256, 256 * moved_bytes, 0)
    path = sass.heaviest_path(
        blocks(code.replace(": ", ":\n")),
        lambda steps: budget.trip_count(steps, block),
        budget.is_rare,
    )
    figures = budget.figures_of(path, {"registers": 32, "local_bytes": 0}, block)
    assert figures["instructions_per_line"] == round(instructions * 4 / moved_bytes, 1)
    assert figures["bytes_in_flight_per_sm"] == in_flight * 256 * 8


def test_a_path_that_leaves_out_data_is_refused(budget, sass, blocks):
    path = sass.heaviest_path(blocks("MOV R1, R2\nEXIT"), len, nothing)
    with pytest.raises(ValueError, match="does not move the whole slice"):
        budget.figures_of(path, {"registers": 32}, budget.ThreadBlock(256, 16384, 0))


def test_threads_that_begin_anew_do_so_in_every_pass(budget, sass, blocks):
    block = budget.ThreadBlock(256, 32768, 32768, passes=4)
    path = sass.heaviest_path(
        blocks("""
            .L_pass:
            IMAD R1, R1, R2, RZ
            .L_x_8:
            @P2 LDG.E.U8.CONSTANT R25, desc[UR10][R10.64]
            @P0 LDG.E.U8.CONSTANT R26, desc[UR10][R10.64]
            @P2 STG.E.U8 desc[UR10][R22.64], R25
            @P2 STG.E.U8 desc[UR10][R22.64], R26
            @!P1 BRA `(.L_x_8)
            @!P2 BRA `(.L_pass)
            EXIT
        """),
        lambda steps: budget.trip_count(steps, block),
        budget.is_rare,
    )
    assert [step.times for step in path] == [4, 64, 64, 64, 64, 64, 4, 1]


def test_what_is_loaded_twice_moves_once(budget, sass, blocks):
    block = budget.ThreadBlock(256, 16384, 0)
    path = sass.heaviest_path(
        blocks(MATCH_LARGE.replace("@P0 STG.E desc[UR10][R10.64], R21", "NOP")),
        lambda steps: budget.trip_count(steps, block),
        budget.is_rare,
    )
    assert budget.figures_of(path, {"registers": 32}, block)["instructions_per_line"] == round(
        (2 + 16 * 5) * 8 / 128, 1
    )


def test_loops_that_move_nothing(budget, sass):
    def steps(*lines):
        return [sass.Step(sass.Instruction("", "IMAD", "R1, R1, R2, RZ", lines), 1)]

    block = budget.ThreadBlock(256, 16384, 0)
    assert budget.trip_count(steps("for (int m = 0; m < p.modes; ++m) {"), block) == 4
    assert budget.trip_count(steps("for (int m = 0; m < inner_modes; ++m) {"), block) == 1
    with pytest.raises(ValueError, match=r"none of the lines of this loop.*while"):
        budget.trip_count(steps("while (true) {"), block)


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
    assert budget.label_of(KERNEL) == ("copy<8>", 0)
    assert budget.label_of("_Z4mainv") is None


def test_resources_are_read_from_the_compilers_report(budget):
    report = """ptxas info    : Compiling entry function '_Z1a' for 'sm_90'
ptxas info    : Function properties for _Z1a
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 50 registers, used 1 barriers, 8 bytes cumulative stack size
ptxas info    : Compile time = 24.234 ms
"""
    assert budget.resources_of(report) == {"_Z1a": {"registers": 50, "local_bytes": 8}}


def recorded(instructions):
    return {
        "registers": 32,
        "local_bytes": 0,
        "blocks_per_sm": 8,
        "instructions_per_line": instructions,
        "instructions_per_further_line": instructions,
    }


RECORDED = {"copy<4>": recorded(16.0), "copy<8>": recorded(8.0)}


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({}, 0, "2 kernels: within budget"),
        ({"instructions_per_line": 16.5}, 0, "2 kernels: within budget"),
        (
            {"instructions_per_line": 20.0},
            1,
            "copy<4>: instructions_per_line recorded 16, found 20",
        ),
        ({"blocks_per_sm": 7}, 1, "copy<4>: blocks_per_sm recorded 8, found 7"),
        ({"local_bytes": 8}, 1, "copy<4>: local_bytes recorded 0, found 8"),
        ({"instructions_per_line": 12.0}, 0, "found 12: the budget could be tightened"),
        ({"blocks_per_sm": 9}, 0, "found 9: the budget could be tightened"),
    ],
    ids=str,
)
def test_figures_that_leave_the_budget(budget, capsys, change, status, message):
    found = {**RECORDED, "copy<4>": RECORDED["copy<4>"] | change}
    assert budget.check(found, RECORDED) == status
    assert message in capsys.readouterr().out


def test_kernels_without_a_record_and_records_without_a_kernel(budget, capsys):
    assert budget.check({"copy<4>": RECORDED["copy<4>"]}, RECORDED) == 1
    assert "copy<8>: recorded, but not found" in capsys.readouterr().out
    assert budget.check(RECORDED, {"copy<4>": RECORDED["copy<4>"]}) == 1
    assert "copy<8>: not recorded" in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["nvcc", "nvdisasm"])
def test_without_its_tools_nothing_is_checked(budget, monkeypatch, capsys, missing):
    monkeypatch.setattr(budget.shutil, "which", lambda name: None if name == missing else name)
    monkeypatch.setattr(budget.importlib.util, "find_spec", lambda name: None)
    assert budget.main(["--check"]) == 0
    assert capsys.readouterr().out.startswith(f"{missing} was not found")


def test_main_checks_records_and_lists(budget, monkeypatch, capsys, tmp_path):
    def measure(source, *_):
        return {f"{source.stem}<4>": ([], RECORDED["copy<4>"])}

    monkeypatch.setattr(budget.shutil, "which", lambda name: name)
    monkeypatch.setattr(budget, "nvcc_release", lambda: "13.0")
    monkeypatch.setattr(budget, "thread_blocks", lambda work: {})
    monkeypatch.setattr(budget, "measure", measure)
    monkeypatch.setattr(budget, "BUDGET", tmp_path / "budget.json")
    monkeypatch.setattr(budget.kernel_header, "HEADER", tmp_path / "kernel_figures.hpp")
    assert budget.main(["--record"]) == 0
    record = json.loads((tmp_path / "budget.json").read_text())
    assert record["nvcc"] == "13.0"
    assert record["kernels"]["copy<4>"] == RECORDED["copy<4>"]
    assert budget.main(["--check"]) == 0
    record["kernels"] = RECORDED
    (tmp_path / "budget.json").write_text(json.dumps(record))
    assert budget.main(["--check"]) == 1
    record["nvcc"] = "12.4"
    (tmp_path / "budget.json").write_text(json.dumps(record))
    budget.kernel_header.write(RECORDED)
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


def test_a_stale_header_fails_the_check(budget, monkeypatch, tmp_path):
    monkeypatch.setattr(budget, "BUDGET", tmp_path / "budget.json")
    monkeypatch.setattr(budget.kernel_header, "HEADER", tmp_path / "kernel_figures.hpp")
    budget.write_budget("13.0", RECORDED)
    for compiler in ("13.0", "12.4"):
        assert budget.check_budget(compiler, RECORDED) == 0
    (tmp_path / "kernel_figures.hpp").write_text("older")
    for compiler in ("13.0", "12.4"):
        assert budget.check_budget(compiler, RECORDED) == 1
