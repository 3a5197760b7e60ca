#include "plan/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "plan/planner.hpp"

namespace ttlg {
namespace {

constexpr std::array<std::string_view, 4> kKernelNames{"copy", "tile", "run", "reference"};

// Loop order: the smaller of a loop's two steps decides, the smallest goes innermost, so that
// neighbouring blocks share lines and pages on at least one side. Equals read on in sequence: the
// hardware foresees reads, and streamed writes need no foresight.
std::pair<std::int64_t, std::int64_t> step_key(const Loop& loop) {
  const std::int64_t in = std::abs(loop.in_byte_step);
  return {std::min(in, std::abs(loop.out_byte_step)), in};
}

void lay_out_loops(Plan& plan) {
  struct Entry {
    Loop loop;
    int role;  // 0 outer, 1 blocks of in_mode, 2 blocks of out_mode
  };
  std::vector<Entry> entries;
  entries.reserve(plan.nest.outer.size() + 2);
  for (const Mode& mode : plan.nest.outer) {
    entries.push_back(
        {Loop{FastDivisor(mode.extent), mode.in_byte_stride, mode.out_byte_stride}, 0});
  }
  const auto add_blocks = [&](const Mode& mode, std::int64_t block, int role) {
    const std::int64_t count = ceil_div(mode.extent, block);
    if (count > 1) {
      entries.push_back(
          {Loop{FastDivisor(count), block * mode.in_byte_stride, block * mode.out_byte_stride},
           role});
    }
  };
  add_blocks(plan.nest.in_mode, plan.parameters.block_in, 1);
  add_blocks(plan.nest.out_mode, plan.parameters.block_out, 2);
  std::ranges::stable_sort(
      entries, [](const Entry& x, const Entry& y) { return step_key(x.loop) > step_key(y.loop); });
  for (const Entry& entry : entries) {
    if (entry.role == 1) plan.in_loop = static_cast<int>(plan.loops.size());
    if (entry.role == 2) plan.out_loop = static_cast<int>(plan.loops.size());
    plan.loops.push_back(entry.loop);
  }
}

void check_parameters(const Parameters& parameters, const Nest& nest) {
  if (parameters.block_in < 1 || parameters.block_out < 1) {
    throw std::invalid_argument("block_in and block_out must be at least 1");
  }
  if (parameters.threads < 1 || parameters.threads > kMaxThreads) {
    throw std::invalid_argument("threads must be from 1 to " + std::to_string(kMaxThreads));
  }
  if (!is_staged(parameters, nest.element_bytes)) return;
  const std::int64_t block_in = std::min(parameters.block_in, nest.in_mode.extent);
  const std::int64_t block_out = std::min(parameters.block_out, nest.out_mode.extent);
  const std::int64_t pitch = staging_pitch(block_out * nest.element_bytes);
  if (nest.out_mode.out_byte_stride != nest.element_bytes ||
      checked_mul(block_in, pitch) > kStagingBytes) {
    throw std::invalid_argument("streaming needs contiguous output rows and a block of at most " +
                                std::to_string(kStagingBytes) + " bytes");
  }
}

}  // namespace

std::string_view kernel_name(Kernel kernel) {
  return kKernelNames[static_cast<std::size_t>(kernel)];
}

std::optional<Kernel> kernel_from_name(std::string_view name) {
  const auto found = std::ranges::find(kKernelNames, name);
  if (found == kKernelNames.end()) return std::nullopt;
  return static_cast<Kernel>(found - kKernelNames.begin());
}

std::int64_t Plan::blocks() const {
  std::int64_t count = 1;
  for (const Loop& loop : loops) count *= loop.count.divisor();
  return count;
}

Nest make_nest(const Problem& folded, Kernel kernel) {
  Nest nest;
  if (kernel == Kernel::copy) {
    nest.out_mode = Mode{folded.element_bytes, 1, 1};
    return nest;
  }
  nest.element_bytes = folded.element_bytes;
  if (folded.modes.empty()) return nest;
  // The fastest mode of the output, and the fastest of the input other than that one.
  const auto out_index = static_cast<std::size_t>(folded.perm.front());
  const std::size_t in_index = out_index == 0 ? 1 : 0;
  for (std::size_t i = 0; i < folded.modes.size(); ++i) {
    if (i == out_index) {
      nest.out_mode = folded.modes[i];
    } else if (i == in_index) {
      nest.in_mode = folded.modes[i];
    } else {
      nest.outer.push_back(folded.modes[i]);
    }
  }
  return nest;
}

Plan assemble(const Request& request, Problem problem, Nest nest, const Parameters& parameters) {
  check_parameters(parameters, nest);
  Plan plan{.request = request,
            .out_shape = request.out_shape(),
            .out_byte_strides = request.resolved_out_byte_strides(),
            .problem = std::move(problem),
            .parameters = parameters,
            .nest = std::move(nest)};
  if (parameters.kernel != Kernel::reference) lay_out_loops(plan);
  return plan;
}

Plan build_plan(const Request& request, const Parameters& parameters) {
  Problem problem = make_problem(request);
  const Problem folded = fold_run(problem);
  check_kernel(parameters.kernel, folded);
  return assemble(request, std::move(problem), make_nest(folded, parameters.kernel), parameters);
}

}  // namespace ttlg
