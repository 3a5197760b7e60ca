#include "sparse/keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "cpu/simd_level.hpp"

namespace ttlg::sparse {
namespace {

// Not negative: without a sign to extend there is an instruction for it on any processor.
template <typename Index>
std::uint64_t unsigned_bits(Index index) {
  return static_cast<std::make_unsigned_t<Index>>(index);
}

template <typename Index>
void gather_field(const Field& field, const Index* indices, const std::int64_t* order,
                  std::span<std::uint64_t> keys) {
  for (std::uint64_t& key : keys) key |= unsigned_bits(indices[*order++]) << field.shift;
}

// How many fields are put into keys at once, which would be read and written for each otherwise.
constexpr std::size_t kFieldsAtOnce = 4;

template <std::size_t Count, typename Index>
void add_fields(const Field* fields, const std::array<const Index*, kFieldsAtOnce> indices,
                std::span<std::uint64_t> keys) {
  int shifts[Count];
  for (std::size_t i = 0; i < Count; ++i) shifts[i] = fields[i].shift;
  std::uint64_t* const to = keys.data();
  const std::size_t count = keys.size();
  for (std::size_t j = 0; j < count; ++j) {
    std::uint64_t key = to[j];
    for (std::size_t i = 0; i < Count; ++i) key |= unsigned_bits(indices[i][j]) << shifts[i];
    to[j] = key;
  }
}

// Of the input's nonzeros from `begin` on. Returns how many fields it has added, the first ones.
template <typename Index>
std::size_t add_some(std::span<const Field> fields, const std::vector<Indices>& modes,
                     std::int64_t begin, std::span<std::uint64_t> keys) {
  std::array<const Index*, kFieldsAtOnce> indices{};
  std::size_t count = 0;
  for (; count < std::min(fields.size(), kFieldsAtOnce); ++count) {
    const Indices& mode = modes[static_cast<std::size_t>(fields[count].in_mode)];
    if (!mode || mode.is_wide != (sizeof(Index) == 8)) break;
    indices[count] = static_cast<const Index*>(mode.data) + begin;
  }
  const Field* const first = fields.data();
  if (count == 1) add_fields<1>(first, indices, keys);
  if (count == 2) add_fields<2>(first, indices, keys);
  if (count == 3) add_fields<3>(first, indices, keys);
  if (count == 4) add_fields<4>(first, indices, keys);
  return count;
}

template <typename Index, typename Stored>
void write_field(const Field& field, std::uint64_t base, std::span<const Stored> keys, Index* to,
                 bool around_caches) {
  const std::uint64_t mask = field.mask();
  const int shift = field.shift;
  const auto decode = [=](std::span<const Stored> some, Index* place) {
    for (const Stored key : some) *place++ = static_cast<Index>(((base + key) >> shift) & mask);
  };
  if (!around_caches) return decode(keys, to);
  Index block[kBlock];
  const auto stream = cpu::kernels().stream;
  // Blocks end where lines do.
  std::size_t count = kBlock - reinterpret_cast<std::uintptr_t>(to) % 64 / sizeof(Index);
  while (!keys.empty()) {
    count = std::min(count, keys.size());
    decode(keys.first(count), block);
    stream(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(block),
           static_cast<std::int64_t>(count * sizeof(Index)));
    keys = keys.subspan(count);
    to += count;
    count = kBlock;
  }
}

template <typename Stored>
void write_fields(const Key& key, std::uint64_t base, std::span<const Stored> keys,
                  std::int64_t position, const Output& output, bool around_caches) {
  for (const Field& field : key.fields) {
    const NewIndices& mode = output.modes[static_cast<std::size_t>(field.out_mode)];
    if (!mode) continue;  // row pointers instead
    with_type(mode,
              [&](auto* to) { write_field(field, base, keys, to + position, around_caches); });
  }
}

}  // namespace

std::int64_t row_of(const Indices& row_pointers, std::int64_t rows, std::int64_t position,
                    std::int64_t near) {
  return with_type(row_pointers, [&](const auto* pointers) {
    std::int64_t step = 1;
    while (step < rows - near && pointers[near + step] <= position) step *= 2;
    const auto* const end = pointers + std::min(near + step, rows) + 1;
    return static_cast<std::int64_t>(std::upper_bound(pointers + near, end, position) - pointers) -
           1;
  });
}

void KeyReader::read(std::int64_t begin, std::span<std::uint64_t> keys, int low,
                     std::int64_t& row) const {
  std::ranges::fill(keys, 0);
  const auto wanted = std::ranges::find_if(
      key_.fields, [=](const Field& field) { return field.shift + field.bits <= low; });
  std::span<const Field> fields(key_.fields.begin(), wanted);
  for (const Field& field : fields) {
    if (!mode_of(field)) row = begin_with_rows(field, begin, keys, row);
  }
  while (!fields.empty()) {
    const Indices& mode = mode_of(fields.front());
    std::size_t done = 1;
    if (order_) {
      with_type(mode, [&](const auto* from) {
        gather_field(fields.front(), from, order_ + begin, keys);
      });
    } else if (mode) {
      done = mode.is_wide ? add_some<std::int64_t>(fields, input_.modes, begin, keys)
                          : add_some<std::int32_t>(fields, input_.modes, begin, keys);
    }
    fields = fields.subspan(done);
  }
}

// Steps of one where rows begin, and then their sums: a loop for each row would be mispredicted at
// its end, and most rows are short.
std::int64_t KeyReader::begin_with_rows(const Field& field, std::int64_t begin,
                                        std::span<std::uint64_t> keys, std::int64_t near) const {
  const auto end = begin + static_cast<std::int64_t>(keys.size());
  const std::uint64_t step = std::uint64_t{1} << field.shift;
  const std::int64_t first = row_of(input_.row_pointers, rows_, begin, near);
  with_type(input_.row_pointers, [&](const auto* pointers) {
    for (std::int64_t row = first + 1; pointers[row] < end; ++row) {
      keys[static_cast<std::size_t>(pointers[row] - begin)] += step;
    }
  });
  std::uint64_t row = static_cast<std::uint64_t>(first) << field.shift;
  for (std::uint64_t& key : keys) key = row += key;
  return static_cast<std::int64_t>(row >> field.shift);
}

void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint64_t> keys,
                       std::int64_t position, const Output& output, bool around_caches) {
  write_fields(key, base, keys, position, output, around_caches);
}

void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint32_t> keys,
                       std::int64_t position, const Output& output, bool around_caches) {
  write_fields(key, base, keys, position, output, around_caches);
}

}  // namespace ttlg::sparse
