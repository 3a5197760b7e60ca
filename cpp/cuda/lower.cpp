#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "cuda/dispatch.hpp"
#include "plan/cuda/shared_layout.hpp"

namespace ttlg::cuda {
namespace {

// More launches than this for one transposition take longer than the work that they start.
constexpr std::int64_t kMaxLaunches = 1024;

std::int64_t address_of(const std::byte* pointer) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

std::uint32_t narrow32(std::int64_t value) { return static_cast<std::uint32_t>(value); }

// What is left of a mode for its last block.
std::int64_t last_block(std::int64_t extent, std::int64_t block) {
  return extent - (ceil_div(extent, block) - 1) * block;
}

class Lowering {
 public:
  Lowering(const cuda::Plan& plan, const std::byte* in, const std::byte* out)
      : words_(plan.words),
        chosen_(plan.parameters),
        skew_(plan.skew),
        extents_(slice_extents(words_, chosen_)),
        in_address_(address_of(in) + words_.in_byte_offset),
        out_address_(address_of(out) + words_.out_byte_offset),
        in_alignment_(common_power(in_address_, kVectorBytes)),
        out_alignment_(common_power(out_address_, kVectorBytes)) {
    if (chosen_.schema != Schema::copy &&
        std::min(in_alignment_, out_alignment_) < words_.element_bytes) {
      refuse_addresses();
    }
  }

  Launch launch() {
    switch (chosen_.schema) {
      case Schema::copy:
        lower_copy();
        break;
      case Schema::fvi_match_large:
        lower_match_large();
        break;
      case Schema::fvi_match_small:
        lower_match_small();
        break;
      case Schema::orthogonal_distinct:
        lower_distinct();
        break;
      case Schema::orthogonal_arbitrary:
        lower_arbitrary();
        break;
    }
    return std::move(launch_);
  }

 private:
  [[noreturn]] static void refuse_addresses() {
    throw std::invalid_argument(
        "x or out starts at an address that is a multiple of fewer bytes than this plan needs; "
        "make "
        "another for it, as ttlg.transpose does");
  }

  const Mode& mode(int m) const { return words_.modes[static_cast<std::size_t>(m)]; }
  std::int64_t extent(int m) const { return extents_[static_cast<std::size_t>(m)]; }
  int out_mode(int place) const { return words_.perm[static_cast<std::size_t>(place)]; }
  std::int64_t last_extent(int m) const { return last_block(mode(m).extent, extent(m)); }

  std::vector<int> in_axis() const {
    const auto modes = identity_order(static_cast<std::size_t>(chosen_.slice.in_modes));
    return {modes.begin(), modes.end()};
  }
  std::vector<int> out_axis() const {
    return {words_.perm.begin(), words_.perm.begin() + chosen_.slice.out_modes};
  }

  std::int64_t volume(std::span<const int> modes) const {
    std::int64_t product = 1;
    for (const int m : modes) product *= extent(m);
    return product;
  }

  // The volume in the last slice, which the last mode of an axis cuts.
  std::int64_t last_volume(std::span<const int> modes) const {
    if (modes.empty()) return 1;
    return volume(modes.first(modes.size() - 1)) * last_extent(modes.back());
  }

  // One side of the axis in units of `unit` bytes, modes that are contiguous there fused.
  template <typename Step>
  AxisSide<Step> side(std::span<const int> modes, std::int64_t Mode::* stride,
                      std::int64_t unit) const {
    AxisSide<Step> result{};
    std::int64_t last_extent = 1;
    std::int64_t last_step = 0;
    for (const int m : modes) {
      if (extent(m) == 1) continue;
      const std::int64_t step = mode(m).*stride / unit;
      if (last_extent > 1 && step == last_extent * last_step) {
        last_extent *= extent(m);
        continue;
      }
      if (last_extent > 1) {
        if (result.inner_modes == kAxisModes - 1) {
          throw std::invalid_argument("a slice combines too many modes");
        }
        result.extent[result.inner_modes] = FastDivisor32(last_extent);
        result.step[result.inner_modes++] = static_cast<Step>(last_step);
      }
      last_extent = extent(m);
      last_step = step;
    }
    result.last_step = static_cast<Step>(last_step);
    return result;
  }

  SliceExtents shape(std::span<const int> columns, std::span<const int> rows) const {
    return {.columns = narrow32(volume(columns)),
            .last_columns = narrow32(last_volume(columns)),
            .rows = narrow32(volume(rows)),
            .last_rows = narrow32(last_volume(rows))};
  }

  Coarsening coarsening_steps() const {
    if (chosen_.coarsened_mode < 0) return {.count = 1, .in_step = 0, .out_step = 0};
    const Mode& repeated = mode(chosen_.coarsened_mode);
    return {.count = narrow32(repeated.extent),
            .in_step = repeated.in_byte_stride,
            .out_step = repeated.out_byte_stride};
  }

