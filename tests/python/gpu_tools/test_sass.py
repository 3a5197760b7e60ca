"""`tools/sass.py` reads disassembled kernels as blocks, finds their loops and heaviest path."""

import pytest

KERNEL = "_ZN4ttlg4cuda11copy_kernelILi8EEEvPKSt4bytePS4_"


def opcodes(path):
    return [step.instruction.opcode for step in path]


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
    assert (first.guard, first.opcode) == ("", "LDC")
    assert [(line.above, line.text) for line in first.lines] == [
        ("return __ldg(from);", "void copy() {")
    ]
    assert (load.guard, load.name, load.bytes) == ("!P0", "LDG", 8)
    assert load.loaded == {"R4", "R5"}
    assert [line.text for line in load.lines] == ["return __ldg(from);", "load(0);"]
    assert load.lines == move.lines
    assert (move.guard, branch.target) == ("!UP0", ".L_x_0")
    assert sass.find_loops(blocks) == {}


def test_loops_run_as_often_as_the_caller_says(heaviest_path):
    nested = """
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
    """
    passes = []

    def trips(steps):
        passes.append(opcodes(steps))
        return {4: 10, 7: 3}[len(steps)]

    path = heaviest_path(nested, trips)
    assert passes[0] == ["IMAD", "BRA", "FADD", "BRA"]
    assert [step.times for step in path] == [1, 3, 30, 30, 30, 30, 3, 3, 1]
    assert [len(step.loops) for step in path] == [0, 1, 2, 2, 2, 2, 1, 1, 0]


FORK = """
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
"""
FORK_TO_LOOP = """
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
"""
# Code that is moved out of line is no loop.
MOVED = """
    @P0 BRA `(.L_away)
    .L_back:
    MOV R2, R1
    EXIT
    .L_away:
    FADD R1, R1, R1
    BRA `(.L_back)
"""


@pytest.mark.parametrize(
    ("code", "avoided", "path"),
    [
        (FORK, "", "BRA FADD FADD BRA EXIT MOV EXIT"),
        (FORK, "FADD MOV", "BRA FMUL EXIT MOV EXIT"),  # one instruction of two
        (FORK, "FADD MOV EXIT", "BRA FMUL EXIT"),
        (FORK_TO_LOOP, "", "BRA IMAD BRA FADD FADD BRA BRA EXIT"),
        # With no way around it inside of the loop, which is avoided itself.
        (FORK_TO_LOOP, "FADD", "BRA FMUL EXIT"),
        (MOVED, "", "BRA FADD BRA MOV EXIT"),
    ],
)
def test_the_heavier_side_of_a_fork_counts_unless_it_is_avoided(heaviest_path, code, avoided, path):
    found = heaviest_path(
        code,
        lambda _: 5,
        lambda i: i.name in avoided.split() and not (i.name == "EXIT" and i.guard),
    )
    assert " ".join(opcodes(found)) == path


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
def test_bytes_loaded_before_one_is_needed(sass, heaviest_path, code, size):
    assert sass.bytes_per_wait(heaviest_path("\n".join([*code, "EXIT"]))) == size


def test_a_load_before_a_loop_hides_none_of_the_loops_waits(sass, heaviest_path):
    path = heaviest_path(
        f"""
            LDG.E.U8.CONSTANT R30, desc[UR4][R2.64]
            .L_x_1:
            {LOAD.format(4)}
            STG.E.128 desc[UR4][R12.64], R4
            @P0 BRA `(.L_x_1)
            STG.E.U8 desc[UR4][R12.64], R30
            EXIT
        """,
        lambda steps: 10,
    )
    assert sass.bytes_per_wait(path) == (1 + 10 * 16) / 10
