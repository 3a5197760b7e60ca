#include "cpu/machine.hpp"

#include <unistd.h>

#include <algorithm>

namespace ttlg::cpu {
namespace {

Machine detect() {
  Machine machine;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const long level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  // Unknown on some kernels and architectures, where the default stands.
  if (std::max(level2, level3) > 0) machine.last_level_cache_bytes = std::max(level2, level3);
#endif
  return machine;
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = detect();
  return machine;
}

}  // namespace ttlg::cpu
