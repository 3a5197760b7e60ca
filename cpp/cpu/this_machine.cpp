#include "cpu/this_machine.hpp"

#include <atomic>
#include <string>

#include "cpu/simd_level.hpp"
#include "cpu/system.hpp"
#include "cpu/threads/team.hpp"

namespace ttlg::cpu {
namespace {

// Linux's own list of the caches. sysconf and cpuid report the whole socket's L3 inside virtual
// machines that own a slice of it. Where there is no list, the defaults stand.
void read_caches(Machine& machine) {
  for (int index = 0;; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const SystemFile size_file = open_system_file(folder + "size");
    long long size = 0;
    char unit = ' ';
    if (!size_file || std::fscanf(size_file.get(), "%lld %c", &size, &unit) < 1 || size <= 0)
      return;
    size *= unit == 'K' ? 1 << 10 : unit == 'M' ? 1 << 20 : 1;
    int level = 0;
    const SystemFile level_file = open_system_file(folder + "level");
    if (!level_file || std::fscanf(level_file.get(), "%d", &level) != 1) return;
    char text[32] = "";
    const SystemFile type_file = open_system_file(folder + "type");
    if (!type_file || std::fscanf(type_file.get(), "%31s", text) != 1) return;
    const std::string type = text;
    if (type == "Instruction") continue;
    if (level == 1) machine.l1_cache_bytes = size;
    if (level == 2) machine.l2_cache_bytes = size;
    machine.last_level_cache_bytes = size;
  }
}

Machine detect() {
  Machine machine;
  read_caches(machine);
  machine.vector_bytes = 16 * kernels().lanes;
  machine.has_shuffle = kernels().shuffle != nullptr;
  return machine;
}

struct State {
  Machine plain{};
  Correction correction{};
  Machine corrected{};
};

std::shared_ptr<const State> state_of(const Machine& machine, const Correction& correction) {
  auto state = std::make_shared<State>(
      State{.plain = machine, .correction = correction, .corrected = machine});
  state->corrected.model = correction.applied_to(machine.model);
  return state;
}

// Plans are made by any number of threads while a new model is installed.
std::atomic<std::shared_ptr<const State>>& current() {
  static std::atomic<std::shared_ptr<const State>> state = state_of(detect(), {});
  return state;
}

template <typename Change>
void change(const Change& what) {
  std::shared_ptr<const State> before = current().load();
  std::shared_ptr<const State> after;
  do {
    Machine machine = before->plain;
    Correction correction = before->correction;
    what(machine, correction);
    after = state_of(machine, correction);
  } while (!current().compare_exchange_strong(before, after));
}

}  // namespace

std::shared_ptr<const Machine> this_machine(bool learns) {
  const std::shared_ptr<const State> state = current().load();
  return {state, learns ? &state->corrected : &state->plain};
}

std::shared_ptr<const Machine> this_machine_with_threads(bool learns) {
  const Team::Delays delays = team().delays();
  if (this_machine(learns)->thread_start_seconds != delays.awake) {
    change([&](Machine& machine, Correction&) { machine.thread_start_seconds = delays.awake; });
  }
  return this_machine(learns);
}

void set_time_model(const TimeModel& model) {
  change([&](Machine& machine, Correction& correction) {
    machine.model = model;
    correction = {};
  });
}

Correction time_model_correction() { return current().load()->correction; }

void set_time_model_correction(const Correction& correction) {
  change([&](Machine&, Correction& own) { own = correction; });
}

void correct_time_model(std::span<const Timing> trial) {
  change([&](Machine&, Correction& correction) { correction.learn(trial); });
}

}  // namespace ttlg::cpu
