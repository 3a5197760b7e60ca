// The table of kernels, written once and compiled for every SIMD level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "cpu/kernels.hpp"
#include "cpu/simd/convert.hpp"
#include "cpu/simd/convert_fused.hpp"
#include "cpu/simd/interpreter.hpp"
#include "cpu/simd/move_run.hpp"
#include "cpu/simd/pipeline.hpp"
#include "cpu/simd/skew.hpp"
#include "cpu/simd/stream.hpp"
#include "cpu/simd/strided_copy.hpp"
#include "cpu/simd/tile.hpp"
#include "cpu/simd/tile_streaming.hpp"
#include "cpu/simd/vectors.hpp"
#include "cpu/simd/window.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

[[maybe_unused]] void shuffle(const std::byte* in, std::byte* out, const ShuffleTables& program,
                              const std::int64_t* stores, const TileGroups& groups,
                              BlockPipeline& pipeline) {
  const std::int64_t lines = ceil_div(std::ssize(program.loads) * kVectorBytes, kLineBytes);
  const bool busy = is_busy(pipeline);
  const auto done = [&](std::int64_t count) {
    if (busy) advance_out_of_line(pipeline, count * lines);
  };
  interpret(in, out, program, stores, groups, done);
}

void copy(std::byte* out, const std::byte* in, std::int64_t bytes) {
  std::memcpy(out, in, static_cast<std::size_t>(bytes));
}

constexpr Kernels make_kernels(const char* name, const GeneratedKernels& generated) {
  return {
      .name = name,
      .tile = {tile<std::uint8_t>, tile<std::uint16_t>, tile<std::uint32_t>, tile<std::uint64_t>,
               tile<Bytes<16>>},
      .tile_streaming = {tile_streaming<std::uint8_t>, tile_streaming<std::uint16_t>,
                         tile_streaming<std::uint32_t>, tile_streaming<std::uint64_t>,
                         tile_streaming<Bytes<16>>},
      .strided_copy = {strided_copy_or_tiles<std::uint8_t>, strided_copy_or_tiles<std::uint16_t>,
                       strided_copy_or_tiles<std::uint32_t>, strided_copy_or_tiles<std::uint64_t>,
                       strided_copy<Bytes<16>>, strided_copy_any},
      .strided_copy_streaming = strided_copy_streaming,
      .skew = {skew<1>, skew<2>, skew<4>, skew<8>, skew<16>, skew_any},
      .skew_columns = {kSkewBytes<1>, kSkewBytes<2> / 2, kSkewBytes<4> / 4, kSkewBytes<8> / 8,
                       kSkewBytes<16> / 16, 16},
      .shuffle = kHasShuffle ? shuffle : nullptr,
      .move_windows = kHasShuffle ? move_windows : nullptr,
      .lanes = kVectorBytes / 16,
      .generated = generated,
      .copy = copy,
      .stream = stream,
      .convert = convert_kernels(),
      .convert_fused = fused_kernels(),
      .advance = advance,
      .fence = fence_streamed_stores,
  };
}

}  // namespace
}  // namespace ttlg::cpu
