// AVX2: 32-byte vectors.
#include "cpu/simd/kernels.hpp"
// Generated; it needs what the header above declares.
#include "kernels_avx2.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx2Kernels = make_kernels("avx2", kGenerated);

}  // namespace ttlg::cpu
