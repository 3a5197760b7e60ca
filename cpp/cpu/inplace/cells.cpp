#include <algorithm>

#include "cpu/inplace/kernels.hpp"
#include "cpu/inplace/matrix.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// A part of a cycle: from position `first` on, every position takes the cell that belongs there
// from the next one, and the last from where the first cell of another part is held.
struct Part {
  std::int64_t first;
  std::int64_t count;
  std::int64_t held;  // number of the part
};

class Cycles {
 public:
  Cycles(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
         const Kernels& table, const CellGaps& gaps)
      : matrix_{data, step.rows, step.columns, step.element_bytes},
        by_row_(step.rows),
        by_gap_(gaps.cells),
        gap_bytes_(gaps.bytes),
        layout_(step, threads),
        moved_(reinterpret_cast<std::uint64_t*>(workspace)),
        parts_(reinterpret_cast<Part*>(workspace + layout_.parts)),
        held_(workspace + layout_.held),
        threads_(threads),
        into_l2_(kPrefetchesIntoL2 && matrix_.bytes() > kMaxCachedBytes),
        copy_(table.copy) {}

  void run() {
    const std::int64_t cells = matrix_.rows * matrix_.columns;
    std::fill_n(moved_, ceil_div(cells, 64), 0);
    for (std::int64_t first = 0; first < cells; ++first) {
      if (!is_moved(first)) add_cycle(first);
    }
    move_parts();
  }

 private:
  bool is_moved(std::int64_t cell) const { return (moved_[cell / 64] >> (cell % 64) & 1) != 0; }

  // Where the cell lies that belongs to this position.
  std::int64_t source(std::int64_t position) const {
    const std::int64_t column = by_row_.quotient(position);
    return (position - column * matrix_.rows) * matrix_.columns + column;
  }

  // Cuts a cycle into parts of about the same length, a few for each thread.
  void add_cycle(std::int64_t first) {
    std::int64_t length = 0;
    std::int64_t at = first;
    do {
      moved_[at / 64] |= std::uint64_t{1} << (at % 64);
      at = source(at);
      ++length;
    } while (at != first);
    if (length == 1) return;
    const std::int64_t max_count = kPartsPerThread * threads_;
    if (count_ + max_count > layout_.max_parts) move_parts();
    const std::int64_t count = std::clamp<std::int64_t>(length / kMinPart, 1, max_count);
    for (std::int64_t part = 0; part < count; ++part) {
      const std::int64_t cells = length * (part + 1) / count - length * part / count;
      const std::int64_t next = part + 1 < count ? count_ + part + 1 : count_;
      parts_[count_ + part] = {at, cells, next};
      if (part + 1 < count) {
        for (std::int64_t k = 0; k < cells; ++k) at = source(at);
      }
    }
    count_ += count;
  }

  // Large cells are moved slice by slice, so that few bytes are held at a time.
  void move_parts() {
    if (count_ == 0) return;
    for (std::int64_t begin = 0; begin < matrix_.element_bytes; begin += layout_.slice) {
      const std::int64_t bytes = std::min(layout_.slice, matrix_.element_bytes - begin);
      for_parts(
          [&](std::int64_t part) { copy_(held(part), cell(parts_[part].first) + begin, bytes); });
      for_parts([&](std::int64_t part) { move_part(parts_[part], begin, bytes); });
    }
    count_ = 0;
  }

  void move_part(const Part& part, std::int64_t begin, std::int64_t bytes) const {
    std::int64_t at = part.first;
    std::int64_t requested = at;
    for (std::int64_t k = 0; k < (into_l2_ ? kAheadInL2 : kAheadInL1); k += bytes)
      requested = source(requested);
    for (std::int64_t k = 1; k < part.count; ++k) {
      requested = source(requested);
      const std::int64_t from = source(at);
      copy_cell(cell(at) + begin, cell(from) + begin, bytes, cell(requested) + begin);
      at = from;
    }
    copy_(cell(at) + begin, held(part.held), bytes);
  }

  // Requests a later cell meanwhile: into L2 all of it, into L1 its beginning, as hardware
  // prefetches the rest.
  void copy_cell(std::byte* to, const std::byte* from, std::int64_t bytes,
                 const std::byte* later) const {
    if (!into_l2_) {
      request<3>(later, std::min(bytes, kRequestBytes));
      copy_(to, from, bytes);
      return;
    }
    for (std::int64_t done = 0; done < bytes; done += kRequestBytes) {
      const std::int64_t some = std::min(kRequestBytes, bytes - done);
      request<2>(later + done, some);
      copy_(to + done, from + done, some);
    }
  }

  // Prefetches lines as __builtin_prefetch does.
  template <int kLocality>
  static void request(const std::byte* from, std::int64_t bytes) {
    for (std::int64_t line = 0; line < bytes; line += kLineBytes) {
      __builtin_prefetch(from + line, 0, kLocality);
    }
    __builtin_prefetch(from + bytes - 1, 0, kLocality);
  }

  template <typename Work>
  void for_parts(const Work& work) const {
    parallel_ranges(threads_, count_, kPartsPerThread, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) work(part);
    });
  }

  std::byte* cell(std::int64_t number) const {
    return matrix_.data + number * matrix_.element_bytes + by_gap_.quotient(number) * gap_bytes_;
  }
  std::byte* held(std::int64_t part) const { return held_ + part * layout_.slice; }

  static constexpr std::int64_t kPartsPerThread = CellsWorkspace::kPartsPerThread;
  static constexpr std::int64_t kMinPart = 32;         // cells
  static constexpr std::int64_t kAheadInL1 = 2 << 10;  // bytes of cells
  static constexpr std::int64_t kAheadInL2 = 4 << 10;
  static constexpr std::int64_t kRequestBytes = 512;

  const Matrix matrix_;
  const FastDivisor by_row_;
  const FastDivisor by_gap_;
  const std::int64_t gap_bytes_;
  const CellsWorkspace layout_;
  std::uint64_t* const moved_;
  Part* const parts_;
  std::byte* const held_;
  const int threads_;
  const bool into_l2_;  // whether cells are requested there
  const CopyKernel copy_;
  std::int64_t count_ = 0;  // of parts
};

}  // namespace

void transpose_cells(const InplaceStep& step, std::byte* data, std::byte* workspace, int threads,
                     const Kernels& table, const CellGaps& gaps) {
  const int each = threads_each(step, threads);
  for_matrices(step, data, workspace, CellsWorkspace(step, each).bytes, threads,
               [&](std::byte* matrix, std::byte* own) {
                 Cycles(step, matrix, own, each, table, gaps).run();
               });
}

}  // namespace ttlg::cpu
