// Passes over shuffle programs: each takes a program and returns one that does the same.
#pragma once

#include <cstdint>

#include "plan/shuffle/program.hpp"

namespace ttlg::shuffle {

// Leaves out what no store needs.
Program remove_unused(Program program);

// Joins shuffles of one source that follow one another.
Program join_self_shuffles(Program program);

// Joins shuffles of one source with the shuffles of two that they follow or precede, where an
// instruction takes any index: the composite step of GenTT, section 4.3.
Program join_shuffles(Program program);

// Stores whole registers, or whole parts of 2^n lanes, where what is too much is stored again by a
// later store of this program; other partial stores stay as they are (GenTT, section 5.2, within a
// tile: no other tile's elements are written, so that tiles may be moved in any order and by any
// thread).
Program store_over(Program program);

// Cuts every store into ones of 2^n lanes that begin at a piece of as many, or at the register's
// first lane: two that lie one over the other where a count is no power of two.
Program split_stores(Program program);

// Several tiles one after another, that many bytes apart on each side (GenTT, section 6.2).
Program unroll(const Program& program, int tiles, std::int64_t in_step, std::int64_t out_step);

// Loads first, then all else in its order (GenTT, section 6.2).
Program loads_first(Program program);

// Every load right before the first operation that needs it: the fewest registers.
Program loads_last(Program program);

// Loads, or stores, backwards: the n-th of the elements that lie next to one another where the n-th
// before the first one lies. Offsets that are a pitch apart count for themselves.
Program mirror(Program program, Kind kind, std::int64_t pitch);

// Numbers registers in the order in which they are made.
Program rename_registers(Program program);

}  // namespace ttlg::shuffle
