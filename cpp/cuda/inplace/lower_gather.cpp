#include <algorithm>
#include <stdexcept>

#include "cuda/inplace/c2r.hpp"
#include "cuda/inplace/lower_groups.hpp"
#include "cuda/lower.hpp"
#include "cuda/lower_common.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {
namespace {

// How many of `all` a launch takes that go into the workspace together, with that many blocks each.
std::int64_t at_once(std::int64_t all, std::int64_t bytes, std::int64_t blocks,
                     std::int64_t workspace_bytes) {
  if (workspace_bytes < bytes) throw std::invalid_argument("the workspace is too small");
  return std::max<std::int64_t>(std::min({all, workspace_bytes / bytes, kMaxGridBlocks / blocks}),
                                1);
}

InverseOrder inverse_order(const PermutedMatrices& matrices, bool is_inverse, std::int64_t rows) {
  const C2r& c2r = matrices.c2r;
  const std::int64_t c = is_inverse ? c2r.c : 1;
  const std::int64_t a = c2r.m / c;
  const std::int64_t b_inverse = is_inverse ? inverse_mod(c2r.b, a) : 1 % a;
  const auto in_a = [&](std::int64_t carry) {
    return narrow32(multiply_mod((rows / c + carry) % a, b_inverse, a));
  };
  return {.c = FastDivisor32(c),
          .a = FastDivisor(a),
          .b_inverse = narrow32(b_inverse),
          .in_c = narrow32(rows % c),
          .in_a = {in_a(0), in_a(1)}};
}

// Passes over groups of columns between the array and the workspace.
class GroupLowering {
 public:
  GroupLowering(const PermutedMatrices& matrices, std::int64_t workspace_bytes)
      : matrices_(matrices),
        columns_(ColumnGatherPolicy::group_columns(matrices.c2r.n, matrices.element_bytes)),
        bytes_(columns_ * matrices.element_bytes),
        before_(columns_before(matrices, columns_)),
        groups_(ceil_div(before_ + matrices.c2r.n, columns_)),
        access_(access_of_groups(matrices, columns_, before_)),
        // Tiles that are one row high are the most that there can be.
        at_once_(at_once(matrices.batch * groups_, matrices.c2r.m * bytes_, matrices.c2r.m,
                         workspace_bytes)) {}

  std::vector<InplaceLaunch> all(ColumnPass pass) const {
    const bool shuffles = pass == ColumnPass::shuffle;
    std::vector<InplaceLaunch> launches;
    const std::int64_t all_groups = matrices_.batch * groups_;
    for (std::int64_t first = 0; first < all_groups; first += at_once_) {
      const std::int64_t count = std::min(at_once_, all_groups - first);
      launches.push_back({.launch = lower({.in = array(),
                                           .out = workspace(),
                                           .first = first,
                                           .count = count,
                                           .word = matrices_.word_bytes(),
                                           .alike = shuffles ? 1 : matrices_.c2r.b,
                                           .permutes_in = shuffles && !matrices_.forward,
                                           .permutes_out = shuffles && matrices_.forward}),
                          .from = {},
                          .to = {.in_workspace = true}});
      launches.push_back({.launch = lower({.in = workspace(),
                                           .out = array(),
                                           .first = first,
                                           .count = count,
                                           .word = access_,
                                           .alike = C2rPolicy::kMaxExtent,
                                           .permutes_in = false,
                                           .permutes_out = false}),
                          .from = {.in_workspace = true},
                          .to = {}});
    }
    return launches;
  }

 private:
  struct Pass {
    GroupSide in;
    GroupSide out;
    std::int64_t first;  // of all matrices' groups
    std::int64_t count;
    std::int64_t word;   // in which rows are written
    std::int64_t alike;  // columns that are rotated alike
    bool permutes_in;
    bool permutes_out;
  };

  Launch lower(const Pass& pass) const {
    const C2r& c2r = matrices_.c2r;
    // Rotations among the columns of a group, at most.
    const std::int64_t rotations =
        columns_ == 1 ? 0 : std::min(columns_ - 1, (columns_ - 1) / pass.alike + 1);
    const std::int64_t max_rows =
        std::max<std::int64_t>(ColumnGatherPolicy::kTileBytes / bytes_ - rotations, 1);
    const std::int64_t rows = even_chunk(c2r.m, max_rows);
    const std::int64_t tiles = ceil_div(c2r.m, rows);
    const int threads = threads_of((rows + rotations) * bytes_, bytes_ / pass.word);
    // Words of several elements are only moved where these do not part.
    const std::int64_t words = std::max<std::int64_t>(matrices_.element_bytes / pass.word, 1);
    const ColumnGatherArguments p{.height = FastDivisor(c2r.m),
                                  .columns = narrow32(c2r.n),
                                  .element_bytes = narrow32(matrices_.element_bytes),
                                  .element_words = FastDivisor32(words),
                                  .groups = FastDivisor(groups_),
                                  .first_group = pass.first,
                                  .group_columns = narrow32(columns_),
                                  .group_bytes = narrow32(bytes_),
                                  .first_column = -before_,
                                  .in = pass.in,
                                  .out = pass.out,
                                  .tiles = FastDivisor32(tiles),
                                  .tile_rows = narrow32(rows),
                                  .rotation_columns = FastDivisor32(pass.alike),
                                  .rotates_back = !matrices_.forward,
                                  .lift = ceil_div(c2r.n, c2r.m) * c2r.m,
                                  .access_bytes = narrow32(access_),
                                  .fill = share(threads, access_, pass.permutes_in),
                                  .drain = share(threads, pass.word, pass.permutes_out)};
    return {.word_bytes = static_cast<int>(pass.word),
            .access = {},
            .blocks = narrow32(pass.count * tiles),
            .threads = threads,
            .shared_bytes = static_cast<int>(in_shared_lines((rows + rotations) * bytes_)),
            .arguments = p};
  }

