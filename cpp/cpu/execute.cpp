#include "cpu/execute.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/kernels.hpp"
#include "cpu/threads.hpp"

namespace ttlg::cpu {
namespace {

// What a thread needs to move blocks; built once per call, on the stack.
struct Mover {
  const Kernels& table;
  BlockKernel kernel;
  Block block;     // a full block
  bool staged;     // through the block buffer, then streamed row by row
  bool streaming;  // straight to the output, run by run
};

std::size_t width_index(std::int64_t bytes) {
  if (!is_vector_width(bytes)) return 5;
  return static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(bytes)));
}

Mover make_mover(const Plan& plan) {
  const Nest& nest = plan.nest;
  const Kernels& table = kernels();
  const std::size_t width = width_index(nest.element_bytes);
  return {
      .table = table,
      .kernel = plan.parameters.kernel == Kernel::tile ? table.tile[width] : table.run[width],
      .block = {.in_extent = plan.parameters.block_in,
                .out_extent = plan.parameters.block_out,
                .in_step_in = nest.in_mode.in_byte_stride,
                .in_step_out = nest.out_mode.in_byte_stride,
                .out_step_in = nest.in_mode.out_byte_stride,
                .out_step_out = nest.out_mode.out_byte_stride,
                .element_bytes = nest.element_bytes,
                .next = nullptr},
      .staged = is_staged(plan.parameters, nest.element_bytes),
      .streaming = plan.parameters.streaming,
  };
}

// The kernel lays the block out row by row in a buffer that stays in L1; whole lines then leave for
// memory whatever the alignment and length of the output's rows.
void move_staged(const Mover& mover, const std::byte* in, std::byte* out, const Block& block) {
  alignas(kLineBytes) std::byte staging[kStagingBytes];
  const std::int64_t row_bytes = block.out_extent * block.element_bytes;
  Block local = block;
  local.out_step_in = staging_pitch(row_bytes);
  local.out_step_out = block.element_bytes;
  mover.kernel(in, staging, local);
  for (std::int64_t i = 0; i < block.in_extent; ++i) {
    mover.table.stream(out + i * block.out_step_in, staging + i * local.out_step_in, row_bytes);
  }
}

void stream_runs(const Mover& mover, const std::byte* in, std::byte* out, const Block& block) {
  for (std::int64_t i = 0; i < block.in_extent; ++i) {
    for (std::int64_t j = 0; j < block.out_extent; ++j) {
      mover.table.stream(out + i * block.out_step_in + j * block.out_step_out,
                         in + i * block.in_step_in + j * block.in_step_out, block.element_bytes);
    }
  }
}

void move_block(const Mover& mover, const std::byte* in, std::byte* out, const Block& block) {
  if (mover.staged) {
    move_staged(mover, in, out, block);
  } else if (mover.streaming) {
    stream_runs(mover, in, out, block);
  } else {
    mover.kernel(in, out, block);
  }
}

// Position in the loop nest, stepped like an odometer.
class Odometer {
 public:
  Odometer(const Plan& plan, std::int64_t position) : loops_(plan.loops) {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      const std::int64_t rest = loops_[i].count.quotient(position);
      index_[i] = position - rest * loops_[i].count.divisor();
      position = rest;
      in_offset_ += index_[i] * loops_[i].in_byte_step;
      out_offset_ += index_[i] * loops_[i].out_byte_step;
    }
  }

  void step() {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      in_offset_ += loops_[i].in_byte_step;
      out_offset_ += loops_[i].out_byte_step;
      if (++index_[i] < loops_[i].count.divisor()) return;
      in_offset_ -= index_[i] * loops_[i].in_byte_step;
      out_offset_ -= index_[i] * loops_[i].out_byte_step;
      index_[i] = 0;
    }
  }

  std::int64_t index(int loop) const {
    return loop < 0 ? 0 : index_[static_cast<std::size_t>(loop)];
  }
  std::int64_t in_offset() const { return in_offset_; }
  std::int64_t out_offset() const { return out_offset_; }

 private:
  const std::vector<Loop>& loops_;
  std::array<std::int64_t, kMaxRank + 2> index_;
  std::int64_t in_offset_ = 0;
  std::int64_t out_offset_ = 0;
};

void move_blocks(const Plan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                 std::int64_t end) {
  const Mover mover = make_mover(plan);
  const Parameters& parameters = plan.parameters;
  Odometer at(plan, begin);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::byte* from = in + at.in_offset();
    std::byte* to = out + at.out_offset();
    Block block = mover.block;
    block.in_extent =
        std::min(parameters.block_in,
                 plan.nest.in_mode.extent - at.index(plan.in_loop) * parameters.block_in);
    block.out_extent =
        std::min(parameters.block_out,
                 plan.nest.out_mode.extent - at.index(plan.out_loop) * parameters.block_out);
    at.step();
    if (i + 1 < end) block.next = in + at.in_offset();
    move_block(mover, from, to, block);
  }
  if (parameters.streaming) mover.table.fence();
}

// One run, cut into chunks of block_out bytes.
void copy_chunks(const Plan& plan, const std::byte* in, std::byte* out, std::int64_t begin,
                 std::int64_t end) {
  const Kernels& table = kernels();
  const std::int64_t chunk = plan.parameters.block_out;
  const std::int64_t first = begin * chunk;
  const std::int64_t last = std::min(end * chunk, plan.nest.out_mode.extent);
  (plan.parameters.streaming ? table.stream : table.copy)(out + first, in + first, last - first);
  if (plan.parameters.streaming) table.fence();
}

}  // namespace

void execute(const Plan& plan, const std::byte* in, std::byte* out) {
  if (plan.problem.bytes() == 0) return;
  if (plan.parameters.kernel == Kernel::reference) {
    execute_reference(plan.request, in, out);
    return;
  }
  in += plan.problem.in_byte_offset;
  out += plan.problem.out_byte_offset;
  const auto move_range = plan.parameters.kernel == Kernel::copy ? copy_chunks : move_blocks;
  parallel_ranges(
      plan.parameters.threads, plan.blocks(),
      [&](std::int64_t begin, std::int64_t end) { move_range(plan, in, out, begin, end); });
}

}  // namespace ttlg::cpu
