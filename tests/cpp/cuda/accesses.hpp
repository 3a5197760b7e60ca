// What the accesses of a warp cost: sectors of global memory, bank conflicts in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ttlg::test {

inline constexpr int kLanes = 32;         // of a warp
inline constexpr int kSectorBytes = 32;   // the unit in which global memory moves
inline constexpr int kLineBytes = 128;    // the papers' transaction
inline constexpr int kBanks = 32;         // of shared memory
inline constexpr int kBankWordBytes = 4;  // the width of a bank

// One side of global memory. Sectors and lines begin at multiples of their size.
struct SideCounts {
  std::int64_t accesses = 0;          // by a warp, with at least one valid lane
  std::int64_t sectors = 0;           // distinct ones of each access, added up
  std::int64_t sectors_of_block = 0;  // distinct ones of each block: what an ideal L1 passes on
  std::int64_t sectors_of_run = 0;    // distinct ones of the whole run: what must move at least
  std::int64_t lines_of_block = 0;    // distinct lines of each block
};

struct Counts {
  SideCounts load;
  SideCounts store;
  std::int64_t shared_loads = 0;    // by a warp, with at least one valid lane
  std::int64_t shared_stores = 0;   // the same
  std::int64_t bank_conflicts = 0;  // extra cycles, over all phases of all accesses
  std::int64_t barriers = 0;        // each counted once for its block
};

enum class CallKind : std::uint8_t { load, store, shared_load, shared_store, shuffle };

// One call of one lane. Where it is not valid, its position means nothing.
struct Call {
  std::int64_t position = 0;  // in shared memory, or from the first line of the global side
  CallKind kind = CallKind::load;
  std::uint8_t bytes = 0;
  bool valid = false;
};

using Lanes = std::span<const std::vector<Call>>;

// The first lane that does not make the same calls in the same order as lane 0, or -1.
int deviating_lane(Lanes lanes);

// Counts the distinct sectors of accesses, blocks and the run, and the distinct lines of blocks.
class SectorCounter {
 public:
  explicit SectorCounter(std::size_t bytes)
      : stamps_((bytes + kLineBytes) / kSectorBytes + 1), line_blocks_(bytes / kLineBytes + 2) {}

  void begin_block() { ++block_; }
  void begin_access() { ++access_; }
  void touch(std::int64_t position, SideCounts& counts);

 private:
  struct Stamp {
    std::int64_t access = 0;
    std::int64_t block = 0;
  };
  std::vector<Stamp> stamps_;              // which access and block came last
  std::vector<std::int64_t> line_blocks_;  // which block came last
  std::int64_t access_ = 0;
  std::int64_t block_ = 0;
};

class AccessCounter {
 public:
  AccessCounter(std::size_t in_bytes, std::size_t out_bytes, std::size_t shared_bytes)
      : in_(in_bytes), out_(out_bytes), bank_words_(shared_bytes / kBankWordBytes + 1) {}

  void begin_block();
  // The calls of a warp's lanes, none of them deviating: the n-th of all lanes is one access.
  void count(Lanes lanes);

  Counts counts;

 private:
  void count_global(Lanes lanes, std::size_t n, SectorCounter& sectors, SideCounts& side);
  void count_shared(Lanes lanes, std::size_t n, std::int64_t& accesses);
  std::int64_t conflicts(Lanes phase, std::size_t n);

  SectorCounter in_;
  SectorCounter out_;
  std::vector<std::int64_t> bank_words_;  // which phase came last
  std::int64_t phase_ = 0;
};

}  // namespace ttlg::test
