#include "plan/plan_cache.hpp"

namespace ttlg {
namespace {

// What each function of a key does with a field that is a list, and with any other.
template <typename T>
void visit_words(std::span<const T> list, const auto& visit) {
  for (const T value : list) visit(value);
}
void visit_words(const auto& value, const auto& visit) { visit(value); }

template <typename T>
bool is_same(std::span<const T> list, const std::vector<T>& other) {
  return std::ranges::equal(list, other);
}
template <typename T>
bool is_same(const T& value, const T& other) {
  return value == other;
}

template <typename T>
std::vector<T> copy_of(std::span<const T> list) {
  return {list.begin(), list.end()};
}
auto copy_of(const auto& value) { return value; }

}  // namespace

std::uint64_t LayoutKey::hash() const {
  std::uint64_t hash = shape.size();
  const auto mix = [&hash](auto word) {
    hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(word);
  };
  std::apply([&](const auto&... field) { (visit_words(field, mix), ...); }, fields_of(*this));
  return hash;
}

bool LayoutKey::matches(const Request& request) const {
  const auto equals = [&](const auto&... field) {
    return std::apply([&](const auto&... other) { return (is_same(field, other) && ...); },
                      fields_of(request));
  };
  return std::apply(equals, fields_of(*this));
}

Request LayoutKey::request() const {
  return std::apply([](const auto&... field) { return Request{copy_of(field)...}; },
                    fields_of(*this));
}

}  // namespace ttlg
