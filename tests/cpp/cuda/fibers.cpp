#include "cuda/fibers.hpp"

#include <cstdint>
#include <utility>

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

}  // namespace

Fibers::Fibers(int threads, std::function<void(int)> body)
    : body_(std::move(body)),
      fiber_of_(static_cast<std::size_t>(threads)),
      returned_(static_cast<std::size_t>(threads)) {}

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
  Fiber* self = fiber_of_[static_cast<std::size_t>(current_)];
  ++current_;
  swapcontext(&self->context, &next_context());
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
  ucontext_t& next = next_context();
  if (&next != &main_) swapcontext(&main_, &next);
}

// Where to go on: the fiber of the next thread that has not returned, or the caller of `run`.
ucontext_t& Fibers::next_context() {
  while (current_ < last_ && returned_[static_cast<std::size_t>(current_)]) ++current_;
  if (current_ == last_) return main_;
  Fiber*& fiber = fiber_of_[static_cast<std::size_t>(current_)];
  if (fiber == nullptr) fiber = idle_fiber();
  return fiber->context;
}

Fibers::Fiber* Fibers::idle_fiber() {
  if (!idle_.empty()) {
    Fiber* fiber = idle_.back();
    idle_.pop_back();
    return fiber;
  }
  Fiber* fiber = fibers_.emplace_back(std::make_unique<Fiber>()).get();
  fiber->stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  prepare(fiber->context, fiber->stack.get());
  // makecontext passes nothing wider than an int.
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  return fiber;
}

void Fibers::enter(unsigned high, unsigned low) {
  const std::uint64_t address = (std::uint64_t{high} << 32) | low;
  reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(address))->work();
}

// A fiber carries out the thread whose turn it is, for as long as it gets new ones.
void Fibers::work() {
  for (;;) {
    const auto thread = static_cast<std::size_t>(current_);
    call_body(current_);
    returned_[thread] = true;
    Fiber* self = fiber_of_[thread];
    idle_.push_back(self);
    ucontext_t& next = next_context();
    if (&next != &self->context) swapcontext(&self->context, &next);
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
