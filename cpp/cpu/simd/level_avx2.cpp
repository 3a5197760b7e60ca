// AVX2: 32-byte vectors.
#include "cpu/simd/kernels.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx2Kernels = make_kernels("avx2");

}  // namespace ttlg::cpu
