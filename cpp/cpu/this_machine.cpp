#include "cpu/this_machine.hpp"

#include <fstream>
#include <string>

#include "cpu/simd_level.hpp"

namespace ttlg::cpu {
namespace {

// Linux's own list of the caches. sysconf and cpuid report the whole socket's L3 inside virtual
// machines that own a slice of it. Where there is no list, the defaults stand.
void read_caches(Machine& machine) {
  for (int index = 0;; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream size_file(folder + "size");
    std::int64_t size = 0;
    char unit = ' ';
    if (!(size_file >> size >> unit) || size <= 0) return;
    size *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
    int level = 0;
    std::string type;
    std::ifstream(folder + "level") >> level;
    std::ifstream(folder + "type") >> type;
    if (type == "Instruction") continue;
    if (level == 1) machine.l1_cache_bytes = size;
    if (level == 2) machine.l2_cache_bytes = size;
    machine.last_level_cache_bytes = size;
  }
}

Machine detect() {
  Machine machine;
  read_caches(machine);
  machine.has_shuffle = kernels().shuffle != nullptr;
  return machine;
}

}  // namespace

const Machine& this_machine() {
  static const Machine machine = detect();
  return machine;
}

}  // namespace ttlg::cpu
