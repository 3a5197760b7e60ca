// What a kernel sees of the machine that runs it. Kernels are written once against this interface:
// nvcc compiles them with DeviceContext, whose members are single instructions, and the tests with
// a host executor's context, which runs every thread and checks every access.
//
// Every lane of a warp makes the same calls in the same order and says with `valid` whether it
// takes part, so that one call is one access of the warp. Offsets are in bytes.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TTLG_DEVICE __device__ __forceinline__
#else
#define TTLG_DEVICE inline
#endif

namespace ttlg::cuda {

struct alignas(16) Word16 {
  std::uint32_t part[4];
};

// The unsigned word of so many bytes.
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

#ifdef __CUDACC__

class DeviceContext {
 public:
  TTLG_DEVICE DeviceContext(const std::byte* in, std::byte* out) : in_(in), out_(out) {}

  TTLG_DEVICE std::uint32_t thread() const { return threadIdx.x; }
  TTLG_DEVICE std::uint32_t block() const { return blockIdx.x; }
  TTLG_DEVICE void barrier() const { __syncthreads(); }

  template <typename T>
  TTLG_DEVICE T load(bool valid, std::int64_t offset) const;
  template <typename T>
  TTLG_DEVICE void store(bool valid, std::int64_t offset, T value) const;
  template <typename T>
  TTLG_DEVICE T shared_load(bool valid, std::uint32_t offset) const;
  template <typename T>
  TTLG_DEVICE void shared_store(bool valid, std::uint32_t offset, T value) const;
  template <typename T>
  TTLG_DEVICE T shuffle(T value, std::uint32_t lane) const;

 private:
  const std::byte* in_;
  std::byte* out_;
};

#endif

}  // namespace ttlg::cuda
