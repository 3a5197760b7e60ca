#include "plan/cpu/inplace/decompose.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <ranges>
#include <utility>

namespace ttlg::cpu {
namespace {

constexpr std::size_t kMostSearched = 6;

// The modes as they lie in memory, the slowest first, each by its place in the result.
using Order = std::vector<int>;

// The modes of a tensor without gaps, on the way from the input's order to the result's.
class Modes {
 public:
  explicit Modes(const Problem& folded) : element_bytes_(folded.element_bytes) {
    const std::size_t rank = folded.modes.size();
    std::vector<int> place(rank);
    for (std::size_t k = 0; k < rank; ++k) {
      const auto mode = static_cast<std::size_t>(folded.perm[rank - 1 - k]);
      place[mode] = static_cast<int>(k);
      extents_.push_back(folded.modes[mode].extent);
    }
    start_.assign(place.rbegin(), place.rend());
  }

  const Order& start() const { return start_; }

  // The matrices whose transposition swaps modes begin to middle with those from there to end.
  InplaceStep matrices(const Order& order, std::size_t begin, std::size_t middle,
                       std::size_t end) const {
    return {.batch = product(order, 0, begin),
            .rows = product(order, begin, middle),
            .columns = product(order, middle, end),
            .element_bytes = element_bytes_ * product(order, end, order.size())};
  }

 private:
  std::int64_t product(const Order& order, std::size_t begin, std::size_t end) const {
    std::int64_t result = 1;
    for (std::size_t i = begin; i < end; ++i) {
      result *= extents_[static_cast<std::size_t>(order[i])];
    }
    return result;
  }

  std::int64_t element_bytes_;
  std::vector<std::int64_t> extents_;  // by place in the result, the slowest first
  Order start_;
};

Order swap(const Order& order, std::size_t begin, std::size_t middle, std::size_t end) {
  Order swapped = order;
  const auto at = [&](std::size_t n) { return swapped.begin() + static_cast<std::ptrdiff_t>(n); };
  std::rotate(at(begin), at(middle), at(end));
  return swapped;
}

struct Move {
  Order order;  // after it
  Decomposition chosen;
};

class Decomposer {
 public:
  Decomposer(const Problem& folded, const StepLimits& limits) : limits_(limits), modes_(folded) {}

  // The fastest sequence from an order on.
  std::optional<Decomposition> from(Order order) const {
    Decomposition result;
    while (fuse(order).size() > kMostSearched) {
      const std::optional<Move> move = best_by_neighbors(order);
      if (!move) return std::nullopt;
      result.append(move->chosen);
      order = move->order;
    }
    return search(order, std::move(result));
  }

  std::vector<Decomposition> all() const {
    std::vector<Decomposition> found;
    if (std::ranges::is_sorted(modes_.start())) found.emplace_back();
    for_swaps(modes_.start(), [&](const std::vector<Decomposition>& choices, const auto& swapped) {
      if (choices.empty()) return;
      const std::optional<Decomposition> rest = from(swapped());
      if (!rest) return;
      for (const Decomposition& first : choices) found.emplace_back(first).append(*rest);
    });
    std::ranges::stable_sort(found, {}, &Decomposition::seconds);
    return found;
  }

  std::optional<Decomposition> best() const { return from(modes_.start()); }

 private:
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

  // Calls visit(ways to do it, what gives the order after it) for every swap of two neighbouring
  // groups. The modes of a group may be divided as one if they follow one another in the result.
  template <typename Visit>
  void for_swaps(const Order& order, const Visit& visit) const {
    const std::vector<std::size_t> at = cuts(order);
    for (std::size_t i = 0; i + 2 < at.size(); ++i) {
      for (std::size_t j = i + 1; j + 1 < at.size(); ++j) {
        for (std::size_t k = j + 1; k < at.size(); ++k) {
          const InplaceStep matrices = modes_.matrices(order, at[i], at[j], at[k]);
          visit(k == i + 2 ? matrix_choices(matrices, limits_) : step_choices(matrices, limits_),
                [&] { return swap(order, at[i], at[j], at[k]); });
        }
      }
    }
  }

