#include "cuda/bind_kernels.hpp"

namespace ttlg::test::binding {

Kernel bind(const Launch&, const AnyGrid&, const CopyArguments& p) {
  return [&p](const HostContext& context) {
    p.shift == 0 ? cuda::copy<kMaxAccessBytes>(p, context)
                 : copy_shifted<kMaxAccessBytes>(p, context);
  };
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const MatchLargeArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      fvi_match_large<kWidth>(grid, p, context);
    });
  });
}

Kernel bind(const Launch&, const AnyGrid& any_grid, const MatchLargeShiftedArguments& p) {
  return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
    fvi_match_large_shifted<FviMatchLargeShiftedPolicy::kWidth>(grid, p, context);
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const MatchSmallArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      fvi_match_small<kWidth>(grid, p, context);
    });
  });
}

}  // namespace ttlg::test::binding
