// The generated code for channels, on every SIMD level that this machine has.
#include "plan/cpu/channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cpu/executions.hpp"
#include "cpu/kernels.hpp"
#include "cpu/simd_level.hpp"
#include "plan/cpu/plan.hpp"

namespace ttlg::cpu {
namespace {

std::vector<Channels> all_kinds() {
  std::vector<Channels> kinds;
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    for (std::int64_t count = kMinChannels; count <= kMaxChannels; ++count) {
      for (const bool are_interleaved : {false, true}) {
        for (const bool are_reversed : {false, true}) {
          kinds.push_back({bytes, count, are_interleaved, are_reversed});
        }
      }
    }
  }
  return kinds;
}

// Moves structures between memory of just their size, with channels some bytes apart, and compares
// every byte, those between the channels too.
void check(const Channels& kind, const ChannelKernel& kernel, std::int64_t structures) {
  constexpr std::byte kGuard{0xa5};
  const auto [bytes, count, are_interleaved, are_reversed] = kind;
  const std::int64_t pitch = structures * bytes + structures % 3;
  std::vector<std::byte> packed(static_cast<std::size_t>(structures * count * bytes), kGuard);
  std::vector<std::byte> separate(
      static_cast<std::size_t>((count - 1) * pitch + structures * bytes), kGuard);
  std::vector<std::byte>& in = are_interleaved ? separate : packed;
  std::vector<std::byte>& out = are_interleaved ? packed : separate;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 37 + i / 251);
  std::vector<std::byte> expected = out;
  for (std::int64_t s = 0; s < structures; ++s) {
    for (std::int64_t c = 0; c < count; ++c) {
      for (std::int64_t k = 0; k < bytes; ++k) {
        const auto at_packed = static_cast<std::size_t>((s * count + c) * bytes + k);
        const std::int64_t place = are_reversed ? structures - 1 - s : s;
        const auto at_separate = static_cast<std::size_t>(c * pitch + place * bytes + k);
        expected[are_interleaved ? at_packed : at_separate] =
            in[are_interleaved ? at_separate : at_packed];
      }
    }
  }
  const std::int64_t last = are_reversed ? (structures - 1) * bytes : 0;
  kernel.move(in.data() + (are_interleaved ? last : 0), out.data() + (are_interleaved ? 0 : last),
              structures, pitch);
  ASSERT_EQ(out, expected);
}

TEST(Channels, KindsHaveNumbersOfTheirOwn) {
  std::set<std::size_t> numbers;
  for (const Channels& kind : all_kinds()) {
    EXPECT_TRUE(is_kind(kind));
    EXPECT_LT(number_of_kind(kind), kChannelKinds);
    numbers.insert(number_of_kind(kind));
  }
  EXPECT_EQ(numbers.size(), kChannelKinds);
  EXPECT_FALSE(is_kind({16, 2, false}));
  EXPECT_FALSE(is_kind({3, 2, false}));
  EXPECT_FALSE(is_kind({4, 5, false}));
  EXPECT_FALSE(is_kind({4, 1, false}));
}

TEST(Channels, AreMovedByEveryLevel) {
  for (const Kernels* const level : usable_levels()) {
    for (const Channels& kind : all_kinds()) {
      SCOPED_TRACE(std::string(level->name) + ", " + std::to_string(kind.count) + " of " +
                   std::to_string(kind.element_bytes) +
                   (kind.are_interleaved ? ", interleaved" : ", separated") +
                   (kind.are_reversed ? ", reversed" : ""));
      const ChannelKernel& kernel = level->generated.channels[number_of_kind(kind)];
      ASSERT_EQ(kernel.move == nullptr, level->shuffle == nullptr);
      if (kernel.move == nullptr) continue;
      for (const std::int64_t more : {0, 1, 5, 100}) {
        check(kind, kernel, kernel.structures + more);
      }
      check(kind, kernel, 2 * kernel.structures);
    }
  }
}

Request request_for(std::vector<std::int64_t> shape, std::vector<int> axes, std::int64_t itemsize) {
  Request request;
  request.in_byte_strides = contiguous_byte_strides(shape, itemsize);
  request.shape = std::move(shape);
  request.axes = std::move(axes);
  request.itemsize = itemsize;
  return request;
}

std::optional<ChannelBlock> channels_of(const Request& request, std::vector<std::int64_t> block) {
  Parameters parameters;
  parameters.kernel = Kernel::shuffle;
  parameters.block = std::move(block);
  const Problem folded = fold_run(make_problem(request));
  for (std::size_t m = 0; m < folded.modes.size(); ++m) {
    if (parameters.block[m] < folded.modes[m].extent) {
      parameters.loop_order.push_back(static_cast<int>(m));
    }
  }
  return build_plan(request, parameters).movers.channels;
}

// Some channels of `structures` of a kind, to separate ones.
Request some_of(const Channels& kind, std::int64_t taken, std::int64_t structures) {
  const std::int64_t bytes = kind.count * kind.element_bytes;
  Request request;
  request.shape = {structures, taken};
  request.in_byte_strides = {kind.are_reversed ? -bytes : bytes, kind.element_bytes};
  request.axes = {1, 0};
  request.itemsize = kind.element_bytes;
  return request;
}

TEST(Channels, AreTakenInPart) {
  for (const Channels& kind : all_kinds()) {
    if (kind.are_interleaved) continue;
    for (std::int64_t taken = 2; taken < kind.count; ++taken) {
      for (const std::int64_t structures : {40, 64, 65, 131, 1025, 2500}) {
        const Request request = some_of(kind, taken, structures);
        for (const std::int64_t block : {structures, std::int64_t{600}}) {
          Parameters parameters{.kernel = Kernel::shuffle};
          parameters.block = {taken, std::min(block, structures)};
          if (block < structures) parameters.loop_order = {1};
          const Plan plan = build_plan(request, parameters);
          ASSERT_TRUE(plan.movers.channels);
          EXPECT_EQ(plan.movers.channels->kind, kind);
          EXPECT_EQ(plan.movers.channels->taken, taken);
          for (const auto side : {test::Placement::Side::before, test::Placement::Side::after}) {
            ASSERT_TRUE(test::matches_reference(plan, {side, 0}));
          }
        }
      }
    }
  }
}

TEST(Channels, AreFoundInBlocks) {
  const auto separated = channels_of(request_for({500, 3}, {1, 0}, 2), {3, 500});
  ASSERT_TRUE(separated);
  EXPECT_EQ(separated->kind, (Channels{2, 3, false}));
  const auto interleaved = channels_of(request_for({3, 500}, {1, 0}, 2), {500, 3});
  ASSERT_TRUE(interleaved);
  EXPECT_EQ(interleaved->kind, (Channels{2, 3, true}));
  const auto images = channels_of(request_for({8, 500, 4}, {0, 2, 1}, 4), {4, 100, 2});
  ASSERT_TRUE(images);
  EXPECT_EQ(images->others.size(), 1U);
  EXPECT_FALSE(channels_of(request_for({500, 5}, {1, 0}, 2), {5, 500})) << "five of them";
}

}  // namespace
}  // namespace ttlg::cpu
