#include "plan/cpu/model/count_terms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/block/runs.hpp"
#include "plan/cpu/block/tile_shape.hpp"
#include "plan/cpu/model/count_work.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cpu {
namespace {

// Where nothing is known of an array's address: NumPy's begin 16 bytes into a line.
constexpr std::int64_t kArrayAlignment = 16;

double in_lines(double bytes) { return bytes / as_double(kLineBytes); }

// The share of `amount` that is above the limit.
double excess(double amount, double limit) { return amount > limit ? 1 - limit / amount : 0; }

template <std::size_t kSize>
void add_above(std::array<double, kSize>& terms, const std::array<double, kSize>& limits,
               double unit, double amount, double weight) {
  for (std::size_t i = 0; i < kSize; ++i) terms[i] += weight * excess(amount, limits[i] * unit);
}

// Where powers of two in their strides put runs at the same place of an interleave, memory
// channels and sets of the caches stay unused: how often what is used was halved.
double halvings(const SideRuns& runs) {
  if (runs.distinct_offsets == runs.count) return 0;
  return std::max(
      0.0, -std::log2(as_double(runs.distinct_offsets * runs.bytes) / as_double(kPageBytes)));
}

// `bytes` are those of the side, of which this thread has `share`; `step` is what the innermost
// loop adds; `alignment` is that of the first run.
void count_side(SideTerms& terms, const SideRuns& runs, double bytes, int innermost,
                std::int64_t step, double share, std::int64_t alignment) {
  const double lines = in_lines(bytes) * share;
  const double per_byte = as_double(runs.total) / bytes;
  const double splits =
      as_double(runs.total) * share * (1 - as_double(alignment) / as_double(kLineBytes));
  const bool goes_on = runs.continues >= 0 && runs.continues == innermost;
  terms.lines += lines;
  (goes_on ? terms.shared : terms.split) += splits;
  for (std::size_t i = 0; i < kRunLimits.size(); ++i) {
    terms.run_below[i] += lines * std::min(1.0, kRunLimits[i] * per_byte);
  }
  add_above(terms.pages_above, kCountLimits, 1, as_double(runs.pages), lines);
  add_above(terms.rows_above, kCountLimits, 1, as_double(runs.count), lines);
  terms.aliasing += lines * halvings(runs);
  terms.conflicts +=
      lines * excess(as_double(runs.count) / as_double(runs.distinct_offsets), as_double(kWays));
  terms.new_pages += as_double(runs.total) / as_double(runs.count) * as_double(runs.pages) * share *
                     std::min(1.0, as_double(step) / as_double(kPageBytes));
}

// How much of what is used from call to call lies in L2, in the last-level cache and in memory.
// What takes half a cache begins to leave it; L2 has lost what takes twice its bytes, a last-level
// cache what takes 1.4 times its own. Every thread has an L2 of its own, for its part.
std::array<double, kReadLevels> shares_of_levels(double bytes, int threads,
                                                 const Machine& machine) {
  const auto beyond = [](double amount, std::int64_t cache, double octaves) {
    const double halves = 2 * amount / as_double(cache);
    return halves <= 1 ? 0.0 : std::min(std::log2(halves) / octaves, 1.0);
  };
  const double l2 = beyond(bytes / threads, machine.l2_cache_bytes, 2);
  const std::int64_t cached = std::max(
      std::min(machine.model.cached_bytes, machine.last_level_cache_bytes), machine.l2_cache_bytes);
  const double all = beyond(bytes, cached, 1.5);
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
        bytes_(as_double(folded.elements()) * as_double(folded.element_bytes)),
        owns_lines_(owns_lines(folded, parameters, machine)) {}

  void count(bool fresh, const BlockRuns* runs) {
    if (bytes_ == 0) return;
    count_blocks(runs);
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
      order_ = count_work(terms_, folded_, parameters_, machine_, share_);
      count_buffers();
      if (order_.row_bytes > 0) write_by_rows();
    }
    count_memory();
  }

 private:
  void count_blocks(const BlockRuns* runs) {
    if (parameters_.kernel == Kernel::copy) {
      blocks_ = ceil_div(static_cast<std::int64_t>(bytes_), parameters_.block.front());
      return;
    }
    if (parameters_.kernel == Kernel::reference) {
      in_.bytes = out_.bytes = folded_.element_bytes;
      in_.total = out_.total = folded_.elements();
      return;
    }
    const BlockRuns both = runs != nullptr ? *runs : block_runs(folded_, parameters_.block);
    in_ = both.in;
    out_ = both.out;
    blocks_ = both.blocks;
  }

  void count_copy() {
    const auto from = shares_of_levels(2 * bytes_, threads_, machine_);
    auto& lines = parameters_.streaming ? terms_.stream_copied : terms_.copied;
    for (std::size_t level = 0; level < from.size(); ++level) {
      lines[level] = from[level] * in_lines(bytes_) * share_;
    }
  }

