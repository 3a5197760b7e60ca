#include "cuda/fibers.hpp"

#include <cstdint>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace ttlg::test {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;

// Apart, because getcontext may return twice for all that the compiler knows.
void prepare(ucontext_t& context, std::byte* stack) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
}

// The library's longjmp takes a system call and clears a whole stack's shadow under
// AddressSanitizer, which was most of the executor's time, and refuses to leave one stack for
// another where it is checked. Apart, because one function must not hold both builtins.
[[gnu::noipa, gnu::no_sanitize_address]] void resume(void** point) { __builtin_longjmp(point, 1); }

}  // namespace

Fibers::Fibers(int threads, std::function<void(int)> body)
    : body_(std::move(body)),
      fiber_of_(static_cast<std::size_t>(threads)),
      returned_(static_cast<std::size_t>(threads)) {
  main_.started = true;
}

void Fibers::restart() {
  fiber_of_.assign(fiber_of_.size(), nullptr);
  returned_.assign(returned_.size(), false);
}

void Fibers::run(int first, int last) {
  switch_all(first, last);
  if (!error_) return;
  unwind();
  std::rethrow_exception(std::exchange(error_, nullptr));
}

void Fibers::wait() {
  ++current_;
  switch_to(next_fiber());
  if (unwinding_) throw Unwound{};
}

void Fibers::unwind() {
  for (std::size_t i = 0; i < fiber_of_.size(); ++i) {
    if (fiber_of_[i] == nullptr) returned_[i] = true;
  }
  unwinding_ = true;
  switch_all(0, static_cast<int>(fiber_of_.size()));
  unwinding_ = false;
}

void Fibers::switch_all(int first, int last) {
  current_ = first;
  last_ = last;
  switch_to(next_fiber());
}

// Only the first switch to a fiber uses its ucontext_t: swapcontext makes a system call for the
// signal mask every time, which would take more than half of the executor's time.
void Fibers::switch_to(Fiber& to) {
  if (&to == running_) return;
  previous_ = std::exchange(running_, &to);
  void* fake_stack = nullptr;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&fake_stack, to.stack_bottom, to.stack_bytes);
#endif
  if (__builtin_setjmp(previous_->resume_point) == 0) {
    if (to.started) resume(to.resume_point);
    to.started = true;
    setcontext(&to.start);
  }
  finish_switch(fake_stack);
}

// Called first thing on the stack that was switched to.
void Fibers::finish_switch([[maybe_unused]] void* fake_stack) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, &previous_->stack_bottom, &previous_->stack_bytes);
#endif
}

// Where to go on: the fiber of the next thread that has not returned, or the caller of `run`.
Fibers::Fiber& Fibers::next_fiber() {
  while (current_ < last_ && returned_[static_cast<std::size_t>(current_)]) ++current_;
  if (current_ == last_) return main_;
  Fiber*& fiber = fiber_of_[static_cast<std::size_t>(current_)];
  if (fiber == nullptr) fiber = idle_fiber();
  return *fiber;
}

Fibers::Fiber* Fibers::idle_fiber() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  Fiber* fiber = fibers_.emplace_back(std::make_unique<Fiber>()).get();
  fiber->stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  fiber->stack_bottom = fiber->stack.get();
  fiber->stack_bytes = kStackBytes;
  prepare(fiber->start, fiber->stack.get());
  // makecontext passes nothing wider than an int.
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
  makecontext(&fiber->start, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  return fiber;
}

void Fibers::enter(unsigned high, unsigned low) {
  const std::uint64_t address = (std::uint64_t{high} << 32) | low;
  auto* self = reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(address));
  self->finish_switch(nullptr);
  self->work();
}

// A fiber carries out the thread whose turn it is, for as long as it gets new ones.
void Fibers::work() {
  for (;;) {
    const auto thread = static_cast<std::size_t>(current_);
    call_body(current_);
    returned_[thread] = true;
    idle_.push_back(fiber_of_[thread]);
    switch_to(next_fiber());
  }
}

void Fibers::call_body(int thread) {
  try {
    body_(thread);
  } catch (const Unwound&) {
    return;
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
}

}  // namespace ttlg::test
