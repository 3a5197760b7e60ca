// How the operations of a shuffle program are written for an instruction set. A backend only
// lowers: it picks an instruction for an index, and knows nothing of tensors.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/shuffle/program.hpp"

namespace ttlg::generate {

// What an instruction set offers.
struct Isa {
  std::string_view name;
  std::vector<int> vector_bytes;  // widths of its registers, the widest first
  int group_bytes;                // within which it interleaves
  int registers;
  int data_registers;      // that a tile may take, a power of two; the others hold indices
  bool takes_any_index;    // two sources are shuffled by any index in one instruction or two
  bool loads_operands;     // instructions take an operand from memory, tables of indices too
  bool has_masks;          // partial stores are one instruction
  bool loads_pieces;       // registers can be put together of pieces
  std::string_view flags;  // that compilers need
};

// An expression, and how many instructions it takes.
struct Lowered {
  std::string text;
  int instructions = 0;
};

// The index of a shuffle by bytes: from the number of bytes of a register up, those of the second
// source. shuffle::kUndefined where any byte will do.
using ByteIndex = std::vector<int>;
ByteIndex byte_index(const std::vector<int>& index, std::int64_t element_bytes);

// A number of a table that may be any.
inline constexpr std::uint64_t kAny = ~std::uint64_t{0};

// The numbers of a table that has these indices.
std::vector<std::uint64_t> numbers(std::span<const int> index, std::uint64_t undefined = kAny);

// Tables of indices that a function keeps, each once: tables that differ in numbers that may be any
// are one.
class Constants {
 public:
  // The name of the register that holds these numbers of `unit` bytes each.
  std::string add(int unit, std::vector<std::uint64_t> values);
  // Declarations of the tables.
  std::string tables() const;
  // Calls visit(register, table).
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t i = 0; i < all_.size(); ++i) visit(name("i", i), name("kIndex", i));
  }
  std::size_t size() const { return all_.size(); }

 private:
  static std::string name(std::string_view prefix, std::size_t number) {
    return std::string(prefix).append(std::to_string(number));
  }
  std::vector<std::pair<int, std::vector<std::uint64_t>>> all_;
};

class Lowering {
 public:
  Lowering(const Isa& isa, int vector_bytes) : isa_(isa), bytes_(vector_bytes) {}
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;
  virtual ~Lowering() = default;

  const Isa& isa() const { return isa_; }
  int vector_bytes() const { return bytes_; }
  const Constants& constants() const { return constants_; }
  // Multiples of that many bytes in offsets are written as multiples of `pitch`, a number that the
  // function is given.
  void set_pitch(std::int64_t bytes) { pitch_ = bytes; }
  // Offsets, all multiples of that many bytes, are written as entries of the tables `in_offsets`
  // and `out_offsets`, which the function is given.
  void set_table_entry(std::int64_t bytes) { table_entry_ = bytes; }

  virtual std::string includes() const = 0;
  virtual std::string attribute() const { return {}; }
  virtual std::string vector_type() const = 0;
  virtual std::string load_table(const std::string& table) const = 0;
  // What follows the constants, once in a function.
  virtual std::string prologue() const { return {}; }

  // The statements of an operation; `in` and `out` are the names of byte pointers.
  Lowered lower(const shuffle::Program& program, const shuffle::Operation& operation);
  // Those of all operations.
  std::string lower(const shuffle::Program& program);

 protected:
  // Of the pieces at `accesses`, which make the register or leave parts of it undefined.
  virtual Lowered load(std::span<const shuffle::Access> accesses, std::int64_t element_bytes) = 0;
  virtual Lowered store(const std::string& source, const shuffle::Access& access,
                        std::int64_t element_bytes) = 0;
  virtual Lowered self_shuffle(const std::string& source, const ByteIndex& index) = 0;
  virtual Lowered shuffle(const std::string& first, const std::string& second,
                          const ByteIndex& index) = 0;

  Constants& table() { return constants_; }

  // What lies that many bytes after a pointer.
  std::string at(const std::string& pointer, std::int64_t offset) const;

 private:
  const Isa& isa_;
  int bytes_;
  std::int64_t pitch_ = 0;
  std::int64_t table_entry_ = 0;
  Constants constants_;
};

// The instruction sets that functions are generated for.
std::span<const Isa> isas();

// Throws std::invalid_argument for a name that there is none of.
const Isa& find_isa(std::string_view name);

std::unique_ptr<Lowering> make_lowering(const Isa& isa, int vector_bytes);

std::unique_ptr<Lowering> lower_for_x86(const Isa& isa, int vector_bytes);
std::unique_ptr<Lowering> lower_for_neon(const Isa& isa, int vector_bytes);
std::unique_ptr<Lowering> lower_for_sve2(const Isa& isa, int vector_bytes);
// Elements one by one, on any machine.
std::unique_ptr<Lowering> lower_to_scalars(const Isa& isa, int vector_bytes);

}  // namespace ttlg::generate
