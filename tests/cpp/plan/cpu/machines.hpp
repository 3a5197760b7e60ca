// Machines whose time models make the planner write in a certain way.
#pragma once

#include <initializer_list>
#include <string_view>

#include "plan/cpu/model/machine.hpp"

namespace ttlg::test {

// A machine on which each of these takes a second, so that no plan has them.
inline cpu::Machine machine_avoiding(std::initializer_list<std::string_view> terms) {
  cpu::Machine machine;
  for (const std::string_view term : terms) {
    machine.model.seconds.at(cpu::term_number(term)) = 1;
  }
  return machine;
}

// Blocks are written through the caches.
inline cpu::Machine caching_machine() {
  return machine_avoiding(
      {"all_streamed", "stream_copied_l2", "stream_copied_shared", "stream_copied_memory"});
}

// Around them where that is possible, and prefetched.
inline cpu::Machine streaming_machine() {
  return machine_avoiding({"written_l2_lines", "written_shared_lines", "written_memory_lines",
                           "copied_l2", "copied_shared", "copied_memory",
                           "read_memory_unprefetched"});
}

// The same, always staged.
inline cpu::Machine staging_machine() {
  cpu::Machine machine = streaming_machine();
  machine.model.seconds.at(cpu::term_number("written_direct_lines")) = 1;
  return machine;
}

}  // namespace ttlg::test
