#include "generate/lowering.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace ttlg::generate {
namespace {

const std::array<Isa, 8>& all_isas() {
  constexpr std::string_view kAvx512 = "avx512f,avx512bw,avx512dq,avx512vl";
  const auto x86 = [](std::string_view name, std::vector<int> widths, bool is_avx512,
                      std::string_view flags) {
    return Isa{.name = name,
               .vector_bytes = std::move(widths),
               .group_bytes = 16,
               .registers = is_avx512 ? 32 : 16,
               .data_registers = is_avx512 ? 16 : 8,
               .takes_any_index = is_avx512,
               .loads_operands = true,
               .has_masks = is_avx512,
               .loads_pieces = true,
               .flags = flags};
  };
  const auto sve2 = [](std::string_view name, int bytes, std::string_view flags) {
    return Isa{.name = name,
               .vector_bytes = {bytes},
               .group_bytes = bytes,
               .registers = 32,
               .data_registers = 16,
               .takes_any_index = true,
               .loads_operands = false,
               .has_masks = true,
               .loads_pieces = false,
               .flags = flags};
  };
  static const std::array<Isa, 8> all{
      x86("ssse3", {16}, false, "ssse3"),
      x86("avx2", {32, 16}, false, "avx2"),
      x86("avx512", {64, 32, 16}, true, kAvx512),
      x86("avx512vbmi", {64, 32, 16}, true, "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"),
      Isa{.name = "neon",
          .vector_bytes = {16},
          .group_bytes = 16,
          .registers = 32,
          .data_registers = 16,
          .takes_any_index = true,
          .loads_operands = false,
          .has_masks = false,
          .loads_pieces = true,
          .flags = "-march=armv8-a"},
      sve2("sve2-128", 16, "-march=armv8-a+sve2 -msve-vector-bits=128"),
      sve2("sve2-256", 32, "-march=armv8-a+sve2 -msve-vector-bits=256"),
      sve2("sve2-512", 64, "-march=armv8-a+sve2 -msve-vector-bits=512"),
  };
  return all;
}

// Copies of single elements.
class Scalars : public Lowering {
 public:
  using Lowering::Lowering;

  std::string includes() const override { return {}; }
  std::string vector_type() const override { return "Word"; }
  std::string load_table(const std::string& table) const override { return table; }
  // Of any alignment, and of the type of no element.
  std::string prologue() const override {
    const std::string type =
        vector_bytes() == 16
            ? "unsigned char Word __attribute__((vector_size(16), "
            : "std::uint" + std::to_string(8 * vector_bytes()) + "_t Word __attribute__((";
    return "typedef " + type + "may_alias, aligned(1)));\n";
  }

 protected:
  Lowered load(std::span<const shuffle::Access> accesses, std::int64_t) override {
    return {"*reinterpret_cast<const Word*>(" + at("in", accesses.front().offset) + ")", 1};
  }
  Lowered store(const std::string& source, const shuffle::Access& access, std::int64_t) override {
    return {"*reinterpret_cast<Word*>(" + at("out", access.offset) + ") = " + source + ";\n", 1};
  }
  Lowered self_shuffle(const std::string& source, const ByteIndex&) override { return {source, 0}; }
  Lowered shuffle(const std::string& first, const std::string&, const ByteIndex&) override {
    return {first, 0};
  }
};

}  // namespace

using shuffle::register_name;

ByteIndex byte_index(const std::vector<int>& index, std::int64_t element_bytes) {
  ByteIndex result;
  for (const int lane : index) {
    for (int k = 0; k < static_cast<int>(element_bytes); ++k) {
      result.push_back(lane == shuffle::kUndefined ? lane
                                                   : lane * static_cast<int>(element_bytes) + k);
    }
  }
  return result;
}

std::vector<std::uint64_t> numbers(std::span<const int> index, std::uint64_t undefined) {
  std::vector<std::uint64_t> result;
  for (const int place : index) {
    result.push_back(place == shuffle::kUndefined ? undefined : static_cast<std::uint64_t>(place));
  }
  return result;
}

