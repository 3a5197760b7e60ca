#include "plan/cpu/count_terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "plan/cpu/axis_split.hpp"
#include "plan/cpu/block.hpp"
#include "plan/cpu/pieces.hpp"
#include "plan/cpu/shuffle.hpp"
#include "plan/cpu/tile_shape.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Where arrays begin in their lines is not known beforehand; NumPy's begin 16 bytes into one.
constexpr std::int64_t kArrayAlignment = 16;

constexpr double kWays = 8;  // of a set of L1, as few as there are anywhere

double as_double(std::int64_t count) { return static_cast<double>(count); }

double in_lines(double bytes) { return bytes / as_double(kLineBytes); }

// The share of `amount` that is above the limit.
double excess(double amount, double limit) { return amount > limit ? 1 - limit / amount : 0; }

template <std::size_t kSize>
void add_above(std::array<double, kSize>& terms, const std::array<double, kSize>& limits,
               double unit, double amount, double weight) {
  for (std::size_t i = 0; i < kSize; ++i) terms[i] += weight * excess(amount, limits[i] * unit);
}

// Where powers of two in their strides put pieces at the same place of an interleave, memory
// channels and sets of the caches stay unused: how often what is used was halved.
double halvings(const Pieces& pieces) {
  if (pieces.distinct_offsets == pieces.count) return 0;
  return std::max(
      0.0, -std::log2(as_double(pieces.distinct_offsets * pieces.bytes) / as_double(kPageBytes)));
}

// `bytes` are those of the side, of which this thread has `share`; `step` is what the innermost
// loop adds; `shifted` where blocks begin at lines.
void count_side(SideTerms& terms, const Pieces& pieces, double bytes, int innermost,
                std::int64_t step, double share, bool shifted) {
  const double lines = in_lines(bytes) * share;
  const double per_byte = as_double(pieces.total) / bytes;
  const std::int64_t alignment = shifted ? kLineBytes : std::min(pieces.alignment, kArrayAlignment);
  const double splits =
      as_double(pieces.total) * share * (1 - as_double(alignment) / as_double(kLineBytes));
  const bool goes_on = pieces.continues >= 0 && pieces.continues == innermost;
  terms.lines += lines;
  (goes_on ? terms.shared : terms.split) += splits;
  for (std::size_t i = 0; i < kRunLimits.size(); ++i) {
    terms.run_below[i] += lines * std::min(1.0, kRunLimits[i] * per_byte);
  }
  add_above(terms.pages_above, kCountLimits, 1, as_double(pieces.pages), lines);
  add_above(terms.rows_above, kCountLimits, 1, as_double(pieces.count), lines);
  terms.aliasing += lines * halvings(pieces);
  terms.conflicts +=
      lines * excess(as_double(pieces.count) / as_double(pieces.distinct_offsets), kWays);
  terms.new_pages += as_double(pieces.total) / as_double(pieces.count) * as_double(pieces.pages) *
                     share * std::min(1.0, as_double(step) / as_double(kPageBytes));
}

// How much of what is used from call to call lies in L2, in the last-level cache and in memory.
// What takes half a cache begins to leave it; a last-level cache that is shared, and holds whatever
// is used most, gives way slowly.
std::array<double, kReadPlaces> places(double bytes, const Machine& machine) {
  const auto beyond = [&](std::int64_t cache, int halvings_wide) {
    const double halves = 2 * bytes / as_double(cache);
    if (halves <= 1) return 0.0;
    return halves < 1 << halvings_wide ? std::log2(halves) / halvings_wide : 1.0;
  };
  const double l2 = beyond(machine.l2_cache_bytes, 2);
  const double all = beyond(std::max(machine.model.cached_bytes, machine.l2_cache_bytes), 5);
  return {1 - l2, l2 * (1 - all), l2 * all};
}

// The part of the work that the busiest thread does.
double busiest(int threads, std::int64_t blocks, std::int64_t bytes) {
  const std::int64_t shares = threads * shares_per_thread(bytes, threads);
  if (shares > threads && blocks >= shares) return 1.0 / threads;
  return as_double(ceil_div(blocks, threads)) / as_double(blocks);
}

class Counter {
 public:
  Counter(const Problem& folded, const Parameters& parameters, const Machine& machine, Terms& terms)
      : terms_(terms),
        folded_(folded),
        parameters_(parameters),
        machine_(machine),
        bytes_(as_double(folded.elements()) * as_double(folded.element_bytes)) {}

