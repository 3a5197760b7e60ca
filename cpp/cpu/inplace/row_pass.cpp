#include <algorithm>
#include <array>

#include "cpu/inplace/passes.hpp"
#include "cpu/inplace/row_shuffle.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Longer rows would leave L2 before their turn.
constexpr std::int64_t kMaxPrefetchedBytes = 128 << 10;

class RowPass {
 public:
  explicit RowPass(const PermutedMatrix& permuted)
      : p_(permuted),
        c2r_(p_.c2r),
        block_bytes_(c2r_.b * p_.matrix.element_bytes),
        shuffle_(c2r_, p_.matrix.element_bytes, reinterpret_cast<std::int64_t*>(p_.workspace),
                 p_.table) {}

  // C2R rotates on the way: row i takes block q from row i + q, which is still as it was when rows
  // are taken upwards, unless it is the first of another part. R2C brings block q of row i to row
  // i + q, which has been taken when rows are taken downwards.
  void run() const {
    const bool holds = c2r_.c > 1 && !p_.apart;
    if (holds && p_.forward) for_parts([&](std::int64_t part) { hold_rows_after(part); });
    for_parts([&](std::int64_t part) { shuffle_rows(part); });
    if (holds && !p_.forward) for_parts([&](std::int64_t part) { release_rows_after(part); });
  }

 private:
  struct Rows {
    std::int64_t begin;
    std::int64_t end;
  };

  using Ranges = std::array<std::int64_t, kMaxFusedBlocks>;

  // A row, and where its part ends.
  struct Row {
    std::int64_t number;
    std::int64_t end;
    std::int64_t part;
  };

  // The next row is prefetched meanwhile.
  void shuffle_rows(std::int64_t part) const {
    const auto [begin, end] = rows_of(part);
    for (std::int64_t k = 0; k < end - begin; ++k) {
      const std::int64_t i = p_.forward ? begin + k : end - 1 - k;
      const std::int64_t next = p_.forward ? i + 1 : i - 1;
      Ranges ranges;
      BlockPipeline pipeline;
      if (begin <= next && next < end && p_.matrix.row_bytes() <= kMaxPrefetchedBytes) {
        pipeline.prefetches = taken_by({next, end, part}, ranges);
      }
      shuffle_row({i, end, part}, pipeline);
      p_.table.advance(pipeline, INT64_MAX);
    }
  }

  std::byte* held_of(std::int64_t part) const {
    return p_.workspace + p_.layout.first_thread + part * p_.layout.thread_bytes + p_.layout.held;
  }

  Rows rows_of(std::int64_t part) const {
    return {part * c2r_.m / p_.threads, (part + 1) * c2r_.m / p_.threads};
  }

