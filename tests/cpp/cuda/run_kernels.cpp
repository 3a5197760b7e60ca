#include "cuda/run_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <variant>

#include "cuda/aligned.hpp"
#include "cuda/dispatch.hpp"
#include "moves.hpp"
#include "plan/cuda/cases.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

constexpr std::size_t kBoundary = 256;
// Slices take time to run, however small they are: of a few plans, the one with the fewest.
constexpr int kTries = 200;
constexpr int kFits = 10;
constexpr std::int64_t kMaxSlices = 1000;

Kernel bind(const Launch&, const AnyGrid&, const CopyArguments& p) {
  return [&p](const HostContext& context) {
    p.shift == 0 ? cuda::copy<kMaxAccessBytes>(p, context)
                 : copy_shifted<kMaxAccessBytes>(p, context);
  };
}

// A kernel for slices: body(grid, context).
template <typename Body>
Kernel on_grid(const AnyGrid& any_grid, const Body& body) {
  return with_grid(any_grid, [&](const auto& grid) -> Kernel {
    return [grid, body](const HostContext& context) { body(grid, context); };
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const MatchLargeArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      fvi_match_large<kWidth>(grid, p, context);
    });
  });
}

Kernel bind(const Launch&, const AnyGrid& any_grid, const MatchLargeShiftedArguments& p) {
  return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
    fvi_match_large_shifted<FviMatchLargeShiftedPolicy::kWidth>(grid, p, context);
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const MatchSmallArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      fvi_match_small<kWidth>(grid, p, context);
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const DistinctArguments& p) {
  return with_distinct_access(launch, [&](auto width, auto in, auto out) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      orthogonal_distinct<decltype(width)::value, decltype(in)::value, decltype(out)::value>(
          grid, p, context);
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const ArbitraryArguments& p) {
  return with_wide_width(launch, [&](auto any_width) {
    return with_access(launch, any_width, [&](auto width, auto in, auto out) {
      return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
        orthogonal_arbitrary<decltype(width)::value, decltype(in)::value, decltype(out)::value>(
            grid, p, context);
      });
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const PackedArguments& p) {
  return with_packed_access(launch, [&](auto width, auto aligned) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      orthogonal_arbitrary_packed<decltype(width)::value, decltype(aligned)::value>(grid, p,
                                                                                    context);
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const SquareArguments& p) {
  return with_width(launch, [&](auto any_width) {
    return with_vectors(launch, any_width, [&](auto width, auto vectors) -> Kernel {
      constexpr int kWidth = decltype(width)::value;
      constexpr bool kVectors = decltype(vectors)::value;
      if (launch.threads == SquarePolicy::kThreads) {
        return [&p](const HostContext& context) { square<kWidth, kVectors>(p, context); };
      }
      return [&p](const HostContext& context) { square_any_threads<kWidth, kVectors>(p, context); };
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RowShuffleArguments& p) {
  return with_row_shuffle(p, launch, [&](auto width, auto in_word, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      row_shuffle<decltype(width)::value, decltype(in_word)::value, decltype(forward)::value>(
          p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const ColumnShuffleArguments& p) {
  return with_column_access(launch, p.access_bytes, [&](auto width, auto access) -> Kernel {
    return [&p](const HostContext& context) {
      column_shuffle<decltype(width)::value, decltype(access)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RowGatherArguments& p) {
  return with_forward(p, launch, [&](auto width, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      row_gather<decltype(width)::value, decltype(forward)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const ColumnGatherArguments& p) {
  return with_column_access(launch, p.access_bytes, [&](auto width, auto access) -> Kernel {
    return [&p](const HostContext& context) {
      column_gather<decltype(width)::value, decltype(access)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RunsArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) -> Kernel {
    return [&p](const HostContext& context) { runs<kWidth>(p, context); };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const CutCellsArguments& p) {
  return with_gaps(p, launch, [&](auto width, auto gaps) -> Kernel {
    return [&p](const HostContext& context) {
      cut_cells<decltype(width)::value, decltype(gaps)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const CellsArguments& p) {
  return with_gaps(p, launch, [&](auto width, auto gaps) -> Kernel {
    return [&p](const HostContext& context) {
      cells<decltype(width)::value, decltype(gaps)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const SkinnyArguments& p) {
  return with_forward(p, launch, [&](auto width, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      skinny<decltype(width)::value, decltype(forward)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const SkinnyHeadsArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) -> Kernel {
    return [&p](const HostContext& context) { skinny_heads<kWidth>(p, context); };
  });
}

// An array of which element (0, ..., 0) has the wanted address.
class Array {
 public:
  Array(const Span& span, std::size_t misalignment)
      : origin_(-span.first),
        bytes_(span.bytes(), (misalignment + static_cast<std::size_t>(span.first)) % kBoundary) {}

  std::span<std::byte> bytes() { return bytes_.bytes(); }
  std::int64_t origin() const { return origin_; }
  std::byte* first() { return bytes().data() + origin_; }
  std::size_t index(std::int64_t offset) const {
    return static_cast<std::size_t>(offset + origin_);
  }

 private:
  std::int64_t origin_;
  AlignedBytes bytes_;
};

// Any part of 1..extent, the whole one half of the time.
std::int64_t random_block(Random& random, std::int64_t extent) {
  return pick(random, 0, 1) == 0 ? extent : pick(random, 1, extent);
}

cuda::Parameters random_parameters(Random& random, const Problem& problem, Schema schema) {
  if (schema == Schema::copy) return {};
  const int rank = static_cast<int>(problem.modes.size());
  const int most = std::min(rank, kAxisModes);
  const auto some_modes = [&] { return static_cast<int>(pick(random, 1, most)); };
  Slice slice{.in_modes = some_modes(), .out_modes = some_modes()};
  if (schema == Schema::fvi_match_large) slice = {.in_modes = 1, .out_modes = 1};
  if (schema == Schema::fvi_match_small) slice = {.in_modes = 2, .out_modes = 2};
  if (std::max(slice.in_modes, slice.out_modes) > rank) return {.schema = schema};
  const auto extent = [&](int m) { return problem.modes[static_cast<std::size_t>(m)].extent; };
  const int out_mode = problem.perm[static_cast<std::size_t>(slice.out_modes) - 1];
  slice.in_block = random_block(random, extent(slice.in_modes - 1));
  if (schema != Schema::fvi_match_large) slice.out_block = random_block(random, extent(out_mode));
  const bool is_orthogonal =
      schema == Schema::orthogonal_distinct || schema == Schema::orthogonal_arbitrary;
  return {
      .schema = schema,
      .slice = slice,
      .coarsened_mode = static_cast<int>(std::max<std::int64_t>(pick(random, -rank, rank - 1), -1)),
      .stages = is_orthogonal ? static_cast<int>(pick(random, 1, kMaxStages)) : 1,
      .band_width = schema == Schema::orthogonal_distinct ? pick(random, 0, 4) : 0};
}

}  // namespace

std::int64_t alignment_of(const Misalignments& misalignments) {
  return std::int64_t{1} << std::countr_zero(misalignments.in | misalignments.out | kBoundary);
}

Kernel kernel_of(const cuda::Launch& launch, const cuda::AnyGrid& grid) {
  return std::visit([&](const auto& p) { return bind(launch, grid, p); }, launch.arguments);
}

Report run_plan(const cuda::Plan& plan, const Misalignments& misalignments) {
  Array in(in_span_of(plan.request), misalignments.in);
  Array out(out_span_of(plan.request), misalignments.out);
  std::ranges::generate(in.bytes(), [random = std::minstd_rand(1)]() mutable {
    return static_cast<std::byte>(random() >> 8);
  });
  std::vector<std::byte> expected(out.bytes().begin(), out.bytes().end());
  std::vector<std::uint8_t> expected_writes(expected.size());
  for (const auto& [from, to] : unsorted_moves_of(plan.request)) {
    expected[out.index(to)] = in.bytes()[in.index(from)];
    expected_writes[out.index(to)] = 1;
  }
  const cuda::LoweredPlan executable(plan);
  const cuda::Launch launch = executable.bind(in.first(), out.first());
  if (launch.blocks == 0) return {};
  if (executable.grid.launches != 1) throw std::logic_error("a test's plan takes several launches");
  const Grid grid{launch.blocks, launch.threads, launch.shared_bytes};
  const cuda::Shift shift = executable.grid.shift(0);
  const Arrays arrays{in.bytes(), out.bytes(), expected_writes, in.origin() + shift.in,
                      out.origin() + shift.out};
  Report report = run_kernel(grid, arrays, kernel_of(launch, executable.grid.grid));
  if (!std::ranges::equal(out.bytes(), expected)) report.violations.push_back("wrong bytes");
  return report;
}

Counts expect_moved(const cuda::Plan& plan, const Misalignments& misalignments) {
  const Report report = run_plan(plan, misalignments);
  EXPECT_EQ(report.violations, Violations{}) << describe(plan, misalignments);
  return report.counts;
}

std::optional<cuda::Plan> random_plan(Random& random, const Request& request,
                                      std::int64_t alignment, Schema schema) {
  const Problem problem = recast_problem(make_problem(request), alignment);
  std::optional<cuda::Parameters> fewest;
  std::int64_t least = kMaxSlices;
  int fits = 0;
  for (int i = 0; i < kTries && fits < kFits; ++i) {
    const cuda::Parameters parameters = random_parameters(random, problem, schema);
    if (!obstacle(problem, parameters, alignment).empty()) continue;
    ++fits;
    const std::int64_t slices =
        grid_blocks({problem, parameters}) * SlicedProblem(problem, parameters).repeats();
    if (slices >= least) continue;
    least = slices;
    fewest = parameters;
  }
  if (!fewest) return std::nullopt;
  // With few multiprocessors a block takes many slices.
  cuda::DeviceModel model = analytic_model();
  if (pick(random, 0, 1) == 0) model.multiprocessors = 1;
  return built(request, alignment, *fewest, model);
}

std::string describe(const cuda::Plan& plan, const Misalignments& misalignments) {
  const auto join = [](const auto& values) {
    std::string text;
    for (const auto value : values) text += std::to_string(value) + " ";
    return text;
  };
  const Slice& slice = plan.parameters.slice;
  return "kernel " + std::string(schema_name(plan.parameters.schema)) + ", slice " +
         join(std::vector<std::int64_t>{slice.in_modes, slice.out_modes, slice.in_block,
                                        slice.out_block}) +
         ", coarsened " + std::to_string(plan.parameters.coarsened_mode) + ", stages " +
         std::to_string(plan.parameters.stages) + ", bands of " +
         std::to_string(plan.parameters.band_width) + ", multiprocessors " +
         std::to_string(plan.model->multiprocessors) + ", itemsize " +
         std::to_string(plan.request.itemsize) + ", moved in " +
         std::to_string(plan.recast.element_bytes()) + ", shape " + join(plan.request.shape) +
         ", axes " + join(plan.request.axes) + ", strides " + join(plan.request.in_byte_strides) +
         "-> " + join(plan.out_byte_strides) + ", misalignments " +
         std::to_string(misalignments.in) + " " + std::to_string(misalignments.out);
}

}  // namespace ttlg::test
