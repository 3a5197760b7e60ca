// The kernels: their names, and which problems each of them can carry out at all. Which of them is
// worth taking is the planner's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/names.hpp"
#include "tensor/problem.hpp"

namespace ttlg::cpu {

enum class Kernel : std::uint8_t { copy, tile, shuffle, strided_copy, reference };

inline constexpr NameTable<Kernel, 5> kKernels{
    {"copy", "tile", "shuffle", "strided_copy", "reference"}};

constexpr std::string_view kernel_name(Kernel kernel) { return kKernels.name(kernel); }

bool applies(Kernel kernel, const Problem& folded);

// What a kernel needs, in words.
std::string requirement(Kernel kernel);

// Why a kernel cannot carry this problem out, in words; empty where it can.
std::string obstacle(Kernel kernel, const Problem& folded);

// Throws std::invalid_argument, with the requirement and the obstacle, where the kernel cannot
// carry the problem out.
void check_kernel(Kernel kernel, const Problem& folded);

}  // namespace ttlg::cpu
