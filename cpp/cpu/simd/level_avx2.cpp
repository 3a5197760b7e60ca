// AVX2: 32-byte vectors.
#include "cpu/simd/kernels.hpp"
// Generated; it needs what the header above declares.
#include "channels_avx2.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx2Kernels = make_kernels("avx2", kChannels);

}  // namespace ttlg::cpu
