// A C++ function that permutes the axes of tensors of one shape (GenTT, section 6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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

// Every line of a text after `prefix`.
std::string prefixed(std::string_view text, std::string_view prefix);

// A function's tables of indices, and the registers that hold them.
std::string constants(const Lowering& lowering);

// What numbers are called that a function is given.
using Names = std::map<std::int64_t, std::string>;

// The heads of loops over tiles, from the pointers in0 and out0 to `in` and `out`. `indent` grows
// with them.
std::string open_loops(const std::vector<Loop>& loops, const Names& names, std::string& indent);

// Closes all blocks that are open at `indent`.
std::string close_loops(std::string indent);

Function generate_function(const Problem& problem, const Isa& isa, const Options& options,
                           const Title& title);

}  // namespace ttlg::generate
