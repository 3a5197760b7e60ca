// The code that the library has of its own generator for tiles whose rows and columns fill vectors.
#pragma once

#include <string>

#include "generate/lowering.hpp"

namespace ttlg::generate {

// A function for each map of lanes, and the tables of them all.
std::string generate_vector_tiles(const Isa& isa);

}  // namespace ttlg::generate
