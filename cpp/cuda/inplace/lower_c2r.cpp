#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>

#include "cuda/inplace/c2r.hpp"
#include "cuda/inplace/lower_groups.hpp"
#include "cuda/kernels/inplace/row_shuffle.hpp"
#include "cuda/lower_common.hpp"
#include "plan/cuda/layout/bank_conflicts.hpp"
#include "tensor/inplace_vector.hpp"
#include "tensor/integer.hpp"

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

// The swizzle with the fewest bank conflicts in a sample of the warps that access the elements of
// rows at their positions, in words of `word_bytes`, `in_word` elements after one another by each
// lane. All else of the arguments is known.
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

RowStep row_step(const PermutedMatrices& matrices, std::int64_t elements) {
  const C2r& c2r = matrices.c2r;
  const std::int64_t rows = elements / c2r.n;
  const std::int64_t columns = elements % c2r.n;
  RowStep step{.column = narrow32(columns),
               .in_block = narrow32(columns % c2r.b),
               .rotated_row = {},
               .position = {},
               .row = {}};
  for (const int further : {0, 1}) {
    // A further row begins with block 0 again.
    const std::int64_t rotated_row =
        floor_mod(rows + columns / c2r.b + (further == 1 ? 1 - c2r.c : 0), c2r.m);
    const std::int64_t position = multiply_mod(columns, c2r.m % c2r.n, c2r.n) + rotated_row;
    step.rotated_row[further] = narrow32(rotated_row);
    for (const int unwound : {0, 1}) {
      step.position[unwound][further] = narrow32(floor_mod(position - unwound * c2r.m, c2r.n));
    }
    step.row[further] = narrow32((rows + further) * matrices.row_bytes());
  }
  return step;
}

// Elements of a word of both sides.
std::int64_t elements_of_word(const PermutedMatrices& matrices) {
  const bool aligned = (matrices.address | matrices.row_bytes()) % kBankBytes == 0;
  const bool is_word = matrices.element_bytes == matrices.word_bytes();
  return aligned && is_word ? std::max<std::int64_t>(kBankBytes / matrices.element_bytes, 1) : 1;
}

}  // namespace

bool is_supported(const PermutedMatrices& matrices) {
  return std::max(matrices.c2r.m, matrices.c2r.n) <= C2rPolicy::kMaxExtent &&
         matrices.element_bytes / matrices.word_bytes() <= C2rPolicy::kMaxWords;
}

bool rows_fit(const PermutedMatrices& matrices, std::int64_t on_chip_bytes) {
  return is_supported(matrices) &&
         RowShufflePolicy::shared_bytes(matrices.row_bytes()) <= on_chip_bytes;
}

Launch lower_row_shuffle(const PermutedMatrices& matrices, std::int64_t on_chip_bytes) {
  if (!rows_fit(matrices, on_chip_bytes)) {
    throw std::invalid_argument("a row does not fit into shared memory");
  }
  const C2r& c2r = matrices.c2r;
  const std::int64_t rows = matrices.batch * c2r.m;
  const std::int64_t block_bytes =
      std::min(RowShufflePolicy::kBlockBytes, on_chip_bytes - kSharedLineBytes - kBankBytes);
  const std::int64_t rows_of_block =
      std::min(std::max<std::int64_t>(block_bytes / matrices.row_bytes(), 1), rows);
  const std::int64_t bytes = rows_of_block * matrices.row_bytes();
  const std::int64_t words = matrices.element_bytes / matrices.word_bytes();
  const std::int64_t in_word = elements_of_word(matrices);
  const int threads = threads_of(bytes, words);
  const std::int64_t blocks = ceil_div(rows, rows_of_block);
  const std::int64_t last_rows = rows - (blocks - 1) * rows_of_block;
  const std::int64_t at_once = threads / words * in_word;
  RowShuffleArguments p{.rows = rows,
                        .height = FastDivisor(c2r.m),
                        .width = FastDivisor(c2r.n),
                        .block = FastDivisor32(c2r.b),
                        .stride = narrow32(c2r.m % c2r.n),
                        .element_bytes = narrow32(matrices.element_bytes),
                        .element_words = FastDivisor32(words),
                        .rows_of_block = narrow32(rows_of_block),
                        .address = narrow32(matrices.address % kSharedLineBytes),
                        .swizzle = {},
                        .whole_iterations = narrow32(rows_of_block * c2r.n / at_once),
                        .last_iterations = narrow32(last_rows * c2r.n / at_once),
                        .threads = narrow32(threads),
                        .forward = matrices.forward,
                        .elements_at_once = narrow32(at_once),
                        .step = row_step(matrices, at_once - in_word + 1),
                        .next = row_step(matrices, 1)};
  const auto word_bytes = static_cast<int>(matrices.word_bytes());
  p.swizzle = choose_swizzle(p, word_bytes, narrow32(in_word));
  return {.word_bytes = word_bytes,
          .access = {.vector_in = in_word > 1, .vector_out = in_word > 1},
          .blocks = blocks_of(blocks),
          .threads = threads,
          .shared_bytes = static_cast<int>(RowShufflePolicy::shared_bytes(bytes)),
          .arguments = p};
}