  TileShare share(int threads, std::int64_t access_bytes, bool permutes) const {
    const std::int64_t accesses = bytes_ / access_bytes;
    const std::int64_t rows = threads / accesses;
    return {.accesses = FastDivisor32(accesses),
            .rows = FastDivisor32(rows),
            .order = inverse_order(matrices_, permutes, rows)};
  }

  GroupSide array() const {
    return {.first = -before_ * matrices_.element_bytes,
            .number_step = 0,
            .matrix_step = matrices_.matrix_bytes(),
            .group_step = bytes_,
            .row_step = matrices_.row_bytes()};
  }
  GroupSide workspace() const {
    return {.first = 0,
            .number_step = matrices_.c2r.m * bytes_,
            .matrix_step = 0,
            .group_step = 0,
            .row_step = bytes_};
  }

  const PermutedMatrices& matrices_;
  std::int64_t columns_;  // of a group
  std::int64_t bytes_;    // of its rows
  std::int64_t before_;
  std::int64_t groups_;  // of a matrix
  std::int64_t access_;  // bytes of the widest
  std::int64_t at_once_;
};

// Rows from the array into the workspace.
class RowLowering {
 public:
  explicit RowLowering(const PermutedMatrices& matrices)
      : matrices_(matrices),
        words_(matrices.element_bytes / matrices.word_bytes()),
        threads_(threads_of(0, std::max<std::int64_t>(words_, RowGatherPolicy::kThreads))),
        chunks_(ceil_div(matrices.c2r.n, threads_ / words_ * RowGatherPolicy::kBatch)) {}

  std::int64_t chunks() const { return chunks_; }

  Launch gather(std::int64_t first, std::int64_t rows) const {
    const C2r& c2r = matrices_.c2r;
    const RowGatherArguments p{.height = FastDivisor(c2r.m),
                               .width = FastDivisor(c2r.n),
                               .c = FastDivisor32(c2r.c),
                               .b = FastDivisor(c2r.b),
                               .block = FastDivisor32(c2r.b),
                               .a = narrow32(c2r.a),
                               .a_inverse = narrow32(c2r.a_inverse),
                               .stride = narrow32(c2r.m % c2r.n),
                               .first_row = first,
                               .chunks = FastDivisor32(chunks_),
                               .element_bytes = narrow32(matrices_.element_bytes),
                               .element_words = FastDivisor32(words_),
                               .elements_at_once = narrow32(threads_ / words_),
                               .forward = matrices_.forward};
    return {.word_bytes = static_cast<int>(matrices_.word_bytes()),
            .access = {},
            .blocks = narrow32(rows * chunks_),
            .threads = threads_,
            .shared_bytes = 0,
            .arguments = p};
  }

 private:
  const PermutedMatrices& matrices_;
  std::int64_t words_;  // of an element
  int threads_;
  std::int64_t chunks_;  // of a row
};

}  // namespace

std::vector<InplaceLaunch> lower_tall_columns(const PermutedMatrices& matrices, ColumnPass pass,
                                              std::int64_t workspace_bytes) {
  return GroupLowering(matrices, workspace_bytes).all(pass);
}

std::vector<InplaceLaunch> lower_long_rows(const PermutedMatrices& matrices,
                                           std::int64_t workspace_bytes) {
  const RowLowering lowering(matrices);
  const std::int64_t all = matrices.batch * matrices.c2r.m;
  const std::int64_t rows = at_once(all, matrices.row_bytes(), lowering.chunks(), workspace_bytes);
  std::vector<InplaceLaunch> launches;
  for (std::int64_t first = 0; first < all; first += rows) {
    const std::int64_t count = std::min(rows, all - first);
    const std::int64_t offset = first * matrices.row_bytes();
    launches.push_back({.launch = lowering.gather(first, count),
                        .from = {.in_workspace = false, .offset = offset},
                        .to = {.in_workspace = true}});
    launches.push_back(
        {.launch = lower_copy(count * matrices.row_bytes(), 0, matrices.address + offset),
         .from = {.in_workspace = true},
         .to = {.in_workspace = false, .offset = offset}});
  }
  return launches;
}

}  // namespace ttlg::cuda