std::string Constants::add(int unit, std::vector<std::uint64_t> values) {
  const auto agrees = [&](const auto& table) {
    return table.first == unit &&
           std::ranges::equal(table.second, values, [](std::uint64_t x, std::uint64_t y) {
             return x == y || x == kAny || y == kAny;
           });
  };
  const auto found = std::ranges::find_if(all_, agrees);
  const auto number = static_cast<std::size_t>(found - all_.begin());
  if (found == all_.end()) {
    all_.emplace_back(unit, std::move(values));
  } else {
    std::ranges::transform(found->second, values, found->second.begin(),
                           [](std::uint64_t x, std::uint64_t y) { return x == kAny ? y : x; });
  }
  return name("i", number);
}

std::string Constants::tables() const {
  std::string text;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& [unit, values] = all_[i];
    text += "  alignas(64) static const std::uint" + std::to_string(8 * unit) + "_t " +
            name("kIndex", i) + "[" + std::to_string(values.size()) + "] = {\n      ";
    for (std::size_t k = 0; k < values.size(); ++k) {
      text += (k == 0        ? ""
               : k % 16 == 0 ? ",\n      "
                             : ", ") +
              std::to_string(values[k] == kAny ? 0 : values[k]);
    }
    text += "};\n";
  }
  return text;
}

std::string Lowering::at(const std::string& pointer, std::int64_t offset) const {
  std::string text = pointer;
  if (table_entry_ != 0) {
    return text + " + " + pointer + "_offsets[" + std::to_string(offset / table_entry_) + "]";
  }
  if (pitch_ != 0 && offset >= pitch_ / 2) {
    const std::int64_t pitches = (offset + pitch_ / 2) / pitch_;
    offset -= pitches * pitch_;
    text += " + " + std::to_string(pitches) + " * pitch";
  }
  return offset == 0 ? text
                     : text + (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
}

std::string Lowering::lower(const shuffle::Program& program) {
  std::string text;
  for (const shuffle::Operation& each : program.operations) text += lower(program, each).text;
  return text;
}

Lowered Lowering::lower(const shuffle::Program& program, const shuffle::Operation& operation) {
  const auto define = [&](Lowered value) {
    value.text = "const " + vector_type() + " " + register_name(operation.target) + " = " +
                 value.text + ";\n";
    return value;
  };
  switch (operation.kind) {
    case shuffle::Kind::load:
      return define(load(operation.accesses, program.element_bytes));
    case shuffle::Kind::shuffle: {
      const ByteIndex index = byte_index(operation.index, program.element_bytes);
      const std::string first = register_name(operation.first);
      if (operation.second == shuffle::kNoRegister) return define(self_shuffle(first, index));
      return define(shuffle(first, register_name(operation.second), index));
    }
    case shuffle::Kind::store:
      break;
  }
  return store(register_name(operation.first), operation.accesses.front(), program.element_bytes);
}

std::span<const Isa> isas() { return all_isas(); }

const Isa& find_isa(std::string_view name) {
  const auto found = std::ranges::find(isas(), name, &Isa::name);
  if (found != isas().end()) return *found;
  std::string valid;
  for (const Isa& each : isas()) valid += (valid.empty() ? "" : ", ") + std::string(each.name);
  throw std::invalid_argument("isa='" + std::string(name) +
                              "' is no instruction set that code is generated for; it is one of " +
                              valid);
}

std::unique_ptr<Lowering> lower_to_scalars(const Isa& isa, int vector_bytes) {
  return std::make_unique<Scalars>(isa, vector_bytes);
}

std::unique_ptr<Lowering> make_lowering(const Isa& isa, int vector_bytes) {
  const auto is_width = std::ranges::find(isa.vector_bytes, vector_bytes);
  if (is_width == isa.vector_bytes.end()) return lower_to_scalars(isa, vector_bytes);
  if (isa.name == "neon") return lower_for_neon(isa, vector_bytes);
  if (isa.name.starts_with("sve2")) return lower_for_sve2(isa, vector_bytes);
  return lower_for_x86(isa, vector_bytes);
}

}  // namespace ttlg::generate
