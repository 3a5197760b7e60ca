// Carries shuffle programs out in a memory whose every byte is its own offset: what a program
// stores tells where it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/shuffle/program.hpp"
#include "plan/shuffle/tile.hpp"

namespace ttlg::test {

// A byte of the output that no store has written.
inline constexpr std::int64_t kUntouched = -1;

class Interpreter {
 public:
  Interpreter(const shuffle::Program& program, std::int64_t in_bytes, std::int64_t out_bytes)
      : program_(program),
        in_bytes_(in_bytes),
        registers_(static_cast<std::size_t>(program.registers)),
        out_(static_cast<std::size_t>(out_bytes), kUntouched) {}

  // The output: each byte's offset in the input. Throws std::logic_error for what no program may
  // do.
  std::vector<std::int64_t> run() && {
    for (const shuffle::Operation& each : program_.operations) {
      switch (each.kind) {
        case shuffle::Kind::load:
          make(each.target, load(each));
          break;
        case shuffle::Kind::shuffle:
          make(each.target, move(each));
          break;
        case shuffle::Kind::store:
          store(each);
          break;
      }
    }
    for (const std::int64_t byte : out_) {
      require(byte != kGarbage, "an undefined lane has been stored for good");
    }
    return std::move(out_);
  }

 private:
  // By lanes: the offset of an element's first byte, or kUndefined.
  using Register = std::vector<std::int64_t>;
  static constexpr std::int64_t kGarbage = -2;

  static void require(bool condition, const char* what) {
    if (!condition) throw std::logic_error(what);
  }

  std::optional<Register>& named(int number) {
    require(number >= 0 && number < program_.registers, "there is no such register");
    return registers_[static_cast<std::size_t>(number)];
  }

  void make(int number, Register value) {
    std::optional<Register>& made = named(number);
    require(!made, "a register is made twice");
    made = std::move(value);
  }

  const Register& read(int number) {
    const std::optional<Register>& made = named(number);
    require(made.has_value(), "a register is read that was not made");
    return *made;
  }

  void check(const shuffle::Access& access, std::int64_t bytes) const {
    require(access.lane >= 0 && access.lanes > 0 && access.lane + access.lanes <= program_.lanes,
            "an access is of lanes that there are none of");
    require(access.offset >= 0 && access.offset + access.lanes * program_.element_bytes <= bytes,
            "an access is out of bounds");
  }

  Register load(const shuffle::Operation& each) const {
    Register value = undefined();
    require(!each.accesses.empty(), "a load of nothing");
    for (const shuffle::Access& access : each.accesses) {
      check(access, in_bytes_);
      for (int i = 0; i < access.lanes; ++i) {
        std::int64_t& lane = value[static_cast<std::size_t>(access.lane + i)];
        require(lane == shuffle::kUndefined, "a lane is loaded twice");
        lane = access.offset + i * program_.element_bytes;
      }
    }
    return value;
  }

  Register move(const shuffle::Operation& each) {
    Register both = read(each.first);
    if (each.second != shuffle::kNoRegister) {
      const Register& second = read(each.second);
      both.insert(both.end(), second.begin(), second.end());
    }
    require(each.index.size() == undefined().size(), "an index has a number for every lane");
    Register value;
    for (const int lane : each.index) {
      require(lane >= shuffle::kUndefined && lane < static_cast<int>(both.size()),
              "an index names a lane that there is none of");
      value.push_back(lane == shuffle::kUndefined ? lane : both[static_cast<std::size_t>(lane)]);
    }
    return value;
  }

  void store(const shuffle::Operation& each) {
    require(each.accesses.size() == 1, "a store is one access");
    const shuffle::Access& access = each.accesses.front();
    check(access, static_cast<std::int64_t>(out_.size()));
    const Register& value = read(each.first);
    auto byte = out_.begin() + static_cast<std::ptrdiff_t>(access.offset);
    for (int i = 0; i < access.lanes; ++i) {
      const std::int64_t lane = value[static_cast<std::size_t>(access.lane + i)];
      for (std::int64_t k = 0; k < program_.element_bytes; ++k) {
        *byte++ = lane == shuffle::kUndefined ? kGarbage : lane + k;
      }
    }
  }

  Register undefined() const {
    return Register(static_cast<std::size_t>(program_.lanes), shuffle::kUndefined);
  }

  const shuffle::Program& program_;
  std::int64_t in_bytes_;
  std::vector<std::optional<Register>> registers_;
  std::vector<std::int64_t> out_;
};

inline std::vector<std::int64_t> interpret(const shuffle::Program& program, std::int64_t in_bytes,
                                           std::int64_t out_bytes) {
  return Interpreter(program, in_bytes, out_bytes).run();
}

// Bytes from a tile's first element to the end of its last.
inline std::int64_t bytes_of(const shuffle::Tile& tile, std::int64_t shuffle::TileMode::* step) {
  std::int64_t bytes = tile.element_bytes;
  for (const shuffle::TileMode& mode : tile.modes) bytes += (mode.tile - 1) * (mode.*step);
  return bytes;
}

inline std::vector<std::int64_t> interpret(const shuffle::Program& program,
                                           const shuffle::Tile& tile) {
  return interpret(program, bytes_of(tile, &shuffle::TileMode::in_step),
                   bytes_of(tile, &shuffle::TileMode::out_step));
}

// What a program for the tile has to store, and nothing else.
inline std::vector<std::int64_t> permuted(const shuffle::Tile& tile) {
  std::vector<std::int64_t> out(
      static_cast<std::size_t>(bytes_of(tile, &shuffle::TileMode::out_step)), kUntouched);
  std::vector<std::int64_t> index(tile.modes.size(), 0);
  while (true) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    for (std::size_t m = 0; m < index.size(); ++m) {
      from += index[m] * tile.modes[m].in_step;
      to += index[m] * tile.modes[m].out_step;
    }
    for (std::int64_t k = 0; k < tile.element_bytes; ++k) {
      out[static_cast<std::size_t>(to + k)] = from + k;
    }
    std::size_t m = 0;
    while (m < index.size() && ++index[m] == tile.modes[m].tile) index[m++] = 0;
    if (m == index.size()) return out;
  }
}

}  // namespace ttlg::test
