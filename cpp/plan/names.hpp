// Names of an enumeration's values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttlg {

// The names of the values 0, 1, ... of an enumeration, in this order.
template <typename Enum, std::size_t kCount>
struct NameTable {
  std::array<std::string_view, kCount> names;

  // One for each value: an array would take fewer, too.
  template <std::size_t kGiven>
    requires(kGiven == kCount)
  constexpr explicit NameTable(const std::string_view (&given)[kGiven])
      : names(std::to_array(given)) {}

  constexpr std::string_view name(Enum value) const {
    return names[static_cast<std::size_t>(value)];
  }

  constexpr std::optional<Enum> parse(std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
  }

  // All of them, for messages: "'copy', 'tile'".
  std::string list() const {
    std::string text;
    for (const std::string_view name : names) {
      text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
    }
    return text;
  }
};

}  // namespace ttlg
