#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/launch_timer.hpp"

namespace ttlg::cuda {
namespace {

// The next query for errors, by any library, is not to find one of these.
bool succeeded(cudaError_t error) {
  if (error == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

}  // namespace

// The time of a call that is over is no longer needed if no call has asked for it.
bool LaunchTimer::take() {
  if (is_taken_ || state_ == State::armed) return false;
  if (state_ == State::recorded) state_ = State::idle;
  is_taken_ = true;
  return true;
}

LaunchTimer::Progress LaunchTimer::poll() {
  const State state = state_;
  if (state == State::idle) return Progress::idle;
  if (state == State::armed) return Progress::pending;
  float milliseconds = 0;
  if (state == State::recorded) {
    const cudaError_t error = cudaEventQuery(after_);
    const bool is_over = succeeded(error);
    if (error == cudaErrorNotReady) return Progress::pending;
    if (!is_over || !succeeded(cudaEventElapsedTime(&milliseconds, before_, after_))) {
      milliseconds = 0;
    }
  }
  state_ = State::idle;
  seconds_ = 1e-3 * static_cast<double>(milliseconds);
  if (seconds_ > 0) return Progress::timed;
  drop_events();  // they may be of another context
  return Progress::lost;
}

bool LaunchTimer::arm() {
  for (cudaEvent_t* const event : {&before_, &after_}) {
    if (*event == nullptr && !succeeded(cudaEventCreateWithFlags(event, cudaEventDefault))) {
      return false;
    }
  }
  events_ = 0;
  state_ = State::armed;
  return true;
}

void LaunchTimer::start(CUstream_st* stream) {
  events_ = succeeded(cudaEventRecord(before_, stream)) ? 1 : 0;
}

void LaunchTimer::stop(CUstream_st* stream) {
  if (events_ == 1 && succeeded(cudaEventRecord(after_, stream))) events_ = 2;
}

void LaunchTimer::finish() { state_ = events_ == 2 ? State::recorded : State::failed; }

void LaunchTimer::drop_events() {
  for (cudaEvent_t* const event : {&before_, &after_}) {
    if (*event != nullptr) succeeded(cudaEventDestroy(std::exchange(*event, nullptr)));
  }
}

}  // namespace ttlg::cuda
