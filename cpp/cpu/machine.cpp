#include "cpu/machine.hpp"

#include <fstream>
#include <string>

namespace ttlg::cpu {
namespace {

// Linux's own list of the caches, outermost last. sysconf and cpuid report the whole socket's L3
// inside virtual machines that own a slice of it. Where there is no list, the default stands.
Machine detect() {
  Machine machine;
  for (int index = 0;; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream file(folder + "size");
    std::int64_t size = 0;
    char unit = ' ';
    if (!(file >> size >> unit) || size <= 0) return machine;
    const std::int64_t scale = unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
    machine.last_level_cache_bytes = size * scale;
  }
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = detect();
  return machine;
}

}  // namespace ttlg::cpu
