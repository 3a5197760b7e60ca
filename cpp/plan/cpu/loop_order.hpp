// The order of the loops around a block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg::cpu {

// COMET's cost (transpose page) of a nest of loops over modes that `perm` permutes, outermost loop
// first; the nest may leave modes out.
double loop_cost(std::span<const int> perm, std::span<const int> order);

// All modes in the order of the least cost.
std::vector<int> rank_loops(std::span<const int> perm);

// Of the ranked modes those that the block cuts.
void choose_loop_order(const Problem& folded, std::span<const std::int64_t> block,
                       std::span<const int> ranked, std::vector<int>& order);

// Makes blocks that continue one another's runs on a side follow one another, so that their partial
// lines meet: moves the loop along which runs go on innermost. `side` lists the modes from the
// side's fastest one on, and `step` is their stride there.
void continue_runs(const Problem& folded, std::span<const std::int64_t> block,
                   std::span<const int> side, std::int64_t Mode::* step, std::vector<int>& order);

}  // namespace ttlg::cpu
