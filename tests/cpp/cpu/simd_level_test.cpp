#include "cpu/simd_level.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "messages.hpp"

namespace ttlg::cpu {
namespace {

// The level that a process with this setting uses, as its place among those that were built; -1 if
// it throws. The choice is made once, so a child makes it.
int chosen_in_a_child(const char* setting) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("TTLG_SIMD_LEVEL", setting, 1);
    try {
      _exit(
          static_cast<int>(std::ranges::find(built_levels(), &kernels()) - built_levels().begin()));
    } catch (const std::invalid_argument&) {
      _exit(255);
    }
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

TEST(SimdLevels, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Kernels* level : built_levels()) {
    EXPECT_FALSE(std::string_view(level->name).empty());
    EXPECT_TRUE(names.insert(level->name).second) << level->name;
  }
}

TEST(SimdLevels, UsableOnesAreTheFirstBuiltOnes) {
  ASSERT_FALSE(usable_levels().empty());
  ASSERT_LE(usable_levels().size(), built_levels().size());
  EXPECT_TRUE(std::ranges::equal(usable_levels(), built_levels().first(usable_levels().size())));
}

TEST(SimdLevels, FillTheWholeTable) {
  for (const Kernels* level : built_levels()) {
    EXPECT_TRUE(std::ranges::none_of(level->tile, [](auto kernel) { return kernel == nullptr; }));
    EXPECT_TRUE(
        std::ranges::none_of(level->strided_copy, [](auto kernel) { return kernel == nullptr; }));
    EXPECT_NE(level->copy, nullptr);
    EXPECT_NE(level->stream, nullptr);
    EXPECT_NE(level->advance, nullptr);
    EXPECT_NE(level->fence, nullptr);
    const bool lacks_shuffle =
        level->name == std::string_view("sse2") || level->name == std::string_view("portable");
    EXPECT_EQ(level->shuffle == nullptr, lacks_shuffle) << level->name;
  }
}

TEST(SimdLevels, AreAskedOfTheProcessor) {
#if defined(__x86_64__)
  const auto has = [](std::string_view name) {
    return std::ranges::find(usable_levels(), name, [](const Kernels* level) {
             return std::string_view(level->name);
           }) != usable_levels().end();
  };
  EXPECT_TRUE(has("sse2"));
  EXPECT_EQ(has("ssse3"), __builtin_cpu_supports("ssse3") != 0);
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_LE(has("avx512"), __builtin_cpu_supports("avx512bw") != 0);
#else
  EXPECT_EQ(usable_levels().size(), 1U);
#endif
}

TEST(SimdLevelSetting, CapsTheLevel) {
  const int best = static_cast<int>(usable_levels().size()) - 1;
  EXPECT_EQ(chosen_in_a_child(""), best);
  for (int i = 0; i < std::ssize(built_levels()); ++i) {
    const char* name = built_levels()[static_cast<std::size_t>(i)]->name;
    EXPECT_EQ(chosen_in_a_child(name), std::min(i, best)) << name;
    const std::string with_blanks = std::string(" ").append(name).append("\n");
    EXPECT_EQ(chosen_in_a_child(with_blanks.c_str()), std::min(i, best)) << name;
  }
  EXPECT_EQ(chosen_in_a_child(" "), best);
}

TEST(SimdLevelSetting, RefusesUnknownNames) {
  for (const char* name : {"AVX2", "avx", "avx5120", "none"}) {
    EXPECT_EQ(chosen_in_a_child(name), -1) << name;
  }
}

// Nothing else in this program asks for the level, so that the choice is still to be made.
TEST(SimdLevelSetting, ListsTheNamesAndCanBeCorrected) {
  setenv("TTLG_SIMD_LEVEL", "best", 1);
  const std::string message = test::message_of([] { kernels(); });
  test::expect_contains(message, "TTLG_SIMD_LEVEL=best");
  for (const Kernels* level : built_levels()) test::expect_contains(message, level->name);
  setenv("TTLG_SIMD_LEVEL", built_levels().front()->name, 1);
  EXPECT_EQ(&kernels(), built_levels().front());
  unsetenv("TTLG_SIMD_LEVEL");
  EXPECT_EQ(&kernels(), built_levels().front()) << "the choice is made once";
}

}  // namespace
}  // namespace ttlg::cpu
