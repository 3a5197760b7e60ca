// A stable sort of few items, which takes no memory for a buffer as std::stable_sort does.
#pragma once

#include <algorithm>
#include <iterator>

namespace ttlg {

// `less` compares two items.
template <typename Items, typename Less>
void insertion_sort(Items& items, const Less& less) {
  for (auto next = items.begin(); next != items.end(); ++next) {
    std::rotate(std::upper_bound(items.begin(), next, *next, less), next, std::next(next));
  }
}

}  // namespace ttlg
