// What a kernel sees of the machine that runs it. Kernels are written once against this interface:
// nvcc compiles them with DeviceContext or, in place, InplaceDeviceContext, whose members are
// single instructions, and the tests with a host executor's context, which runs every thread and
// checks every access.
//
// Every lane of a warp makes the same calls in the same order and says with `valid` whether it
// takes part, so that one call is one access of the warp. Offsets are in bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>

#define TTLG_DEVICE __device__ __forceinline__
#define TTLG_UNROLL _Pragma("unroll")
#define TTLG_PRAGMA(text) _Pragma(#text)
#define TTLG_UNROLL_BY(n) TTLG_PRAGMA(unroll n)
#else
#define TTLG_DEVICE inline
#define TTLG_UNROLL
#define TTLG_UNROLL_BY(n)
#endif

namespace ttlg::cuda {

struct alignas(16) Word16 {
  std::uint32_t part[4];
};

// The unsigned word of this many bytes.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = std::uint8_t;
};
template <>
struct WordOf<2> {
  using Type = std::uint16_t;
};
template <>
struct WordOf<4> {
  using Type = std::uint32_t;
};
template <>
struct WordOf<8> {
  using Type = std::uint64_t;
};
template <>
struct WordOf<16> {
  using Type = Word16;
};
template <int kBytes>
using Word = typename WordOf<kBytes>::Type;

// Whether words of this type can be copied to shared memory asynchronously.
template <typename T>
inline constexpr bool kCopiesAsynchronously = sizeof(T) >= 4;

// Four bytes of the eight of `low` and `high`, chosen by the hexadecimal digits of `selector`, the
// lowest digit first.
TTLG_DEVICE std::uint32_t byte_permute(std::uint32_t low, std::uint32_t high,
                                       std::uint32_t selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(low, high, selector);
#else
  const std::uint64_t bytes = (std::uint64_t{high} << 32) | low;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const auto from = (selector >> (4 * i)) & 7;
    result |= static_cast<std::uint32_t>((bytes >> (8 * from)) & 0xff) << (8 * i);
  }
  return result;
#endif
}

// The value that it is given, hidden from the compiler so that it cannot hoist what follows from it
// out of a loop and hold it in registers that the loop is short of.
template <typename T>
TTLG_DEVICE T opaque(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    asm volatile("" : "+r"(value));
  } else {
    asm volatile("" : "+l"(value));
  }
#endif
  return value;
}

#ifdef __CUDACC__

// Unless a kernel works in place, nothing writes the input while it runs, so loads may use the
// read-only path. In place the compiler must keep them before the stores to what they have loaded.
template <bool kInplace>
class BasicDeviceContext {
 public:
  TTLG_DEVICE BasicDeviceContext(const std::byte* in, std::byte* out)
      : BasicDeviceContext(in, out, dynamic_shared()) {}

  // This context for offsets from other origins. The pointers stay in a thread's own registers,
  // where adding an offset takes a single instruction, even if the origins are the same for all
  // threads.
  TTLG_DEVICE BasicDeviceContext at(std::int64_t in, std::int64_t out) const {
    const std::byte* const new_in = opaque(in_ + in);
    std::byte* const new_out = opaque(out_ + out);
    __builtin_assume(__isGlobal(new_in));
    __builtin_assume(__isGlobal(new_out));
    return {new_in, new_out, shared_};
  }

  // This context for offsets in shared memory that count from another byte.
  TTLG_DEVICE BasicDeviceContext at_shared(std::uint32_t bytes) const {
    return {in_, out_, shared_ + bytes};
  }

  // How many bytes the origins of offsets lie beyond a multiple of 4.
  TTLG_DEVICE std::uint32_t in_phase() const { return phase_of(in_); }
  TTLG_DEVICE std::uint32_t out_phase() const { return phase_of(out_); }

  TTLG_DEVICE std::uint32_t thread() const { return threadIdx.x; }
  TTLG_DEVICE std::uint32_t block() const { return blockIdx.x; }
  TTLG_DEVICE std::uint32_t blocks() const { return gridDim.x; }
  TTLG_DEVICE void barrier() const { __syncthreads(); }

  template <typename T>
  TTLG_DEVICE T load(bool valid, std::int64_t offset) const {
    if (!valid) return T{};
    const std::byte* const from = in_ + offset;
    if constexpr (kInplace) {
      __builtin_assume(__isGlobal(from));
      return read<T>(from);
    } else if constexpr (sizeof(T) == 16) {
      const uint4 word = __ldg(reinterpret_cast<const uint4*>(from));
      return {{word.x, word.y, word.z, word.w}};
    } else if constexpr (sizeof(T) == 8) {
      return __ldg(reinterpret_cast<const unsigned long long*>(from));
    } else {
      return __ldg(reinterpret_cast<const T*>(from));
    }
  }

