// How many of a test's many alike runs are made.
#pragma once

namespace ttlg::test {

// Every n-th: all, unless a sanitizer or an emulator slows the host executor down tenfold, or
// ThreadSanitizer the CPU's kernels, where any plan shares its blocks among threads in one way.
#ifdef TTLG_SAMPLE_RUNS
inline constexpr int kSampling = 16;
#else
inline constexpr int kSampling = 1;
#endif

// Whether this one of many alike runs is made. An odd distance, so that cases which alternate are
// all sampled.
inline bool is_sample() {
  static int runs = 0;
  return kSampling == 1 || runs++ % (kSampling - 1) == 0;
}

}  // namespace ttlg::test
