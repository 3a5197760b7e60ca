#include "plan/cpu/model/count_terms.hpp"

#include <algorithm>
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

// The part of `amount` that is above the limit.
double excess(double amount, double limit) { return amount > limit ? 1 - limit / amount : 0; }

// Counts of one side, whichever level its lines lie in.
struct SideCounts {
  double lines = 0;
  double split = 0;      // lines that two runs share, each visited at another time
  double continued = 0;  // the same where the next block goes on from this one
  double run_below_64 = 0;
  double run_below_512 = 0;
  double run_below_2048 = 0;
  double rows_above_16 = 0;
  double aliasing = 0;
  double conflicts = 0;
};

// Where powers of two in their strides put runs at the same place of an interleave, memory
// channels and sets of the caches stay unused: how often what is used was halved.
double halvings(const SideRuns& runs) {
  if (runs.distinct_offsets == runs.count) return 0;
  return std::max(
      0.0, -std::log2(as_double(runs.distinct_offsets * runs.bytes) / as_double(kPageBytes)));
}

// `bytes` are those of the side, of which this thread has `part`; `innermost` is the loop that the
// next block follows along; `alignment` is that of the first run.
SideCounts count_side(const SideRuns& runs, double bytes, int innermost, double part,
                      std::int64_t alignment) {
  SideCounts counts;
  const double lines = in_lines(bytes) * part;
  const double run_bytes = bytes / as_double(runs.total);
  const double splits =
      as_double(runs.total) * part * (1 - as_double(alignment) / as_double(kLineBytes));
  const bool goes_on = runs.continues >= 0 && runs.continues == innermost;
  counts.lines = lines;
  (goes_on ? counts.continued : counts.split) = splits;
  counts.run_below_64 = lines * std::min(1.0, 64 / run_bytes);
  counts.run_below_512 = lines * std::min(1.0, 512 / run_bytes);
  counts.run_below_2048 = lines * std::min(1.0, 2048 / run_bytes);
  counts.rows_above_16 = lines * excess(as_double(runs.count), 16);
  counts.aliasing = lines * halvings(runs);
  counts.conflicts =
      lines * excess(as_double(runs.count) / as_double(runs.distinct_offsets), as_double(kWays));
  return counts;
}

ByLevel times(const ByLevel& parts, double amount) {
  return {parts[0] * amount, parts[1] * amount, parts[2] * amount};
}

