"""Generated functions in a program that checks them against element-by-element copies."""

import functools
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttlg import _core
from ttlg._planning.generate import generate_with_counts

CHECK = """
#include <cstdio>
#include <vector>

struct Case {
  void (*function)(const void*, void*, std::size_t, std::ptrdiff_t, std::ptrdiff_t);
  std::vector<long> shape, axes;
  long itemsize, batch;
};

// Arrays with gaps between them and guards around them. The last one ends where the memory does, so
// that AddressSanitizer and valgrind see what is read after it.
static bool check(const Case& c) {
  const std::size_t rank = c.shape.size();
  long elements = 1;
  std::vector<long> steps(rank), counts(rank), moves(rank);
  for (std::size_t k = rank; k-- > 0;) {
    steps[k] = elements;
    elements *= c.shape[k];
  }
  for (std::size_t k = 0; k < rank; ++k) {
    counts[k] = c.shape[c.axes[k]];
    moves[k] = steps[c.axes[k]];
  }
  const long in_stride = elements + c.batch % 3, out_stride = elements + c.batch % 2;
  const long guard = 64 + c.batch % 5;
  std::vector<unsigned char> in(((c.batch - 1) * in_stride + elements) * c.itemsize);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = (i * 167 + (i >> 7) * 13 + (i >> 15)) & 255;
  std::vector<unsigned char> out(((c.batch - 1) * out_stride + elements) * c.itemsize + 2 * guard,
                                 0xA5);
  std::vector<unsigned char> expected = out;
  for (long b = 0; b < c.batch && elements > 0; ++b) {
    std::vector<long> index(rank, 0);
    long from = b * in_stride, to = b * out_stride;
    for (long i = 0; i < elements; ++i, ++to) {
      for (long k = 0; k < c.itemsize; ++k) {
        expected[guard + to * c.itemsize + k] = in[from * c.itemsize + k];
      }
      for (std::size_t k = rank; k-- > 0;) {
        from += moves[k];
        if (++index[k] < counts[k]) break;
        from -= moves[k] * counts[k];
        index[k] = 0;
      }
    }
  }
  c.function(in.data(), out.data() + guard, c.batch, in_stride, out_stride);
  return out == expected;
}

int main() {
  int wrong = 0, number = 0;
  for (const Case& c : cases()) {
    if (!check(c)) {
      ++wrong;
      std::printf("wrong: case %d\\n", number);
    }
    ++number;
  }
  std::printf("%d cases, %d wrong\\n", number, wrong);
  return wrong != 0;
}
"""


@dataclass(frozen=True)
class Case:
    """A permutation, and how many arrays a call permutes."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    itemsize: int
    batch: int = 1

    def generated(self, isa: str, name: str = "permute", **options: int) -> dict:
        """Return the function and the counts of its program."""
        return generate_with_counts(
            self.shape, self.axes, f"V{self.itemsize}", isa=isa, name=name, **options
        )


def numbers(values: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def source(cases: Sequence[Case], isa: str) -> str:
    """Write the program; its exit status is 0 if all functions permute as they should."""
    functions = [case.generated(isa, f"permute_{i}")["code"] for i, case in enumerate(cases)]
    rows = (
        f"{{permute_{i}, {numbers(case.shape)}, {numbers(case.axes)}, {case.itemsize}, {case.batch}}}"
        for i, case in enumerate(cases)
    )
    listed = f"static std::vector<Case> cases() {{\n  return {{{', '.join(rows)}}};\n}}\n"
    head, tail = CHECK.split("// Arrays with gaps", 1)
    return "\n".join((*functions, head, listed, "// Arrays with gaps" + tail))


def is_arm(isa: str) -> bool:
    return isa == "neon" or isa.startswith("sve2")


@functools.cache
def runner(isa: str) -> tuple[str, ...] | None:
    """Return what runs a program of this instruction set here, or None if nothing does."""
    if not is_arm(isa):
        with open("/proc/cpuinfo") as file:
            flags = file.read().split()
        wide = "avx512f", "avx512bw", "avx512dq", "avx512vl"
        needed = {"avx512": wide, "avx512vbmi": (*wide, "avx512vbmi")}.get(isa, (isa,))
        return () if set(needed) <= set(flags) else None
    if isa == "neon" and _core.isa_in_use() == "neon":
        return ()
    emulator = shutil.which("qemu-aarch64")
    if emulator is None or compiler(isa) is None:
        return None
    if isa == "neon":
        return (emulator,)
    return (emulator, "-cpu", f"max,sve-default-vector-length={int(isa.rpartition('-')[2]) // 8}")


def compiler(isa: str, name: str = "g++") -> str | None:
    """Return the compiler for an instruction set, or None if there is none here."""
    if is_arm(isa) and _core.isa_in_use() != "neon":
        return shutil.which("aarch64-linux-gnu-g++") if name == "g++" else None
    return shutil.which(name)


def compile_program(text: str, isa: str, directory: Path, compiler_path: str, *flags: str) -> Path:
    """Compile with warnings as errors, but for those about the check itself."""
    file, program = directory / "check.cpp", directory / "check"
    file.write_text(text)
    arm = _core.isa_flags(isa).split() if is_arm(isa) else ()
    static = ("-static",) if "aarch64" in compiler_path else ()
    command = (compiler_path, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-sign-compare")
    run = subprocess.run(
        (*command, *arm, *static, *flags, "-o", program, file),
        check=False,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[:4000]
    return program
