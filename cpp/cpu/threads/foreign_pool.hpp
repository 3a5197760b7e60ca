// Calls from a thread of another library's pool are helped by that pool, not by ttlg's team: two
// pools would have more threads at work than there are cores.
#pragma once

#include <cstdint>

#include "cpu/threads/shares.hpp"

namespace ttlg::cpu {

class ForeignPool {
 public:
  ForeignPool() = default;
  virtual ~ForeignPool() = default;
  ForeignPool(const ForeignPool&) = delete;
  ForeignPool& operator=(const ForeignPool&) = delete;

  virtual int threads() const = 0;

  // Has task(data) called once: at any time from now on, by any thread, or by this one at once.
  // False if it will not be called.
  virtual bool schedule(void (*task)(void*), void* data) = 0;

  // As Team::run. Tasks that the pool begins after the call find it closed.
  void run(int threads, std::int64_t count, std::int64_t shares_per_thread, const RangeWork& work);
};

// While it lives, the calls of this thread are helped by the pool.
class GuestOf {
 public:
  explicit GuestOf(ForeignPool& pool);
  ~GuestOf();
  GuestOf(const GuestOf&) = delete;
  GuestOf& operator=(const GuestOf&) = delete;

 private:
  ForeignPool* before_;
};

// Null for threads that are no guests.
ForeignPool* host_pool();

}  // namespace ttlg::cpu
