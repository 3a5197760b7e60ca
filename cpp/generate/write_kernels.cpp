// Writes the header of an instruction set's generated kernels: write_kernels ISA FILE.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "generate/choose.hpp"
#include "generate/function.hpp"
#include "generate/lowering.hpp"
#include "generate/vector_tiles.hpp"
#include "plan/cpu/channels.hpp"
#include "plan/shuffle/passes.hpp"

namespace ttlg::generate {
namespace {

using cpu::Channels;

// What stands for the bytes between channels, and for the number of structures, which functions are
// given.
constexpr std::int64_t kPitch = std::int64_t{1} << 40;
constexpr std::int64_t kStructures = std::int64_t{1} << 20;

shuffle::Tile tensor_of(const Channels& channels) {
  shuffle::Tile tensor;
  tensor.element_bytes = channels.element_bytes;
  const std::int64_t bytes = channels.element_bytes;
  const std::int64_t structure = channels.count * bytes;
  shuffle::TileMode channel{.extent = channels.count, .in_step = bytes, .out_step = kPitch};
  shuffle::TileMode structures{.extent = kStructures, .in_step = structure, .out_step = bytes};
  tensor.in_order = {0, 1};
  tensor.out_order = {1, 0};
  if (channels.are_interleaved) {
    std::swap(channel.in_step, channel.out_step);
    std::swap(structures.in_step, structures.out_step);
    std::swap(tensor.in_order, tensor.out_order);
  }
  tensor.modes = {channel, structures};
  return tensor;
}

std::string name_of(const Channels& channels) {
  std::string name = channels.are_interleaved ? "interleave_" : "separate_";
  name += std::to_string(channels.count) + "_of_" + std::to_string(channels.element_bytes);
  return channels.are_reversed ? name + "_reversed" : name;
}

struct Kernel {
  std::string text;
  std::int64_t structures;  // that a pass takes
};

// Steps backwards through what is separate.
void reverse(Choice& choice, const Channels& channels) {
  const bool interleaved = channels.are_interleaved;
  choice.program = shuffle::rename_registers(shuffle::mirror(
      std::move(choice.program), interleaved ? shuffle::Kind::load : shuffle::Kind::store, kPitch));
  const auto loop = std::ranges::find(choice.loops, kStructures, &Loop::extent);
  std::int64_t& step = interleaved ? loop->in_step : loop->out_step;
  step = -step;
}

Kernel generate_kernel(const Isa& isa, const Channels& channels) {
  Choice choice = choose(tensor_of(channels), isa, {});
  if (channels.are_reversed) reverse(choice, channels);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  lowering->set_pitch(kPitch);
  const std::string body = lowering->lower(choice.program);
  std::string text = "void " + name_of(channels) +
                     "(const std::byte* from, std::byte* to, std::int64_t count,\n    "
                     "std::int64_t pitch) {\n" +
                     constants(*lowering);
  text +=
      "  const auto* const in0 = reinterpret_cast<const unsigned char*>(from);\n"
      "  auto* const out0 = reinterpret_cast<unsigned char*>(to);\n";
  std::string indent = "  ";
  text += open_loops(choice.loops, {{kPitch, "pitch"}, {kStructures, "count"}}, indent);
  text += prefixed(body, indent) + close_loops(indent) + "}\n\n";
  const auto loop = std::ranges::find(choice.loops, kStructures, &Loop::extent);
  return {.text = std::move(text), .structures = loop->step};
}

// The code that the library has of its own generator to take structures of 2 to 4 elements apart
// and to put them together: a function for each kind of channels, and the table of them all.
std::string generate_channels(const Isa& isa) {
  std::string text;
  std::string table = "constexpr ChannelKernels kChannels{{\n";
  for (std::int64_t bytes = 1; bytes <= cpu::kMaxChannelBytes; bytes *= 2) {
    for (std::int64_t count = cpu::kMinChannels; count <= cpu::kMaxChannels; ++count) {
      for (const bool are_interleaved : {false, true}) {
        for (const bool are_reversed : {false, true}) {
          const Channels channels{bytes, count, are_interleaved, are_reversed};
          const Kernel kernel = generate_kernel(isa, channels);
          text += kernel.text;
          table += "    {" + name_of(channels) + ", " + std::to_string(kernel.structures) + "},\n";
        }
      }
    }
  }
  return text + table + "}};\n";
}

std::string generate_kernels(const Isa& isa) {
  return "// Generated while ttlg is built. GenTT, sections 4 to 6; see cpp/generate.\n"
         "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n#include <cstring>\n\n" +
         make_lowering(isa, isa.vector_bytes.front())->includes() +
         "\nnamespace ttlg::cpu {\nnamespace {\n\n" + generate_channels(isa) + "\n" +
         generate_vector_tiles(isa) + "\n}  // namespace\n}  // namespace ttlg::cpu\n";
}

}  // namespace
}  // namespace ttlg::generate

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: write_kernels ISA FILE\n";
    return EXIT_FAILURE;
  }
  try {
    std::ofstream file(arguments[2]);
    file << ttlg::generate::generate_kernels(ttlg::generate::find_isa(arguments[1]));
    file.close();
    return file ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
