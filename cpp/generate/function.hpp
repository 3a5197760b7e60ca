// A C++ function that permutes the axes of tensors of one shape (GenTT, section 6).
#pragma once

#include <cstddef>
#include <string>

#include "generate/choose.hpp"
#include "tensor/problem.hpp"

namespace ttlg::generate {

// What the function's comment says and what it is called.
struct Title {
  std::string name;
  std::string text;  // lines without the marks of a comment
};

struct Function {
  std::string text;
  std::size_t tables = 0;  // of indices
  Choice choice;
};

Function generate_function(const Problem& problem, const Isa& isa, const Options& options,
                           const Title& title);

}  // namespace ttlg::generate