  void count_memory() {
    const int innermost = parameters_.loop_order.empty() ? -1 : parameters_.loop_order.back();
    const double in_bytes = as_double(in_.total) * mean_in_bytes();
    const auto from =
        shares_of_levels(parameters_.streaming ? in_bytes : in_bytes + bytes_, threads_, machine_);
    count_side(terms_.read, in_, in_bytes, innermost, step_along(innermost, &Mode::in_byte_stride),
               share_, std::min(in_.alignment, kArrayAlignment));
    const std::int64_t alignment =
        std::min(out_.alignment, std::max(folded_.out_alignment, kArrayAlignment));
    count_side(terms_.written, out_, bytes_, innermost,
               step_along(innermost, &Mode::out_byte_stride), share_, alignment);
    const bool begin_at_lines =
        parameters_.kernel != Kernel::reference && can_begin_at_lines(folded_, parameters_.block);
    count_team(begin_at_lines || alignment == kLineBytes);
    terms_.written.conflicts *= order_.stores_a_line;
    if (begin_at_lines) {
      const auto fastest = static_cast<std::size_t>(folded_.perm.front());
      share_row_ends(ceil_div(folded_.modes[fastest].extent, parameters_.block[fastest]));
    } else if (owns_lines_) {
      terms_.overlap = share_row_ends(order_.row_blocks);
    }
    // 0, 1, 2 for 2 and 3, 3 for all from 4 on.
    const auto distance = static_cast<std::size_t>(
        std::min<int>(std::bit_width(static_cast<unsigned>(parameters_.prefetch)), 3));
    terms_.prefetched[distance] = terms_.read.lines;
    terms_.all_read = in_lines(in_bytes);
    terms_.all_written = in_lines(bytes_);
    terms_.read_from = from;
    if (parameters_.streaming) {
      terms_.written_to[parameters_.staged ? kReadLevels : kReadLevels + 1] = 1;
    } else {
      std::ranges::copy(from, terms_.written_to.begin());
    }
  }

  // The outermost loops are divided among the threads.
  void count_team(bool at_lines) {
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
      const bool ends_at_lines =
          at_lines && (folded_.out_alignment >= kLineBytes || mode == folded_.perm.front());
      if (!ends_at_lines && !owns_lines_) terms_.team_lines += rows;
    }
  }

  // Blocks share lines at the ends of whole rows only, of `row_blocks` blocks each. Returns how
  // many lines they would share otherwise.
  double share_row_ends(std::int64_t row_blocks) {
    SideTerms& written = terms_.written;
    const double at_all_ends = written.split + written.shared;
    written.split = at_all_ends / as_double(row_blocks);
    written.shared = 0;
    return at_all_ends - written.split;
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
    // Long elements are moved one after another, so that few lines must stay until another element
    // of the block needs them.
    const bool one_by_one = !parameters_.staged && folded_.element_bytes >= kDirectRunBytes;
    if (!one_by_one || parameters_.prefetch > 0) {
      add_above(parameters_.streaming ? terms_.streamed_block_above : terms_.block_above,
                kPartsOfL1, l1, block_bytes, lines);
    }
    const bool buffered =
        owns_lines_ && !order_.rows_alike && !carries_lines(machine_.vector_bytes);
    if (parameters_.staged || buffered) terms_.staged = lines;
    if (!parameters_.staged) return;
    const double staging = as_double(out_.count * (out_.bytes + kLineBytes));
    add_above(terms_.staging_above, kPartsOfL1, l1, staging, lines);
  }

  void write_by_rows() {
    if (order_.row_bytes < out_.bytes) {
      out_.total *= out_.bytes / order_.row_bytes;
      out_.bytes = order_.row_bytes;
    }
    out_.count = order_.rows;
    out_.distinct_offsets =
        std::min(order_.rows, kPageBytes / common_power(order_.row_step, kPageBytes));
    out_.pages = order_.row_step >= kPageBytes ? order_.rows : 1;
    if (owns_lines_ && !order_.rows_alike) terms_.carried_rows = as_double(out_.total) * share_;
  }

  Terms& terms_;
  const Problem& folded_;
  const Parameters& parameters_;
  const Machine& machine_;
  double bytes_;
  bool owns_lines_;
  int threads_ = 1;
  double share_ = 1;
  std::int64_t blocks_ = 1;
  WriteOrder order_;
  SideRuns in_;
  SideRuns out_;
};

}  // namespace

Terms count_terms(const Problem& folded, const Parameters& parameters, const Machine& machine,
                  bool fresh, const BlockRuns* runs) {
  Terms terms;
  Counter(folded, parameters, machine, terms).count(fresh, runs);
  return terms;
}

}  // namespace ttlg::cpu
