// From coordinates to keys and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plan/sparse/plan.hpp"
#include "sparse/nonzeros.hpp"

namespace ttlg::sparse {

// How many nonzeros are handled at a time, so that their keys stay in L1.
inline constexpr int kBlock = 512;

// The row of a nonzero: the last that begins there or before. It is not before the row `near`, and
// soon found if it is a little after it.
std::int64_t row_of(const Indices& row_pointers, std::int64_t rows, std::int64_t position,
                    std::int64_t near = 0);

// Makes the keys of nonzeros of the input: those numbered from `begin` on, or the `begin`-th and
// following of `order` where there is one.
class KeyReader {
 public:
  KeyReader(const Key& key, const Input& input, std::int64_t rows,
            const std::int64_t* order = nullptr)
      : key_(key), input_(input), rows_(rows), order_(order) {}

  // keys.size() <= kBlock. The bits below `low` may be left out. `row`: of the last nonzero that
  // was read before, or 0; is set to that of the last one here.
  void read(std::int64_t begin, std::span<std::uint64_t> keys, int low, std::int64_t& row) const;

  std::uint64_t at(std::int64_t position) const {
    std::uint64_t key;
    std::int64_t row = 0;
    read(position, {&key, 1}, 0, row);
    return key;
  }

  const Input& input() const { return input_; }
  const std::int64_t* order() const { return order_; }

  // Calls work(row, from, to) for the rows that have nonzeros among `count` from `begin` on: those
  // numbered `from` up to `to`, counted from there.
  template <typename Work>
  void for_rows(std::int64_t begin, std::size_t count, const Work& work) const {
    std::int64_t row = row_of(input_.row_pointers, rows_, begin);
    with_type(input_.row_pointers, [&](const auto* pointers) {
      for (std::size_t from = 0; from < count; ++row) {
        const auto to = std::min(count, static_cast<std::size_t>(pointers[row + 1] - begin));
        if (from < to) work(row, from, to);
        from = to;
      }
    });
  }

 private:
  // Missing for the rows that row pointers tell.
  const Indices& mode_of(const Field& field) const {
    return input_.modes[static_cast<std::size_t>(field.in_mode)];
  }
  std::int64_t begin_with_rows(const Field& field, std::int64_t begin,
                               std::span<std::uint64_t> keys, std::int64_t near) const;

  const Key& key_;
  const Input& input_;
  std::int64_t rows_;
  const std::int64_t* order_;
};

// Writes the coordinates of base + keys[j] to places position + j of the output; around the caches
// where asked for, which a fence has to follow.
void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint64_t> keys,
                       std::int64_t position, const Output& output, bool around_caches);
void write_coordinates(const Key& key, std::uint64_t base, std::span<const std::uint32_t> keys,
                       std::int64_t position, const Output& output, bool around_caches);

}  // namespace ttlg::sparse
