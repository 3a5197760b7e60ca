// The Plan: how a Problem will be carried out on the CPU. A pure value: comparable, printable,
// rebuilt exactly from its request and parameters. Making one touches no memory of the arrays.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tensor/integer.hpp"
#include "tensor/problem.hpp"

namespace ttlg {

enum class Kernel : std::uint8_t { copy, tile, run, reference };

std::string_view kernel_name(Kernel kernel);
std::optional<Kernel> kernel_from_name(std::string_view name);

// Bytes of the block buffer on each thread's stack: the smallest common L1 data cache. The buffer
// is read again as soon as it is written, while the source's lines pass through only once.
inline constexpr std::int64_t kStagingBytes = 32 << 10;
inline constexpr std::int64_t kLineBytes = 64;
// OpenMP ends the process when the system refuses it a thread, so no plan may ask for absurdly
// many.
inline constexpr int kMaxThreads = 1024;
// Runs of this length are streamed from their source directly: the partial lines at their ends
// weigh little, and staging would cost a second pass.
inline constexpr std::int64_t kDirectRunBytes = 1024;

// What the planner must know of the machine; measured by cpu/, so that plan/ stays pure.
struct Machine {
  std::int64_t last_level_cache_bytes = 32 << 20;
};

// Everything that is chosen. A Plan is a function of its request and of these.
struct Parameters {
  Kernel kernel = Kernel::reference;
  std::int64_t block_in = 1;   // block extent along the input's fastest mode
  std::int64_t block_out = 1;  // block extent along the output's fastest mode
  bool streaming = false;      // whole output lines bypass the caches
  int threads = 1;

  bool operator==(const Parameters&) const = default;
};

// One loop around the blocks.
struct Loop {
  FastDivisor count;
  std::int64_t in_byte_step;
  std::int64_t out_byte_step;
};

// A problem cut into blocks that span in_mode x out_mode; either is a unit mode where the problem
// has none. The other modes are looped over.
struct Nest {
  std::int64_t element_bytes = 1;  // moved at once: the dtype's size times a folded run
  Mode in_mode{1, 0, 0};           // the input's fastest mode
  Mode out_mode{1, 0, 0};          // the output's fastest mode
  std::vector<Mode> outer;
};

Nest make_nest(const Problem& folded, Kernel kernel);

// The widths that kernels move as one element; runs of any other length are moved byte-wise.
constexpr bool is_vector_width(std::int64_t bytes) {
  return bytes <= 16 && std::has_single_bit(static_cast<std::uint64_t>(bytes));
}

// Rows of the staging buffer start on a line.
constexpr std::int64_t staging_pitch(std::int64_t row_bytes) {
  return ceil_div(row_bytes, kLineBytes) * kLineBytes;
}

// Whether a block passes through the staging buffer, which lines up its output rows for streaming.
constexpr bool is_staged(const Parameters& parameters, std::int64_t element_bytes) {
  return parameters.streaming && parameters.kernel != Kernel::copy &&
         element_bytes < kDirectRunBytes;
}

struct Plan {
  Request request;
  std::vector<std::int64_t> out_shape;
  std::vector<std::int64_t> out_byte_strides;
  Problem problem;
  Parameters parameters;
  Nest nest;
  std::vector<Loop> loops{};  // outermost first
  int in_loop = -1;           // which of them walks the blocks of in_mode; -1: a single block
  int out_loop = -1;

  std::int64_t blocks() const;
  bool operator==(const Plan& other) const {
    return request == other.request && parameters == other.parameters;
  }
};

// Lays out the loops around the blocks.
Plan assemble(const Request& request, Problem problem, Nest nest, const Parameters& parameters);

// The plan with these very parameters. Throws std::invalid_argument if the kernel does not apply to
// the request or a parameter is out of range.
Plan build_plan(const Request& request, const Parameters& parameters);

}  // namespace ttlg
