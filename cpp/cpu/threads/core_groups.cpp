#include "cpu/threads/core_groups.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "cpu/system.hpp"

namespace ttlg::cpu {
namespace {

// The processors of a list such as "0-3,8-11"; empty where there is no such file.
std::vector<int> read_list(const std::string& path) {
  const SystemFile file = open_system_file(path);
  std::vector<int> listed;
  int first = 0;
  while (file && std::fscanf(file.get(), "%d", &first) == 1) {
    int last = first;
    int next = std::fgetc(file.get());
    if (next == '-' && std::fscanf(file.get(), "%d", &last) == 1) next = std::fgetc(file.get());
    for (int each = first; each <= last; ++each) listed.push_back(each);
    if (next != ',') break;
  }
  return listed;
}

}  // namespace

CoreGroups::CoreGroups(std::vector<int> group_of) : group_of_(std::move(group_of)) {
  if (!group_of_.empty()) count_ = 1 + *std::ranges::max_element(group_of_);
}

CoreGroups CoreGroups::of_this_machine() {
  std::vector<int> group_of;
  int groups = 0;
  for (const int processor : read_list("/sys/devices/system/cpu/online")) {
    const auto at = static_cast<std::size_t>(processor);
    if (at >= group_of.size()) group_of.resize(at + 1, -1);
    if (group_of[at] >= 0) continue;
    const auto together = read_list("/sys/devices/system/cpu/cpu" + std::to_string(processor) +
                                    "/cache/index3/shared_cpu_list");
    if (together.empty()) return CoreGroups({});
    for (const int other : together) {
      const auto there = static_cast<std::size_t>(other);
      if (there >= group_of.size()) group_of.resize(there + 1, -1);
      group_of[there] = groups;
    }
    ++groups;
  }
  for (int& group : group_of) group = std::max(group, 0);  // of processors that are switched off
  return CoreGroups(std::move(group_of));
}

GroupOfCores CoreGroups::of(int processor) const {
  const auto at = static_cast<std::size_t>(processor);
  if (processor < 0 || at >= group_of_.size()) return {.number = 0, .count = count_};
  return {.number = group_of_[at], .count = count_};
}

GroupOfCores CoreGroups::here() const { return count_ == 1 ? GroupOfCores{} : of(sched_getcpu()); }

}  // namespace ttlg::cpu
