// Tables of cases by their columns.
#pragma once

#include <initializer_list>
#include <tuple>
#include <vector>

namespace ttlg::test {

// All combinations of a value of each list, those of the last one changing first.
template <typename First, typename... Rest>
auto combinations(std::initializer_list<First> first, std::initializer_list<Rest>... rest) {
  std::vector<std::tuple<First, Rest...>> result;
  for (const First& value : first) {
    if constexpr (sizeof...(Rest) == 0) {
      result.emplace_back(value);
    } else {
      for (const auto& others : combinations(rest...)) {
        result.push_back(std::tuple_cat(std::tuple(value), others));
      }
    }
  }
  return result;
}

}  // namespace ttlg::test
