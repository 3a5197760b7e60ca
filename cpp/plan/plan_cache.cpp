#include "plan/plan_cache.hpp"

#include <vector>

namespace ttlg {
namespace {

template <typename T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace

std::uint64_t LayoutKey::hash() const {
  std::uint64_t hash = shape.size();
  const auto mix = [&hash](auto word) {
    hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(word);
  };
  mix(itemsize);
  mix(inplace);
  mix(out_alignment);
  for (const std::int64_t extent : shape) mix(extent);
  for (const std::int64_t stride : in_byte_strides) mix(stride);
  for (const int axis : axes) mix(axis);
  for (const std::int64_t stride : out_byte_strides) mix(stride);
  return hash;
}

bool LayoutKey::matches(const Request& request) const {
  return itemsize == request.itemsize && std::ranges::equal(shape, request.shape) &&
         std::ranges::equal(in_byte_strides, request.in_byte_strides) &&
         std::ranges::equal(axes, request.axes) &&
         std::ranges::equal(out_byte_strides, request.out_byte_strides) &&
         inplace == request.inplace && out_alignment == request.out_alignment;
}

Request LayoutKey::request() const {
  return {.shape = copy_of(shape),
          .in_byte_strides = copy_of(in_byte_strides),
          .axes = copy_of(axes),
          .itemsize = itemsize,
          .out_byte_strides = copy_of(out_byte_strides),
          .inplace = inplace,
          .out_alignment = out_alignment};
}

}  // namespace ttlg
