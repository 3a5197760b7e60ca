// How a Problem will be carried out on a CUDA device: TTLG's schemas, slices and grids. Pure host
// code: no device is asked and no CUDA header is read, so plans for any GPU are made anywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/plan_base.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cuda {

// The kernels of TTLG (IPDPS 2018), section III.
enum class Schema : std::uint8_t {
  copy,
  fvi_match_large,
  fvi_match_small,
  orthogonal_distinct,
  orthogonal_arbitrary
};
inline constexpr std::array kSchemas{Schema::copy, Schema::fvi_match_large, Schema::fvi_match_small,
                                     Schema::orthogonal_distinct, Schema::orthogonal_arbitrary};

std::string_view schema_name(Schema schema);
std::optional<Schema> schema_from_name(std::string_view name);

inline constexpr int kWarpSize = 32;
inline constexpr int kBlockThreads = 256;
// Orthogonal-Arbitrary's threads hold offsets in registers: more of them hold fewer each.
inline constexpr int kArbitraryThreads = 512;
// The widest access of a thread, and what pointers and strides must be multiples of for it.
inline constexpr std::int64_t kVectorBytes = 16;
// Most modes that one side of a slice may combine.
inline constexpr int kAxisModes = 8;
// CUDA's limit for the x dimension of a grid.
inline constexpr std::int64_t kMaxGridBlocks = (std::int64_t{1} << 31) - 1;
// Shared memory that a slice may take, so that several blocks share a multiprocessor.
inline constexpr std::int64_t kSliceBytes = 32 << 10;

// Side of the square tiles, in elements, through which Orthogonal-Distinct moves its slices
// (T-06, wider for narrow elements so that 32 lanes move at least 128 bytes at once).
constexpr int distinct_tile(std::int64_t element_bytes) {
  return element_bytes == 1 ? 128 : element_bytes <= 4 ? 64 : 32;
}

// Most rows of FVI-Match-Small's buffer: one for each of at most 32 warps (T-14).
inline constexpr std::int64_t kMaxSmallBlock = 32;
// Longest chunk of a run that one group of FVI-Match-Large's lanes takes.
inline constexpr std::int64_t kChunkBytes = 16 << 10;

// What a thread block moves (outputs of Alg. 3, requirement T-09): the first `in_modes` modes of
// the input and the first `out_modes` of the output, the last of each cut into blocks.
struct Slice {
  int in_modes = 0;            // dimsIn
  int out_modes = 0;           // dimsOut
  std::int64_t in_block = 1;   // blockA
  std::int64_t out_block = 1;  // blockB

  bool operator==(const Slice&) const = default;
};

// Everything that is chosen. A Plan is a function of its request, alignment and of these.
// Of fvi_match_large, in_modes = out_modes = 1 and `in_block` is the length of the chunks into
// which a run is cut; of fvi_match_small, in_modes = out_modes = 2; copy has no slice.
struct Parameters {
  Schema schema = Schema::copy;
  Slice slice{};
  int coarsened_mode = -1;  // a mode that a thread block walks through slice by slice (T-19)

  bool operator==(const Parameters&) const = default;
};

// One mode of the grid: blocks that differ by one in it lie so far apart.
struct GridLoop {
  std::int64_t count;
  std::int64_t in_byte_step;
  std::int64_t out_byte_step;

  bool operator==(const GridLoop&) const = default;
};

// What the 32 banks of shared memory give at once.
inline constexpr std::uint32_t kBankBytes = 128;

// How Orthogonal-Arbitrary keeps its slice apart in shared memory: every row of it (see
// skew_row_length) begins `row` elements later than packed ones would, or every
// line of 128 bytes is turned by so many banks for each line, and for each page of as many lines as
// there are banks, before it.
struct Skew {
  std::uint32_t row = 0;
  std::uint32_t line = 0;
  std::uint32_t page = 0;

  bool operator==(const Skew&) const = default;
};

// Whether 16 bytes that are aligned without skew stay together, so that they move at once.
constexpr bool keeps_vectors(const Skew& skew, std::uint32_t bank_bytes) {
  return (skew.line | skew.page) * bank_bytes % kVectorBytes == 0;
}

// Where the byte lies that would be at `byte` if lines were not turned.
constexpr std::uint32_t turned(const Skew& skew, std::uint32_t bank_bytes, std::uint32_t byte) {
  const std::uint32_t line = byte / kBankBytes;
  const std::uint32_t page = line * bank_bytes / kBankBytes;
  const std::uint32_t turn = bank_bytes * (skew.line * line + skew.page * page);
  return line * kBankBytes + (byte + turn) % kBankBytes;
}

struct Plan : PlanBase {
  Plan(const Request& of_request, Problem normal_form, const Parameters& chosen)
      : PlanBase(of_request, std::move(normal_form)), parameters(chosen) {}

