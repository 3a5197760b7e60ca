#include "plan/inplace/problem.hpp"

#include <stdexcept>
#include <string>

namespace ttlg {
namespace {

// Whether both sides fill the same memory without gaps.
bool is_dense(const Problem& problem) {
  std::int64_t in_step = problem.element_bytes;
  std::int64_t out_step = problem.element_bytes;
  for (std::size_t k = 0; k < problem.modes.size(); ++k) {
    const Mode& in = problem.modes[k];
    const Mode& out = problem.modes[static_cast<std::size_t>(problem.perm[k])];
    if (in.in_byte_stride != in_step || out.out_byte_stride != out_step) return false;
    in_step *= in.extent;
    out_step *= out.extent;
  }
  return problem.in_byte_offset == 0 && problem.out_byte_offset == 0;
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
                  std::int64_t workspace) {
  const std::string bytes = std::to_string(folded.bytes()) + " bytes in place";
  if (forced) {
    throw std::invalid_argument("kernel '" + std::string(*forced) +
                                "' cannot carry out every step, or not in the workspace, to "
                                "transpose " +
                                bytes);
  }
  throw std::invalid_argument("a workspace of " + std::to_string(workspace) +
                              " bytes is too small for any way to transpose " + bytes);
}

}  // namespace ttlg
