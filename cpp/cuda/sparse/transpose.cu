#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "cuda/check.hpp"
#include "cuda/execute.hpp"
#include "cuda/sparse/enqueue.hpp"
#include "cuda/sparse/key_rounds.hpp"
#include "cuda/sparse/transpose.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda::sparse {
namespace {

std::string problem_text(const SparseProblem& problem) {
  std::string text = " for " + std::to_string(problem.nonzeros) + " nonzeros with the extents";
  for (const std::int64_t extent : problem.extents) text += ' ' + std::to_string(extent);
  text += ", axes";
  for (const int mode : problem.perm) text += ' ' + std::to_string(mode);
  return text + ", values of " + std::to_string(problem.value_bytes) + " bytes";
}

KeyRounds rounds_of(const SparseProblem& problem) {
  if (problem.nonzeros < 2) return {};  // there is one order only
  return key_rounds(problem.extents, problem.perm, problem.index_bytes, problem.is_sorted);
}

// The parts of the workspace, in bytes from its beginning, each of them aligned.
struct Workspace {
  std::size_t keys[2];
  std::size_t positions[2];
  std::size_t temporary;
  std::size_t temporary_bytes = 0;
  std::size_t bytes;
};

// Reserves so many elements behind what there is; returns where they begin.
std::size_t reserve(std::size_t& end, std::int64_t count, std::size_t element_bytes) {
  const std::size_t begin = end;
  const std::int64_t bytes = checked_mul(count, static_cast<std::int64_t>(element_bytes));
  const auto alignment = static_cast<std::int64_t>(kWorkspaceAlignment);
  const std::int64_t padded = checked_mul(ceil_div(bytes, alignment), alignment);
  end = static_cast<std::size_t>(checked_add(static_cast<std::int64_t>(begin), padded));
  return begin;
}

// Needs a current device.
template <typename Position>
Workspace lay_out(const SparseProblem& problem, const KeyRounds& keys, int device) {
  Workspace result{};
  for (const KeyRound& round : keys.rounds) {
    std::size_t bytes = 0;
    const cudaError_t error =
        sort_temporary_bytes<Position>(problem.nonzeros, round.begin_bit, round.end_bit, bytes);
    if (error != cudaSuccess) fail(error, "preparing a radix sort", device, problem_text(problem));
    result.temporary_bytes = std::max(result.temporary_bytes, bytes);
  }
  for (std::size_t& part : result.keys) {
    part = reserve(result.bytes, problem.nonzeros, sizeof(std::uint64_t));
  }
  for (std::size_t& part : result.positions) {
    part = reserve(result.bytes, problem.nonzeros, sizeof(Position));
  }
  result.temporary = reserve(result.bytes, static_cast<std::int64_t>(result.temporary_bytes), 1);
  return result;
}

// visit(Position{}): the narrowest type that numbers the nonzeros and counts them.
template <typename Visit>
auto with_position(const SparseProblem& problem, const Visit& visit) {
  return problem.nonzeros <= UINT32_MAX ? visit(std::uint32_t{}) : visit(std::uint64_t{});
}

// What one transposition consists of, for one type of coordinates and one of positions.
template <typename Index, typename Position>
class Steps {
 public:
  Steps(const SparseProblem& problem, const SparsePointers& pointers, int device,
        cudaStream_t stream)
      : problem_(problem), pointers_(pointers), device_(device), stream_(stream) {}

  void sort(const KeyRounds& keys, const Workspace& layout, std::byte* workspace) const {
    SortBuffers<Position> buffers{
        .keys = reinterpret_cast<std::uint64_t*>(workspace + layout.keys[0]),
        .positions = reinterpret_cast<Position*>(workspace + layout.positions[0]),
        .other_keys = reinterpret_cast<std::uint64_t*>(workspace + layout.keys[1]),
        .other_positions = reinterpret_cast<Position*>(workspace + layout.positions[1])};
    for (const KeyRound& round : keys.rounds) {
      check_step(enqueue_pack(pack_arguments(keys, round, buffers), stream_), "packing keys");
      check_step(enqueue_sort(buffers, problem_.nonzeros, round.begin_bit, round.end_bit,
                              workspace + layout.temporary, layout.temporary_bytes, stream_),
                 "a radix sort");
    }
    check_step(enqueue_unpack(unpack_arguments(keys, buffers), stream_), "unpacking keys");
    if (problem_.value_bytes == 0) return;
    check_step(enqueue_gather(gather_arguments(buffers), stream_), "gathering values");
  }

  // Where the nonzeros stay in their order.
  void copy() const {
    const std::int64_t bytes = checked_mul(problem_.nonzeros, sizeof(Index));
    for (std::size_t mode = 0; mode < problem_.perm.size(); ++mode) {
      copy(pointers_.out_coordinates + static_cast<std::int64_t>(mode) * bytes,
           reinterpret_cast<const std::byte*>(coordinates(mode)), bytes);
    }
    copy(pointers_.out_values, pointers_.values,
         checked_mul(problem_.nonzeros, problem_.value_bytes));
  }

 private:
  // In the input, of a mode of the output.
  const Index* coordinates(std::size_t mode) const {
    return reinterpret_cast<const Index*>(
        pointers_.coordinates[static_cast<std::size_t>(problem_.perm[mode])]);
  }

