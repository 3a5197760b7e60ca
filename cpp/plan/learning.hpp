// Whether planners learn from the calls that they serve.
#pragma once

namespace ttlg {

// Whether calls try plans, and correct time models; returns what was set before. False at first.
bool set_learning(bool learns);
bool is_learning();

}  // namespace ttlg
