#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <random>
#include <vector>

#include "cuda/check.hpp"
#include "cuda/execute.hpp"
#include "cuda/measurement.hpp"

namespace ttlg::cuda {
namespace {

// The default stream of this thread alone.
constexpr std::uintptr_t kStream = 2;
constexpr std::int64_t kPieceBytes = 1 << 20;
// What cudaMalloc aligns to.
constexpr std::int64_t kBoundary = 256;

// Where the elements of one side lie, in bytes from element (0, ..., 0) of the request's array.
struct Span {
  std::int64_t begin;
  std::int64_t end;
};

Span span_of(const Problem& problem, std::int64_t Mode::* stride, std::int64_t offset) {
  Span span{offset, offset + problem.element_bytes()};
  for (const Mode& mode : problem.modes) {
    const std::int64_t length = (mode.extent - 1) * (mode.*stride);
    (length < 0 ? span.begin : span.end) += length;
  }
  return span;
}

Span in_span(const Problem& problem) {
  return span_of(problem, &Mode::in_byte_stride, problem.in_byte_offset);
}
Span out_span(const Problem& problem) {
  return span_of(problem, &Mode::out_byte_stride, problem.out_byte_offset);
}

}  // namespace

// Memory of a device that holds a span, the origin of which is a multiple of `alignment` and, short
// of the widest accesses, of nothing larger.
struct Measurement::Memory {
  Memory(const Span& span, std::int64_t alignment, int of_device) : device(of_device) {
    const std::int64_t remainder = alignment < kMaxAccessBytes ? alignment : 0;
    const std::int64_t before = ((remainder + span.begin) % kBoundary + kBoundary) % kBoundary;
    const auto bytes = static_cast<std::size_t>(before + span.end - span.begin);
    const cudaError_t error = cudaMalloc(&allocated, std::max<std::size_t>(bytes, 1));
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw std::bad_alloc();
    }
    check(error, "cudaMalloc", device);
    origin = static_cast<std::byte*>(allocated) + before - span.begin;
    size = bytes;
  }
  ~Memory() {
    const DeviceGuard guard(device);
    cudaFree(allocated);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Repeats a piece of random bytes: memory moves some contents faster than others.
  void fill() const {
    std::vector<std::uint32_t> piece(kPieceBytes / sizeof(std::uint32_t));
    std::ranges::generate(piece, std::mt19937());
    for (std::size_t first = 0; first < size; first += kPieceBytes) {
      const auto count = std::min<std::size_t>(kPieceBytes, size - first);
      check(cudaMemcpy(static_cast<std::byte*>(allocated) + first, piece.data(), count,
                       cudaMemcpyHostToDevice),
            "cudaMemcpy", device);
    }
  }

  int device;
  void* allocated = nullptr;
  std::size_t size = 0;
  std::byte* origin = nullptr;  // element (0, ..., 0)
};

Measurement::Measurement(const Executable& plan, int device) : device_(device), timer_(device) {
  const DeviceGuard guard(device);
  const RelaxedCapture relaxed;
  in_ = std::make_unique<Memory>(in_span(plan.problem), plan.pointer_alignment, device);
  out_ = std::make_unique<Memory>(out_span(plan.problem), plan.pointer_alignment, device);
  for (const Memory* each : {in_.get(), out_.get()}) each->fill();
}

Measurement::Measurement(const InplaceExecutable& plan, std::int64_t workspace_bytes, int device)
    : device_(device), timer_(device) {
  const DeviceGuard guard(device);
  const RelaxedCapture relaxed;
  in_ = std::make_unique<Memory>(in_span(plan.problem), kMaxAccessBytes, device);
  out_ = std::make_unique<Memory>(Span{0, workspace_bytes}, kMaxAccessBytes, device);
  in_->fill();
}

Measurement::~Measurement() {
  const DeviceGuard guard(device_);
  const RelaxedCapture relaxed;
  timer_.drop_events();
}

double Measurement::seconds(const Executable& plan, int calls) {
  return timed(calls, [&] { execute(plan, in_->origin, out_->origin, device_, kStream, kStream); });
}

double Measurement::seconds(const InplaceExecutable& plan, int calls) {
  return timed(calls, [&] { execute_inplace(plan, in_->origin, out_->origin, device_, kStream); });
}

template <typename Call>
double Measurement::timed(int calls, const Call& call) {
  const DeviceGuard guard(device_);
  const RelaxedCapture relaxed;
  const auto stream = reinterpret_cast<cudaStream_t>(kStream);
  if (!timer_.arm()) throw Error("no events to time calls with on " + device_text(device_));
  timer_.start(stream);
  for (int i = 0; i < calls; ++i) call();
  timer_.stop(stream);
  timer_.finish();
  synchronize(device_, kStream);
  if (timer_.poll() != LaunchTimer::Progress::timed) {
    throw Error("the events around calls on " + device_text(device_) + " gave no time");
  }
  return timer_.seconds();
}

}  // namespace ttlg::cuda