  void count(bool fresh, const BlockPieces* pieces) {
    if (bytes_ == 0) return;
    count_blocks(pieces);
    threads_ = static_cast<int>(std::min<std::int64_t>(parameters_.threads, blocks_));
    share_ = busiest(threads_, blocks_, static_cast<std::int64_t>(bytes_));
    terms_.team = threads_ > 1 ? std::log2(threads_) : 0;
    terms_.blocks = as_double(blocks_) * share_;
    terms_.fresh_pages = fresh ? bytes_ / as_double(kPageBytes) * share_ : 0;
    if (parameters_.kernel == Kernel::copy) {
      count_copy();
      return;
    }
    if (parameters_.kernel == Kernel::reference) {
      terms_.calls = as_double(folded_.elements());
    } else {
      count_buffers();
      if (parameters_.kernel == Kernel::shuffle) {
        count_shuffle();
      } else {
        count_kernel();
      }
    }
    count_memory();
  }

 private:
  void count_blocks(const BlockPieces* pieces) {
    if (parameters_.kernel == Kernel::copy) {
      blocks_ = ceil_div(static_cast<std::int64_t>(bytes_), parameters_.block.front());
      return;
    }
    if (parameters_.kernel == Kernel::reference) {
      in_.bytes = out_.bytes = folded_.element_bytes;
      in_.total = out_.total = folded_.elements();
      return;
    }
    const BlockPieces both = pieces != nullptr ? *pieces : block_pieces(folded_, parameters_.block);
    in_ = both.in;
    out_ = both.out;
    blocks_ = both.blocks;
  }

  void count_copy() {
    const auto from = places(2 * bytes_, machine_);
    auto& lines = parameters_.streaming ? terms_.stream_copied : terms_.copied;
    for (std::size_t place = 0; place < from.size(); ++place) {
      lines[place] = from[place] * in_lines(bytes_) * share_;
    }
  }

  void count_memory() {
    const int innermost = parameters_.loop_order.empty() ? -1 : parameters_.loop_order.back();
    const double in_bytes = as_double(in_.total) * mean_in_bytes();
    const auto from = places(parameters_.streaming ? in_bytes : in_bytes + bytes_, machine_);
    count_side(terms_.read, in_, in_bytes, innermost, step_along(innermost, &Mode::in_byte_stride),
               share_, false);
    const bool shifted =
        parameters_.kernel != Kernel::reference && can_begin_at_lines(folded_, parameters_.block);
    count_side(terms_.written, out_, bytes_, innermost,
               step_along(innermost, &Mode::out_byte_stride), share_, shifted);
    count_team(shifted);
    terms_.written.conflicts *= stores_a_line_;
    if (owns_lines()) own_lines();
    // 0, 1, 2 for 2 and 3, 3 for all from 4 on.
    const auto distance = static_cast<std::size_t>(
        std::min<int>(std::bit_width(static_cast<unsigned>(parameters_.prefetch)), 3));
    terms_.prefetched[distance] = terms_.read.lines;
    terms_.all_read = in_lines(in_bytes);
    terms_.all_written = in_lines(bytes_);
    terms_.read_from = from;
    if (parameters_.streaming) {
      terms_.written_to[parameters_.staged ? kReadPlaces : kReadPlaces + 1] = 1;
    } else {
      std::ranges::copy(from, terms_.written_to.begin());
    }
  }

  // The outermost loops are divided among the threads.
  void count_team(bool shifted) {
    double undivided = threads_;
    for (const int mode : parameters_.loop_order) {
      if (undivided <= 1) return;
      const auto m = static_cast<std::size_t>(mode);
      const double blocks = as_double(ceil_div(folded_.modes[m].extent, parameters_.block[m]));
      const double parts = std::min(undivided, blocks);
      undivided /= parts;
      const double rows =
          (parts - 1) * bytes_ /
          as_double(folded_.modes[m].extent * std::abs(folded_.modes[m].out_byte_stride));
      terms_.team_rows += rows;
      const bool ends_at_lines = shifted && mode == folded_.perm.front();
      if (!ends_at_lines && !owns_lines()) terms_.team_lines += rows;
    }
  }

