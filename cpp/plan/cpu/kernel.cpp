#include "plan/cpu/kernel.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "plan/cpu/shuffle_tile.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

using namespace std::string_literals;

bool is_copy(const Problem& folded) { return folded.modes.empty() || folded.elements() == 0; }

std::string in_bytes(std::int64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

bool can_tile(const Problem& folded) {
  if (is_copy(folded) || folded.keeps_fastest_mode() || !is_width(folded.element_bytes())) {
    return false;
  }
  const Mode& in_mode = folded.modes.front();
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  return in_mode.in_byte_stride == folded.element_bytes() && out_mode.in_byte_stride != 0 &&
         out_mode.out_byte_stride == folded.element_bytes();
}

std::string why_not_fused(const Problem& folded) {
  const std::size_t modes = folded.modes.size();
  return std::to_string(modes) + (modes == 1 ? " mode is" : " modes are") +
         " left besides what is contiguous on both sides";
}

std::string why_not_tile(const Problem& folded) {
  if (!is_width(folded.element_bytes())) {
    return "elements (runs included) of " + in_bytes(folded.element_bytes());
  }
  if (folded.keeps_fastest_mode()) return "the same fastest mode on both sides";
  const std::int64_t in_stride = folded.modes.front().in_byte_stride;
  const bool is_input = in_stride != folded.element_bytes();
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  if (out_mode.in_byte_stride == 0) return "the output's fastest mode repeats the input's elements";
  return std::string(is_input ? "the input's" : "the output's") + " fastest mode has a stride of " +
         in_bytes(is_input ? in_stride : out_mode.out_byte_stride) + ", its elements " +
         in_bytes(folded.element_bytes());
}

bool can_shuffle(const Problem& folded) {
  return !is_copy(folded) && !shuffle_tile(folded).empty();
}

std::string why_not_shuffle(const Problem& folded) {
  if (folded.element_bytes() >= kLaneBytes ||
      (!is_width(folded.element_bytes()) && reads_runs(folded))) {
    return "elements (runs included) of " + in_bytes(folded.element_bytes());
  }
  return "no tile with runs of " + in_bytes(kLaneBytes) + " on both sides fits in the registers";
}

// What a kernel needs, one row a kernel.
struct Rule {
  bool (*applies)(const Problem& folded);
  std::string (*requirement)();
  // Where it does not apply to a problem that has elements and modes, or to `copy` at all.
  std::string (*why_not)(const Problem& folded);
};

constexpr std::array<Rule, kKernels.size()> kRules{{
    {is_copy, [] { return "all modes fused into one run that is contiguous on both sides"s; },
     why_not_fused},
    {can_tile,
     [] {
       return "elements (runs included) of " + list_of_widths() +
              " bytes, and different fastest modes, each of unit stride on its side";
     },
     why_not_tile},
    {can_shuffle,
     [] {
       return "elements of " + list_of_widths(kLaneBytes / 2) + " bytes in runs of " +
              in_bytes(kLaneBytes) + " on both sides, those of the input read in any direction " +
              "or with gaps of up to " + in_bytes(kMaxLaneGap);
     },
     why_not_shuffle},
    {[](const Problem& folded) { return !is_copy(folded); },
     [] { return "at least one mode besides the contiguous run"s; }, nullptr},
    {[](const Problem&) { return true; }, [] { return "nothing"s; }, nullptr},
}};
static_assert(std::ranges::all_of(kRules, [](const Rule& rule) {
  return rule.applies != nullptr && rule.requirement != nullptr;
}));  // of every kernel: an array without its last rows would compile

const Rule& rule_of(Kernel kernel) { return kRules[static_cast<std::size_t>(kernel)]; }

}  // namespace

bool applies(Kernel kernel, const Problem& folded) {
  return folded.moves_bits() && rule_of(kernel).applies(folded);
}

std::string obstacle(Kernel kernel, const Problem& folded) {
  if (applies(kernel, folded)) return "";
  if (!folded.moves_bits()) return folded.conversion_obstacle();
  if (kernel != Kernel::copy && folded.elements() == 0) return "no elements";
  if (kernel != Kernel::copy && folded.modes.empty()) return "all modes are fused into one run";
  return rule_of(kernel).why_not(folded);
}

std::string requirement(Kernel kernel) { return rule_of(kernel).requirement(); }

void check_kernel(Kernel kernel, const Problem& folded) {
  if (!applies(kernel, folded)) {
    throw std::invalid_argument("kernel '" + std::string(kernel_name(kernel)) +
                                "' does not apply: it needs " + requirement(kernel) +
                                " (here: " + obstacle(kernel, folded) + ")");
  }
}

}  // namespace ttlg::cpu
