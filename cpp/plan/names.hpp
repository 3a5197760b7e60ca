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
class NameTable {
 public:
  // There is one for each value, and no two are the same.
  template <std::size_t kGiven>
    requires(kGiven == kCount)
  consteval NameTable(const std::string_view (&given)[kGiven]) : names_(std::to_array(given)) {
    for (auto name = names_.begin(); name != names_.end(); ++name) {
      if (name->empty() || std::find(names_.begin(), name, *name) != name) {
        throw "a value has no name of its own";
      }
    }
  }

  constexpr std::string_view name(Enum value) const {
    return names_[static_cast<std::size_t>(value)];
  }

  constexpr std::optional<Enum> parse(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<Enum>(found - names_.begin());
  }

  // All of them, for messages: "'copy', 'tile'".
  std::string list() const {
    std::string text;
    for (const std::string_view name : names_) {
      text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
    }
    return text;
  }

 private:
  std::array<std::string_view, kCount> names_;
};

}  // namespace ttlg