// How much of what is used from call to call lies in L2, in the last-level cache and in memory.
// What takes half a cache begins to leave it; L2 has lost what takes twice its bytes, a last-level
// cache what takes 1.4 times its own. Every thread has an L2 of its own, for its part.
ByLevel parts_of_levels(double bytes, int threads, const Machine& machine) {
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
        bytes_(as_double(folded.elements()) * as_double(folded.element_bytes())),
        out_bytes_(bytes_),
        owns_lines_(owns_lines(folded, parameters, machine)) {
    const auto& conversion = folded.conversion;
    if (!conversion) return;
    out_bytes_ = bytes_ / as_double(conversion->from_bytes) * as_double(conversion->to_bytes);
  }

  void count(bool fresh, const BlockRuns* runs) {
    if (bytes_ == 0) return;
    count_blocks(runs);
    threads_ = static_cast<int>(std::min<std::int64_t>(parameters_.threads, blocks_));
    part_ = busiest(threads_, blocks_, static_cast<std::int64_t>(bytes_));
    terms_.team = threads_ > 1 ? std::log2(threads_) : 0;
    terms_.blocks = as_double(blocks_) * part_;
    terms_.fresh_pages = fresh ? out_bytes_ / as_double(kPageBytes) * part_ : 0;
    if (parameters_.kernel == Kernel::copy) {
      count_copy();
    } else {
      if (parameters_.kernel == Kernel::reference) {
        terms_.calls = as_double(folded_.elements());
      } else {
        order_ = count_work(terms_, folded_, parameters_, machine_, part_);
        count_buffers();
        if (order_.row_bytes > 0) write_by_rows();
      }
      count_memory();
    }
    if (folded_.conversion) count_conversion(*folded_.conversion);
  }

 private:
  void count_blocks(const BlockRuns* runs) {
    if (parameters_.kernel == Kernel::copy) {
      blocks_ = ceil_div(static_cast<std::int64_t>(bytes_), parameters_.block.front());
      return;
    }
    if (parameters_.kernel == Kernel::reference) {
      in_.bytes = out_.bytes = folded_.element_bytes();
      in_.total = out_.total = folded_.elements();
      return;
    }
    const BlockRuns both = runs != nullptr ? *runs : block_runs(folded_, parameters_.block);
    in_ = both.in;
    out_ = both.out;
    blocks_ = both.blocks;
  }

  void count_copy() {
    (parameters_.streaming ? terms_.stream_copied : terms_.copied) =
        times(parts_of_levels(bytes_ + out_bytes_, threads_, machine_),
              in_lines(bytes_ + out_bytes_) / 2 * part_);
  }

  // Vectors of what is computed, and the output's lines where they are read, too.
  void count_conversion(const Conversion& conversion) {
    constexpr double kMovesOfConversion = 2;
    const double elements = bytes_ / as_double(conversion.from_bytes) * part_;
    const std::int64_t parts = is_complex(conversion.map.to) ? 2 : 1;
    const double vectors = elements * as_double(parts * bytes_of(conversion.map.computed_in())) /
                           machine_.vector_bytes;
    terms_.vectors += kMovesOfConversion * vectors;
    if (!conversion.map.accumulates) return;
    const ByLevel levels = parts_of_levels(bytes_ + out_bytes_, threads_, machine_);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      terms_.copied[i] += levels[i] * in_lines(out_bytes_) / 2 * part_;
    }
  }

  void count_memory() {
    const int innermost = parameters_.loop_order.empty() ? -1 : parameters_.loop_order.back();
    const double in_bytes = as_double(in_.total) * mean_in_bytes();
    const ByLevel of_both = parts_of_levels(in_bytes + out_bytes_, threads_, machine_);
    if (is_like_copy(of_both)) {
      count_like_copy(times(of_both, in_lines(in_bytes + bytes_) / 2 * part_));
      return;
    }
    const ByLevel levels =
        parameters_.streaming ? parts_of_levels(in_bytes, threads_, machine_) : of_both;
    // What is read for elements that are left out; all where prefetches run beside the hardware's.
    if (const double more = in_bytes - (is_run_in_order() ? 0 : bytes_); more > 0) {
      terms_.copied = times(levels, in_lines(more) / 2 * part_);
    }
    add_read(count_side(in_, in_bytes, innermost, part_, std::min(in_.alignment, kArrayAlignment)),
             levels);
    const std::int64_t alignment =
        std::min(out_.alignment, std::max(folded_.out_alignment, kArrayAlignment));
    SideCounts written = count_side(out_, out_bytes_, innermost, part_, alignment);
    const bool begin_at_lines =
        parameters_.kernel != Kernel::reference && can_begin_at_lines(folded_, parameters_.block);
    count_team(begin_at_lines || alignment == kLineBytes);
    written.conflicts *= order_.stores_a_line;
    if (begin_at_lines) {
      const auto fastest = static_cast<std::size_t>(folded_.perm.front());
      share_row_ends(written, ceil_div(folded_.modes[fastest].extent, parameters_.block[fastest]));
    } else if (owns_lines_) {
      share_row_ends(written, order_.row_blocks);
    }
    if (parameters_.streaming) {
      add_streamed(written);
    } else {
      add_written(written, levels);
    }
  }

  // Whether what a block reads is one run, in the order in which it is written.
  bool is_run_in_order() const {
    return parameters_.kernel != Kernel::reference && folded_.keeps_fastest_mode() &&
           in_.count == 1;
  }

  // Whether the same holds of what it writes, from registers, so that the hardware prefetches what
  // is read: forwards or backwards, but where it turns around at the end of each of many rows,
  // which come from memory or are streamed.
  bool is_like_copy(const ByLevel& levels) const {
    if (!is_run_in_order() || out_.count > 1 || parameters_.staged) return false;
    if (parameters_.streaming && !order_.makes_lines) return false;
    const bool waits = parameters_.streaming || levels[2] > 0.5;
    return (parameters_.prefetch > 0) == (mirrors_rows() && waits);
  }

  bool mirrors_rows() const {
    constexpr std::int64_t kLongRow = 16 * kPageBytes;
    for (std::size_t m = 1; m < folded_.modes.size(); ++m) {
      const std::int64_t step = folded_.modes[m].in_byte_stride;
      const bool turns = (step < 0) != (folded_.modes[m - 1].in_byte_stride < 0);
      if (turns && std::abs(step) > kLineBytes && std::abs(step) < kLongRow) return true;
    }
    return false;
  }

  // While lines come from memory, elements of others are moved.
  void count_like_copy(const ByLevel& lines) {
    constexpr double kMovesPerLine = 8;
    (parameters_.streaming ? terms_.stream_copied : terms_.copied) = lines;
    for (double* const moves : {&terms_.vectors, &terms_.generated_moves, &terms_.gathered_lines}) {
      *moves -= std::min(*moves, kMovesPerLine * lines[2]);
    }
  }

  void add_read(const SideCounts& read, const ByLevel& from) {
    if (parameters_.prefetch == 0) {
      terms_.read_memory_unprefetched = from[2] * read.lines;
    } else {
      (parameters_.prefetch == 1 ? terms_.read_prefetched_1 : terms_.read_prefetched_2) =
          times(from, read.lines);
    }
    terms_.read_split = times(from, read.split);
    terms_.read_run_below_64 = times(from, read.run_below_64);
    terms_.read_run_below_2048 = times(from, read.run_below_2048);
    terms_.read_memory_run_below_512 = from[2] * read.run_below_512;
    terms_.read_shared_aliasing = from[1] * read.aliasing;
    terms_.read_memory_aliasing = from[2] * read.aliasing;
    terms_.read_continued = read.continued;
  }

  void add_written(const SideCounts& written, const ByLevel& to) {
    terms_.written_lines = times(to, written.lines);
    terms_.written_rows_above_16 = times(to, written.rows_above_16);
    terms_.written_conflicts = written.conflicts;
    terms_.written_continued = written.continued;
  }

  void add_streamed(const SideCounts& written) {
    terms_.all_streamed = in_lines(out_bytes_);
    if (parameters_.staged) {
      terms_.written_staged_split = written.split;
      terms_.written_staged_run_below_64 = written.run_below_64;
    } else {
      terms_.written_direct_lines = written.lines;
      terms_.written_direct_split = written.split;
      terms_.written_direct_aliasing = written.aliasing;
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
      const bool ends_at_lines =
          at_lines && (folded_.out_alignment >= kLineBytes || mode == folded_.perm.front());
      if (!ends_at_lines && !owns_lines_) terms_.team_lines += rows;
    }
  }

  // Blocks share lines at the ends of whole rows only, of `row_blocks` blocks each.
  static void share_row_ends(SideCounts& written, std::int64_t row_blocks) {
    written.split = (written.split + written.continued) / as_double(row_blocks);
    written.continued = 0;
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
    const double lines = in_lines(bytes_) * part_;
    double block_bytes = as_double(folded_.element_bytes());
    for (const std::int64_t extent : parameters_.block) block_bytes *= as_double(extent);
    const double l1 = as_double(machine_.l1_cache_bytes);
    // Long elements are moved one after another, so that few lines must stay until another element
    // of the block needs them.
    const bool one_by_one = !parameters_.staged && folded_.element_bytes() >= kDirectRunBytes;
    if (parameters_.streaming && (!one_by_one || parameters_.prefetch > 0)) {
      terms_.streamed_block_above_twice_l1 = lines * excess(block_bytes, 2 * l1);
    }
    const bool buffered =
        owns_lines_ && !order_.rows_alike && !carries_lines(machine_.vector_bytes);
    if (parameters_.staged || buffered) terms_.staged = lines;
    if (!parameters_.staged) return;
    const double staging = as_double(out_.count * (out_.bytes + kLineBytes));
    terms_.stage_above_quarter_of_l1 = lines * excess(staging, l1 / 4);
  }

  void write_by_rows() {
    if (order_.row_bytes < out_.bytes) {
      out_.total *= out_.bytes / order_.row_bytes;
      out_.bytes = order_.row_bytes;
    }
    out_.count = order_.rows;
    out_.distinct_offsets =
        std::min(order_.rows, kPageBytes / common_power(order_.row_step, kPageBytes));
    if (owns_lines_ && !order_.rows_alike) terms_.carried_rows = as_double(out_.total) * part_;
  }

  Terms& terms_;
  const Problem& folded_;
  const Parameters& parameters_;
  const Machine& machine_;
  double bytes_;
  double out_bytes_;
  bool owns_lines_;
  int threads_ = 1;
  double part_ = 1;
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
