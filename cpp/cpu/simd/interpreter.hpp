// The interpreter of shuffle programs, with one tile in every 16-byte lane.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/kernels.hpp"
#include "cpu/simd/vectors.hpp"
#include "plan/cpu/shuffle_tables.hpp"

namespace ttlg::cpu {
namespace {

constexpr int kLanes = kVectorBytes / int{kLaneBytes};
using Vector = Bytes<kVectorBytes>;

// Whether the tiles of a group follow one another by 16 bytes on one side, so that vectors are read
// or written at once.
template <typename Side>
bool are_adjacent(const TileGroups& groups, const Side& side) {
  for (int l = 1; l < kLanes; ++l) {
    if (side(groups.lanes[static_cast<std::size_t>(l)]) != l * kLaneBytes) return false;
  }
  return true;
}

// Loads and stores vectors of a group.
template <bool kReadsWhole>
struct Lanes {
  const TileGroups& groups;
  bool writes_whole = are_adjacent(groups, [](const TileOrigin& lane) { return lane.out; });

  [[gnu::always_inline]] inline Vector read(const std::byte* in) const {
    if constexpr (kReadsWhole) return load<Vector>(in);
    return load_lanes<kVectorBytes>(
        [&](int l) { return in + groups.lanes[static_cast<std::size_t>(l)].in; });
  }