  // Lays out the grid and returns its size; modes beyond `limit`, the slowest first, become
  // launches of their own.
  std::int64_t set_grid() {
    std::vector<GridLoop> loops = grid_loops(words_, chosen_);
    std::int64_t size = 1;
    std::size_t kept = 0;
    while (kept < loops.size() && loops[kept].count <= kMaxGridBlocks / size) {
      size *= loops[kept++].count;
    }
    std::int64_t launches = 1;
    for (const GridLoop& loop : std::span(loops).subspan(kept)) {
      launches = checked_mul(launches, loop.count);
    }
    if (kept < 2 || launches > kMaxLaunches) {
      throw std::invalid_argument("the slices of this plan are too small for its extents");
    }
    launch_.shifts = {Shift{.in = words_.in_byte_offset, .out = words_.out_byte_offset}};
    for (const GridLoop& loop : std::span(loops).subspan(kept)) {
      const std::vector<Shift> inner = launch_.shifts;
      for (std::int64_t i = 1; i < loop.count; ++i) {
        for (const Shift& shift : inner) {
          launch_.shifts.push_back(
              {shift.in + i * loop.in_byte_step, shift.out + i * loop.out_byte_step});
        }
      }
    }
    launch_.grid.modes = static_cast<int>(kept);
    for (std::size_t m = 0; m < kept; ++m) {
      launch_.grid.mode[m] = {.extent = FastDivisor32(loops[m].count),
                              .in_step = loops[m].in_byte_step,
                              .out_step = loops[m].out_byte_step};
    }
    return size;
  }

  std::int64_t run_word(std::int64_t chunk) const {
    return run_word_bytes(words_, chunk, in_alignment_ | out_alignment_);
  }

  void lower_copy() {
    const std::int64_t bytes = words_.bytes();
    const std::int64_t width = common_power(in_address_ ^ out_address_, kVectorBytes);
    const std::int64_t head = std::min(bytes, -out_address_ & (width - 1));
    const std::int64_t words = (bytes - head) / width;
    launch_.word_bytes = static_cast<int>(width);
    launch_.arguments = CopyArguments{.bytes = bytes, .head = head, .words = words};
    launch_.shifts = {{.in = words_.in_byte_offset, .out = words_.out_byte_offset}};
    const std::int64_t blocks =
        std::max<std::int64_t>(ceil_div(words, kBlockThreads * kCopyBatch), 1);
    if (blocks > kMaxGridBlocks) throw std::invalid_argument("too many bytes for one copy");
    launch_.blocks = narrow32(blocks);
  }

  void lower_match_large() {
    const std::int64_t chunk = extent(0);
    const std::int64_t width = run_word(chunk);
    const std::int64_t per_word = width / words_.element_bytes;
    const std::int64_t words = chunk / per_word;
    const std::int64_t runs = set_grid();
    const auto lanes = static_cast<unsigned>(run_lanes(words, width));
    const int shift = std::countr_zero(lanes);
    launch_.word_bytes = static_cast<int>(width);
    launch_.blocks = narrow32(ceil_div(runs, kBlockThreads >> shift));
    launch_.arguments = MatchLargeArguments{.coarsening = coarsening_steps(),
                                            .runs = narrow32(runs),
                                            .group_shift = shift,
                                            .words = narrow32(words),
                                            .last_words = narrow32(last_extent(0) / per_word),
                                            .in_word_step = mode(0).in_byte_stride * per_word,
                                            .out_word_step = mode(0).out_byte_stride * per_word};
  }

  void lower_match_small() {
    const std::int64_t width = run_word(extent(0));
    const std::int64_t per_word = width / words_.element_bytes;
    const std::int64_t run = extent(0) / per_word;
    const int column = 1;
    const int row = out_mode(1);
    const std::int64_t columns = extent(column);
    const std::int64_t rows = extent(row);
    // T-15 for words of any width: modulo all banks, a row starts where a run of the row before it
    // ends; for words narrower than a bank, at the first bank that such a run leaves free wherever
    // it starts.
    const std::int64_t run_bytes =
        width < 4 ? ceil_div(run * width + 4 - width, 4) * 4 : run * width;
    const std::int64_t row_bytes = columns * run * width;
    const std::int64_t pad = (run_bytes + kBankBytes - row_bytes % kBankBytes) % kBankBytes;
    const std::int64_t pitch = (row_bytes + pad) / width;
    launch_.blocks = narrow32(set_grid());
    launch_.word_bytes = static_cast<int>(width);
    launch_.shared_bytes = static_cast<int>(rows * pitch * width);
    launch_.arguments =
        MatchSmallArguments{.coarsening = coarsening_steps(),
                            .shape = {.columns = narrow32(columns),
                                      .last_columns = narrow32(last_extent(column)),
                                      .rows = narrow32(rows),
                                      .last_rows = narrow32(last_extent(row))},
                            .run = FastDivisor32(run),
                            .pitch = narrow32(pitch),
                            .in_word_step = mode(0).in_byte_stride * per_word,
                            .out_word_step = mode(0).out_byte_stride * per_word,
                            .in_column_step = mode(column).in_byte_stride,
                            .out_column_step = mode(column).out_byte_stride,
                            .in_row_step = mode(row).in_byte_stride,
                            .out_row_step = mode(row).out_byte_stride,
                            .in_chunks = FastDivisor32(ceil_div(columns * run, kWarpSize)),
                            .out_chunks = FastDivisor32(ceil_div(rows * run, kWarpSize))};
  }

