#include "cuda/bind_kernels.hpp"

namespace ttlg::test::binding {

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const ArbitraryArguments& p) {
  return with_wide_width(launch, [&](auto any_width) {
    return with_access(launch, any_width, [&](auto width, auto in, auto out) {
      return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
        orthogonal_arbitrary<decltype(width)::value, decltype(in)::value, decltype(out)::value>(
            grid, p, context);
      });
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const PackedArguments& p) {
  return with_packed_access(launch, [&](auto width, auto aligned) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      orthogonal_arbitrary_packed<decltype(width)::value, decltype(aligned)::value>(grid, p,
                                                                                    context);
    });
  });
}

}  // namespace ttlg::test::binding
