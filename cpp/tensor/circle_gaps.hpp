// Steps around a circle. The points 0, s, 2s, ... modulo b cut it into gaps of at most three
// lengths (Sós 1958), and of two for as many points as there are on the way of Euclid's algorithm
// from s and b to 1. So b elements of which every s-th one belongs together are two rectangles: for
// each point the elements from there to the next one.
#pragma once

#include <cstdint>

namespace ttlg {

struct CircleGaps {
  // Points 0 to first_points - 1 are followed by first_gap elements each, as many as second_points
  // after them by second_gap.
  std::int64_t first_points = 1;
  std::int64_t first_gap = 1;
  std::int64_t second_points = 0;
  std::int64_t second_gap = 0;
};

// The gaps whose rectangles cost the least: cost(points, gap) for each. 0 <= s < b, coprime to b.
template <typename Cost>
constexpr CircleGaps cheapest_gaps(std::int64_t s, std::int64_t b, const Cost& cost) {
  CircleGaps best{1, b, 0, 0};
  double min_cost = cost(1, b);
  // Point `up` lies by its gap above 0, and point `down` below it.
  std::int64_t up = 1, above = s;
  std::int64_t down = 1, below = b - s;
  while (above > 0 && below > 0) {
    const double now = cost(down, above) + cost(up, below);
    if (now < min_cost) {
      min_cost = now;
      best = {down, above, up, below};
    }
    if (above > below) {
      above -= below;
      up += down;
    } else {
      below -= above;
      down += up;
    }
  }
  return best;
}

}  // namespace ttlg