  // Streamed directly, blocks share lines at the ends of whole rows only.
  bool owns_lines() const {
    return parameters_.streaming && !parameters_.staged && folded_.element_bytes < kDirectRunBytes;
  }

  void own_lines() {
    SideTerms& written = terms_.written;
    const double at_all_ends = written.split + written.shared;
    written.split = at_all_ends / as_double(row_blocks_);
    written.shared = 0;
    terms_.overlap = at_all_ends - written.split;
  }

  std::int64_t step_along(int loop, std::int64_t Mode::* stride) const {
    if (loop < 0) return 0;
    const auto m = static_cast<std::size_t>(loop);
    return parameters_.block[m] * std::abs(folded_.modes[m].*stride);
  }

  // Blocks at the end of a mode are shorter.
  double mean_in_bytes() const {
    double mean = as_double(in_.bytes);
    if (in_.continues < 0) return mean;
    const auto m = static_cast<std::size_t>(in_.continues);
    const double extent = as_double(folded_.modes[m].extent);
    const std::int64_t block = parameters_.block[m];
    return mean * extent / as_double(block * ceil_div(folded_.modes[m].extent, block));
  }

  void count_buffers() {
    const double lines = in_lines(bytes_) * share_;
    double block_bytes = as_double(folded_.element_bytes);
    for (const std::int64_t extent : parameters_.block) block_bytes *= as_double(extent);
    const double l1 = as_double(machine_.l1_cache_bytes);
    add_above(parameters_.streaming ? terms_.streamed_block_above : terms_.block_above, kPartsOfL1,
              l1, block_bytes, lines);
    if (!parameters_.staged) return;
    terms_.staged = lines;
    const double stage = as_double(out_.count * (out_.bytes + kLineBytes));
    add_above(terms_.stage_above, kPartsOfL1, l1, stage, lines);
  }

  // A side of a shuffle's tile: the vectors that cover its runs, and the bytes of a run.
  struct TileSide {
    std::int64_t run = 1;
    std::int64_t runs = 1;

    std::int64_t vectors() const { return runs * ceil_div(run, kLaneBytes); }
  };

  TileSide tile_side(std::span<const std::int64_t> tile, std::span<const int> order,
                     std::int64_t Mode::* step) const {
    TileSide side{.run = folded_.element_bytes};
    for (const int index : order) {
      const auto m = static_cast<std::size_t>(index);
      (folded_.modes[m].*step == side.run ? side.run : side.runs) *= tile[m];
    }
    return side;
  }

  void count_shuffle() {
    const std::vector<std::int64_t> tile = shuffle_tile(folded_);
    double tiles = 1;
    std::int64_t elements = 1;
    for (std::size_t m = 0; m < tile.size(); ++m) {
      const std::int64_t block = parameters_.block[m];
      const std::int64_t extent = folded_.modes[m].extent;
      tiles *=
          as_double(extent / block * ceil_div(block, tile[m]) + ceil_div(extent % block, tile[m]));
      elements *= tile[m];
    }
    const std::int64_t loads =
        tile_side(tile, identity_order(tile.size()), &Mode::in_byte_stride).vectors();
    const std::int64_t stores = tile_side(tile, folded_.perm, &Mode::out_byte_stride).vectors();
    const double groups = tiles * as_double(kLaneBytes) / machine_.vector_bytes * share_;
    terms_.shuffle_moves = groups * as_double(loads + stores);
    if (std::has_single_bit(static_cast<std::uint64_t>(elements))) {
      terms_.shuffle_rounds = groups * as_double(loads) * std::log2(as_double(loads));
    } else {
      terms_.shuffle_terms =
          groups * as_double(stores * std::min(loads, 2 * kLaneBytes / folded_.element_bytes));
    }
  }

