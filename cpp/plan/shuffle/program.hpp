// The intermediate representation of GenTT, section 6.1: a straight-line program that permutes a
// tile in vector registers. It knows lanes, not bytes: what a register of 4 or 64 lanes does is
// written the same way, and a backend only lowers it. Every register is made once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ttlg::shuffle {

// A lane that holds nothing of the tile.
inline constexpr int kUndefined = -1;
inline constexpr int kNoRegister = -1;

// Numbers of registers, lanes and modes, as indices of containers.
constexpr std::size_t at(int number) { return static_cast<std::size_t>(number); }

// Lanes of a register next to one another, and where they lie in memory, in bytes from the tile's
// first element.
struct Access {
  int lane;
  int lanes;
  std::int64_t offset;

  bool operator==(const Access&) const = default;
};

enum class Kind { load, shuffle, store };

struct Operation {
  Kind kind;
  int target = kNoRegister;  // none for a store
  int first = kNoRegister;   // the sources; a shuffle of one source has no second one
  int second = kNoRegister;
  // Of a shuffle: lane i becomes lane index[i] of the first source or, from the number of lanes up,
  // of the second.
  std::vector<int> index;
  // Of a load: every lane once at most. Of a store: one access.
  std::vector<Access> accesses;

  bool operator==(const Operation&) const = default;
};

struct Program {
  int lanes = 1;
  std::int64_t element_bytes = 1;
  int registers = 0;
  std::vector<Operation> operations;

  bool operator==(const Program&) const = default;
};

// A shuffle of two sources that leaves every lane where it is.
bool is_merge(const Operation& operation, int lanes);

struct Counts {
  int loads = 0;
  int stores = 0;
  int shuffles = 0;       // of two sources, merges among them
  int self_shuffles = 0;  // of one source
};
Counts count(const Program& program);

// The most registers that hold something needed at a time, in the order of the operations.
int live_registers(const Program& program);

// What a register is called.
std::string register_name(int number);

// One line for each operation.
std::string to_text(const Program& program);

}  // namespace ttlg::shuffle
