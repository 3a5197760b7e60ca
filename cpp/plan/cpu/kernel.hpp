// The kernels: their names, and which problems each of them can carry out at all. Which of them is
// worth taking is the planner's business.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

enum class Kernel : std::uint8_t { copy, tile, shuffle, strided_copy, reference };

inline constexpr std::array kKernels{Kernel::copy, Kernel::tile, Kernel::shuffle,
                                     Kernel::strided_copy, Kernel::reference};

std::string_view kernel_name(Kernel kernel);
std::optional<Kernel> kernel_from_name(std::string_view name);
std::string kernel_names();  // all, quoted, for messages

bool can_carry_out(Kernel kernel, const Problem& folded);

// What a kernel needs, in words.
std::string_view requirement(Kernel kernel);

// Why a kernel cannot carry this problem out, in words; empty where it can.
std::string obstacle(Kernel kernel, const Problem& folded);

// Throws std::invalid_argument, with the requirement and the obstacle, where the kernel cannot
// carry the problem out.
void check_kernel(Kernel kernel, const Problem& folded);

}  // namespace ttlg::cpu
