"""Generated functions in a program that checks them against element-by-element copies.

Its arrays touch pages that may be neither read nor written.
"""

import functools
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttlg import _core
from ttlg._planning.generate import generate_with_counts

CHECK = """
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

struct Case {
  void (*function)(const void*, void*, std::size_t, std::ptrdiff_t, std::ptrdiff_t);
  std::vector<long> shape, axes;
  long itemsize, batch;
};

// Memory between two pages that may be neither read nor written.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes)
      : page_(sysconf(_SC_PAGESIZE)), bytes_((bytes / page_ + 1) * page_) {
    void* const all = mmap(nullptr, bytes_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    first_ = static_cast<unsigned char*>(all) + page_;
    if (all == MAP_FAILED || mprotect(first_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  Guarded(const Guarded&) = delete;
  ~Guarded() { munmap(first_ - page_, bytes_ + 2 * page_); }
  unsigned char* data() { return first_; }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t page_, bytes_;
  unsigned char* first_;
};

// Arrays with gaps between them. The first one begins where the memory does, or the last one ends
// there; what is written beside them is seen as well.
static bool check(const Case& c, bool at_end) {
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
  const std::size_t in_bytes = ((c.batch - 1) * in_stride + elements) * c.itemsize;
  const std::size_t out_bytes = ((c.batch - 1) * out_stride + elements) * c.itemsize;
  Guarded in_memory(in_bytes), out_memory(out_bytes);
  unsigned char* const in = in_memory.data() + (at_end ? in_memory.size() - in_bytes : 0);
  const std::size_t start = at_end ? out_memory.size() - out_bytes : 0;
  for (std::size_t i = 0; i < in_bytes; ++i) in[i] = (i * 167 + (i >> 7) * 13 + (i >> 15)) & 255;
  std::memset(out_memory.data(), 0xA5, out_memory.size());
  std::vector<unsigned char> expected(out_memory.size(), 0xA5);
  for (long b = 0; b < c.batch && elements > 0; ++b) {
    std::vector<long> index(rank, 0);
    long from = b * in_stride, to = b * out_stride;
    for (long i = 0; i < elements; ++i, ++to) {
      for (long k = 0; k < c.itemsize; ++k) {
        expected[start + to * c.itemsize + k] = in[from * c.itemsize + k];
      }
      for (std::size_t k = rank; k-- > 0;) {
        from += moves[k];
        if (++index[k] < counts[k]) break;
        from -= moves[k] * counts[k];
        index[k] = 0;
      }
    }
  }
  c.function(in, out_memory.data() + start, c.batch, in_stride, out_stride);
  return std::memcmp(out_memory.data(), expected.data(), expected.size()) == 0;
}

static int number = 0;

static void report() { std::printf("wrong: case %d\\n", number); }

int main() {
  std::signal(SIGSEGV, [](int) {
    report();
    std::fflush(stdout);
    std::_Exit(2);
  });
  int wrong = 0;
  for (const Case& c : cases()) {
    if (!check(c, false) || !check(c, true)) {
      ++wrong;
      report();
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
    head, tail = CHECK.split("// Memory between", 1)
    return "\n".join((*functions, head, listed, "// Memory between" + tail))


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
