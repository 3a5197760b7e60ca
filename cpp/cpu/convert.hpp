// Converts rows of elements, as they leave a buffer for the output.
#pragma once

#include <array>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/kernels.hpp"
#include "plan/cpu/memory_units.hpp"
#include "tensor/conversion.hpp"

namespace ttlg::cpu {

// The values of an element map, in the type that it computes in; pairs where complex numbers stay
// complex, of two equal parts where both are multiplied by the same. Scales and offsets: one or,
// where the map varies, one for each index of its axis. Null where the map has none.
struct MapValues {
  const std::byte* scales = nullptr;
  const std::byte* offsets = nullptr;
  const std::byte* beta = nullptr;
  bool scales_are_complex = false;
  bool beta_is_complex = false;
};

// Where in the vectors of values a row's elements find theirs: all have that of index `place` or,
// where `inner` is more than 0, the element j has that of (place + j) / inner modulo their number.
struct RowValues {
  std::int64_t place = 0;
  std::int64_t inner = 0;
};

// Rounding to nearest, and subnormal numbers as they are, in the thread that has it: programs turn
// these off, some for all threads that they start, as XLA does while its programs run.
class DefaultArithmetic {
 public:
  DefaultArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultArithmetic() { std::fesetenv(&before_); }
  DefaultArithmetic(const DefaultArithmetic&) = delete;
  DefaultArithmetic& operator=(const DefaultArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

// Lives in one thread, whose arithmetic it sets.
class RowConverter {
 public:
  RowConverter(const Conversion& conversion, const MapValues& values, const Kernels& table,
               bool streaming);

  // Elements that follow one another on both sides.
  void move(const std::byte* in, std::byte* out, std::int64_t count, const RowValues& row);

 private:
  static constexpr std::int64_t kChunk = 1024;  // parts of elements that are computed at once
  static constexpr std::int64_t kMaxPartBytes = 8;
  using Buffer = std::array<std::byte, kChunk * kMaxPartBytes>;
  // A vector's values as often as elements have them: of two chunks, so that one finds its own at
  // any place of a period.
  struct Expanded {
    alignas(kLineBytes) std::array<std::byte, 2 * kChunk * kMaxPartBytes> bytes;
  };

  std::int64_t index_at(std::int64_t place, std::int64_t inner) const;
  // By which nothing changes: 1, and -0, as 0 would change the sign of -0.
  const std::byte* identity(bool of_scales) const;
  void repeat(const std::byte* value, std::span<std::byte> to) const;
  void expand(const std::byte* values, Expanded& to, const RowValues& row,
              std::int64_t count) const;
  // Brings the values of a chunk to where the result says, in bytes of the expanded vectors.
  std::int64_t prepare_values(const RowValues& row, std::int64_t count);
  ChunkValues values_of(const RowValues& row, std::int64_t count);
  bool fuses() const;
  bool accumulates_at_once() const;
  FusedKernel fused_kernel() const;
  // Those of a chunk that one kernel converts; returns how many these are.
  std::int64_t move_fused(const std::byte* in, std::byte* out, std::int64_t count,
                          const RowValues& row);
  void multiply(std::byte* chunk, const std::byte* values, std::int64_t count, bool vary,
                bool by_complex) const;
  void compute(std::byte* chunk, std::int64_t count, const RowValues& row);
  const std::byte* compute_chunk(const std::byte* in, std::byte* direct, std::int64_t count,
                                 const RowValues& row);
  void accumulate(std::byte* chunk, const std::byte* out, std::int64_t count);
  void move_chunk(const std::byte* in, std::byte* out, std::int64_t count, const RowValues& row);

  const DefaultArithmetic arithmetic_;
  const Conversion& conversion_;
  const MapValues& values_;
  const Kernels& table_;
  const ConvertKernels& kernels_;
  const bool streaming_;
  const std::int64_t part_bytes_;  // while it is computed
  const std::int64_t parts_;       // of an element while it is computed
  const std::int64_t from_parts_;
  const std::int64_t to_parts_;
  const FusedKernel fused_;
  // One value, as often as vectors hold it, of this place.
  struct Constant {
    alignas(kLineBytes) std::array<std::byte, kMaxVectorParts * kMaxPartBytes> bytes;
  };
  Constant scale_;
  Constant offset_;
  std::int64_t constant_for_ = -1;
  RowValues expanded_for_{-1, -1};
  std::int64_t expanded_ = 0;  // elements
  alignas(kLineBytes) Buffer computed_;
  alignas(kLineBytes) Buffer other_;
  Expanded scales_;
  Expanded offsets_;
};

}  // namespace ttlg::cpu
