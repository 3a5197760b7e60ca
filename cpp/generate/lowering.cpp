#include "generate/lowering.hpp"

#include <algorithm>
#include <cstdlib>

namespace ttlg::generate {

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

}  // namespace ttlg::generate
