// The steps of a sparse transposition carried out on the host, in the caller's memory, by the
// kernels' own source; the radix sort is std::stable_sort.
#pragma once

namespace ttlg::test {

struct HostSteps {
  int sorts = 0;
  int sorted_bits = 0;
  int copies = 0;
  // Whether a sort leaves its result in the buffers in which it began.
  bool sorts_stay = false;
};

HostSteps& host_steps();

}  // namespace ttlg::test
