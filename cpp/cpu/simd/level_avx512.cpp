// AVX-512 with F, BW, DQ and VL: 64-byte vectors, a line a store.
#include "cpu/simd/kernels.hpp"

namespace ttlg::cpu {

extern const Kernels kAvx512Kernels = make_kernels("avx512");

}  // namespace ttlg::cpu
