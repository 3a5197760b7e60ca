// The threads of a thread block on the host: one runs at a time, on a stack of its own.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace ttlg::test {

class Fibers {
 public:
  // `body` is what a thread does, given its number.
  Fibers(int threads, std::function<void(int)> body);

  // Lets every thread begin again when all have returned.
  void restart();

  // Runs the threads first..last-1 that have not returned, one after the other, each until it waits
  // or returns. If one throws, those that wait are unwound and the exception is passed on.
  void run(int first, int last);

  // Called by a thread: the next one's turn, until `run` comes back to this one.
  void wait();

  // Ends the threads that wait as if wait() had thrown.
  void unwind();

 private:
  struct Fiber {
    void* resume_point[5];  // of __builtin_setjmp
    ucontext_t start;       // used by the first switch alone
    bool started = false;
    std::unique_ptr<std::byte[]> stack;
    // The same stack, as AddressSanitizer knows it.
    const void* stack_bottom = nullptr;
    std::size_t stack_bytes = 0;
  };
  struct Unwound {};

  static void enter(unsigned high, unsigned low);
  void work();
  void call_body(int thread);
  void switch_all(int first, int last);
  void switch_to(Fiber& to);
  void finish_switch(void* fake_stack);
  Fiber& next_fiber();
  Fiber* idle_fiber();

  std::function<void(int)> body_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  // A thread that returns leaves its fiber to one that has yet to begin, so a kernel without
  // barriers needs a single fiber.
  std::vector<Fiber*> idle_;
  std::vector<Fiber*> fiber_of_;  // by thread; null where it has not begun
  std::vector<bool> returned_;    // by thread
  Fiber main_{};                  // the caller of `run`, on the stack that it came with
  Fiber* running_ = &main_;
  Fiber* previous_ = nullptr;
  int current_ = 0;
  int last_ = 0;
  bool unwinding_ = false;
  std::exception_ptr error_;
};

}  // namespace ttlg::test