  void count_kernel() {
    const bool tiled = parameters_.kernel == Kernel::tile;
    const BlockModes block_modes(folded_, parameters_.block);
    const std::span<const BlockMode> modes = block_modes.list();
    const AxisModes axes = split_axes(modes, block_modes.in_order(), folded_.element_bytes,
                                      axis_split_of(parameters_));
    std::int64_t outside = 1;
    for (const std::uint8_t m : axes.rest.list()) outside *= modes[m].extent;
    for (std::size_t m = 0; m < folded_.modes.size(); ++m) {
      if (parameters_.block[m] == 1) outside *= folded_.modes[m].extent;
    }
    const Span in = span_of(axes.in, modes);
    const Span out = span_of(axes.out, modes);
    row_blocks_ = out.blocks;
    terms_.calls = as_double(outside * in.blocks * out.blocks) * share_;
    const TileShape shape = tiled ? tile_shape(machine_.vector_bytes, folded_.element_bytes,
                                               in.elements * folded_.element_bytes,
                                               out.elements * folded_.element_bytes)
                                  : TileShape{};
    if (shape.kind != TileKind::none) {
      const double tiles =
          as_double(outside) * as_double(in.pieces(shape.in) * out.pieces(shape.out));
      const double each = in_lines(as_double(shape.in * shape.out * folded_.element_bytes));
      auto& of_kind = shape.kind == TileKind::wide     ? terms_.wide_tiles
                      : shape.kind == TileKind::narrow ? terms_.narrow_tiles
                                                       : terms_.lane_tiles;
      of_kind[width()] = tiles * each * share_;
      if (!parameters_.staged) {
        stores_a_line_ = std::max(1.0, 1 / in_lines(as_double(shape.out * folded_.element_bytes)));
        const auto rows = axes.in.list();  // none where a vector holds one element
        write_by_rows(out.elements * folded_.element_bytes, in.elements,
                      rows.empty() ? 0 : modes[rows.front()].out_step);
      }
      return;
    }
    const double elements = as_double(folded_.elements()) * share_;
    terms_.elements = elements;
    const bool odd = !is_vector_width(folded_.element_bytes) && folded_.element_bytes < kLineBytes;
    terms_.odd_elements = odd ? elements : 0;
    terms_.streamed_elements = owns_lines() ? elements : 0;
    terms_.vectors = elements * as_double(ceil_div(folded_.element_bytes, machine_.vector_bytes));
    terms_.loops = elements / as_double(std::max(in.elements, out.elements));
  }

  // Tiles sweep over the rows of the in axis: what is one piece in memory is not written as one,
  // and these rows are what shares the sets of L1.
  void write_by_rows(std::int64_t row_bytes, std::int64_t rows, std::int64_t step) {
    if (row_bytes < out_.bytes) {
      out_.total *= out_.bytes / row_bytes;
      out_.bytes = row_bytes;
    }
    out_.count = rows;
    out_.distinct_offsets = std::min(rows, kPageBytes / common_power(step, kPageBytes));
    out_.pages = step >= kPageBytes ? rows : 1;
  }

  // An axis: its elements in a full block, and how the blocks along it are cut.
  struct Span {
    std::int64_t elements = 1;
    std::int64_t inner = 1;   // elements of the modes before the cut one
    std::int64_t extent = 1;  // of the last mode, and of a block along it
    std::int64_t block = 1;
    std::int64_t blocks = 1;

    // Tiles of so many elements that cover the axis, block by block.
    std::int64_t pieces(std::int64_t step) const {
      if (block == extent) return ceil_div(inner * block, step);
      const std::int64_t rest = extent % block;
      return extent / block * ceil_div(inner * block, step) + ceil_div(inner * rest, step);
    }
  };

  static Span span_of(const ModeNumbers& axis, std::span<const BlockMode> modes) {
    Span span;
    for (const std::uint8_t m : axis.list()) {
      span.inner = span.elements;
      span.elements *= modes[m].block;
      span.extent = modes[m].extent;
      span.block = modes[m].block;
      if (span.block < span.extent) span.blocks *= ceil_div(span.extent, span.block);
    }
    return span;
  }

  std::size_t width() const {
    return static_cast<std::size_t>(
        std::countr_zero(static_cast<std::uint64_t>(folded_.element_bytes)));
  }

  Terms& terms_;
  const Problem& folded_;
  const Parameters& parameters_;
  const Machine& machine_;
  double bytes_;
  int threads_ = 1;
  double share_ = 1;
  std::int64_t blocks_ = 1;
  std::int64_t row_blocks_ = 1;  // that follow one another along the out axis
  double stores_a_line_ = 1;     // of tiles, each of which misses where rows share sets
  Pieces in_;
  Pieces out_;
};

}  // namespace

Terms count_terms(const Problem& folded, const Parameters& parameters, const Machine& machine,
                  bool fresh, const BlockPieces* pieces) {
  Terms terms;
  Counter(folded, parameters, machine, terms).count(fresh, pieces);
  return terms;
}

}  // namespace ttlg::cpu
