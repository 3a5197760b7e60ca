#include "generate/vector_tiles.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "generate/lowering.hpp"
#include "plan/cpu/lane_map.hpp"
#include "plan/cpu/lane_maps.hpp"

namespace ttlg::generate {
namespace {

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Whole vectors are read and written, each once, at offsets from the tables.
TEST(VectorTiles, LoadAndStoreEveryVectorOnce) {
  for (const std::string_view name : {"ssse3", "avx2", "avx512", "neon"}) {
    SCOPED_TRACE(name);
    const Isa& isa = find_isa(name);
    std::size_t maps = 0;
    std::size_t vectors = 0;
    for (const int bytes : {4, 8}) {
      const int bits = cpu::lane_bits(isa.vector_bytes.front(), bytes);
      for (const cpu::LaneMap& map : test::all_maps(bits)) {
        ++maps;
        vectors += test::vectors_of(map);
      }
    }
    const std::string text = generate_vector_tiles(isa);
    EXPECT_EQ(count_of(text, "void tile_of_"), maps);
    EXPECT_EQ(count_of(text, "in + in_offsets["), vectors);
    EXPECT_EQ(count_of(text, "out + out_offsets["), vectors);
    EXPECT_EQ(count_of(text, "in + in_offsets[0]"), maps);
    EXPECT_EQ(count_of(text, "out + out_offsets[0]"), maps);
  }
}

}  // namespace
}  // namespace ttlg::generate