  template <typename T>
  TTLG_DEVICE void store(bool valid, std::int64_t offset, T value) const {
    if (valid) write(out_ + offset, value);
  }

  template <typename T>
  TTLG_DEVICE T shared_load(bool valid, std::uint32_t offset) const {
    return valid ? read<T>(shared_ + offset) : T{};
  }

  template <typename T>
  TTLG_DEVICE void shared_store(bool valid, std::uint32_t offset, T value) const {
    if (valid) write(shared_ + offset, value);
  }

  // Copies 4, 8 or 16 bytes of the input to shared memory while the thread goes on. They may be
  // read once this thread has waited for their group, and by other threads after a barrier as well.
  template <int kBytes>
  TTLG_DEVICE void copy_async(bool valid, std::uint32_t to, std::int64_t offset) const {
    copy_async<kBytes>(valid, static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_)) + to,
                       in_ + offset);
  }

  // Copies an aligned word of 4 bytes of which the first ones may lie before the array:
  // allocations begin at whole words.
  TTLG_DEVICE void copy_word_async(bool valid, std::uint32_t to, std::int64_t offset) const {
    copy_async<4>(valid, to, offset);
  }
  // Of such a word only the first `count` bytes, and zeros for the others: allocations may end
  // anywhere.
  TTLG_DEVICE void copy_word_async(bool valid, std::uint32_t count, std::uint32_t to,
                                   std::int64_t offset) const {
    if (!valid) return;
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_)) + to;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(in_ + offset),
                 "r"(count)
                 : "memory");
  }

  // Ends a group: the thread's copies since the last one, or none.
  TTLG_DEVICE void commit_copies() const { __pipeline_commit(); }

  // Waits for this thread's groups but the newest `kNewest`.
  template <int kNewest>
  TTLG_DEVICE void wait_copies() const {
    __pipeline_wait_prior(kNewest);
  }

  // The value of another lane of the warp, all of whose lanes make this call.
  template <typename T>
  TTLG_DEVICE T shuffle(T value, std::uint32_t lane) const {
    return __shfl_sync(~0u, value, static_cast<int>(lane));
  }

  // Whether any lane of the warp says so, all of which make this call.
  TTLG_DEVICE bool any(bool value) const { return __any_sync(~0u, value) != 0; }

 private:
  // Not __pipeline_memcpy_async, which turns an address of shared memory into a generic one and
  // back, for each copy.
  template <int kBytes>
  static TTLG_DEVICE void copy_async(bool valid, std::uint32_t address, const std::byte* from) {
    if (!valid) return;
    if constexpr (kBytes == 16) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from),
                   "n"(kBytes)
                   : "memory");
    }
  }

  TTLG_DEVICE BasicDeviceContext(const std::byte* in, std::byte* out, std::byte* shared)
      : in_(in), out_(out), shared_(shared) {}

  static TTLG_DEVICE std::uint32_t phase_of(const std::byte* origin) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(origin)) % 4;
  }

  // One block of dynamic shared memory serves every kernel.
  static TTLG_DEVICE std::byte* dynamic_shared() {
    extern __shared__ uint4 memory[];
    return reinterpret_cast<std::byte*>(memory);
  }

  template <typename T>
  static TTLG_DEVICE T read(const std::byte* from) {
    if constexpr (sizeof(T) == 16) {
      const uint4 word = *reinterpret_cast<const uint4*>(from);
      return {{word.x, word.y, word.z, word.w}};
    } else {
      return *reinterpret_cast<const T*>(from);
    }
  }

  template <typename T>
  static TTLG_DEVICE void write(std::byte* to, T value) {
    if constexpr (sizeof(T) == 16) {
      *reinterpret_cast<uint4*>(to) =
          make_uint4(value.part[0], value.part[1], value.part[2], value.part[3]);
    } else {
      *reinterpret_cast<T*>(to) = value;
    }
  }

  // See cursors.hpp.
  template <typename Context>
  friend class Source;
  template <typename Context>
  friend class Target;
  template <typename Context>
  friend class SharedCursor;

  const std::byte* in_;
  std::byte* out_;
  std::byte* shared_;
};

using DeviceContext = BasicDeviceContext<false>;
using InplaceDeviceContext = BasicDeviceContext<true>;

#endif

}  // namespace ttlg::cuda
