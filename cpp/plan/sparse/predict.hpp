// How long a transposition of a sparse tensor takes.
#pragma once

#include <array>
#include <cstddef>

#include "plan/sparse/plan.hpp"

namespace ttlg::sparse {

// What is counted of a plan; a time is a weighted sum.
enum class Term {
  call,          // once
  input_bytes,   // checked, and read again
  order,         // coordinates compared with those before
  distributed,   // nonzeros moved to the bucket of their first digit
  sorted,        // nonzeros moved by another digit, within a cache
  output_bytes,  // written
  rows,          // row pointers read or written
  numbers,       // numbers of nonzeros moved by the value of one mode
  listed,        // numbers put into lists of buckets
  compared,      // comparisons by quicksorts
  gathered,      // coordinates and values read in the new order
  placed,        // coordinates and values put to their places at once
  scattered,     // those of them whose places are in no cache, by how often the output doubles it
  count          // of the terms
};

using Terms = std::array<double, static_cast<std::size_t>(Term::count)>;

// What one thread does.
Terms terms_of(const Plan& plan);

// What one thread does where keys are counted and nonzeros put to their places at once, this share
// of them far from others.
Terms scatter_terms(const Plan& plan, double share);

// Whether that is faster than sorting.
bool prefers_scatter(const Plan& plan, double share);

// In seconds, by the plan's threads. Nonzeros are taken to be anywhere. The weights were
// fitted to one machine, an Emerald Rapids.
double predicted_seconds(const Plan& plan);

}  // namespace ttlg::sparse
