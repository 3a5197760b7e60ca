// A vector of few elements, and a sort of few.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <iterator>

namespace ttlg {

// At most kCapacity elements, kept without an allocation. The part of C++26's std::inplace_vector
// that is needed here.
template <typename T, std::size_t kCapacity>
class InplaceVector {
 public:
  void push_back(const T& value) {
    assert(count_ < kCapacity);
    values_[count_++] = value;
  }

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const T& back() const { return values_[count_ - 1]; }
  T* begin() { return values_.data(); }
  T* end() { return values_.data() + count_; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + count_; }

 private:
  std::array<T, kCapacity> values_;
  std::size_t count_ = 0;
};

// A stable sort of few items, which takes no memory for a buffer as std::stable_sort does.
// `less` compares two items.
template <typename Items, typename Less>
void insertion_sort(Items& items, const Less& less) {
  for (auto next = items.begin(); next != items.end(); ++next) {
    std::rotate(std::upper_bound(items.begin(), next, *next, less), next, std::next(next));
  }
}

}  // namespace ttlg
