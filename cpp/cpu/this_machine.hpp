// What the planner must know of the machine that this process runs on.
#pragma once

#include <memory>
#include <span>

#include "plan/cpu/model/correction.hpp"
#include "plan/cpu/model/machine.hpp"
#include "plan/trials.hpp"

namespace ttlg::cpu {

// As it is now; a new time model makes a new one, and so does a correction, which that of a planner
// that learns has.
std::shared_ptr<const Machine> this_machine(bool learns = is_learning());

// This machine, after measuring, at the first call, how soon threads begin.
std::shared_ptr<const Machine> this_machine_with_threads(bool learns = is_learning());

// Without any correction so far.
void set_time_model(const TimeModel& model);

// What calls have taught about the time model.
Correction time_model_correction();
void set_time_model_correction(const Correction& correction);

// Lets the plans of one trial correct it. Their costs are those by the model without corrections.
void correct_time_model(std::span<const Timing> trial);

}  // namespace ttlg::cpu
