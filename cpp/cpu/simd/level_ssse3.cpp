// SSSE3: 16-byte vectors, and the first instruction that permutes bytes.
#include "cpu/simd/kernels.hpp"
// Generated; it needs what the header above declares.
#include "kernels_ssse3.hpp"

namespace ttlg::cpu {

extern const Kernels kSsse3Kernels = make_kernels("ssse3", kGenerated);

}  // namespace ttlg::cpu