  std::int64_t alignment = 0;  // of both pointers, as far as planned for
  Problem words;               // the same in words of 1, 2, 4, 8 or 16 bytes
  Parameters parameters;
  Skew skew{};         // follows from the words and the parameters
  std::string device;  // the model's name
  double predicted_seconds = 0;

  bool operator==(const Plan& other) const {
    return request == other.request && alignment == other.alignment &&
           parameters == other.parameters && device == other.device;
  }
};

// What element (0, ..., 0) of the turned problem is aligned to on both sides, where both pointers
// are multiples of `alignment`: a power of two, up to 16.
std::int64_t place_alignment(const Problem& problem, std::int64_t alignment);

// The problem in words that a thread can move: a run of 2, 4, 8 or 16 bytes that is contiguous on
// both sides becomes one element; an element of any other size, or one that strides and pointers
// leave misaligned, becomes a mode of words in front, as does a longer run of bytes or pairs that
// words of 4 bytes can carry. `alignment` is a power of two that divides both pointers.
Problem word_form(const Problem& problem, std::int64_t alignment);

// Extent of the slice along each mode of `words`; 1 outside it. Where a mode belongs to both sides
// it is the larger one.
std::vector<std::int64_t> slice_extents(const Problem& words, const Parameters& parameters);

// The grid of slices, the fastest mode first: the mode blocked on the output's side (count 1 where
// whole, or blocked on the input's side too), the one blocked on the input's side (count 1 where
// whole), then the rest in output order; without the coarsened one. Empty for copy.
std::vector<GridLoop> grid_loops(const Problem& words, const Parameters& parameters);

// How many thread blocks that is. Throws std::overflow_error beyond 64 bits.
std::int64_t grid_blocks(const Problem& words, const Parameters& parameters);

// How often a thread block repeats its slice (T-19): the extent of the coarsened mode, or 1.
std::int64_t coarsening(const Problem& words, const Parameters& parameters);

// The mode that coarsening may take: the first in input order with an extent in 4..32 outside the
// slice, for problems above 2 MB; -1 without one (T-19).
int coarsened_mode(const Problem& words, const Parameters& parameters);

// Whether threads may use 16-byte accesses on either side: pointer, strides and extents of runs
// must be multiples of it. The alignments are those of element (0, ..., 0) of `words`.
struct VectorAccess {
  bool vector_in = false;
  bool vector_out = false;

  bool operator==(const VectorAccess&) const = default;
};
VectorAccess vector_access_of(const Problem& words, const Parameters& parameters,
                              std::int64_t in_alignment, std::int64_t out_alignment);

// Elements that a slice of Orthogonal-Arbitrary may hold: its threads keep an offset for each of
// their accesses in registers, and for each element a place in shared memory. Elements narrower
// than a bank may be more where vectors bring and fetch them.
constexpr std::int64_t arbitrary_slice_limit(std::int64_t element_bytes, VectorAccess access) {
  const bool is_packed = element_bytes < 4 && access.vector_in && access.vector_out;
  const std::int64_t per_thread = is_packed ? 8 * 4 / element_bytes : 8;
  return std::min<std::int64_t>(kArbitraryThreads * per_thread, kSliceBytes / element_bytes);
}

// Thread blocks of Orthogonal-Distinct whose registers a multiprocessor shall hold at once, and of
// Orthogonal-Arbitrary: the most that leave their threads enough of them.
constexpr int distinct_residents(std::int64_t element_bytes) {
  return element_bytes == 1 ? 2 : element_bytes <= 4 ? 4 : 5;
}
inline constexpr int kArbitraryResidents = 2;

// The widest word, in bytes, in which the FVI kernels can move chunks of mode 0 of so many
// elements: it divides them, all strides and both pointers, of which `alignment` is a common power
// of two.
std::int64_t run_word_bytes(const Problem& words, std::int64_t chunk, std::int64_t alignment);

// How many lanes of a thread block take a chunk of FVI-Match-Large together, a power of two: they
// move at least 128 bytes side by side, and have as few steps idle and as many loads in flight as
// that allows.
int run_lanes(std::int64_t chunk_words, std::int64_t word_bytes);

// Why the parameters do not fit the problem, or an empty string. `alignment` is as for word_form.
std::string misfit(const Problem& words, const Parameters& parameters,
                   std::int64_t alignment = kVectorBytes);

// Lays the plan out. `problem` is make_problem(request) and `words` its word_form. Throws
// std::invalid_argument where the parameters do not fit.
Plan assemble(const Request& request, std::int64_t alignment, Problem problem, Problem words,
              const Parameters& parameters, std::string device);

// The plan with these very parameters; throws as `assemble` does.
Plan build_plan(const Request& request, std::int64_t alignment, const Parameters& parameters,
                std::string device = {});

}  // namespace ttlg::cuda
