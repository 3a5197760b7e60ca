// Which bits of the coordinates the nonzeros are sorted by, and in which rounds. Pure host code.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ttlg::cuda::sparse {

inline constexpr int kKeyBits = 64;

// One stable radix sort. The key is made of the coordinates of consecutive modes of the output, the
// last of them in its lowest bits.
struct KeyRound {
  int first_mode = 0;
  int end_mode = 0;   // one beyond the last
  int begin_bit = 0;  // below it, the key only carries coordinates
  int end_bit = 0;    // all bits of the key

  bool operator==(const KeyRound&) const = default;
};

struct KeyRounds {
  std::vector<int> bits{};         // of a coordinate, for every mode of the output
  std::vector<KeyRound> rounds{};  // in the order in which they run: the least significant first

  // How many modes of the output, from the outermost on, are left in the keys after the last round.
  // The coordinates of the others are found by the positions that were sorted along.
  int modes_in_keys() const { return rounds.empty() ? 0 : rounds.back().end_mode; }

  bool operator==(const KeyRounds&) const = default;
};

// For input modes of these extents, outermost first, where output mode i is input mode perm[i] and
// coordinates are integers of `index_bytes`. No rounds if the nonzeros stay in the order in which
// they are.
//
// If the input is sorted lexicographically in its own order, nonzeros that agree in the outer modes
// of the output follow each other by the remaining modes in the order of the input. So the last
// modes of the output need no sorting, as far as their numbers in the input ascend.
//
// Modes are put into keys from the outermost on, as many as fit in 64 bits. That takes the fewest
// rounds, and fills the keys of the last one, which are unpacked instead of gathered.
KeyRounds key_rounds(std::span<const std::int64_t> extents, std::span<const int> perm,
                     int index_bytes, bool is_sorted);

}  // namespace ttlg::cuda::sparse
