#include "plan/cpu/kernel.hpp"

#include <stdexcept>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/shuffle.hpp"
#include "tensor/width.hpp"

namespace ttlg::cpu {
namespace {

bool is_copy(const Problem& folded) { return folded.modes.empty() || folded.elements() == 0; }

std::string in_bytes(std::int64_t bytes) {
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

bool can_tile(const Problem& folded) {
  if (is_copy(folded) || folded.perm.front() == 0 || !is_width(folded.element_bytes)) {
    return false;
  }
  const Mode& in_mode = folded.modes.front();
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  return in_mode.in_byte_stride == folded.element_bytes &&
         out_mode.out_byte_stride == folded.element_bytes;
}

// What of can_tile does not hold.
std::string obstacle_to_tile(const Problem& folded) {
  if (!is_width(folded.element_bytes)) {
    return "elements (runs included) of " + in_bytes(folded.element_bytes);
  }
  if (folded.perm.front() == 0) return "the same fastest mode on both sides";
  const std::int64_t in_stride = folded.modes.front().in_byte_stride;
  const bool is_input = in_stride != folded.element_bytes;
  const Mode& out_mode = folded.modes[static_cast<std::size_t>(folded.perm.front())];
  return std::string(is_input ? "the input's" : "the output's") + " fastest mode has a stride of " +
         in_bytes(is_input ? in_stride : out_mode.out_byte_stride) + ", its elements " +
         in_bytes(folded.element_bytes);
}

}  // namespace

bool can_carry_out(Kernel kernel, const Problem& folded) {
  switch (kernel) {
    case Kernel::copy:
      return is_copy(folded);
    case Kernel::tile:
      return can_tile(folded);
    case Kernel::shuffle:
      return !is_copy(folded) && !shuffle_tile(folded).empty();
    case Kernel::strided_copy:
      return !is_copy(folded);
    case Kernel::reference:
      return true;
  }
  return false;
}

std::string obstacle(Kernel kernel, const Problem& folded) {
  if (can_carry_out(kernel, folded)) return "";
  if (kernel == Kernel::copy) {
    const std::size_t modes = folded.modes.size();
    return std::to_string(modes) + (modes == 1 ? " mode is" : " modes are") +
           " left besides what is contiguous on both sides";
  }
  if (folded.elements() == 0) return "no elements";
  if (folded.modes.empty()) return "all modes are fused into one run";
  if (kernel == Kernel::tile) return obstacle_to_tile(folded);
  if (!is_width(folded.element_bytes) || folded.element_bytes >= kLaneBytes) {
    return "elements (runs included) of " + in_bytes(folded.element_bytes);
  }
  return "no tile that is contiguous for " + in_bytes(kLaneBytes) +
         " on both sides fits in the registers";
}

std::string requirement(Kernel kernel) {
  switch (kernel) {
    case Kernel::copy:
      return "all modes fused into one run that is contiguous on both sides";
    case Kernel::tile:
      return "elements (runs included) of " + list_of_widths() +
             " bytes, and different fastest modes, each of unit stride on its side";
    case Kernel::shuffle:
      return "elements of " + list_of_widths(kLaneBytes / 2) + " bytes that are contiguous for " +
             in_bytes(kLaneBytes) + " on both sides";
    case Kernel::strided_copy:
      return "at least one mode besides the contiguous run";
    case Kernel::reference:
      return "nothing";
  }
  return "";
}

void check_kernel(Kernel kernel, const Problem& folded) {
  if (!can_carry_out(kernel, folded)) {
    throw std::invalid_argument("kernel '" + std::string(kernel_name(kernel)) +
                                "' does not apply: it needs " + requirement(kernel) +
                                " (here: " + obstacle(kernel, folded) + ")");
  }
}

}  // namespace ttlg::cpu
