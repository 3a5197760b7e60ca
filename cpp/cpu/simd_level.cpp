#include "cpu/simd_level.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ttlg::cpu {

extern const Kernels kBaselineKernels;
#if defined(__x86_64__)
extern const Kernels kSsse3Kernels;
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

namespace {

// Everywhere but on AMD's families after Zen 4's, which GCC 12 has no names for.
bool prefetches_into_l2() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  std::array<unsigned, 4> found{};
  if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &found[0], &found[1], &found[2], &found[3])) {
    return true;
  }
  const unsigned family = (found[0] >> 8 & 0xf) + (found[0] >> 20 & 0xff);
  return family <= 0x19;
#else
  return true;
#endif
}

#if defined(__x86_64__)
constexpr std::array<const Kernels*, 4> kLevels{&kBaselineKernels, &kSsse3Kernels, &kAvx2Kernels,
                                                &kAvx512Kernels};

// Whether the processor has the level and the system saves its registers.
std::size_t count_usable() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3")) return 1;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("f16c")) return 2;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return avx512 ? 4 : 3;
}
#else
constexpr std::array<const Kernels*, 1> kLevels{&kBaselineKernels};

std::size_t count_usable() { return 1; }
#endif

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

const Kernels& choose() {
  const std::span<const Kernels* const> usable = usable_levels();
  const char* set = std::getenv("TTLG_SIMD_LEVEL");
  const std::string_view cap = without_blanks(set == nullptr ? "" : set);
  if (cap.empty()) return *usable.back();
  const auto named =
      std::ranges::find(kLevels, cap, [](const Kernels* level) { return level->name; });
  if (named == kLevels.end()) {
    std::string valid;
    for (const Kernels* level : kLevels)
      valid += (valid.empty() ? "" : ", ") + std::string(level->name);
    throw std::invalid_argument("TTLG_SIMD_LEVEL=" + std::string(cap) +
                                " is no SIMD level of this build; set it to one of " + valid +
                                ", or unset it");
  }
  const auto index = static_cast<std::size_t>(named - kLevels.begin());
  return *usable[std::min(index, usable.size() - 1)];
}

}  // namespace

const bool kPrefetchesIntoL2 = prefetches_into_l2();

std::span<const Kernels* const> built_levels() { return kLevels; }

std::span<const Kernels* const> usable_levels() {
  static const std::size_t count = count_usable();
  return std::span<const Kernels* const>(kLevels).first(count);
}

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

}  // namespace ttlg::cpu
