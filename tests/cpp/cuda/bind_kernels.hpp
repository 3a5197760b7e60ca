// Kernels' bodies with their arguments bound, for the host executor. There are hundreds of
// instances, which are compiled by families.
#pragma once

#include "cuda/dispatch.hpp"
#include "cuda/executor.hpp"

namespace ttlg::test::binding {
using namespace cuda;

// The arguments must outlive them. The grid is that of a kernel for slices.
Kernel bind(const Launch&, const AnyGrid&, const CopyArguments&);
Kernel bind(const Launch&, const AnyGrid&, const MatchLargeArguments&);
Kernel bind(const Launch&, const AnyGrid&, const MatchLargeShiftedArguments&);
Kernel bind(const Launch&, const AnyGrid&, const MatchSmallArguments&);
Kernel bind(const Launch&, const AnyGrid&, const DistinctArguments&);
Kernel bind(const Launch&, const AnyGrid&, const ArbitraryArguments&);
Kernel bind(const Launch&, const AnyGrid&, const PackedArguments&);
Kernel bind(const Launch&, const AnyGrid&, const SquareArguments&);
Kernel bind(const Launch&, const AnyGrid&, const RowShuffleArguments&);
Kernel bind(const Launch&, const AnyGrid&, const ColumnShuffleArguments&);
Kernel bind(const Launch&, const AnyGrid&, const RowGatherArguments&);
Kernel bind(const Launch&, const AnyGrid&, const ColumnGatherArguments&);
Kernel bind(const Launch&, const AnyGrid&, const RunsArguments&);
Kernel bind(const Launch&, const AnyGrid&, const CutCellsArguments&);
Kernel bind(const Launch&, const AnyGrid&, const CellsArguments&);
Kernel bind(const Launch&, const AnyGrid&, const SkinnyArguments&);
Kernel bind(const Launch&, const AnyGrid&, const SkinnyHeadsArguments&);

// A kernel for slices: body(grid, context).
template <typename Body>
Kernel on_grid(const AnyGrid& any_grid, const Body& body) {
  return with_grid(any_grid, [&](const auto& grid) -> Kernel {
    return [grid, body](const HostContext& context) { body(grid, context); };
  });
}

}  // namespace ttlg::test::binding
