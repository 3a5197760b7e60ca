#include "cpu/threads/foreign_pool.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "cpu/system.hpp"
#include "cpu/threads/core_groups.hpp"
#include "cpu/threads/part.hpp"

namespace ttlg::cpu {
namespace {

thread_local ForeignPool* host = nullptr;

// Lives until the last task has seen it. The work is the caller's, for those that enter.
class OpenCall {
 public:
  OpenCall(int threads, std::int64_t count, std::int64_t shares_per_thread, const RangeWork& work)
      : shares_(threads, count, shares_per_thread), work_(work) {}

  void take_shares(int number) {
    shares_.take(number, GroupOfCores{}, work_, [] {});
  }

  // For tasks. A number in the call, or 0 if it is closed.
  int enter() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if ((state & kClosed) != 0) return 0;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire));
    return entered_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  void leave() {
    if (state_.fetch_sub(1, std::memory_order_release) == (kClosed | 1)) futex_wake(state_);
  }

  // For the caller: returns when those that have entered have left.
  void close() {
    std::uint32_t state = state_.fetch_or(kClosed, std::memory_order_acquire) | kClosed;
    for (; state != kClosed; state = state_.load(std::memory_order_acquire)) {
      futex_wait(state_, state);
    }
  }

 private:
  static constexpr std::uint32_t kClosed = std::uint32_t{1} << 31;

  Shares shares_;
  const RangeWork work_;
  std::atomic<std::uint32_t> state_{0};  // tasks within, and whether it is closed
  std::atomic<int> entered_{0};
};

void help(void* data) {
  const std::unique_ptr<std::shared_ptr<OpenCall>> given(
      static_cast<std::shared_ptr<OpenCall>*>(data));
  OpenCall& call = **given;
  const int number = call.enter();
  if (number == 0) return;
  {
    const Part part(number);
    call.take_shares(number);
  }
  call.leave();
}

}  // namespace

void ForeignPool::run(int max_threads, std::int64_t count, std::int64_t shares_per_thread,
                      const RangeWork& work) {
  const int members =
      static_cast<int>(std::min<std::int64_t>({max_threads, count, this->threads()}));
  const Part part(0);
  if (members <= 1) {
    work(0, count);
    return;
  }
  const auto call = std::make_shared<OpenCall>(members, count, shares_per_thread, work);
  for (int i = 1; i < members; ++i) {
    auto* const given = new (std::nothrow) std::shared_ptr<OpenCall>(call);
    if (given == nullptr) break;
    if (!schedule(&help, given)) {
      delete given;
      break;
    }
  }
  call->take_shares(0);
  call->close();
}

GuestOf::GuestOf(ForeignPool& pool) : before_(host) { host = &pool; }
GuestOf::~GuestOf() { host = before_; }

ForeignPool* host_pool() { return host; }

}  // namespace ttlg::cpu
