#include "cuda/bind_kernels.hpp"

namespace ttlg::test::binding {

Kernel bind(const Launch& launch, const AnyGrid&, const SquareArguments& p) {
  return with_width(launch, [&](auto any_width) {
    return with_vectors(launch, any_width, [&](auto width, auto vectors) -> Kernel {
      constexpr int kWidth = decltype(width)::value;
      constexpr bool kVectors = decltype(vectors)::value;
      if (launch.threads == SquarePolicy::kThreads) {
        return [&p](const HostContext& context) { square<kWidth, kVectors>(p, context); };
      }
      return [&p](const HostContext& context) { square_any_threads<kWidth, kVectors>(p, context); };
    });
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RowShuffleArguments& p) {
  return with_row_shuffle(p, launch, [&](auto width, auto in_word, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      row_shuffle<decltype(width)::value, decltype(in_word)::value, decltype(forward)::value>(
          p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const ColumnShuffleArguments& p) {
  return with_column_access(launch, p.access_bytes, [&](auto width, auto access) -> Kernel {
    return [&p](const HostContext& context) {
      column_shuffle<decltype(width)::value, decltype(access)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RowGatherArguments& p) {
  return with_forward(p, launch, [&](auto width, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      row_gather<decltype(width)::value, decltype(forward)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const ColumnGatherArguments& p) {
  return with_column_access(launch, p.access_bytes, [&](auto width, auto access) -> Kernel {
    return [&p](const HostContext& context) {
      column_gather<decltype(width)::value, decltype(access)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const RunsArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) -> Kernel {
    return [&p](const HostContext& context) { runs<kWidth>(p, context); };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const CutCellsArguments& p) {
  return with_gaps(p, launch, [&](auto width, auto gaps) -> Kernel {
    return [&p](const HostContext& context) {
      cut_cells<decltype(width)::value, decltype(gaps)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const CellsArguments& p) {
  return with_gaps(p, launch, [&](auto width, auto gaps) -> Kernel {
    return [&p](const HostContext& context) {
      cells<decltype(width)::value, decltype(gaps)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const SkinnyArguments& p) {
  return with_forward(p, launch, [&](auto width, auto forward) -> Kernel {
    return [&p](const HostContext& context) {
      skinny<decltype(width)::value, decltype(forward)::value>(p, context);
    };
  });
}

Kernel bind(const Launch& launch, const AnyGrid&, const SkinnyHeadsArguments& p) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth>) -> Kernel {
    return [&p](const HostContext& context) { skinny_heads<kWidth>(p, context); };
  });
}

}  // namespace ttlg::test::binding