  template <typename Work>
  void for_parts(const Work& work) const {
    parallel_ranges(p_.threads, p_.threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) work(part);
    });
  }

  // Calls visit(in the matrix, held, bytes) for row k after a part: blocks k + 1 and so on, which
  // rows of the part exchange with it.
  template <typename Visit>
  void for_held(std::int64_t part, const Visit& visit) const {
    const auto [begin, end] = rows_of(part);
    for (std::int64_t k = 0; k < c2r_.c - 1; ++k) {
      const std::int64_t blocks = std::min(c2r_.c - 1 - k, end - begin);
      visit(p_.matrix.at((end + k) % c2r_.m, (k + 1) * c2r_.b), held_at(part, k, k + 1),
            blocks * block_bytes_);
    }
  }
  void hold_rows_after(std::int64_t part) const {
    for_held(part, [](std::byte* row, std::byte* held, std::int64_t bytes) {
      std::copy_n(row, bytes, held);
    });
  }
  void release_rows_after(std::int64_t part) const {
    for_held(part, [](std::byte* row, std::byte* held, std::int64_t bytes) {
      std::copy_n(held, bytes, row);
    });
  }

  // Block q of row k after a part, k < q.
  std::byte* held_at(std::int64_t part, std::int64_t k, std::int64_t q) const {
    const std::int64_t rows_before = k * (c2r_.c - 1) - k * (k - 1) / 2;
    return held_of(part) + (rows_before + q - k - 1) * block_bytes_;
  }

  // Block q of row i + q, or where it is held.
  std::byte* rotated(const Row& row, std::int64_t q) const {
    const std::int64_t number = row.number + q;
    if (p_.apart) return p_.matrix.at(row.number, q * c2r_.b);
    return number < row.end ? p_.matrix.at(number, q * c2r_.b)
                            : held_at(row.part, number - row.end, q);
  }

  // What a row is made of in the matrix, to be prefetched: blocks of several rows, or all of one.
  // Blocks that are held are left out.
  PrefetchQueue taken_by(const Row& row, Ranges& ranges) const {
    const std::byte* const first = p_.matrix.at(row.number, 0);
    ranges[0] = 0;
    if (p_.apart || !p_.forward) {
      return {.next = first, .ranges = {ranges.data(), 1}, .range_bytes = p_.matrix.row_bytes()};
    }
    const std::int64_t blocks = std::min(c2r_.c, row.end - row.number);
    for (std::int64_t q = 1; q < blocks; ++q) {
      ranges[static_cast<std::size_t>(q)] = q * (p_.matrix.row_bytes() + block_bytes_);
    }
    return {.next = first,
            .ranges = {ranges.data(), static_cast<std::size_t>(blocks)},
            .range_bytes = block_bytes_};
  }

  // Blocks q, q + 1, ... of a row before the rotation, which are blocks f, f + 1, ... of its
  // shuffle and have the same rotation there.
  struct Blocks {
    std::int64_t q;
    std::int64_t f;
    std::int64_t count;
    std::int64_t rotation;
  };

  // Calls visit(blocks) for all blocks of a row, at most `max_count` at a time.
  template <typename Visit>
  void for_blocks(const Row& row, std::int64_t max_count, const Visit& visit) const {
    for (std::int64_t q = 0; q < c2r_.c;) {
      const std::int64_t from = (row.number + q) % c2r_.m;
      const std::int64_t f = from % c2r_.c;
      const std::int64_t rotation = multiply_mod(from / c2r_.c % c2r_.b, c2r_.a_inverse, c2r_.b);
      const std::int64_t count = std::min({max_count, c2r_.c - q, c2r_.c - f, c2r_.m - from});
      visit(Blocks{q, f, count, rotation});
      q += count;
    }
  }

  void shuffle_row(const Row& row, BlockPipeline& pipeline) const {
    std::byte* const in_matrix = p_.matrix.at(row.number, 0);
    std::byte* const buffer = p_.own_workspace();
    if (p_.forward) {
      shuffle_to_row(row, gathered(row, buffer + whole_lines(p_.matrix.row_bytes())), buffer,
                     pipeline);
      // A single block has not been rotated yet.
      const std::int64_t rotation = c2r_.c == 1 && !shuffle_.is_wide() ? row.number % c2r_.b : 0;
      move_rotated(buffer, in_matrix, c2r_.n, rotation);
    } else {
      shuffle_to_blocks(row, in_matrix, buffer, pipeline);
      for_blocks(row, at_once(), [&](const Blocks& some) {
        const std::byte* const block = buffer + offset(some);
        std::byte* const to = rotated(row, some.q);
        if (shuffle_.is_wide()) {
          std::copy_n(block, some.count * block_bytes_, to);
        } else {
          move_rotated(block, to, c2r_.b, some.rotation == 0 ? 0 : c2r_.b - some.rotation);
        }
      });
    }
  }

  // The blocks of a row before its shuffle, one after another: in the matrix where they are so
  // there.
  const std::byte* gathered(const Row& row, std::byte* buffer) const {
    if (c2r_.c == 1 || (p_.apart && shuffle_.is_wide())) return p_.matrix.at(row.number, 0);
    for_blocks(row, 1, [&](const Blocks& block) {
      const std::byte* const from = rotated(row, block.q);
      move_rotated(from, buffer + offset(block), c2r_.b, shuffle_.is_wide() ? 0 : block.rotation);
    });
    return buffer;
  }

  // Shuffles of wide blocks take them as they are in the row, others in the shuffle's order and
  // rotated like them.
  std::int64_t offset(const Blocks& some) const {
    return (shuffle_.is_wide() ? some.q : some.f) * block_bytes_;
  }

  void shuffle_to_row(const Row& row, const std::byte* blocks, std::byte* to,
                      BlockPipeline& pipeline) const {
    if (!shuffle_.is_wide()) return shuffle_.to_row(blocks, to, pipeline);
    for_blocks(row, c2r_.c, [&](const Blocks& some) {
      shuffle_.to_row(blocks + offset(some), to + some.f * p_.matrix.element_bytes, some.count,
                      some.rotation, pipeline);
    });
  }

  void shuffle_to_blocks(const Row& row, const std::byte* from, std::byte* blocks,
                         BlockPipeline& pipeline) const {
    if (!shuffle_.is_wide()) return shuffle_.to_blocks(from, blocks, pipeline);
    for_blocks(row, c2r_.c, [&](const Blocks& some) {
      shuffle_.to_blocks(from + some.f * p_.matrix.element_bytes, blocks + offset(some), some.count,
                         some.rotation, pipeline);
    });
  }

  std::int64_t at_once() const { return p_.apart && shuffle_.is_wide() ? c2r_.c : 1; }

  // Element k becomes element k + rotation modulo count.
  void move_rotated(const std::byte* from, std::byte* to, std::int64_t count,
                    std::int64_t rotation) const {
    const std::int64_t before = rotation * p_.matrix.element_bytes;
    const std::int64_t after = count * p_.matrix.element_bytes - before;
    std::copy_n(from, after, to + before);
    std::copy_n(from + after, before, to);
  }

  const PermutedMatrix& p_;
  const C2r& c2r_;
  const std::int64_t block_bytes_;
  const RowShuffle shuffle_;
};

}  // namespace

void pass_over_rows(const PermutedMatrix& permuted) { RowPass(permuted).run(); }

}  // namespace ttlg::cpu
