#include "plan/inplace/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/integer.hpp"

namespace ttlg {
namespace {

// Whether both sides fill the same memory without gaps.
bool is_dense(const Problem& problem) {
  std::int64_t in_step = problem.element_bytes();
  std::int64_t out_step = problem.element_bytes();
  for (std::size_t k = 0; k < problem.modes.size(); ++k) {
    const Mode& in = problem.modes[k];
    const Mode& out = problem.modes[static_cast<std::size_t>(problem.perm[k])];
    if (in.in_byte_stride != in_step || out.out_byte_stride != out_step) return false;
    in_step *= in.extent;
    out_step *= out.extent;
  }
  return problem.in_byte_offset == 0 && problem.out_byte_offset == 0;
}

// In units of 10^6 bytes, rounded up, so that the number is enough as well.
std::string megabytes(std::int64_t bytes) {
  constexpr std::int64_t kThousandth = 1000;
  const std::int64_t thousandths = ceil_div(bytes, kThousandth);
  const std::string decimals = std::to_string(1000 + thousandths % 1000).substr(1);
  return std::to_string(thousandths / 1000) + "." + decimals + " MB";
}

// Whether the matrices are that many bytes together.
bool fills(const Matrices& matrices, std::int64_t bytes) {
  for (const std::int64_t extent : {matrices.batch, matrices.rows, matrices.between,
                                    matrices.columns, matrices.element_bytes}) {
    if (extent < 1 || bytes % extent != 0) return false;
    bytes /= extent;
  }
  return bytes == 1;
}

// The matrices that these two steps transpose by parts of elements, which need not end where modes
// do.
std::optional<Matrices> joined_parts(const Matrices& inside, const Matrices& between) {
  if (between.rows % inside.columns != 0) return std::nullopt;
  Matrices whole = between;
  whole.rows /= inside.columns;
  whole.element_bytes *= inside.columns;
  const bool is_by_parts =
      by_parts(whole, between.element_bytes) == std::vector<Matrices>{inside, between};
  return is_by_parts ? std::optional(whole) : std::nullopt;
}

// A tensor without gaps, its modes as they lie in memory, the slowest first, and last the bytes of
// an element.
class Layout {
 public:
  explicit Layout(const Problem& folded) {
    for (const Mode& mode : folded.modes | std::views::reverse) {
      parts_.push_back({mode.extent, mode.out_byte_stride});
    }
    parts_.push_back({folded.element_bytes(), 1});
  }

  // Whether what is transposed is modes, or parts of them.
  bool apply(const Matrices& matrices) {
    const auto& [batch, rows, between, columns, element_bytes] = matrices;
    if (rows * between == 1 || between * columns == 1) return true;
    join();
    // Where rows, what is between them and columns, columns, and elements begin. What is divided
    // later lies behind the places that were found before.
    const std::array<std::int64_t, 4> inside{matrices.matrix_bytes(),
                                             between * columns * element_bytes,
                                             columns * element_bytes, element_bytes};
    std::array<std::size_t, 4> first{};
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const std::optional<std::size_t> found = cut(inside[i]);
      if (!found) return false;
      first[i] = *found;
    }
    const auto at = [&](std::size_t i) {
      return parts_.begin() + static_cast<std::ptrdiff_t>(first[i]);
    };
    std::vector<Part> exchanged(at(2), at(3));
    exchanged.insert(exchanged.end(), at(1), at(2));
    exchanged.insert(exchanged.end(), at(0), at(1));
    std::ranges::copy(exchanged, at(0));
    return true;
  }

  bool is_result() const {
    std::int64_t bytes = 1;
    for (const Part& part : parts_ | std::views::reverse) {
      if (part.out_byte_stride != bytes) return false;
      bytes *= part.extent;
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

  // The number of the first part of those that contain this many bytes; one is divided if need be.
  std::optional<std::size_t> cut(std::int64_t bytes) {
    std::int64_t left = bytes;
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

  std::vector<Part> parts_;
};

}  // namespace

Problem dense_problem(const Request& request) {
  Problem folded = fold_run(make_problem(request));
  if (folded.bytes() > 0 && !is_dense(folded)) {
    throw std::invalid_argument(
        "only an array that fills its memory without gaps can be transposed in place");
  }
  return folded;
}

void refuse_steps(const Problem& folded, std::optional<std::string_view> forced,
                  std::int64_t workspace, std::int64_t min_bytes) {
  const std::string what = "to transpose " + std::to_string(folded.bytes()) + " bytes in place";
  const std::string way = forced ? "kernel '" + std::string(*forced) + "'" : "any way";
  if (min_bytes == 0) throw std::invalid_argument(way + " cannot carry out every step " + what);
  throw std::invalid_argument("a workspace of " + std::to_string(workspace) +
                              " bytes is too small for " + way + " " + what + "; pass at least " +
                              std::to_string(min_bytes) + " bytes (" + megabytes(min_bytes) +
                              "), or leave workspace= out");
}

bool permutes(const std::vector<Matrices>& sequence, const Problem& folded) {
  Layout layout(folded);
  for (auto at = sequence.begin(); at != sequence.end(); ++at) {
    if (!fills(*at, folded.bytes())) return false;
    if (layout.apply(*at)) continue;
    const bool is_last = std::next(at) == sequence.end();
    const auto whole = is_last ? std::nullopt : joined_parts(*at, *std::next(at));
    if (!whole || !fills(*whole, folded.bytes()) || !layout.apply(*whole)) return false;
    ++at;
  }
  return layout.is_result();
}

}  // namespace ttlg
