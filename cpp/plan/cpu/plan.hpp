// The Plan: how a Problem will be carried out on the CPU. A pure value: comparable, printable,
// rebuilt exactly from its request and parameters. Making one touches no memory of the arrays.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/cpu/block.hpp"
#include "plan/cpu/shuffle.hpp"
#include "plan/plan_base.hpp"
#include "tensor/integer.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

enum class Kernel : std::uint8_t { copy, tile, shuffle, strided_copy, reference };

std::string_view kernel_name(Kernel kernel);
std::optional<Kernel> kernel_from_name(std::string_view name);
std::string kernel_names();  // all, quoted, for messages

// OpenMP ends the process when the system refuses it a thread, so no plan may ask for absurdly
// many.
inline constexpr int kMaxThreads = 1024;

constexpr bool is_thread_count(std::int64_t threads) {
  return threads >= 1 && threads <= kMaxThreads;
}

// Runs of this length are streamed from their source directly: the partial lines at their ends
// weigh little, and staging would cost a second pass.
inline constexpr std::int64_t kDirectRunBytes = 1024;

// Everything that is chosen. A Plan is a function of its request and of these.
struct Parameters {
  Kernel kernel = Kernel::reference;
  // Extents of a block, one for each mode of the folded problem; of `copy`, the bytes of a chunk.
  std::vector<std::int64_t> block{};
  // The modes that are cut into blocks, outermost loop first.
  std::vector<int> loop_order{};
  bool staged = false;     // blocks pass through the staging buffer; implied by streaming
  bool streaming = false;  // whole output lines bypass the caches
  bool prefetch = false;   // the next block's lines are requested while this one is moved
  int threads = 1;

  bool operator==(const Parameters&) const = default;
};

// One loop around the blocks.
struct Loop {
  FastDivisor count;
  std::int64_t in_byte_step;
  std::int64_t out_byte_step;
};

struct Plan : PlanBase {
  Plan(const Request& of_request, Problem normal_form, const Parameters& chosen)
      : PlanBase(of_request, std::move(normal_form)), parameters(chosen) {}

  Parameters parameters;
  std::int64_t element_bytes = 1;  // moved at once: the dtype's size times a folded run
  std::vector<Loop> loops{};       // outermost first
  Block block{};
  Shuffle shuffle{};

  std::int64_t blocks() const;
  // Whether blocks pass through the staging buffer, which lines their runs up for streaming and
  // keeps them apart where those of the output share a few sets of the caches.
  bool is_staged() const;
  bool operator==(const Plan& other) const {
    return request == other.request && parameters == other.parameters;
  }
};

// Lays out blocks and loops. `folded` is fold_run(problem).
Plan assemble(const Request& request, Problem problem, const Problem& folded,
              const Parameters& parameters);

// The plan with these very parameters. Throws std::invalid_argument if the kernel does not apply to
// the request or a parameter is out of range.
Plan build_plan(const Request& request, const Parameters& parameters);

}  // namespace ttlg::cpu
