// Windows: elements that follow one another in the output and lie within a vector in the input,
// such as pixels whose channels are reversed or left out, or which are mirrored. A vector is read,
// permuted, and written, of which the next one overwrites what is too much. Vectors of 16 bytes are
// permuted byte by byte, longer ones word by word. Where elements are repeated, as a gray image's
// in the channels of a colored one, one vector is permuted and written several times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/cpu/block/block.hpp"
#include "plan/cpu/shuffle_tables.hpp"
#include "tensor/integer.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

inline constexpr std::int64_t kWordBytes = 4;
inline constexpr std::int64_t kMaxWindowVectors = 4;

// The elements of a folded problem that make a window.
struct WindowTile {
  std::int64_t vector_bytes;
  std::vector<std::int64_t> tile;  // extents of the problem's modes
  std::size_t stepped;             // the mode along which windows follow one another
  std::int64_t out_bytes;

  std::int64_t vectors() const { return ceil_div(out_bytes, vector_bytes); }
};

// The largest ones of blocks with these extents, in vectors of up to that many bytes. None where
// the input's fastest modes are read forwards in whole vectors and nothing is repeated: other
// programs move as much with every shuffle, and store it once.
std::optional<WindowTile> find_window(const Problem& folded, std::span<const std::int64_t> extents,
                                      std::int64_t vector_bytes);

// A block that is moved in windows; numbers of its modes, and bytes.
struct Window {
  std::int64_t vector_bytes;
  std::size_t stepped_mode;
  std::int64_t elements;          // of that mode in a window
  std::int64_t element_bytes;     // of each of these, in the output
  std::int64_t vectors;           // that are written
  std::int64_t written_elements;  // that these reach into
  std::int64_t out_bytes;
  std::int64_t begin;     // in the input, from the first element
  std::int64_t in_bytes;  // from there on
  std::int64_t load;      // where the vector begins that is read, from the first element
  // What permutes a vector of 16 bytes, and a longer one, for each that is written.
  alignas(64) std::array<ByteIndices, kMaxWindowVectors> bytes;
  alignas(64) std::array<std::array<std::uint32_t, 16>, kMaxWindowVectors> words;
  std::vector<int> others;  // the modes that no window takes anything of
};

Window make_window(const Problem& folded, const WindowTile& tile,
                   std::span<const std::int64_t> extents);

}  // namespace ttlg::cpu
