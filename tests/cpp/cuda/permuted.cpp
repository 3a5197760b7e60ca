#include "cuda/permuted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <variant>

#include "cuda/aligned.hpp"
#include "cuda/bind_kernels.hpp"
#include "plan/inplace/c2r.hpp"

namespace ttlg::test {
using namespace cuda;

namespace {

// Different bytes wherever offsets differ, but for one in 256 of them.
std::byte byte_at(std::int64_t offset) {
  auto bits = static_cast<std::uint64_t>(offset) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 32)) * 0xd6e8feb86659fd93;
  return static_cast<std::byte>(bits >> 56);
}

// One side of a launch, which is not allocated.
struct FarSide {
  std::int64_t bytes;
  std::int64_t misalignment;
  std::int64_t origin;   // where a kernel's offset 0 lies
  std::int64_t end = 0;  // of what was moved: 0 where nothing was
};

// A byte of the input is known from its offset, and one that is stored is compared with the one
// that belongs there.
class FarMemory : public GlobalMemory {
 public:
  FarMemory(const FarSide& in, const FarSide& out, const Source& source)
      : in_(in), out_(out), source_(source) {}

  std::string_view load(std::uint32_t, void* word, std::size_t bytes,
                        std::int64_t offset) override {
    const auto width = static_cast<std::int64_t>(bytes);
    return load_from(word, width, width, offset + in_.origin, 0);
  }
  std::string_view load_run_word(std::uint32_t, void* word, std::size_t count,
                                 std::int64_t offset) override {
    return load_from(word, static_cast<std::int64_t>(count), kBankWordBytes, offset + in_.origin,
                     kBankWordBytes - 1);
  }
  std::string_view store(std::uint32_t, const void* word, std::size_t bytes,
                         std::int64_t offset) override {
    const auto width = static_cast<std::int64_t>(bytes);
    offset += out_.origin;
    if (offset < 0 || offset > out_.bytes - width) return "stores out of bounds";
    if ((offset + out_.misalignment) % width != 0) return "stores to a misaligned address";
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t from = source_(offset + i);
      if (from < 0 || static_cast<const std::byte*>(word)[i] != byte_at(from)) {
        return "stores another byte than belongs there";
      }
    }
    out_.end = std::max(out_.end, offset + width);
    return {};
  }

  std::int64_t in_position(std::int64_t offset) const override { return position(in_, offset); }
  std::int64_t out_position(std::int64_t offset) const override { return position(out_, offset); }
  std::size_t in_bytes() const override { return kCounted; }
  std::size_t out_bytes() const override { return kCounted; }

  const FarSide& in() const { return in_; }
  const FarSide& out() const { return out_; }

 private:
  static constexpr std::int64_t kCounted = 4096;

  static std::int64_t position(const FarSide& side, std::int64_t offset) {
    return floor_mod(offset + side.origin + side.misalignment, kCounted);
  }
  // `count` bytes of an aligned word of `width`, which may begin `before` the array.
  std::string_view load_from(void* word, std::int64_t count, std::int64_t width, std::int64_t at,
                             std::int64_t before) {
    if (at < -before || at > in_.bytes - count) return "loads out of bounds";
    if ((at + in_.misalignment) % width != 0) return "loads from a misaligned address";
    for (std::int64_t i = 0; i < count; ++i) static_cast<std::byte*>(word)[i] = byte_at(at + i);
    in_.end = std::max(in_.end, at + count);
    return {};
  }

  FarSide in_;
  FarSide out_;
  const Source& source_;
};

// The first blocks of a launch, the last ones, and some between.
std::vector<std::uint32_t> sample_of(std::uint32_t blocks) {
  std::vector<std::uint32_t> sample{0, blocks / 2, blocks - 1};
  std::mt19937 random(blocks);
  for (int i = 0; i < 3; ++i) {
    sample.push_back(std::uniform_int_distribution<std::uint32_t>(0, blocks - 1)(random));
  }
  std::ranges::sort(sample);
  const auto repeated = std::ranges::unique(sample);
  sample.erase(repeated.begin(), repeated.end());
  return sample;
}

Kernel kernel_of(const Launch& launch, const AnyGrid& grid) {
  return std::visit([&](const auto& p) { return binding::bind(launch, grid, p); },
                    launch.arguments);
}

