// Names of an enumeration's values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ttlg {

// The values 0, 1, ... of an enumeration, and their names in this order.
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

  // The values, in the order of their numbers.
  static constexpr std::size_t size() { return kCount; }
  static constexpr auto begin() { return kValues.begin(); }
  static constexpr auto end() { return kValues.end(); }

  // All names, for messages: "'copy', 'tile'".
  std::string list() const {
    std::string text;
    for (const std::string_view name : names_) {
      text += (text.empty() ? "'" : ", '") + std::string(name) + "'";
    }
    return text;
  }

 private:
  static constexpr std::array<Enum, kCount> kValues = [] {
    std::array<Enum, kCount> values{};
    for (std::size_t number = 0; number < kCount; ++number) {
      values[number] = static_cast<Enum>(number);
    }
    return values;
  }();

  std::array<std::string_view, kCount> names_;
};

}  // namespace ttlg
