// Loads and stores of x86, and the names of its intrinsics.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "generate/lowering.hpp"

namespace ttlg::generate::x86 {

std::string call(const std::string& function, const std::string& arguments);
std::string hex(std::uint64_t value);
// Parts of names: `_mm256_`, `si256`, and `epi32` for units of 4 bytes.
std::string prefix(int register_bytes);
std::string si(int register_bytes);
std::string epi(int unit);

class Memory : public Lowering {
 public:
  using Lowering::Lowering;

  std::string includes() const override;
  std::string attribute() const override;
  std::string vector_type() const override;
  std::string load_table(const std::string& table) const override;

 protected:
  Lowered load(std::span<const shuffle::Access> accesses, std::int64_t element_bytes) override;
  Lowered store(const std::string& source, const shuffle::Access& access,
                std::int64_t element_bytes) override;

 private:
  // `bytes` of a register from byte `from` on, a multiple of them.
  std::string part(const std::string& source, int from, int bytes) const;
  Lowered widened(const std::string& from, int size) const;
  std::string insert(const std::string& into, const std::string& from, int size, int place) const;
  // `bytes` of a register from byte `from` on, to `offset` in the output.
  Lowered masked_store(const std::string& source, std::int64_t offset, int from, int bytes,
                       int element_bytes);
};

}  // namespace ttlg::generate::x86
