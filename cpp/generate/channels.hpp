// The code that the library has of its own generator: it takes structures of 2 to 4 elements apart
// and puts them together.
#pragma once

#include <string>

#include "generate/lowering.hpp"

namespace ttlg::generate {

// A function for each kind of channels, and the table of them all.
std::string generate_channels(const Isa& isa);

}  // namespace ttlg::generate
