#include "plan/cpu/inplace/decompose.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <utility>

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMostSearched = 6;

// The modes as they lie in memory, the slowest first, each by its place in the result.
using Order = std::vector<int>;

struct Move {
  Order order;  // after it
  ChosenStep chosen;
};

class Decomposer {
 public:
  Decomposer(const Problem& folded, const StepLimits& limits)
      : limits_(limits), element_bytes_(folded.element_bytes) {
    const std::size_t rank = folded.modes.size();
    std::vector<int> place(rank);
    for (std::size_t k = 0; k < rank; ++k) {
      const auto mode = static_cast<std::size_t>(folded.perm[rank - 1 - k]);
      place[mode] = static_cast<int>(k);
      extents_.push_back(folded.modes[mode].extent);
    }
    start_.assign(place.rbegin(), place.rend());
  }

  std::optional<Decomposition> run() {
    Decomposition result;
    Order order = start_;
    while (fuse(order).size() > kMostSearched) {
      const std::optional<Move> move = best_by_neighbors(order);
      if (!move) return std::nullopt;
      append(result, move->chosen);
      order = move->order;
    }
    return search(order, std::move(result));
  }

 private:
  static void append(Decomposition& result, const ChosenStep& chosen) {
    result.steps.push_back(chosen.step);
    result.seconds += chosen.seconds;
  }

  // The places where an order may be cut: not between modes that follow one another in the result.
  static std::vector<std::size_t> cuts(const Order& order) {
    std::vector<std::size_t> result{0};
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (order[i] != order[i - 1] + 1) result.push_back(i);
    }
    result.push_back(order.size());
    return result;
  }

  // One mode of each group of neighbours, numbered again.
  static Order fuse(const Order& order) {
    Order first;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || order[i] != order[i - 1] + 1) first.push_back(order[i]);
    }
    return first;
  }

  std::int64_t product(const Order& order, std::size_t begin, std::size_t end) const {
    std::int64_t result = 1;
    for (std::size_t i = begin; i < end; ++i) {
      result *= extents_[static_cast<std::size_t>(order[i])];
    }
    return result;
  }

  // Calls visit(move) for every swap of two neighbouring groups.
  template <typename Visit>
  void for_moves(const Order& order, const Visit& visit) const {
    const std::vector<std::size_t> at = cuts(order);
    for (std::size_t i = 0; i + 2 < at.size(); ++i) {
      for (std::size_t j = i + 1; j + 1 < at.size(); ++j) {
        for (std::size_t k = j + 1; k < at.size(); ++k) {
          const InplaceStep matrices{
              .batch = product(order, 0, at[i]),
              .rows = product(order, at[i], at[j]),
              .columns = product(order, at[j], at[k]),
              .element_bytes = element_bytes_ * product(order, at[k], order.size())};
          const std::optional<ChosenStep> chosen = choose_step(matrices, limits_);
          if (!chosen) continue;
          Order swapped = order;
          const auto position = [&](std::size_t n) {
            return swapped.begin() + static_cast<std::ptrdiff_t>(n);
          };
          std::rotate(position(at[i]), position(at[j]), position(at[k]));
          visit(Move{std::move(swapped), *chosen});
        }
      }
    }
  }

  std::optional<Move> best_by_neighbors(const Order& order) const {
    const auto left = static_cast<double>(fuse(order).size());
    std::optional<Move> best;
    double best_rate = 0;
    for_moves(order, [&](const Move& move) {
      const double joined = left - static_cast<double>(fuse(move.order).size());
      const double rate = joined / move.chosen.seconds;
      if (rate <= best_rate) return;
      best_rate = rate;
      best = move;
    });
    return best;
  }

  std::optional<Decomposition> search(const Order& from, Decomposition result) const {
    struct Reached {
      double seconds;
      Order before;
      ChosenStep step;
    };
    std::map<Order, Reached> reached;
    using Entry = std::pair<double, Order>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    reached.emplace(from, Reached{});
    open.emplace(0.0, from);
    while (!open.empty()) {
      const auto [seconds, order] = open.top();
      open.pop();
      if (seconds > reached.at(order).seconds) continue;
      if (std::ranges::is_sorted(order)) {
        std::vector<ChosenStep> steps;
        for (Order at = order; at != from; at = reached.at(at).before) {
          steps.push_back(reached.at(at).step);
        }
        for (; !steps.empty(); steps.pop_back()) append(result, steps.back());
        return result;
      }
      for_moves(order, [&](const Move& move) {
        const double after = seconds + move.chosen.seconds;
        const auto [place, is_new] = reached.try_emplace(move.order);
        if (!is_new && place->second.seconds <= after) return;
        place->second = {after, order, move.chosen};
        open.emplace(after, move.order);
      });
    }
    return std::nullopt;
  }

  const StepLimits& limits_;
  std::int64_t element_bytes_;
  std::vector<std::int64_t> extents_;  // by place in the result, the slowest first
  Order start_;
};

}  // namespace

std::optional<Decomposition> decompose(const Problem& folded, const StepLimits& limits) {
  return Decomposer(folded, limits).run();
}

}  // namespace ttlg::cpu
