// AVX-512 with F, BW, DQ and VL: 64-byte vectors, a line a store.
#include "cpu/simd/kernels.hpp"
// Generated; it needs what the header above declares.
#include "kernels_avx512.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx512Kernels = make_kernels("avx512", kGenerated);

}  // namespace ttlg::cpu
