// Counts what a program allocates with operator new, in every form of it. Linked as a source
// (allocations.cpp) into the programs that ask.
#pragma once

#include <cstddef>

namespace ttlg::test {

std::size_t allocations();

template <typename Action>
std::size_t allocations_of(const Action& action) {
  const std::size_t before = allocations();
  action();
  return allocations() - before;
}

}  // namespace ttlg::test
