#include "sparse/keys.hpp"

#include <algorithm>
#include <cstddef>

namespace ttlg::sparse {
namespace {

template <typename Index>
void add_field(const Field& field, const Index* indices, const std::int64_t* order,
               std::span<std::uint64_t> keys) {
  const int shift = field.shift;
  std::uint64_t* const to = keys.data();
  const std::size_t count = keys.size();
  if (order) {
    for (std::size_t j = 0; j < count; ++j) {
      to[j] |= static_cast<std::uint64_t>(indices[order[j]]) << shift;
    }
  } else if constexpr (sizeof(Index) == 4) {
    // Not negative: without a sign to extend there is an instruction for it on any processor.
    for (std::size_t j = 0; j < count; ++j) {
      to[j] |= std::uint64_t{static_cast<std::uint32_t>(indices[j])} << shift;
    }
  } else {
    for (std::size_t j = 0; j < count; ++j) {
      to[j] |= static_cast<std::uint64_t>(indices[j]) << shift;
    }
  }
}

template <typename Index, typename Stored>
void write_field(const Field& field, std::uint64_t base, std::span<const Stored> keys, Index* to) {
  const std::uint64_t mask = field.mask();
  const int shift = field.shift;
  for (const Stored key : keys) *to++ = static_cast<Index>(((base + key) >> shift) & mask);
}

template <typename Stored>
void write_fields(const Key& key, std::uint64_t base, std::span<const Stored> keys,
                  std::int64_t position, const Output& output) {
  for (const Field& field : key.fields) {
    const NewIndices& mode = output.modes[static_cast<std::size_t>(field.out_mode)];
    if (!mode) continue;  // row pointers instead
    with_type(mode, [&](auto* to) { write_field(field, base, keys, to + position); });
  }
}

}  // namespace

std::int64_t row_of(const Indices& row_pointers, std::int64_t rows, std::int64_t position) {
  return with_type(row_pointers, [&](const auto* pointers) {
    return static_cast<std::int64_t>(std::upper_bound(pointers, pointers + rows + 1, position) -
                                     pointers) -
           1;
  });
}

void KeyReader::read(std::int64_t begin, std::span<std::uint64_t> keys, int low) const {
  std::ranges::fill(keys, 0);
  for (const Field& field : key_.fields) {
    if (field.shift + field.bits <= low) break;
    const Indices& mode = input_.modes[static_cast<std::size_t>(field.in_mode)];
    if (!mode) {
      for_rows(begin, keys.size(), [=](std::int64_t row, std::size_t from, std::size_t to) {
        const std::uint64_t bits = static_cast<std::uint64_t>(row) << field.shift;
        for (; from < to; ++from) keys[from] |= bits;
      });
    } else if (order_) {
      with_type(mode, [&](const auto* from) { add_field(field, from, order_ + begin, keys); });
    } else {
      with_type(mode, [&](const auto* from) { add_field(field, from + begin, nullptr, keys); });
    }
  }
}

void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint64_t> keys,
                       std::int64_t position, const Output& output) {
  write_fields(key, base, keys, position, output);
}

void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint32_t> keys,
                       std::int64_t position, const Output& output) {
  write_fields(key, base, keys, position, output);
}

}  // namespace ttlg::sparse