AlignedBytes allocated(std::int64_t bytes, std::int64_t misalignment = 0) {
  return AlignedBytes(static_cast<std::size_t>(bytes), static_cast<std::size_t>(misalignment));
}

}  // namespace

Report run_near(const std::vector<InplaceLaunch>& launches, const Memory& memory,
                const Source& source, const NearOptions& options) {
  AlignedBytes in = allocated(memory.in_bytes, memory.in_misalignment);
  AlignedBytes apart = allocated(memory.out_bytes, memory.out_misalignment);
  AlignedBytes workspace = allocated(memory.workspace_bytes);
  const std::span<std::byte> out = memory.out_bytes == 0 ? in.bytes() : apart.bytes();
  std::ranges::generate(in.bytes(), [random = std::minstd_rand(1)]() mutable {
    return static_cast<std::byte>(random() >> 8);
  });

  std::vector<std::byte> expected(out.begin(), out.end());
  std::vector<std::uint8_t> has_source(out.size());
  const auto element_bytes = static_cast<std::size_t>(source.element_bytes);
  for (std::size_t to = 0; to < out.size(); to += element_bytes) {
    const std::int64_t from = source(static_cast<std::int64_t>(to));
    if (from < 0) continue;
    std::memcpy(expected.data() + to, in.bytes().data() + from, element_bytes);
    std::fill_n(has_source.begin() + static_cast<std::ptrdiff_t>(to), element_bytes, 1);
  }

  const bool may_leave = options.leaves || memory.workspace_bytes > 0;
  Report result;
  for (const auto& [launch, from, to] : launches) {
    const std::span<std::byte> target = to.in_workspace ? workspace.bytes() : out;
    const std::vector<std::uint8_t> writes =
        may_leave ? std::vector<std::uint8_t>(target.size(), 1)
                  : (options.writes ? options.writes(launch) : has_source);
    Report report =
        run_kernel({launch.blocks, launch.threads, launch.shared_bytes, options.backwards},
                   {from.in_workspace ? workspace.bytes() : in.bytes(), target, writes, from.offset,
                    to.offset},
                   kernel_of(launch, options.grid));
    for (const std::string& violation : report.violations) {
      if (!may_leave || !violation.ends_with("never written")) {
        result.violations.push_back(violation);
      }
    }
    report.counts.load.sectors += result.counts.load.sectors;
    report.counts.store.sectors += result.counts.store.sectors;
    report.counts.bank_conflicts += result.counts.bank_conflicts;
    result.counts = report.counts;
  }
  if (!std::ranges::equal(out, expected)) result.violations.push_back("wrong bytes");
  return result;
}

Violations run_far(const InplaceLaunch& launch, const Memory& memory, const Source& source,
                   const FarOptions& options) {
  const auto& [kernel, from, to] = launch;
  const std::int64_t out_bytes = memory.out_bytes == 0 ? memory.in_bytes : memory.out_bytes;
  FarMemory far(
      {from.in_workspace ? memory.workspace_bytes : memory.in_bytes, memory.in_misalignment,
       from.offset},
      {to.in_workspace ? memory.workspace_bytes : out_bytes, memory.out_misalignment, to.offset},
      source);
  Violations violations =
      run_kernel({.blocks = kernel.blocks,
                  .threads = kernel.threads,
                  .shared_bytes = kernel.shared_bytes,
                  .sample = options.sample.empty() ? sample_of(kernel.blocks) : options.sample},
                 far, kernel_of(kernel, options.grid))
          .violations;
  if (!options.goes_far) return violations;
  if (far.in().bytes > kFar && far.in().end <= kFar) {
    violations.emplace_back("loads nothing beyond 2^32 bytes");
  }
  if (far.out().bytes > kFar && far.out().end <= kFar) {
    violations.emplace_back("stores nothing beyond 2^32 bytes");
  }
  return violations;
}

Counts expect_permuted(const std::vector<InplaceLaunch>& launches, const Memory& memory,
                       const Source& source, const NearOptions& options) {
  const Report report = run_near(launches, memory, source, options);
  EXPECT_EQ(report.violations, Violations{});
  return report.counts;
}

void expect_permuted_far(const InplaceLaunch& launch, const Memory& memory, const Source& source,
                         const FarOptions& options) {
  ASSERT_GT(memory.in_bytes, kFar);
  EXPECT_EQ(run_far(launch, memory, source, options), Violations{});
}

}  // namespace ttlg::test
