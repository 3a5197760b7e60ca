// AVX2: 32-byte vectors.
#include "channels_avx2.hpp"
#include "cpu/simd/kernels.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx2Kernels = make_kernels("avx2", kChannels);

}  // namespace ttlg::cpu
