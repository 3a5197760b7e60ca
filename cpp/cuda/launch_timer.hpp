// Times what a call launches, by events on its stream. Host code reads it without CUDA's headers.
#pragma once

#include <atomic>

struct CUevent_st;
struct CUstream_st;

namespace ttlg::cuda {

// Of one call at a time. Nothing waits, and nothing throws: an event that fails costs the time of
// that call alone, and leaves no error behind. The events stay for calls to come, and are never
// destroyed while they are of use: at the end of a process CUDA may be gone before they are.
// The device must be the current one in all that follows, under RelaxedCapture.
class LaunchTimer {
 public:
  explicit LaunchTimer(int of_device) : device(of_device) {}
  LaunchTimer(const LaunchTimer&) = delete;
  LaunchTimer& operator=(const LaunchTimer&) = delete;

  const int device;

  // These are the owner's. Whether the timer was free, which it is not any more.
  bool take();
  void give_back() { is_taken_ = false; }
  // How it stands with the last call: a time, or the loss of one, is told once.
  enum class Progress { idle, pending, timed, lost };
  Progress poll();
  double seconds() const { return seconds_; }  // of the call that poll() last told of
  // Prepares for the next call, which has to finish(); false where there are no events. Only after
  // poll() has told of the one before.
  bool arm();

  // Gives the events back, of which no call is in need.
  void drop_events();

  // These are the call's: before its first launch, after its last, and in any case at its end.
  void start(CUstream_st* stream);
  void stop(CUstream_st* stream);
  void finish();

 private:
  enum class State { idle, armed, recorded, failed };

  bool is_taken_ = false;
  CUevent_st* before_ = nullptr;
  CUevent_st* after_ = nullptr;
  double seconds_ = 0;
  int events_ = 0;  // that the call has recorded
  std::atomic<State> state_ = State::idle;
};

}  // namespace ttlg::cuda
