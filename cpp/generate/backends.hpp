// The instruction sets that functions are generated for.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "generate/lowering.hpp"

namespace ttlg::generate {

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
