#include "plan/inplace/problem.hpp"

#include <stdexcept>
#include <string>

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

}  // namespace ttlg
