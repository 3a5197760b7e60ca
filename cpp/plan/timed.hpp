// Times that plans of one request were measured to take.
#pragma once

#include <algorithm>
#include <vector>

namespace ttlg {

// A way to carry a request out, and the seconds that a call took.
template <typename Parameters>
struct Timed {
  Parameters parameters;
  double seconds;
};

// Brings the time of a plan to the front; returns whether it has one.
template <typename Parameters>
bool bring_to_front(std::vector<Timed<Parameters>>& timed, const Parameters& parameters) {
  const auto found = std::ranges::find(timed, parameters, &Timed<Parameters>::parameters);
  if (found == timed.end()) return false;
  std::rotate(timed.begin(), found, found + 1);
  return true;
}

}  // namespace ttlg
