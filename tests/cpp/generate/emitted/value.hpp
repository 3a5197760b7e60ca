// What emitted statements compute with: bytes that know where they come from, and memory whose
// every access is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ttlg::test::emitted {

// The offset of the input's byte that it is, one of the marks below, or a constant.
using Byte = std::int64_t;
using Bytes = std::vector<Byte>;

// A byte of the output that no store has written; the same as in interpret.hpp.
inline constexpr Byte kUntouched = -1;
// What an instruction leaves undefined, or makes of bytes that it has no business to compute with.
inline constexpr Byte kGarbage = -2;
inline constexpr Byte kFirstConstant = -1000;

constexpr Byte constant(std::int64_t value) { return kFirstConstant - (value & 0xff); }
constexpr bool is_constant(Byte byte) { return byte <= kFirstConstant; }

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

inline std::int64_t number_of(Byte byte) {
  require(is_constant(byte), "a byte of the tensor is used as an index or a mask");
  return kFirstConstant - byte;
}

// The unsigned number that constants stand for, the lowest byte first.
inline std::uint64_t number_of(std::span<const Byte> bytes) {
  std::uint64_t result = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    result = result << 8 | static_cast<std::uint64_t>(number_of(bytes[i]));
  }
  return result;
}

class Memory {
 public:
  explicit Memory(Bytes bytes) : bytes_(std::move(bytes)) {}

  Bytes load(std::int64_t offset, int count) const {
    check(offset, count);
    const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + count};
  }

  void store(std::int64_t offset, std::span<const Byte> bytes) {
    check(offset, static_cast<int>(bytes.size()));
    for (const Byte byte : bytes) bytes_[static_cast<std::size_t>(offset++)] = byte;
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  void check(std::int64_t offset, int count) const {
    require(offset >= 0 && offset + count <= std::ssize(bytes_),
            "an access of " + std::to_string(count) + " bytes at " + std::to_string(offset) +
                " leaves a memory of " + std::to_string(bytes_.size()) + " bytes");
  }

  Bytes bytes_;
};

// A register, a number, or a place in memory.
struct Value {
  Bytes bytes;
  std::int64_t number = 0;
  Memory* memory = nullptr;

  Bytes load(int count) const {
    require(memory != nullptr, "a load from no place in memory");
    return memory->load(number, count);
  }
  void store(std::span<const Byte> stored, std::int64_t behind = 0) const {
    require(memory != nullptr, "a store to no place in memory");
    memory->store(number + behind, stored);
  }
};

}  // namespace ttlg::test::emitted