  // Calls visit(move) for every swap that some kernel can carry out, by the fastest one.
  template <typename Visit>
  void for_moves(const Order& order, const Visit& visit) const {
    for_swaps(order, [&](std::vector<Decomposition> choices, const auto& swapped) {
      std::optional<Decomposition> chosen = fastest(std::move(choices));
      if (chosen) visit(Move{swapped(), std::move(*chosen)});
    });
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
      Decomposition steps;
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
        std::vector<const Decomposition*> steps;
        for (Order at = order; at != from; at = reached.at(at).before) {
          steps.push_back(&reached.at(at).steps);
        }
        for (; !steps.empty(); steps.pop_back()) result.append(*steps.back());
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
  const Modes modes_;
};

}  // namespace

std::optional<Decomposition> decompose(const Problem& folded, const StepLimits& limits) {
  return Decomposer(folded, limits).best();
}

std::vector<Decomposition> decompositions(const Problem& folded, const StepLimits& limits) {
  return Decomposer(folded, limits).all();
}

namespace {

// Whether the matrices are so many bytes; their extents may be any numbers.
bool fills(const InplaceStep& step, std::int64_t bytes) {
  for (const std::int64_t extent : {step.batch, step.rows, step.columns, step.element_bytes}) {
    if (extent < 1 || bytes % extent != 0) return false;
    bytes /= extent;
  }
  return bytes == 1;
}

// A tensor without gaps, its modes as they lie in memory, the slowest first.
class Layout {
 public:
  explicit Layout(const Problem& folded) : element_bytes_(folded.element_bytes) {
    for (const Mode& mode : folded.modes | std::views::reverse) {
      parts_.push_back({mode.extent, mode.out_byte_stride});
    }
  }

  // Whether what is transposed is modes, or parts of them.
  bool apply(const InplaceStep& step) {
    if (step.rows == 1 || step.columns == 1) return true;
    join();
    const std::optional<std::size_t> begin = cut(step.matrix_bytes());
    if (!begin) return false;
    const std::optional<std::size_t> middle = cut(step.columns * step.element_bytes);
    if (!middle) return false;
    const std::optional<std::size_t> end = cut(step.element_bytes);
    if (!end) return false;
    const auto at = [&](std::size_t n) { return parts_.begin() + static_cast<std::ptrdiff_t>(n); };
    std::rotate(at(*begin), at(*middle), at(*end));
    return true;
  }

  bool is_result() const {
    std::int64_t bytes = element_bytes_;
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
      if (part->out_byte_stride != bytes) return false;
      bytes *= part->extent;
    }
    return true;
  }

 private:
  struct Part {
    std::int64_t extent;
    std::int64_t out_byte_stride;
  };

  // Makes one part of those that follow one another in the result.
  void join() {
    std::vector<Part> joined;
    for (const Part& part : parts_) {
      if (!joined.empty() && joined.back().out_byte_stride == part.extent * part.out_byte_stride) {
        joined.back() = {joined.back().extent * part.extent, part.out_byte_stride};
      } else {
        joined.push_back(part);
      }
    }
    parts_ = std::move(joined);
  }

  // The number of the first part of those that contain so many bytes; one is divided if need be.
  std::optional<std::size_t> cut(std::int64_t bytes) {
    if (bytes % element_bytes_ != 0) return std::nullopt;
    std::int64_t left = bytes / element_bytes_;
    std::size_t i = parts_.size();
    while (i > 0 && left % parts_[i - 1].extent == 0) left /= parts_[--i].extent;
    if (left == 1) return i;
    if (i == 0 || parts_[i - 1].extent % left != 0) return std::nullopt;
    Part& outer = parts_[i - 1];
    const Part inner{left, outer.out_byte_stride};
    outer = {outer.extent / left, left * outer.out_byte_stride};
    parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(i), inner);
    return i;
  }

  std::int64_t element_bytes_;
  std::vector<Part> parts_;
};

}  // namespace

bool permutes(const std::vector<InplaceStep>& steps, const Problem& folded) {
  Layout layout(folded);
  return std::ranges::all_of(steps,
                             [&](const InplaceStep& step) {
                               return fills(step, folded.bytes()) && layout.apply(step);
                             }) &&
         layout.is_result();
}

}  // namespace ttlg::cpu
