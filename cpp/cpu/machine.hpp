// What the planner must know of this machine.
#pragma once

#include "plan/plan.hpp"

namespace ttlg::cpu {

const Machine& this_machine();

}  // namespace ttlg::cpu
