#include "cuda/bind_kernels.hpp"

namespace ttlg::test::binding {

Kernel bind(const Launch& launch, const AnyGrid& any_grid, const DistinctArguments& p) {
  return with_distinct_access(launch, [&](auto width, auto in, auto out) {
    return on_grid(any_grid, [&p](const auto& grid, const HostContext& context) {
      orthogonal_distinct<decltype(width)::value, decltype(in)::value, decltype(out)::value>(
          grid, p, context);
    });
  });
}

}  // namespace ttlg::test::binding
