// What the planner must know of the machine that this process runs on.
#pragma once

#include "plan/cpu/machine.hpp"

namespace ttlg::cpu {

const Machine& this_machine();

}  // namespace ttlg::cpu
