// From run-time values to a kernel's template parameters.
#pragma once

#include <type_traits>

#include "cuda/launch.hpp"

namespace ttlg::cuda {

template <int kValue>
using Constant = std::integral_constant<int, kValue>;

// visit(width): an element of 1 or 2 bytes, narrower than a bank of shared memory.
template <typename Visit>
auto with_packed_width(const Launch& launch, const Visit& visit) {
  return launch.word_bytes == 1 ? visit(Constant<1>{}) : visit(Constant<2>{});
}

// visit(width): a word of 4, 8 or 16 bytes.
template <typename Visit>
auto with_wide_width(const Launch& launch, const Visit& visit) {
  if (launch.word_bytes == 4) return visit(Constant<4>{});
  if (launch.word_bytes == 8) return visit(Constant<8>{});
  return visit(Constant<16>{});
}

// visit(width): a word of 1, 2, 4, 8 or 16 bytes.
template <typename Visit>
auto with_width(const Launch& launch, const Visit& visit) {
  return launch.word_bytes < 4 ? with_packed_width(launch, visit) : with_wide_width(launch, visit);
}

// visit(width, vector in, vector out). Elements of 16 bytes are vectors.
template <int kWidth, typename Visit>
auto with_access(const Launch& launch, Constant<kWidth> width, const Visit& visit) {
  if constexpr (kWidth == 16) {
    return visit(width, std::true_type{}, std::true_type{});
  } else if (launch.access.vector_in) {
    return launch.access.vector_out ? visit(width, std::true_type{}, std::true_type{})
                                    : visit(width, std::true_type{}, std::false_type{});
  } else {
    return launch.access.vector_out ? visit(width, std::false_type{}, std::true_type{})
                                    : visit(width, std::false_type{}, std::false_type{});
  }
}

// visit(width, vectors): of both sides.
template <int kWidth, typename Visit>
auto with_vectors(const Launch& launch, Constant<kWidth> width, const Visit& visit) {
  if constexpr (kWidth == 16) {
    return visit(width, std::true_type{});
  } else {
    return launch.access.vector_in && launch.access.vector_out ? visit(width, std::true_type{})
                                                               : visit(width, std::false_type{});
  }
}

// visit(width, vector in, vector out), as Orthogonal-Distinct uses vectors.
template <typename Visit>
auto with_distinct_access(const Launch& launch, const Visit& visit) {
  return with_width(launch, [&](auto any_width) {
    return with_access(launch, any_width, [&](auto width, auto vector_in, auto vector_out) {
      constexpr VectorAccess kAccess{vector_in(), vector_out()};
      constexpr bool kVectorIn = OrthogonalDistinctPolicy::reads_vectors(width(), kAccess);
      return visit(width, std::bool_constant<kVectorIn>{}, vector_out);
    });
  });
}

// visit(width, forward).
template <typename Arguments, typename Visit>
auto with_forward(const Arguments& p, const Launch& launch, const Visit& visit) {
  return with_width(launch, [&](auto width) {
    return p.forward ? visit(width, std::true_type{}) : visit(width, std::false_type{});
  });
}

// visit(width, gaps): whether there are any between cells.
template <typename Arguments, typename Visit>
auto with_gaps(const Arguments& p, const Launch& launch, const Visit& visit) {
  return with_width(launch, [&](auto width) {
    return p.groups.gap_bytes > 0 ? visit(width, std::true_type{})
                                  : visit(width, std::false_type{});
  });
}

// visit(width, elements in a word, forward): elements narrower than a bank may be moved by as many
// as fill one.
template <typename Visit>
auto with_row_shuffle(const RowShuffleArguments& p, const Launch& launch, const Visit& visit) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth> width) {
    const auto with_direction = [&](auto in_word) {
      return p.forward ? visit(width, in_word, std::true_type{})
                       : visit(width, in_word, std::false_type{});
    };
    if constexpr (kWidth < kBankBytes) {
      if (launch.access.vector_in) return with_direction(Constant<kBankBytes / kWidth>{});
    }
    return with_direction(Constant<1>{});
  });
}

// visit(width, bytes of an access of the input): a word, a bank of shared memory or a vector.
template <typename Visit>
auto with_column_access(const Launch& launch, std::uint32_t access_bytes, const Visit& visit) {
  return with_width(launch, [&]<int kWidth>(Constant<kWidth> width) {
    if constexpr (kWidth < kMaxAccessBytes) {
      if (access_bytes == kMaxAccessBytes) return visit(width, Constant<kMaxAccessBytes>{});
    }
    if constexpr (kWidth < kBankBytes) {
      if (access_bytes == kBankBytes) return visit(width, Constant<kBankBytes>{});
    }
    return visit(width, width);
  });
}

// visit(width, aligned): whether the runs of packed elements are whole words on both sides.
template <typename Visit>
auto with_packed_access(const Launch& launch, const Visit& visit) {
  return with_packed_width(launch, [&](auto width) {
    return launch.access.vector_in && launch.access.vector_out ? visit(width, std::true_type{})
                                                               : visit(width, std::false_type{});
  });
}

// How many modes a grid of this type, or a reference to one, holds.
template <typename AGrid>
inline constexpr int capacity_of = std::remove_cvref_t<AGrid>::kCapacity;

// visit(grid) with the fewest compiled modes.
template <typename Visit>
auto with_grid(const AnyGrid& grid, const Visit& visit) {
  if (grid.modes <= 6) return visit(narrow<6>(grid));
  if (grid.modes <= 15) return visit(narrow<15>(grid));
  return visit(grid);
}

}  // namespace ttlg::cuda
