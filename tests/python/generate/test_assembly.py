"""What compilers make of generated functions: no spills, and no more shuffles than the paper has."""

import math
import random
import re
import subprocess

import pytest

from ttlg import _core

from .compiled import Case, compiler, is_arm
from .test_generated_code import GENTT_SHAPES, random_case, skip_unless_runs

SHUFFLES = re.compile(
    r"^\s+(v?(p?unpck|pshuf|shuf|perm|palignr|p?blend|insert[fi]|extract[fi])\w*"
    r"|zip[12]|uzp[12]|trn[12]|tbl|ext|bsl|sel)\s",
    re.MULTILINE,
)
# Vectors that are stored on the stack, which the functions have nothing else for.
SPILLS = re.compile(
    r"^\s+(v?mov\w+\s+%[xyz]mm\d+, -?\d*\(%rsp\)|st[rp]\s+[qz]\d+,.*\[sp)", re.MULTILINE
)


def assembly(code, isa, directory):
    file = directory / "permute.cpp"
    file.write_text(code)
    arm = _core.isa_flags(isa).split() if is_arm(isa) else ()
    run = subprocess.run(
        [compiler(isa), "-O2", "-S", "-o", "-", *arm, file],
        check=True,
        capture_output=True,
        text=True,
    )
    return run.stdout


@pytest.mark.parametrize("isa", _core.isas())
@pytest.mark.parametrize("itemsize", [4, 8])
def test_square_blocks_take_log_w_shuffles_for_w_elements(isa, itemsize, tmp_path):
    skip_unless_runs(isa)
    lanes = int(re.search(r"\d+$", isa)[0]) // 8 if isa.startswith("sve2") else None
    lanes = (lanes or {"ssse3": 16, "neon": 16, "avx2": 32}.get(isa, 64)) // itemsize
    bits = 2 * int(math.log2(lanes))
    case = Case((2,) * bits, tuple(reversed(range(bits))), itemsize)
    generated = case.generated(isa)
    text = assembly(generated["code"], isa, tmp_path)
    assert generated["lanes"] == lanes
    assert generated["loads"] == generated["stores"] == lanes * generated["tiles"]
    shuffles = generated["shuffles"] + generated["self_shuffles"]
    assert shuffles <= generated["elements"] * math.log2(lanes) / lanes
    assert len(SHUFFLES.findall(text)) == shuffles
    assert not SPILLS.findall(text)


@pytest.mark.parametrize("isa", _core.isas())
def test_registers_are_not_spilled(isa, tmp_path):
    skip_unless_runs(isa)
    limit = 16 if isa in ("ssse3", "avx2") else 32
    generator = random.Random(isa)
    cases = [Case(shape, tuple(reversed(range(len(shape)))), 4) for shape in GENTT_SHAPES]
    cases += [Case((100, channels), (1, 0), size) for channels in (2, 3, 4) for size in (1, 2, 4)]
    cases += [random_case(generator) for _ in range(20)]
    functions = [case.generated(isa, f"permute_{i}") for i, case in enumerate(cases)]
    assert max(each["live_registers"] for each in functions) < limit
    assert not SPILLS.findall(
        assembly("\n".join(each["code"] for each in functions), isa, tmp_path)
    )
