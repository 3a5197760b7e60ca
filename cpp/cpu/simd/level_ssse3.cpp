// SSSE3: 16-byte vectors, and the first instruction that permutes bytes.
#include "channels_ssse3.hpp"
#include "cpu/simd/kernels.hpp"

namespace ttlg::cpu {

extern const Kernels kSsse3Kernels = make_kernels("ssse3", kChannels);

}  // namespace ttlg::cpu
