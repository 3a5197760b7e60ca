// What every machine of the architecture has: SSE2 on x86-64, NEON on AArch64, elsewhere whatever
// the compiler makes of 16-byte vectors.
#include "cpu/simd/kernels.hpp"
#if defined(__ARM_NEON)
#include "kernels_neon.hpp"
#endif

namespace ttlg::cpu {

#if defined(__SSE2__)
extern const Kernels kBaselineKernels = make_kernels("sse2", {});
#elif defined(__ARM_NEON)
extern const Kernels kBaselineKernels = make_kernels("neon", kGenerated);
#else
extern const Kernels kBaselineKernels = make_kernels("portable", {});
#endif

}  // namespace ttlg::cpu
