// Places from which a thread steps on by the same distance from access to access.
#pragma once

#include "cuda/kernels/context.hpp"

namespace ttlg::cuda {

// Where a thread loads, or a number of bytes beyond, step by step.
template <typename Context>
class Source {
 public:
  TTLG_DEVICE Source(const Context& context, std::int64_t offset)
      : context_(context), offset_(offset) {}

  template <typename T>
  TTLG_DEVICE T load(bool valid, int beyond = 0) const {
    return context_.template load<T>(valid, offset_ + beyond);
  }
  TTLG_DEVICE std::int64_t offset() const { return offset_; }
  TTLG_DEVICE void advance(std::int64_t bytes) { offset_ += bytes; }

 private:
  Context context_;
  std::int64_t offset_;
};

// Where it stores, likewise.
template <typename Context>
class Target {
 public:
  TTLG_DEVICE Target(const Context& context, std::int64_t offset)
      : context_(context), offset_(offset) {}

  template <typename T>
  TTLG_DEVICE void store(bool valid, T value) const {
    context_.store(valid, offset_, value);
  }
  TTLG_DEVICE void advance(std::int64_t bytes) { offset_ += bytes; }

 private:
  Context context_;
  std::int64_t offset_;
};

// Where it stores and loads in shared memory, likewise.
template <typename Context>
class SharedCursor {
 public:
  TTLG_DEVICE SharedCursor(const Context& context, std::uint32_t offset)
      : context_(context), offset_(offset) {}

  template <typename T>
  TTLG_DEVICE T load(bool valid, std::uint32_t beyond = 0) const {
    return context_.template shared_load<T>(valid, offset_ + beyond);
  }
  template <typename T>
  TTLG_DEVICE void store(bool valid, T value, std::uint32_t beyond = 0) const {
    context_.shared_store(valid, offset_ + beyond, value);
  }
  template <int kBytes>
  TTLG_DEVICE void copy_async(bool valid, const Source<Context>& from, std::uint32_t beyond) const {
    context_.template copy_async<kBytes>(valid, offset_ + beyond, from.offset());
  }
  TTLG_DEVICE void advance(std::uint32_t bytes) { offset_ += bytes; }

 private:
  Context context_;
  std::uint32_t offset_;
};

#ifdef __CUDACC__

// On the device they hold addresses, which the compiler would otherwise work out from the array's
// for every access.
template <bool kInplace>
class Source<BasicDeviceContext<kInplace>> {
  using Context = BasicDeviceContext<kInplace>;

 public:
  TTLG_DEVICE Source(const Context& context, std::int64_t offset)
      : context_(context.in_ + offset, nullptr) {}

  template <typename T>
  TTLG_DEVICE T load(bool valid, int beyond = 0) const {
    return context_.template load<T>(valid, beyond);
  }
  TTLG_DEVICE const std::byte* address() const { return context_.in_; }
  TTLG_DEVICE void advance(std::int64_t bytes) { context_.in_ = opaque(context_.in_ + bytes); }

 private:
  Context context_;
};

template <bool kInplace>
class Target<BasicDeviceContext<kInplace>> {
  using Context = BasicDeviceContext<kInplace>;

 public:
  TTLG_DEVICE Target(const Context& context, std::int64_t offset)
      : context_(nullptr, context.out_ + offset) {}

  template <typename T>
  TTLG_DEVICE void store(bool valid, T value) const {
    __builtin_assume(__isGlobal(context_.out_));  // which is lost on what is opaque
    context_.store(valid, 0, value);
  }
  TTLG_DEVICE void advance(std::int64_t bytes) { context_.out_ = opaque(context_.out_ + bytes); }

 private:
  Context context_;
};

template <bool kInplace>
class SharedCursor<BasicDeviceContext<kInplace>> {
  using Context = BasicDeviceContext<kInplace>;

 public:
  TTLG_DEVICE SharedCursor(const Context& context, std::uint32_t offset)
      : address_(static_cast<std::uint32_t>(__cvta_generic_to_shared(context.shared_)) + offset) {}

  template <typename T>
  TTLG_DEVICE T load(bool valid, std::uint32_t beyond = 0) const {
    return valid ? Context::template read<T>(pointer(beyond)) : T{};
  }
  template <typename T>
  TTLG_DEVICE void store(bool valid, T value, std::uint32_t beyond = 0) const {
    if (valid) Context::write(pointer(beyond), value);
  }
  template <int kBytes>
  TTLG_DEVICE void copy_async(bool valid, const Source<Context>& from, std::uint32_t beyond) const {
    Context::template copy_async<kBytes>(valid, address_ + beyond, from.address());
  }
  TTLG_DEVICE void advance(std::uint32_t bytes) { address_ = opaque(address_ + bytes); }

 private:
  TTLG_DEVICE std::byte* pointer(std::uint32_t beyond) const {
    return static_cast<std::byte*>(__cvta_shared_to_generic(address_ + beyond));
  }

  std::uint32_t address_;
};

#endif

// Moves a batch of words, steps apart on both sides, of which loads(b) and stores(b) say whether
// the b-th is loaded and stored. All are loaded before the first is needed.
template <int kWidth, int kBatch, typename From, typename FromStep, typename Loads, typename To,
          typename ToStep, typename Stores>
TTLG_DEVICE void move_batch(From& from, FromStep from_step, const Loads& loads, To& to,
                            ToStep to_step, const Stores& stores) {
  Word<kWidth> held[kBatch];
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    held[b] = from.template load<Word<kWidth>>(loads(b));
    from.advance(from_step);
  }
  TTLG_UNROLL
  for (int b = 0; b < kBatch; ++b) {
    to.store(stores(b), held[b]);
    to.advance(to_step);
  }
}

}  // namespace ttlg::cuda
