// AVX-512 with F, BW, DQ and VL: 64-byte vectors, a line a store.
#include "cpu/simd/kernels.hpp"
// Generated; it needs what the header above declares.
#include "channels_avx512.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx512Kernels = make_kernels("avx512", kChannels);

}  // namespace ttlg::cpu
