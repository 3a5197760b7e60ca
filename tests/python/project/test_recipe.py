"""CONTRIBUTING's recipe for a kernel, followed in a copy of the sources."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# By the file that a step names: what it replaces there, and by what. None: the file is new.
STEPS = {
    "cpp/plan/cpu/kernel.hpp": {
        "strided_copy, reference }": "strided_copy, reference, triple }",
        "NameTable<Kernel, 5>": "NameTable<Kernel, 6>",
        '"strided_copy", "reference"}': '"strided_copy", "reference", "triple"}',
    },
    "cpp/plan/cpu/kernel.cpp": {
        '    {[](const Problem&) { return true; }, [] { return "nothing"s; }, nullptr},\n': r"""\g<0>
    {[](const Problem& folded) { return !is_copy(folded) && folded.element_bytes() == 3; },
     [] { return "elements of 3 bytes"s; },
     [](const Problem& folded) { return "elements of " + in_bytes(folded.element_bytes()); }},
"""
    },
    "cpp/plan/cpu/parameters.hpp": {
        "    case Kernel::strided_copy:\n": r"    case Kernel::triple:\n\g<0>"
    },
    "cpp/cpu/kernels.hpp": {
        "  // Carries a shuffle program": r"  BlockKernel triple;\n\g<0>",
        "      case Kernel::copy:\n": "      case Kernel::triple:\n        return triple;\n\\g<0>",
    },
    "cpp/cpu/simd/triple.hpp": None,
    "cpp/cpu/simd/kernels.hpp": {
        '#include "cpu/simd/vectors.hpp"\n': r'#include "cpu/simd/triple.hpp"\n\g<0>',
        "      .shuffle = kHasShuffle": r"      .triple = triple,\n\g<0>",
    },
}
TRIPLE = """#pragma once

#include <cstring>

#include "cpu/kernels.hpp"

namespace ttlg::cpu {
namespace {

void triple(const std::byte* in, std::byte* out, const BlockArguments& block) {
  for (std::int64_t j = 0; j < block.out_count; ++j) {
    for (std::int64_t i = 0; i < block.in_count; ++i) {
      std::memcpy(out + block.out_by_in[i] + block.out_by_out[j],
                  in + block.in_by_in[i] + block.in_by_out[j], BYTES);
    }
  }
}

}  // namespace
}  // namespace ttlg::cpu
"""


def test_the_recipe_names_the_files_of_a_kernel():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = text.partition("## A kernel, step by step")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(cpp/[\w/]+\.[ch]pp)`", recipe))
    assert named == {file for file, replacements in STEPS.items() if replacements}


@pytest.fixture
def sources(tmp_path):
    """Return a copy of the sources in which every step but the new file has been taken."""
    for folder in ("cpp", "tests/cpp"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for file in ("CMakeLists.txt", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    for file, replacements in STEPS.items():
        if replacements is None:
            assert not (ROOT / file).exists()
            continue
        text = (tmp_path / file).read_text()
        for old, new in replacements.items():
            text, count = re.subn(re.escape(old), new, text, count=1)
            assert count == 1, f"{file} has no {old!r}"
        (tmp_path / file).write_text(text)
    return tmp_path


def _run(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.rotating
@pytest.mark.timeout(900)
def test_a_kernel_added_by_the_recipe_is_planned_and_tested(sources):
    for program in ("cmake", "make"):
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
    options = ("TTLG_CUDA=OFF", "TTLG_BUILD_PYTHON=OFF", "TTLG_BUILD_TESTS=ON")
    flags = (
        "CMAKE_BUILD_TYPE=Debug",
        "CMAKE_CXX_FLAGS_DEBUG=-O0",
        "CMAKE_COMPILE_WARNING_AS_ERROR=ON",
        "CMAKE_UNITY_BUILD=ON",  # reads headers less often; each level's kernels stay apart
    )
    defined = [f"-D{each}" for each in (*options, *flags)]
    configured = _run("cmake", "-S", ".", "-B", "build", *defined, cwd=sources)
    if "needs GoogleTest" in configured.stderr:
        pytest.skip("there is no GoogleTest")
    assert configured.returncode == 0, configured.stderr

    def run_tests(moved):
        """Build the kernel, which moves that many bytes of an element, and run every kernel."""
        (sources / "cpp/cpu/simd/triple.hpp").write_text(TRIPLE.replace("BYTES", str(moved)))
        build = ("cmake", "--build", "build", "-j2", "--target", "cpu_threads_test")
        built = _run(*build, cwd=sources)
        assert built.returncode == 0, built.stdout[-4000:]
        test = sources / "build/tests/cpp/cpu_threads_test"
        return _run(str(test), "--gtest_filter=Execute.RandomRequests", cwd=sources)

    assert "kernel triple" in run_tests(2).stdout
    assert run_tests(3).returncode == 0
