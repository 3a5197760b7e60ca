"""What compilers make of generated functions: no spills, and no more shuffles than the paper has."""

import math
import random
import re
import subprocess

import pytest

from ttlg import _core

from .compiled import Case, compiler, is_arm
from .test_generated_code import GENTT_SHAPES, MASKED, random_case, skip_unless_runs

SHUFFLES = re.compile(
    r"^\s+(v?(p?unpck|pshuf|shuf|perm|palignr|p?blend|insert[fi]|extract[fi])\w*"
    r"|zip[12]|uzp[12]|trn[12]|tbl|ext|bsl|sel)\s",
    re.MULTILINE,
)
# Vectors that are stored on the stack, which the functions have nothing else for.
SPILLS = re.compile(
    r"^\s+(v?mov\w+\s+%[xyz]mm\d+, -?\d*\(%rsp\)|st[rp]\s+[qz]\d+,.*\[sp)", re.MULTILINE
)
# Instructions that write memory under a mask.
MASKED_STORES = re.compile(r"^\s+(\w+)\s[^#\n]*\)\s*\{%k\d\}", re.MULTILINE)


def assembly(code, isa, directory, level="-O2", compiler_name="g++"):
    file = directory / "permute.cpp"
    file.write_text(code)
    arm = _core.isa_flags(isa).split() if is_arm(isa) else ()
    run = subprocess.run(
        [compiler(isa, compiler_name), level, "-S", "-o", "-", *arm, file],
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


@pytest.mark.parametrize("compiler_name", ["g++", "clang++"])
@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_masked_stores_cannot_fault_on_what_they_leave_out(level, compiler_name, tmp_path):
    """Moves of vectors cannot; instructions that extract what they store can."""
    if _core.isa_in_use() == "neon" or compiler("avx512", compiler_name) is None:
        pytest.skip(f"no {compiler_name} for x86 here")
    cases = [*MASKED, *(Case(shape, (1, 0), size) for shape in [(3, 5), (6, 7)] for size in (2, 4))]
    code = "\n".join(
        case.generated(isa, f"permute_{i}_{isa}")["code"]
        for isa in ("avx512", "avx512vbmi")
        for i, case in enumerate(cases)
    )
    stores = set(MASKED_STORES.findall(assembly(code, "avx512", tmp_path, level, compiler_name)))
    assert stores
    assert stores <= {f"vmov{kind}" for kind in ("dqu8", "dqu16", "dqu32", "dqu64", "ups", "upd")}
