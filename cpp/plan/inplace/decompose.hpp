// Sequences of steps that permute the modes of a tensor in place. `Limits` is what a device has to
// do it with:
//   Step                    what a kernel does to matrices
//   kExchanges              whether some kernel transposes matrices with anything between
//   step_choices(matrices)  every kernel that can transpose these matrices
//   matrix_choices(same)    the same, and what else transposes groups of modes that are not divided
// The choices are vectors of Decomposition<Step>.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "plan/inplace/matrices.hpp"
#include "tensor/problem.hpp"

namespace ttlg {

template <typename Limits>
class Decomposer {
 public:
  using Steps = Decomposition<typename Limits::Step>;

  Decomposer(const Problem& folded, const Limits& limits) : limits_(limits), modes_(folded) {}

  std::optional<Steps> best() const {
    const std::optional<Sequence> sequence = from(modes_.start());
    return sequence ? std::optional(joined({}, *sequence)) : std::nullopt;
  }

  // Of those that take the same time, the best first.
  std::vector<Steps> all() const {
    const std::optional<Steps> chosen = best();
    std::vector<Steps> found;
    if (chosen) found.push_back(*chosen);
    for_exchanges(modes_.start(), [&](const std::vector<Steps>& choices, const auto& after) {
      if (choices.empty()) return;
      const std::optional<Sequence> rest = from(after());
      if (!rest) return;
      for (const Steps& first : choices) {
        Steps each = joined(first, *rest);
        if (!chosen || each.steps != chosen->steps) found.push_back(std::move(each));
      }
    });
    std::ranges::stable_sort(found, {}, &Steps::seconds);
    return found;
  }

 private:
  static constexpr std::size_t kMaxSearched = 6;

  using Sequence = std::vector<Steps>;

  struct Move {
    Order order;  // after it
    Steps chosen;
  };

  // Seconds are added up in the order of the steps, as by search(), so that rounding makes nothing
  // faster than what that finds.
  static Steps joined(Steps first, const Sequence& rest) {
    for (const Steps& next : rest) first.append(next);
    return first;
  }

  // The fastest sequence from an order on.
  std::optional<Sequence> from(Order order) const {
    Sequence result;
    while (count_groups(order) > kMaxSearched) {
      const std::optional<Move> move = best_by_neighbors(order);
      if (!move) return std::nullopt;
      result.push_back(move->chosen);
      order = move->order;
    }
    return search(order, std::move(result));
  }

  // Calls visit(ways to do it, what gives the order after it) for every exchange of two groups that
  // is a transposition of matrices. The modes of a group may be divided as one if they follow one
  // another in the result.
  template <typename Visit>
  void for_exchanges(const Order& order, const Visit& visit) const {
    const std::vector<std::size_t> at = cuts_of(order);
    for (std::size_t i = 0; i + 2 < at.size(); ++i) {
      for (std::size_t j = i + 1; j + 1 < at.size(); ++j) {
        for (std::size_t k = j + 1; k < at.size(); ++k) {
          const Groups groups{at[i], at[j], at[j], at[k]};
          const Matrices matrices = modes_.matrices(order, groups);
          visit(k == i + 2 ? limits_.matrix_choices(matrices) : limits_.step_choices(matrices),
                [&] { return exchange(order, groups); });
        }
      }
    }
    if constexpr (Limits::kExchanges) for_distant_exchanges(order, at, visit);
  }

  // Calls visit, as for_exchanges does, for exchanges of two groups of one volume with other modes
  // between them.
  template <typename Visit>
  void for_distant_exchanges(const Order& order, const std::vector<std::size_t>& at,
                             const Visit& visit) const {
    for (std::size_t i = 0; i + 3 < at.size(); ++i) {
      for (std::size_t j = i + 1; j + 2 < at.size(); ++j) {
        for (std::size_t k = j + 1; k + 1 < at.size(); ++k) {
          for (std::size_t l = k + 1; l < at.size(); ++l) {
            const Groups groups{at[i], at[j], at[k], at[l]};
            const Matrices matrices = modes_.matrices(order, groups);
            if (matrices.rows != matrices.columns) continue;
            visit(limits_.step_choices(matrices), [&] { return exchange(order, groups); });
          }
        }
      }
    }
  }

  // Calls visit(move) for every exchange that some kernel can carry out, by the fastest one.
  template <typename Visit>
  void for_moves(const Order& order, const Visit& visit) const {
    for_exchanges(order, [&](std::vector<Steps> choices, const auto& after) {
      std::optional<Steps> chosen = fastest(std::move(choices));
      if (chosen) visit(Move{after(), std::move(*chosen)});
    });
  }

  // The step that brings the most modes together for its time.
  std::optional<Move> best_by_neighbors(const Order& order) const {
    const auto left = static_cast<double>(count_groups(order));
    std::optional<Move> best;
    double best_rate = 0;
    for_moves(order, [&](const Move& move) {
      const double joined = left - static_cast<double>(count_groups(move.order));
      const double rate = joined / move.chosen.seconds;
      if (rate <= best_rate) return;
      best_rate = rate;
      best = move;
    });
    return best;
  }

  // Dijkstra's algorithm over the orders of the modes.
  std::optional<Sequence> search(const Order& from, Sequence result) const {
    struct Reached {
      double seconds;
      Order before;
      Steps steps;
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
        std::vector<const Steps*> steps;
        for (Order at = order; at != from; at = reached.at(at).before) {
          steps.push_back(&reached.at(at).steps);
        }
        for (; !steps.empty(); steps.pop_back()) result.push_back(*steps.back());
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

  const Limits& limits_;
  const Modes modes_;
};

// The fastest sequence for up to six groups of modes that do not stay neighbours. For more, the
// steps that bring the most modes together for their time, one after another, until that many are
// left. `folded` is without gaps. None where the workspace is too small for some step, or the
// forced kernel cannot carry one out.
template <typename Limits>
std::optional<Decomposition<typename Limits::Step>> decompose(const Problem& folded,
                                                              const Limits& limits) {
  return Decomposer<Limits>(folded, limits).best();
}

// The least workspace that some sequence keeps within, where that of `limits` is too little: with a
// byte less there is none. 0 where not even `max_bytes` is enough, as for kernels that cannot run.
template <typename Limits>
std::int64_t min_workspace(const Problem& folded, Limits limits, std::int64_t max_bytes) {
  std::int64_t too_little = limits.workspace;
  limits.workspace = max_bytes;
  if (too_little >= max_bytes || !decompose(folded, limits)) return 0;
  std::int64_t enough = max_bytes;
  while (enough - too_little > 1) {
    limits.workspace = too_little + (enough - too_little) / 2;
    (decompose(folded, limits) ? enough : too_little) = limits.workspace;
  }
  return enough;
}

// Every first step by every kernel that can carry it out, each with the fastest steps that follow;
// the fastest sequence first.
template <typename Limits>
std::vector<Decomposition<typename Limits::Step>> decompositions(const Problem& folded,
                                                                 const Limits& limits) {
  return Decomposer<Limits>(folded, limits).all();
}

}  // namespace ttlg
