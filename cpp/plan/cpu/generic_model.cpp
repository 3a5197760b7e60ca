// The model of a machine that nobody has measured.
#include "plan/cpu/time_model.hpp"

namespace ttlg::cpu {

const TimeModel& generic_model() {
  static const TimeModel model;
  return model;
}

}  // namespace ttlg::cpu