namespace {

// Columns of a group, if there were shared memory for all of them: about a line, or more if columns
// are short.
std::int64_t columns_wanted(const PermutedMatrices& matrices) {
  const std::int64_t size = matrices.element_bytes;
  const std::int64_t line = ColumnShufflePolicy::kGroupBytes / size;
  std::int64_t columns = std::max<std::int64_t>(C2rPolicy::in_sectors(line, size), 1);
  while (2 * columns * size * matrices.c2r.m <= ColumnShufflePolicy::kMaxGroupBytes &&
         2 * columns * size <= ColumnShufflePolicy::kMaxRowWords * matrices.word_bytes()) {
    columns *= 2;
  }
  return std::min(columns, matrices.c2r.n);
}

// As many of them as leave room for another group, but for the sake of that not fewer than half a
// line; or else as many as fit.
std::int64_t columns_of_group(const PermutedMatrices& matrices, std::int64_t on_chip_bytes) {
  const std::int64_t size = matrices.element_bytes;
  const std::int64_t wanted = columns_wanted(matrices);
  const auto fitting = [&](std::int64_t bytes) {
    const std::int64_t lines = bytes / kSharedLineBytes * kSharedLineBytes;
    const std::int64_t columns = lines / (size * matrices.c2r.m);
    return columns >= wanted ? wanted : C2rPolicy::in_sectors(columns, size);
  };
  const std::int64_t half = fitting(on_chip_bytes / 2);
  const bool suffices = half == wanted || half * size >= ColumnShufflePolicy::kGroupBytes / 2;
  return suffices && half > 0 ? half : fitting(on_chip_bytes);
}

RowSequence row_sequence(const PermutedMatrices& matrices, bool in_order_of_q, std::int64_t rows,
                         std::int64_t pitch) {
  const C2r& c2r = matrices.c2r;
  const std::int64_t factor = in_order_of_q ? c2r.n % c2r.m : 1 % c2r.m;
  const std::int64_t period = in_order_of_q ? c2r.a : C2rPolicy::kMaxExtent;
  const std::int64_t step = multiply_mod(rows % c2r.m, factor, c2r.m) - rows / period;
  return {.factor = narrow32(factor),
          .period = FastDivisor32(period),
          .in_period = narrow32(rows % period),
          .offset = {narrow32(floor_mod(step, c2r.m) * pitch),
                     narrow32(floor_mod(step - 1, c2r.m) * pitch)}};
}

RowShare row_share(const PermutedMatrices& matrices, bool in_order_of_q, int threads,
                   std::int64_t access_bytes, std::int64_t group_bytes) {
  const std::int64_t accesses = group_bytes / access_bytes;
  const std::int64_t rows = threads / accesses;
  return {.accesses = FastDivisor32(accesses),
          .rows = narrow32(rows),
          .iterations = narrow32(ceil_div(matrices.c2r.m, rows)),
          .sequence = row_sequence(matrices, in_order_of_q, rows, group_bytes)};
}

}  // namespace

bool columns_fit(const PermutedMatrices& matrices, std::int64_t on_chip_bytes) {
  return is_supported(matrices) &&
         ColumnShufflePolicy::min_shared_bytes(matrices.c2r.m, matrices.c2r.n,
                                               matrices.element_bytes) <= on_chip_bytes;
}

Launch lower_column_shuffle(const PermutedMatrices& matrices, ColumnPass pass,
                            std::int64_t on_chip_bytes) {
  const C2r& c2r = matrices.c2r;
  const std::int64_t size = matrices.element_bytes;
  const std::int64_t word = matrices.word_bytes();
  if (!columns_fit(matrices, on_chip_bytes)) {
    throw std::invalid_argument("the columns do not fit into shared memory");
  }
  const std::int64_t columns = columns_of_group(matrices, on_chip_bytes);
  const std::int64_t group_bytes = columns * size;
  const std::int64_t before = columns_before(matrices, columns);
  const std::int64_t groups = ceil_div(before + c2r.n, columns);
  const std::int64_t access = access_of_groups(matrices, columns, before);
  const int threads = threads_of(c2r.m * group_bytes, group_bytes / word);
  const bool shuffles = pass == ColumnPass::shuffle;
  const ColumnShuffleArguments p{
      .height = FastDivisor(c2r.m),

      .element_bytes = narrow32(size),
      .element_words = FastDivisor32(size / word),
      .row_bytes = matrices.row_bytes(),
      .matrix_bytes = matrices.matrix_bytes(),
      .groups = FastDivisor32(groups),
      .group_columns = narrow32(columns),
      .group_bytes = narrow32(group_bytes),
      .first_column = -before,
      .rotation_columns = FastDivisor32(shuffles ? 1 : c2r.b),
      .rotates_back = !matrices.forward,
      .lift = (ceil_div(c2r.n + C2rPolicy::kMaxThreads, c2r.m) + 1) * c2r.m,
      .access_bytes = narrow32(access),
      .fill = row_share(matrices, shuffles && !matrices.forward, threads, access, group_bytes),
      .drain = row_share(matrices, shuffles && matrices.forward, threads, word, group_bytes)};
  return {.word_bytes = static_cast<int>(word),
          .access = {},
          .blocks = blocks_of(checked_mul(matrices.batch, groups)),
          .threads = threads,
          .shared_bytes = static_cast<int>(ColumnShufflePolicy::shared_bytes(c2r.m, columns, size)),
          .arguments = p};
}

}  // namespace ttlg::cuda
