#include "plan/cpu/cost.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cpu/block.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Costs in lines: of a piece that is read without beginning and ending at a line, while its
// neighbours are read much later; of the same if the next block reads on where this one ends; of a
// line that is written partially and must be read first; of a run whose partial line waits for the
// next block.
constexpr double kSeparatePiece = 1.0;
constexpr double kAdjoiningPiece = 0.4;
constexpr double kPartialLine = 3.0;
constexpr double kCarriedLine = 2.5;
// Where powers of two in their strides put pieces at the same place of an interleave, memory
// channels and sets of the caches stay unused; every halving of what is used costs this share.
constexpr double kAliasing = 0.25;
constexpr std::int64_t kInterleave = 4096;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

double aliasing(const Pieces& pieces) {
  if (pieces.distinct_offsets == pieces.count) return 1;
  const double used = static_cast<double>(pieces.distinct_offsets * pieces.bytes) / kInterleave;
  return 1 - kAliasing * std::min(0.0, std::log2(used));
}

double lines(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kLineBytes);
}

}  // namespace

double block_cost(const Problem& folded, std::span<const std::int64_t> block,
                  std::span<const int> loop_order, const Pieces& runs, bool streaming) {
  const Pieces in =
      pieces_of(folded, block, identity_order(folded.modes.size()), &Mode::in_byte_stride);
  const int innermost = loop_order.empty() ? -1 : loop_order.back();
  const bool in_adjoins = in.continues >= 0 && in.continues == innermost;
  const double read =
      (1 + (in_adjoins ? kAdjoiningPiece : kSeparatePiece) / lines(in.bytes)) * aliasing(in);
  double ends = 2 * kPartialLine;
  if (runs.continues >= 0 && runs.continues == innermost) {
    const double chain = static_cast<double>(folded.modes[at(innermost)].extent) /
                         static_cast<double>(block[at(innermost)]);
    ends = kCarriedLine + ends / chain;
  }
  // Written through the caches, every line is read before.
  if (!streaming) return (read + 2 + 2 / lines(runs.bytes)) / 2;
  return (read + (1 + ends / lines(runs.bytes)) * aliasing(runs)) / 2;
}

}  // namespace ttlg::cpu
