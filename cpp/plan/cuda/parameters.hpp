// The kernels of TTLG (Vedurada et al., IPDPS 2018), section III, by name, and what the planner
// chooses of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/names.hpp"

namespace ttlg::cuda {

// Their numbers are indices of tables.
enum class Schema : std::uint8_t {
  copy,
  fvi_match_large,
  fvi_match_small,
  orthogonal_distinct,
  orthogonal_arbitrary
};
inline constexpr NameTable<Schema, 5> kSchemas{
    {"copy", "fvi_match_large", "fvi_match_small", "orthogonal_distinct", "orthogonal_arbitrary"}};

constexpr std::string_view schema_name(Schema schema) { return kSchemas.name(schema); }

// What a thread block moves (the results of TTLG, Alg. 3): the first `in_modes` modes of the input
// and the first `out_modes` of the output, the last of each cut into blocks.
struct Slice {
  int in_modes = 0;            // dimsIn
  int out_modes = 0;           // dimsOut
  std::int64_t in_block = 1;   // blockA
  std::int64_t out_block = 1;  // blockB

  bool operator==(const Slice&) const = default;
};

// Everything that is chosen. A Plan is a function of its request, alignment, model and of these.
// Of fvi_match_large, in_modes = out_modes = 1 and `in_block` is the length of the chunks into
// which a run is cut; of fvi_match_small, in_modes = out_modes = 2; copy has no slice.
struct Parameters {
  Schema schema = Schema::copy;
  Slice slice{};
  int coarsened_mode = -1;  // a mode that a thread block walks through slice by slice
  // Of the Orthogonal kernels, buffers in shared memory: with two, the next slice or tile is on its
  // way while this one is written.
  int stages = 1;
  // Of orthogonal_distinct, how many slices wide the bands are in which thread blocks take them
  // (V1BF of Gorawski and Lorek, section 6); 0 where they take them row by row, without bands.
  std::int64_t band_width = 0;

  bool operator==(const Parameters&) const = default;
};

}  // namespace ttlg::cuda
