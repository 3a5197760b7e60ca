#include "cuda/inplace/choose_swizzle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "plan/cuda/layout/bank_conflicts.hpp"
#include "tensor/inplace_vector.hpp"

namespace ttlg::cuda {
namespace {

// The words of shared memory that the lanes of a warp access, in bytes, before they are swizzled.
using WarpWords = InplaceVector<std::uint32_t, kWarpSize>;
constexpr std::uint32_t kWarpsSampled = 4;
using Sample = std::array<WarpWords, kWarpsSampled>;

// Of warps at equal distances in the first block's rows, each at another element of a lane's.
Sample sample_of(const RowShuffleArguments& p, std::uint32_t word_bytes, std::uint32_t in_word,
                 std::uint32_t part_bytes) {
  const std::uint32_t elements = p.rows_of_block * static_cast<std::uint32_t>(p.width.divisor());
  const std::uint32_t words = p.element_words.divisor();
  const std::uint32_t lanes = elements / in_word * words;
  Sample sample;
  for (std::uint32_t w = 0; w < kWarpsSampled; ++w) {
    const std::uint32_t first = lanes / kWarpsSampled * w / kWarpSize * kWarpSize;
    const std::uint32_t end = std::min<std::uint32_t>(first + kWarpSize, lanes);
    for (std::uint32_t lane = first; lane < end; ++lane) {
      const std::uint32_t element = lane / words * in_word + w % in_word;
      const ElementCursor cursor(p, 0, element, lane % words * word_bytes);
      const std::uint32_t part = cursor.slot() & ~(part_bytes - 1);
      // Narrow elements of a word take one cycle together.
      if (std::ranges::find(sample[w], part) == sample[w].end()) sample[w].push_back(part);
    }
  }
  return sample;
}

std::uint32_t conflicts(const Sample& sample, const LineSwizzle& swizzle, std::uint32_t part_bytes,
                        std::uint32_t limit) {
  std::uint32_t sum = 0;
  for (const WarpWords& words : sample) {
    std::array<std::uint32_t, kWarpSize> byte{};
    std::ranges::transform(words, byte.begin(), swizzle);
    sum += bank_conflicts(std::span(byte).first(words.size()), part_bytes);
    if (sum >= limit) break;
  }
  return sum;
}

}  // namespace

// Lanes of a warp lie m mod n elements apart, but where they come to the end of a row or of a block
// of b elements. Let this be an odd multiple of 2^k words, and a line 2^g: then bits k to k + g - 1
// of the words' numbers differ, and their lowest g bits choose the bank. For k < g it suffices that
// the k bits from g on change the lowest k, otherwise those from k on change all g.
LineSwizzle choose_swizzle(const RowShuffleArguments& p, int word_bytes, std::uint32_t in_word) {
  constexpr std::uint32_t kFurther = 5;  // lines of a distance, as a power of two
  const auto part = static_cast<std::uint32_t>(RowShufflePolicy::part_bytes(word_bytes));
  const auto line_bits = static_cast<std::uint32_t>(std::countr_zero(kSharedLineBytes / part));
  const Sample sample = sample_of(p, static_cast<std::uint32_t>(word_bytes), in_word, part);
  LineSwizzle best{};
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  const auto consider = [&](std::uint32_t shift, std::uint32_t bits) {
    if (fewest == 0) return;
    const LineSwizzle swizzle{.shift = shift, .mask = ((1u << bits) - 1) * part};
    const std::uint32_t found = conflicts(sample, swizzle, part, fewest);
    if (found >= fewest) return;
    fewest = found;
    best = swizzle;
  };
  for (std::uint32_t bits = 0; bits < line_bits; ++bits) consider(line_bits, bits);
  for (std::uint32_t more = 0; more <= kFurther; ++more) consider(line_bits + more, line_bits);
  return best;
}

}  // namespace ttlg::cuda
