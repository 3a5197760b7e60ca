// What a transposition of a sparse tensor has to do, and how, as values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/names.hpp"

namespace ttlg::sparse {

// Modes are numbered from the outermost on, in the order by which nonzeros are compared.
struct Problem {
  std::vector<std::int64_t> extents;  // of the input
  std::vector<int> perm;              // mode i of the output is mode perm[i] of the input
  std::int64_t nonzeros = 0;
  std::int64_t value_bytes = 0;
  int in_index_bytes = 8;
  int out_index_bytes = 8;
  bool in_rows = false;   // mode 0 of the input is given by row pointers
  bool out_rows = false;  // that of the output is to be

  int rank() const { return static_cast<int>(perm.size()); }
};

// All but the first are the options of COMET's sparse transposition (SORT_TYPE).
enum class Algorithm {
  automatic,     // packed keys, sorted by as few of their bits as the order of the input allows
  no_sort,       // the input is traversed and counted again for each mode out of order
  seq_qsort,     // a quicksort by all modes together
  par_qsort,     // the same by several threads
  radix_bucket,  // mode by mode from the last on, each by a bucket sort
  count_radix,   // mode by mode from the last on, each by a counting sort
  count_quick,   // a counting sort by the first mode, and a quicksort within each of its slices
};

inline constexpr NameTable<Algorithm, 7> kAlgorithms({"auto", "no_sort", "seq_qsort", "par_qsort",
                                                      "radix_bucket", "count_radix",
                                                      "count_quick"});

// Where the coordinate of a mode is in a key.
struct Field {
  int in_mode = 0;
  int out_mode = 0;
  int shift = 0;
  int bits = 0;

  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
};

// One beside the other, the innermost in the lowest bits, so that keys are ordered as coordinates
// are. Modes of one coordinate have no field.
struct Key {
  std::vector<Field> fields;  // the outermost first
  int bits = 0;
  std::uint64_t max = 0;
};

inline constexpr int kMaxKeyBits = 64;

int bits_of(std::int64_t extent);

// Of the modes of the output in `out_modes`, which follow each other. Their bits fit.
Key key_of(const Problem& problem, std::span<const int> out_modes);

// The bits by which the input has to be sorted: those from `low` up to below `high`. What is below
// is in order already wherever all that is above is equal, and what is above is in order anyway.
struct SortedBits {
  int low = 0;
  int high = 0;
};

// The fewest (Mueller et al., Sparse Tensor Transpositions, SPAA 2020), by stable sorting. The
// input is in order by its first `sorted_modes` modes.
SortedBits bits_to_sort(const Key& key, int sorted_modes);

struct Plan {
  Problem problem;
  Algorithm algorithm = Algorithm::automatic;
  int sorted_modes = 0;  // the input is in order by its first modes, of this number
  int threads = 1;
  std::int64_t cache_bytes = 0;  // that a thread has for itself

  Key key;  // of all modes; without fields where 64 bits are too few
  bool fits_key = true;
  SortedBits sorted;  // of that key
};

// Whether there can be a counter for each key and thread: that they need no more memory than the
// nonzeros, and that no order of the outermost modes saves more.
bool may_scatter(const Plan& plan);

// Of coordinates and values, in the output.
std::int64_t placed_arrays(const Problem& problem);

// The sample that tells how many keys neighbours have: windows of nonzeros that follow one another,
// an eighth of all at most. Half of a thread's cache holds the lines that one window is put to; a
// key that comes again within it finds its lines there.
inline constexpr std::int64_t kSampledWindows = 8;
std::int64_t sampled_window(const Plan& plan);

// How many of the input's modes are known to be in order without a look at the coordinates, and
// whether more would make a difference.
int modes_in_order(const Problem& problem);
bool depends_on_order(const Problem& problem, Algorithm algorithm);

// How many records of these bytes a thread sorts at a time: two copies of them, as arrays, take
// half of its cache.
inline std::int64_t chunk_capacity(std::int64_t cache_bytes, std::int64_t record_bytes) {
  return std::max(cache_bytes / (4 * record_bytes), std::int64_t{1024});
}

Plan make_plan(const Problem& problem, Algorithm algorithm, int sorted_modes, int threads,
               std::int64_t cache_bytes);

}  // namespace ttlg::sparse
