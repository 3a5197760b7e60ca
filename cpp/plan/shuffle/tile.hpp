// A tile: the part of a tensor that one pass of a shuffle program permutes. Its extents count as
// bits, rounded up to powers of two (GenTT, sections 5.1 and 5.3); what the rounding adds exists in
// registers only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ttlg::shuffle {

// A mode of the tensor, its steps in bytes; those in the input may be negative where they are no
// part of a row.
struct TileMode {
  std::int64_t extent;  // in the tensor
  std::int64_t in_step;
  std::int64_t out_step;
  std::int64_t tile = 1;  // in the tile
};

// One bit of an index in the tile (GenTT, section 5.1).
struct Bit {
  int mode;
  int power;

  bool operator==(const Bit&) const = default;
};

struct Tile {
  std::int64_t element_bytes = 1;
  std::vector<TileMode> modes;
  // The modes' numbers in the order in which each side steps through them, its fastest first.
  std::vector<int> in_order;
  std::vector<int> out_order;
  // The bits of the modes' indices: an element of the tile is a number whose bit k is bits[k]. The
  // first row_bits of in_bits count what is contiguous in the input, the first column_bits of
  // out_bits what is contiguous in the output; both name all bits.
  std::vector<Bit> bits;
  std::vector<int> in_bits;
  std::vector<int> out_bits;

  bool is_empty() const;
  // Whether the padding has left an element in the tile.
  bool holds(std::uint32_t element) const;
  std::int64_t in_offset(std::uint32_t element) const;
  std::int64_t out_offset(std::uint32_t element) const;
  // Elements without padding.
  std::int64_t elements() const;
  // The part of the elements that are moved that is not moved again by a later tile: the last tile
  // along a mode lies over the one before where the tile's extent does not divide the tensor's.
  double useful() const;
};

// Names the bits of a tile whose modes and orders are set.
void name_bits(Tile& tile);

// The tile whose rows have `row_bits` bits of the input's fastest modes and whose columns have
// `column_bits` of the output's (GenTT, sections 4.1 and 5.1). None if a side has less than that.
std::optional<Tile> make_tile(Tile tensor, int row_bits, int column_bits);

// The smallest tile whose runs have `lanes` elements on either side; it has no bits.
std::optional<Tile> make_run_tile(Tile tensor, int lanes);

}  // namespace ttlg::shuffle
