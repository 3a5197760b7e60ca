// Requests as the tests need them: contiguous ones, seeded random ones of any layout, and the
// memory that they span.
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

// Matrices of float32, copied and transposed, whose elements become others of another size and of
// the same: nothing that moves bits may carry these out.
inline std::vector<Request> converting_requests() {
  std::vector<Request> requests;
  for (const std::vector<int>& axes : {std::vector<int>{0, 1}, {1, 0}}) {
    for (const Type to : {Type::float16, Type::int32}) {
      requests.push_back(contiguous_request({30, 40}, axes, 4));
      requests.back().map = {Type::float32, to};
    }
  }
  return requests;
}

// A contiguous tensor without fusion, as papers' examples are written: mode 0 is the fastest, and
// the output's i-th fastest mode is the input's mode perm[i].
inline Problem unfused_problem(const std::vector<std::int64_t>& extents, std::vector<int> perm,
                               std::int64_t itemsize) {
  Problem problem{
      .in_bytes = itemsize, .out_bytes = itemsize, .modes = {}, .perm = std::move(perm)};
  std::int64_t stride = itemsize;
  for (const std::int64_t extent : extents) {
    problem.modes.push_back({extent, stride, 0});
    stride *= extent;
  }
  stride = itemsize;
  for (const int m : problem.perm) {
    Mode& mode = problem.modes[static_cast<std::size_t>(m)];
    mode.out_byte_stride = stride;
    stride *= mode.extent;
  }
  return problem;
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

// Every width that is moved as one element, and the awkward ones: colours, points, structures.
inline constexpr std::array<std::int64_t, 13> kItemsizes{1, 2, 3,  4,  5,  6,  7,
                                                         8, 9, 12, 16, 24, 100};

inline std::int64_t random_itemsize(Random& random) {
  return kItemsizes[static_cast<std::size_t>(pick(random, 0, std::ssize(kItemsizes) - 1))];
}

// The shape by any permutation, each side contiguous or in a layout of its own.
inline Request random_layouts(Random& random, std::vector<std::int64_t> shape,
                              std::int64_t itemsize) {
  const std::vector<int> axes = random_axes(random, shape.size());
  Request request = contiguous_request(std::move(shape), axes, itemsize);
  if (pick(random, 0, 1) == 0) {
    request.in_byte_strides = random_byte_strides(random, request.shape, itemsize);
    for (std::int64_t& stride : request.in_byte_strides) {
      if (pick(random, 0, 7) == 0) stride = 0;
    }
  }
  if (pick(random, 0, 1) == 0) {
    request.out_byte_strides = random_byte_strides(random, request.out_shape(), itemsize);
  }
  return request;
}

inline Request random_request(Random& random) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(pick(random, 0, 6)));
  const std::int64_t most = shape.size() > 4 ? 4 : 9;
  for (std::int64_t& extent : shape) extent = pick(random, 1, most);
  return random_layouts(random, std::move(shape), random_itemsize(random));
}

// Up to ten axes of 2 to 5: several modes on either side of a block, some of them on both.
inline Request many_modes_request(Random& random) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (std::int64_t rank = pick(random, 3, 10); rank > 0 && elements < 4000; --rank) {
    shape.push_back(pick(random, 2, 5));
    elements *= shape.back();
  }
  return random_layouts(random, std::move(shape), random_itemsize(random));
}

// Calls visit(request, i) for random requests of either kind, the i-th of which is of many modes if
// i is odd.
template <typename Visit>
void for_random_requests(Random& random, int requests, const Visit& visit) {
  for (int i = 0; i < requests; ++i) {
    visit(i % 2 == 0 ? random_request(random) : many_modes_request(random), i);
  }
}

template <typename Visit>
void for_random_requests(std::uint64_t seed, int requests, const Visit& visit) {
  Random random(seed);
  for_random_requests(random, requests, visit);
}

// Calls visit(axes) for every permutation of `rank` axes.
template <typename Visit>
void for_each_permutation(std::size_t rank, const Visit& visit) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  do {
    visit(axes);
  } while (std::ranges::next_permutation(axes).found);
}

// Long along the output's fastest axis or along its two fastest, and short elsewhere.
inline Request long_runs_request(Random& random) {
  const auto rank = static_cast<std::size_t>(pick(random, 2, 5));
  std::vector<std::int64_t> shape(rank);
  for (std::int64_t& extent : shape) extent = pick(random, 2, 6);
  const std::vector<int> axes = random_axes(random, rank);
  shape[static_cast<std::size_t>(axes.back())] = pick(random, 30, 300);
  const bool of_two_axes = pick(random, 0, 1) == 0;
  if (of_two_axes) shape[static_cast<std::size_t>(axes[rank - 2])] = pick(random, 5, 20);
  Request request = contiguous_request(std::move(shape), axes, random_itemsize(random));
  for (std::int64_t& stride : request.in_byte_strides) {
    if (pick(random, 0, 5) == 0) stride = pick(random, 0, 1) == 0 ? 0 : -stride;
  }
  return request;
}

// Offsets of an array's first byte and of the byte after its last, from element (0, ..., 0).
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::size_t bytes() const { return static_cast<std::size_t>(last - first); }
};

inline Span span_of(const std::vector<std::int64_t>& shape,
                    const std::vector<std::int64_t>& byte_strides, std::int64_t itemsize) {
  if (std::ranges::find(shape, 0) != shape.end()) return {};
  Span span{0, itemsize};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t reach = (shape[axis] - 1) * byte_strides[axis];
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

inline Span in_span_of(const Request& request) {
  return span_of(request.shape, request.in_byte_strides, request.itemsize);
}

inline Span out_span_of(const Request& request) {
  return span_of(request.out_shape(), request.resolved_out_byte_strides(), request.itemsize);
}

}  // namespace ttlg::test