  PackArguments<Index, Position> pack_arguments(const KeyRounds& keys, const KeyRound& round,
                                                const SortBuffers<Position>& buffers) const {
    PackArguments<Index, Position> p{.nonzeros = problem_.nonzeros,
                                     .modes = round.end_mode - round.first_mode,
                                     .is_first_round = &round == &keys.rounds.front(),
                                     .positions = buffers.positions,
                                     .keys = buffers.keys};
    for (int i = 0; i < p.modes; ++i) {
      const auto mode = static_cast<std::size_t>(round.first_mode + i);
      p.bits[i] = static_cast<std::uint8_t>(keys.bits[mode]);
      p.coordinates[i] = coordinates(mode);
    }
    return p;
  }

  UnpackArguments<Index, Position> unpack_arguments(const KeyRounds& keys,
                                                    const SortBuffers<Position>& buffers) const {
    UnpackArguments<Index, Position> p{.nonzeros = problem_.nonzeros,
                                       .modes = static_cast<int>(problem_.perm.size()),
                                       .modes_in_keys = keys.modes_in_keys(),
                                       .positions = buffers.positions,
                                       .keys = buffers.keys,
                                       .out = reinterpret_cast<Index*>(pointers_.out_coordinates)};
    for (std::size_t mode = 0; mode < problem_.perm.size(); ++mode) {
      p.bits[mode] = static_cast<std::uint8_t>(keys.bits[mode]);
      p.coordinates[mode] = coordinates(mode);
    }
    return p;
  }

  // By words as wide as the size of a value and both addresses allow.
  GatherArguments<Position> gather_arguments(const SortBuffers<Position>& buffers) const {
    const auto bits = reinterpret_cast<std::uintptr_t>(pointers_.values) |
                      reinterpret_cast<std::uintptr_t>(pointers_.out_values) |
                      static_cast<std::uintptr_t>(problem_.value_bytes);
    const std::int64_t word_bytes = common_power(static_cast<std::int64_t>(bits), sizeof(Word16));
    const std::int64_t words = problem_.value_bytes / word_bytes;
    const auto lanes = static_cast<std::uint64_t>(std::min<std::int64_t>(words, kMaxLanes));
    return {.nonzeros = problem_.nonzeros,
            .words = words,
            .word_bytes = static_cast<int>(word_bytes),
            .lanes_log2 = static_cast<int>(std::bit_width(lanes)) - 1,
            .positions = buffers.positions,
            .values = pointers_.values,
            .out = pointers_.out_values};
  }

  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    if (bytes == 0) return;
    check_step(enqueue_copy(to, from, static_cast<std::size_t>(bytes), stream_), "copying");
  }

  void check_step(cudaError_t error, const char* step) const {
    if (error != cudaSuccess) {
      fail(error, "launching " + std::string(step), device_, problem_text(problem_));
    }
  }

  const SparseProblem& problem_;
  const SparsePointers& pointers_;
  int device_;
  cudaStream_t stream_;
};

void check_pointers(const SparseProblem& problem, const SparsePointers& pointers, int device) {
  for (std::size_t mode = 0; mode < pointers.coordinates.size(); ++mode) {
    check_pointer(pointers.coordinates[mode], "coordinate array " + std::to_string(mode), device);
  }
  if (!problem.perm.empty()) {
    check_pointer(pointers.out_coordinates, "the array of output coordinates", device);
  }
  if (problem.value_bytes == 0) return;
  check_pointer(pointers.values, "the array of values", device);
  check_pointer(pointers.out_values, "the array of output values", device);
}

void check_workspace(const std::byte* workspace, std::size_t bytes, std::size_t needed,
                     int device) {
  if (bytes < needed) {
    throw std::invalid_argument("the workspace has " + std::to_string(bytes) + " bytes, and " +
                                std::to_string(needed) + " are needed");
  }
  if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
    throw std::invalid_argument("the workspace begins at an address that is no multiple of " +
                                std::to_string(kWorkspaceAlignment));
  }
  check_pointer(workspace, "the workspace", device);
}

}  // namespace

std::size_t workspace_bytes(const SparseProblem& problem, int device) {
  const KeyRounds keys = rounds_of(problem);
  if (keys.rounds.empty()) return 0;
  const DeviceGuard guard(device);
  const RelaxedCapture relaxed;
  return with_position(problem, [&]<typename Position>(Position) {
    return lay_out<Position>(problem, keys, device).bytes;
  });
}

void transpose(const SparseProblem& problem, const SparsePointers& pointers, std::byte* workspace,
               std::size_t workspace_bytes, int device, std::uintptr_t stream) {
  if (problem.nonzeros == 0) return;
  const KeyRounds keys = rounds_of(problem);
  const DeviceGuard guard(device);
  check_pointers(problem, pointers, device);
  const RelaxedCapture relaxed;
  const auto run = [&]<typename Index, typename Position>(Index, Position) {
    const Steps<Index, Position> steps(problem, pointers, device,
                                       reinterpret_cast<cudaStream_t>(stream));
    if (keys.rounds.empty()) return steps.copy();
    const Workspace layout = lay_out<Position>(problem, keys, device);
    check_workspace(workspace, workspace_bytes, layout.bytes, device);
    steps.sort(keys, layout, workspace);
  };
  with_position(problem, [&](auto position) {
    problem.index_bytes == 4 ? run(std::int32_t{}, position) : run(std::int64_t{}, position);
  });
}

}  // namespace ttlg::cuda::sparse
