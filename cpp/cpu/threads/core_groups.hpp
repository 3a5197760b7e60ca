// Which cores share a last-level cache, and with it mostly a memory controller (NUMA node).
#pragma once

#include <vector>

namespace ttlg::cpu {

// The group that a thread runs in, as one of `count`.
struct GroupOfCores {
  int number = 0;
  int count = 1;
};

class CoreGroups {
 public:
  // `group_of`: of every processor, from 0 without gaps.
  explicit CoreGroups(std::vector<int> group_of);

  // As Linux lists them; one group where it does not.
  static CoreGroups of_this_machine();

  // Where the calling thread runs at the moment.
  GroupOfCores here() const;

  GroupOfCores of(int processor) const;

 private:
  std::vector<int> group_of_;
  int count_ = 1;
};

}  // namespace ttlg::cpu