  [[gnu::always_inline]] inline void write(const Vector& vector, std::byte* out) const {
    if (writes_whole) {
      store(out, vector);
    } else {
      store_lanes<kVectorBytes>(
          vector, [&](int l) { return out + groups.lanes[static_cast<std::size_t>(l)].out; });
    }
  }
};

// Moves `kGroups` groups at a time, so that they share what it takes to read the program. The last
// group is moved again where their number is no multiple of that.
template <int kGroups, typename Move>
[[gnu::always_inline]] inline void batch(std::span<const TileOrigin> groups, const Move& move) {
  const std::size_t last = groups.size() - 1;
  for (std::size_t i = 0; i <= last; i += kGroups) {
    TileOrigin origins[kGroups];
    for (std::size_t g = 0; g < kGroups; ++g) origins[g] = groups[i + g < last ? i + g : last];
    move(origins);
  }
}

template <int kCount, bool kReadsWhole, typename Done>
void interpret_rounds(const std::byte* in, std::byte* out, const ShuffleTables& program,
                      const std::int64_t* stores, const TileGroups& groups, const Done& done) {
  constexpr int kGroups = kCount <= 4 ? 8 / kCount : 1;
  const Lanes<kReadsWhole> lanes{groups};
  const std::int64_t* const loads = program.loads.data();
  const std::span<const std::uint8_t> rounds = program.rounds;
  batch<kGroups>(groups.origins, [&](const TileOrigin* origins) {
    Vector vectors[kGroups][kCount];
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 16
      for (int i = 0; i < kCount; ++i) {
        vectors[g][i] = shuffle_bytes<kVectorBytes>(lanes.read(in + origins[g].in + loads[i]),
                                                    program.first.data());
      }
    }
    const auto interleave = [&]<typename T>(T) {
      for (auto& each : vectors) interleave_vectors<T, kVectorBytes, kCount>(each);
    };
    if constexpr (kCount > 1) {
      for (const std::uint8_t bytes : rounds) {
        if (bytes == 1) {
          interleave(std::uint8_t{});
        } else if (bytes == 2) {
          interleave(std::uint16_t{});
        } else if (bytes == 4) {
          interleave(std::uint32_t{});
        } else {
          interleave(std::uint64_t{});
        }
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 16
      for (int g = 0; g < kGroups; ++g) {
        lanes.write(vectors[g][i], out + origins[g].out + stores[i]);
      }
    }
    done(kGroups);
  });
}

constexpr int kSummedGroups = 2;
// Of short programs more.
constexpr int groups_of(int loads) { return loads <= 2 ? 4 : kSummedGroups; }

// Every stored vector has a term of every loaded one, and these stay in registers.
template <int kLoads, bool kReadsWhole, typename Done>
void interpret_all_terms(const std::byte* in, std::byte* out, const ShuffleTables& program,
                         const std::int64_t* stores, const TileGroups& groups, const Done& done) {
  const Lanes<kReadsWhole> lanes{groups};
  const std::int64_t* const loads = program.loads.data();
  const ShuffleTables::Term* const terms = program.terms.data();
  const std::size_t count = program.sums.size();
  constexpr int kGroups = groups_of(kLoads);
  batch<kGroups>(groups.origins, [&](const TileOrigin* origins) {
    Vector vectors[kGroups][kLoads];
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 16
      for (int k = 0; k < kLoads; ++k) vectors[g][k] = lanes.read(in + origins[g].in + loads[k]);
    }
    const ShuffleTables::Term* term = terms;
    for (std::size_t i = 0; i < count; ++i) {
      Vector sum[kGroups] = {};
#pragma GCC unroll 16
      for (int k = 0; k < kLoads; ++k) {
#pragma GCC unroll 16
        for (int g = 0; g < kGroups; ++g) {
          sum[g] |= shuffle_bytes<kVectorBytes>(vectors[g][k], term[k].bytes.data());
        }
      }
#pragma GCC unroll 16
      for (int g = 0; g < kGroups; ++g) {
        lanes.write(sum[g], out + origins[g].out + stores[i]);
      }
      term += kLoads;
    }
    done(kGroups);
  });
}

template <bool kReadsWhole, typename Done>
void interpret_any_terms(const std::byte* in, std::byte* out, const ShuffleTables& program,
                         const std::int64_t* stores, const TileGroups& groups, const Done& done) {
  const Lanes<kReadsWhole> lanes{groups};
  batch<kSummedGroups>(groups.origins, [&](const TileOrigin* origins) {
    Vector vectors[kMaxTileVectors][kSummedGroups];
    for (std::size_t i = 0; i < program.loads.size(); ++i) {
#pragma GCC unroll 16
      for (int g = 0; g < kSummedGroups; ++g) {
        vectors[i][g] = lanes.read(in + origins[g].in + program.loads[i]);
      }
    }
    const ShuffleTables::Term* term = program.terms.data();
    const std::int64_t* to = stores;
    for (const std::uint8_t terms : program.sums) {
      Vector sum[kSummedGroups] = {};
      for (const ShuffleTables::Term* const end = term + terms; term != end; ++term) {
#pragma GCC unroll 16
        for (int g = 0; g < kSummedGroups; ++g) {
          sum[g] |= shuffle_bytes<kVectorBytes>(vectors[term->source][g], term->bytes.data());
        }
      }
#pragma GCC unroll 16
      for (int g = 0; g < kSummedGroups; ++g) lanes.write(sum[g], out + origins[g].out + *to);
      ++to;
    }
    done(kSummedGroups);
  });
}

template <bool kReadsWhole, typename Done>
void interpret_with(const std::byte* in, std::byte* out, const ShuffleTables& program,
                    const std::int64_t* stores, const TileGroups& groups, const Done& done) {
  const auto with = [&](const auto& interpreter) {
    interpreter(in, out, program, stores, groups, done);
  };
  if (program.sums.empty()) {
    switch (program.rounds.size()) {
      case 0:
        return with(interpret_rounds<1, kReadsWhole, Done>);
      case 1:
        return with(interpret_rounds<2, kReadsWhole, Done>);
      case 2:
        return with(interpret_rounds<4, kReadsWhole, Done>);
      case 3:
        return with(interpret_rounds<8, kReadsWhole, Done>);
      default:
        return with(interpret_rounds<16, kReadsWhole, Done>);
    }
  }
  if (program.terms.size() == program.sums.size() * program.loads.size()) {
    switch (program.loads.size()) {
      case 1:
        return with(interpret_all_terms<1, kReadsWhole, Done>);
      case 2:
        return with(interpret_all_terms<2, kReadsWhole, Done>);
      case 3:
        return with(interpret_all_terms<3, kReadsWhole, Done>);
      case 4:
        return with(interpret_all_terms<4, kReadsWhole, Done>);
      case 5:
        return with(interpret_all_terms<5, kReadsWhole, Done>);
      case 6:
        return with(interpret_all_terms<6, kReadsWhole, Done>);
      case 7:
        return with(interpret_all_terms<7, kReadsWhole, Done>);
      default:
        break;
    }
  }
  with(interpret_any_terms<kReadsWhole, Done>);
}

// done(n) is called after every n groups.
template <typename Done>
void interpret(const std::byte* in, std::byte* out, const ShuffleTables& program,
               const std::int64_t* stores, const TileGroups& groups, const Done& done) {
  if (are_adjacent(groups, [](const TileOrigin& lane) { return lane.in; })) {
    interpret_with<true>(in, out, program, stores, groups, done);
  } else if constexpr (kLanes > 1) {
    interpret_with<false>(in, out, program, stores, groups, done);
  }
}

}  // namespace
}  // namespace ttlg::cpu
