#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "cuda/inplace/lower.hpp"
#include "cuda/inplace/lower_groups.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "plan/cuda/inplace/skinny.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// How many more cycles than one shared memory takes for words one after another of structures,
// fields lying `pitch` bytes apart: the most over where a warp, which begins with a line, finds
// itself in a structure, or `enough` if they are not fewer.
std::int64_t conflicts_of(const SkinnyMatrix& matrix, std::int64_t word, std::int64_t address,
                          std::int64_t pitch, std::int64_t enough) {
  const std::int64_t words = matrix.element_bytes / word;
  const std::int64_t lanes = std::min<std::int64_t>(kSharedLineBytes / word, kWarpSize);
  const std::int64_t apart = std::gcd(std::gcd(matrix.fields * words, lanes), address / word);
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < matrix.fields * words && most < enough; first += apart) {
    std::array<std::int64_t, kSharedLineBytes / kBankBytes> words_of_bank{};
    std::array<std::int64_t, kWarpSize> seen{};
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t element = (first + lane) / words;
      const std::int64_t slot = element % matrix.fields * pitch +
                                element / matrix.fields * matrix.element_bytes +
                                (first + lane) % words * word;
      const auto end = seen.begin() + lane;
      seen[static_cast<std::size_t>(lane)] = slot / kBankBytes;
      if (std::find(seen.begin(), end, slot / kBankBytes) != end) continue;
      auto& count = words_of_bank[static_cast<std::size_t>(slot % kSharedLineBytes / kBankBytes)];
      most = std::max(most, count++);
    }
  }
  return most;
}

// The distance of fields in shared memory with the fewest conflicts.
std::int64_t skinny_pitch(const SkinnyMatrix& matrix, std::int64_t word, std::int64_t address) {
  const std::int64_t grain = std::max(word, kBankBytes);
  const std::int64_t least = ceil_div(matrix.cell_bytes() - matrix.gap_bytes(), grain) * grain;
  std::int64_t best = least;
  std::int64_t fewest = kWarpSize;
  for (std::int64_t pitch = least; pitch < least + kSharedLineBytes && fewest > 0; pitch += grain) {
    const std::int64_t conflicts = conflicts_of(matrix, word, address, pitch, fewest);
    if (conflicts >= fewest) continue;
    fewest = conflicts;
    best = pitch;
  }
  return best;
}

class SkinnyLowering {
 public:
  SkinnyLowering(const InplaceStep& step, std::int64_t address)
      : matrix_(step),
        address_(address),
        word_(common_power(step.element_bytes | address, kMaxAccessBytes)),
        words_(step.element_bytes / word_),
        layout_{.pieces = FastDivisor(matrix_.pieces),
                .matrix_bytes = matrix_.matrix_bytes(),
                .piece_bytes = matrix_.piece_bytes(),
                .cell_bytes = matrix_.cell_bytes(),
                .gap_bytes = matrix_.gap_bytes(),
                .fields = FastDivisor32(matrix_.fields),
                .element_words = FastDivisor32(words_)} {}

  std::vector<InplaceLaunch> all() const {
    std::vector<InplaceLaunch> launches;
    const auto append = [&](const std::vector<InplaceLaunch>& more) {
      launches.insert(launches.end(), more.begin(), more.end());
    };
    const auto move_cells = [&] {
      if (matrix_.is_whole()) return;
      const CellGaps gaps{.cells = matrix_.pieces, .bytes = matrix_.gap_bytes()};
      append(lower_cells(matrix_.cells(), address_, gaps));
    };
    if (!matrix_.is_tall) move_cells();
    if (matrix_.rest > 0) {
      append({{.launch = heads(false), .from = {}, .to = {.in_workspace = true}}});
    }
    append({{.launch = pieces()}});
    if (matrix_.rest > 0) {
      append({{.launch = heads(true), .from = {.in_workspace = true}, .to = {}}});
    }
    if (matrix_.is_tall) move_cells();
    return launches;
  }

 private:
  Launch pieces() const {
    const std::int64_t beyond_head = matrix_.length - matrix_.rest;
    const std::int64_t pitch = skinny_pitch(matrix_, word_, address_);
    const auto fields = std::bit_ceil(static_cast<std::uint64_t>(matrix_.fields));
    const std::int64_t threads_of_cell = std::max<std::int64_t>(
        SkinnyPolicy::kThreads / static_cast<std::int64_t>(fields), kWarpSize);
    const SkinnyArguments p{
        .layout = layout_,
        .phase = narrow32(address_ % kSharedLineBytes),
        .head_bytes = narrow32(matrix_.rest * matrix_.fields * matrix_.element_bytes),
        .skipped_bytes = narrow32(matrix_.gap_bytes()),
        .piece_words = narrow32(beyond_head * matrix_.fields * words_),
        .cell_words = narrow32(beyond_head * words_),
        .pitch = narrow32(pitch),
        .cell_shift = narrow32(std::countr_zero(static_cast<std::uint64_t>(threads_of_cell))),
        .forward = matrix_.is_tall};
    return launch(matrix_.batch * matrix_.pieces, matrix_.fields * pitch, p);
  }

  Launch heads(bool restores) const {
    const std::int64_t words = matrix_.heads_bytes() / word_;
    const SkinnyHeadsArguments p{.layout = layout_,
                                 .words = words,
                                 .head_words = FastDivisor(matrix_.rest * matrix_.fields * words_),
                                 .heads = FastDivisor(matrix_.pieces + 1),
                                 .element_bytes = narrow32(matrix_.element_bytes),
                                 .in_cells = restores == matrix_.is_tall,
                                 .restores = restores};
    return launch(ceil_div(words, SkinnyPolicy::kThreads), 0, p);
  }

  Launch launch(std::int64_t blocks, std::int64_t shared_bytes, const KernelArguments& p) const {
    return {.word_bytes = static_cast<int>(word_),
            .access = {},
            .blocks = blocks_of(blocks),
            .threads = SkinnyPolicy::kThreads,
            .shared_bytes = static_cast<int>(in_shared_lines(shared_bytes)),
            .arguments = p};
  }

  SkinnyMatrix matrix_;
  std::int64_t address_;
  std::int64_t word_;
  std::int64_t words_;  // of an element
  SkinnyLayout layout_;
};

}  // namespace

std::vector<InplaceLaunch> lower_skinny(const InplaceStep& step, std::int64_t address) {
  return SkinnyLowering(step, address).all();
}

}  // namespace ttlg::cuda
