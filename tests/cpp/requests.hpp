// Requests as the tests need them: contiguous ones, and seeded random ones of any layout.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::test {

inline Request contiguous_request(std::vector<std::int64_t> shape, std::vector<int> axes,
                                  std::int64_t itemsize) {
  std::vector<std::int64_t> strides = contiguous_byte_strides(shape, itemsize);
  return {.shape = std::move(shape),
          .in_byte_strides = std::move(strides),
          .axes = std::move(axes),
          .itemsize = itemsize,
          .out_byte_strides = {}};
}

using Random = std::mt19937_64;

inline std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

inline std::vector<int> random_axes(Random& random, std::size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::ranges::shuffle(axes, random);
  return axes;
}

// Axes nested in any order, some with gaps between their elements, some walked backwards.
inline std::vector<std::int64_t> random_byte_strides(Random& random,
                                                     const std::vector<std::int64_t>& shape,
                                                     std::int64_t itemsize) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = itemsize;
  for (const int axis : random_axes(random, shape.size())) {
    const auto i = static_cast<std::size_t>(axis);
    if (pick(random, 0, 3) == 0) stride += pick(random, 1, itemsize + 1);
    strides[i] = pick(random, 0, 3) == 0 ? -stride : stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

inline Request random_request(Random& random) {
  static constexpr std::array<std::int64_t, 10> kItemsizes{1, 2, 3, 4, 5, 8, 12, 16, 24, 100};
  const auto rank = static_cast<std::size_t>(pick(random, 0, 6));
  std::vector<std::int64_t> shape(rank);
  for (std::int64_t& extent : shape) extent = pick(random, 1, rank > 4 ? 4 : 9);
  Request request = contiguous_request(shape, random_axes(random, rank),
                                       kItemsizes[static_cast<std::size_t>(pick(random, 0, 9))]);
  if (pick(random, 0, 1) == 0) {
    request.in_byte_strides = random_byte_strides(random, shape, request.itemsize);
    for (std::int64_t& stride : request.in_byte_strides) {
      if (pick(random, 0, 7) == 0) stride = 0;
    }
  }
  if (pick(random, 0, 1) == 0) {
    request.out_byte_strides = random_byte_strides(random, request.out_shape(), request.itemsize);
  }
  return request;
}

}  // namespace ttlg::test
