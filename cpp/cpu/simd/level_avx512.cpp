// AVX-512 with F, BW, DQ and VL: 64-byte vectors, a line a store.
#include "channels_avx512.hpp"
#include "cpu/simd/kernels.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx512Kernels = make_kernels("avx512", kChannels);

}  // namespace ttlg::cpu