  void lower_distinct() {
    const std::vector<int> columns = in_axis();
    const std::vector<int> rows = out_axis();
    set_access();
    launch_.blocks = narrow32(set_grid());
    launch_.shared_bytes =
        with_width(launch_, [](auto width) { return DistinctTile<width()>::kSharedBytes; });
    launch_.arguments =
        DistinctArguments{.coarsening = coarsening_steps(),
                          .shape = shape(columns, rows),
                          .column_in = side<std::int64_t>(columns, &Mode::in_byte_stride, 1),
                          .column_out = side<std::int64_t>(columns, &Mode::out_byte_stride, 1),
                          .row_in = side<std::int64_t>(rows, &Mode::in_byte_stride, 1),
                          .row_out = side<std::int64_t>(rows, &Mode::out_byte_stride, 1)};
  }

  void lower_arbitrary() {
    const std::vector<int> columns = in_axis();
    const std::vector<int> rows = rows_of(words_, chosen_.slice);
    const std::int64_t elements = volume(columns) * volume(rows);
    const std::vector<SliceMode> order = slice_in_output_order(words_, chosen_);
    const std::int64_t skew_row = skew_row_length(order);
    set_access();
    // Pointers may be aligned better than the skew was chosen for: its rows may part vectors.
    if (skew_.row > 0 && (skew_.row | skew_row) * words_.element_bytes % kVectorBytes != 0) {
      launch_.access.vector_in = false;
    }
    // Worse ones may leave a slice of packed elements to accesses that are too narrow for it.
    if (elements > arbitrary_slice_limit(words_.element_bytes, launch_.access)) refuse_addresses();
    launch_.blocks = narrow32(set_grid());
    ArbitraryArguments p{
        .coarsening = coarsening_steps(),
        .shape = shape(columns, rows),
        .row_length = FastDivisor32(volume(columns)),
        .column_in = side<std::int32_t>(columns, &Mode::in_byte_stride, words_.element_bytes),
        .row_in = side<std::int32_t>(rows, &Mode::in_byte_stride, words_.element_bytes),
        .modes = 0,
        .mode = {},
        .column_mode = -1,
        .row_mode = -1,
        .last_column_extent = 0,
        .last_row_extent = 0,
        .elements = narrow32(elements),
        .skew = skew_,
        .skew_row = FastDivisor32(skew_row)};
    for (const auto& [m, slice_extent, step] : order) {
      if (p.modes == kAxisModes) throw std::invalid_argument("a slice combines too many modes");
      p.mode[p.modes] = {.extent = FastDivisor32(slice_extent),
                         .slice_step = narrow32(step + step / skew_row * skew_.row),
                         .out_step = in_elements(mode(m).out_byte_stride)};
      if (!columns.empty() && m == columns.back()) {
        p.column_mode = p.modes;
        p.last_column_extent = narrow32(last_extent(m));
      }
      if (!rows.empty() && m == rows.back()) {
        p.row_mode = p.modes;
        p.last_row_extent = narrow32(last_extent(m));
      }
      ++p.modes;
    }
    launch_.threads = kArbitraryThreads;
    launch_.shared_bytes = static_cast<int>(
        ceil_div((elements + elements / skew_row * skew_.row) * words_.element_bytes, kBankBytes) *
        kBankBytes);
    launch_.arguments = p;
  }

  std::int32_t in_elements(std::int64_t byte_stride) const {
    return static_cast<std::int32_t>(byte_stride / words_.element_bytes);
  }

  void set_access() {
    launch_.word_bytes = static_cast<int>(words_.element_bytes);
    launch_.access = vector_access_of(words_, chosen_, in_alignment_, out_alignment_);
  }

  const Problem& words_;
  const cuda::Parameters& chosen_;
  Skew skew_;
  std::vector<std::int64_t> extents_;
  std::int64_t in_address_;
  std::int64_t out_address_;
  std::int64_t in_alignment_;
  std::int64_t out_alignment_;
  Launch launch_;
};

}  // namespace

Launch lower(const cuda::Plan& plan, const std::byte* in, const std::byte* out) {
  if (plan.words.elements() == 0) return {};
  return Lowering(plan, in, out).launch();
}

}  // namespace ttlg::cuda
