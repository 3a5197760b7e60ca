// What the planner must know of the machine that this process runs on.
#pragma once

#include <memory>

#include "plan/cpu/model/machine.hpp"

namespace ttlg::cpu {

// As it is now; a new time model makes a new one.
std::shared_ptr<const Machine> this_machine();

// The same after measuring, at the first call, how soon threads begin.
std::shared_ptr<const Machine> this_machine_with_threads();

void set_time_model(const TimeModel& model);

}  // namespace ttlg::cpu
