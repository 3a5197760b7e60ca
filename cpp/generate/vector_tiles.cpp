#include "generate/vector_tiles.hpp"

#include <cstddef>
#include <cstdint>

#include "generate/choose.hpp"
#include "generate/function.hpp"
#include "generate/lowering.hpp"
#include "plan/cpu/lane_map.hpp"

namespace ttlg::generate {
namespace {

using cpu::LaneMap;

// What stands for an offset that functions are given in a table: this times its number there.
constexpr std::int64_t kTableEntry = std::int64_t{1} << 40;

// Modes of two elements: first those that count the lanes of a loaded vector, then those that count
// loaded vectors.
shuffle::Tile tensor_of(const LaneMap& map, std::int64_t element_bytes) {
  shuffle::Tile tensor;
  tensor.element_bytes = element_bytes;
  for (int i = 0; i < map.bits; ++i) {
    tensor.modes.push_back({.extent = 2, .in_step = element_bytes << i, .out_step = 0});
    tensor.in_order.push_back(i);
  }
  int vectors = 0;
  for (int i = 0; i < map.bits; ++i) {
    int mode = map.from[shuffle::at(i)];
    if (mode == cpu::kNoBit) {
      mode = static_cast<int>(tensor.modes.size());
      tensor.modes.push_back({.extent = 2, .in_step = kTableEntry << vectors++, .out_step = 0});
      tensor.in_order.push_back(mode);
    }
    tensor.modes[shuffle::at(mode)].out_step = element_bytes << i;
    tensor.out_order.push_back(mode);
  }
  vectors = 0;
  for (int i = 0; i < map.bits; ++i) {
    shuffle::TileMode& mode = tensor.modes[shuffle::at(i)];
    if (mode.out_step != 0) continue;
    mode.out_step = kTableEntry << vectors++;
    tensor.out_order.push_back(i);
  }
  return tensor;
}

std::string name_of(const LaneMap& map, std::int64_t element_bytes) {
  std::string name = "tile_of_" + std::to_string(element_bytes) + "_from";
  for (int i = 0; i < map.bits; ++i) {
    const int from = map.from[shuffle::at(i)];
    name += '_';
    name += from == cpu::kNoBit ? "v" : std::to_string(from);
  }
  return name;
}

std::string generate_tile(const Isa& isa, const LaneMap& map, std::int64_t element_bytes) {
  const Options options{.vector_bytes = isa.vector_bytes.front(), .whole = true};
  const Choice choice = choose(tensor_of(map, element_bytes), isa, options);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  lowering->set_table_entry(kTableEntry);
  const std::string body = lowering->lower(choice.program);
  return "void " + name_of(map, element_bytes) +
         "(const std::byte* from, std::byte* to, const std::int64_t* in_offsets,\n"
         "    const std::int64_t* out_offsets, const TileOrigin* origins, std::size_t count) {\n" +
         constants(*lowering) +
         "  for (std::size_t k = 0; k < count; ++k) {\n"
         "    const auto* const in = reinterpret_cast<const unsigned char*>(from) + "
         "origins[k].in;\n"
         "    auto* const out = reinterpret_cast<unsigned char*>(to) + origins[k].out;\n" +
         prefixed(body, "    ") + "  }\n}\n\n";
}

}  // namespace

std::string generate_vector_tiles(const Isa& isa) {
  std::string text;
  std::string all;
  for (const std::int64_t bytes : {4, 8}) {
    const int bits = cpu::lane_bits(isa.vector_bytes.front(), bytes);
    const std::string table = "kTilesOf" + std::to_string(bytes);
    all += ", " + table;
    std::string rows = "constexpr VectorTileKernel " + table + "[] = {\n";
    for (std::size_t number = 0; number < cpu::lane_map_numbers(bits); ++number) {
      const LaneMap map = cpu::lane_map_of(bits, number);
      if (map.bits != 0) text += generate_tile(isa, map, bytes);
      rows += "    " + (map.bits != 0 ? name_of(map, bytes) : std::string("nullptr")) + ",\n";
    }
    text += rows + "};\n\n";
  }
  return text + "constexpr GeneratedKernels kGenerated{kChannels, {" + all.substr(2) + "}};\n";
}

}  // namespace ttlg::generate
