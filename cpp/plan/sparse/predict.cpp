#include "plan/sparse/predict.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "tensor/integer.hpp"

namespace ttlg::sparse {
namespace {

double& at(Terms& terms, Term term) { return terms[static_cast<std::size_t>(term)]; }

// Of keys in 4 bytes, and values.
double chunk_size(const Plan& plan) {
  return as_double(
      chunk_capacity(plan.cache_bytes, 4 + std::min<std::int64_t>(plan.problem.value_bytes, 16)));
}

void add_radix_sort(const Plan& plan, Terms& terms) {
  const double nonzeros = as_double(plan.problem.nonzeros);
  const double sorted = plan.sorted.high - plan.sorted.low;
  if (sorted <= 0) return;
  const double chunks = std::log2(std::max(1.0, nonzeros / chunk_size(plan)));
  const bool is_in_order = plan.sorted.high < plan.key.bits;
  if (!is_in_order && chunks > 0) at(terms, Term::distributed) += nonzeros;
  // Chunks have slices of modes in order, or the buckets of the first digit.
  const double left = is_in_order
                          ? sorted + std::max(0.0, plan.key.bits - plan.sorted.high - chunks)
                          : sorted - (sorted <= 12 && chunks > 0 ? sorted : chunks);
  const double in_chunk = std::min(nonzeros, chunk_size(plan));
  const double digit_bits =
      std::clamp(std::floor(std::log2(std::max(1.0, in_chunk))) - 2, 4.0, 14.0);
  at(terms, Term::sorted) += nonzeros * std::ceil(std::max(0.0, left) / digit_bits);
}

void add_mode_sorts(const Plan& plan, Terms& terms) {
  const double nonzeros = as_double(plan.problem.nonzeros);
  const double modes = plan.problem.rank();
  const double comparisons = nonzeros * std::log2(std::max(2.0, nonzeros));
  switch (plan.algorithm) {
    case Algorithm::no_sort:
    case Algorithm::count_radix:
      at(terms, Term::numbers) += nonzeros * modes;
      break;
    case Algorithm::radix_bucket:
      at(terms, Term::listed) += nonzeros * modes;
      break;
    case Algorithm::count_quick: {
      const double slices =
          as_double(plan.problem.extents[static_cast<std::size_t>(plan.problem.perm[0])]);
      at(terms, Term::numbers) += nonzeros;
      at(terms, Term::compared) +=
          nonzeros * std::log2(std::max(2.0, nonzeros / std::max(1.0, slices)));
      break;
    }
    case Algorithm::automatic:  // keys of more than 64 bits
    case Algorithm::seq_qsort:
    case Algorithm::par_qsort:
      at(terms, Term::compared) += comparisons;
      break;
  }
  at(terms, Term::gathered) += nonzeros * (modes + 1);
}

// Whether threads share the work that a term counts.
bool is_shared(Term term, Algorithm algorithm) {
  switch (term) {
    case Term::call:
    case Term::rows:
    case Term::numbers:
    case Term::listed:
      return false;
    case Term::compared:
      return algorithm == Algorithm::automatic || algorithm == Algorithm::par_qsort;
    default:
      return true;
  }
}

// Of each term, in the order of `Term`. Fitted to 201 calls of random and published tensors of up
// to 10 million nonzeros; those of COMET's algorithms to others before.
constexpr Terms kNanoseconds{40000, 0.16, 1.4, 8.2, 2.75, 0.04, 3.8,
                             5.0,   10.4, 6.3, 1.5, 1.37, 1.65};

double output_bytes(const Problem& problem) {
  const int stored = problem.rank() - (problem.out_rows ? 1 : 0);
  return as_double(problem.nonzeros) *
         (stored * problem.out_index_bytes + as_double(problem.value_bytes));
}

// What both ways have in common.
Terms common_terms(const Plan& plan) {
  const Problem& problem = plan.problem;
  const double nonzeros = as_double(problem.nonzeros);
  const int stored = problem.rank() - (problem.in_rows ? 1 : 0);
  Terms terms{};
  at(terms, Term::call) = 1;
  at(terms, Term::input_bytes) =
      nonzeros * (stored * problem.in_index_bytes + as_double(problem.value_bytes));
  if (depends_on_order(problem, plan.algorithm)) at(terms, Term::order) = nonzeros * problem.rank();
  if (problem.in_rows) at(terms, Term::rows) += as_double(problem.extents[0]);
  if (problem.out_rows) {
    at(terms, Term::rows) += as_double(problem.extents[static_cast<std::size_t>(problem.perm[0])]);
  }
  return terms;
}

double seconds_of(const Plan& plan, Terms terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (is_shared(static_cast<Term>(i), plan.algorithm)) terms[i] /= plan.threads;
  }
  return 1e-9 * std::inner_product(terms.begin(), terms.end(), kNanoseconds.begin(), 0.0);
}

}  // namespace

Terms terms_of(const Plan& plan) {
  Terms terms = common_terms(plan);
  const Problem& problem = plan.problem;
  at(terms, Term::output_bytes) = output_bytes(problem);
  if (plan.algorithm == Algorithm::automatic && plan.fits_key) {
    add_radix_sort(plan, terms);
  } else {
    add_mode_sorts(plan, terms);
  }
  return terms;
}

Terms scatter_terms(const Plan& plan, double share) {
  Terms terms = common_terms(plan);
  const double elements = as_double(plan.problem.nonzeros * placed_arrays(plan.problem));
  at(terms, Term::placed) = elements;
  // A window of the sample begins without the keys shortly before it, which small shares are due
  // to.
  const double cache = as_double(std::max<std::int64_t>(1, plan.cache_bytes));
  const double doublings = std::max(0.0, std::log2(output_bytes(plan.problem) / cache));
  at(terms, Term::scattered) = std::pow(share, 1.5) * elements * doublings;
  return terms;
}

bool prefers_scatter(const Plan& plan, double share) {
  return seconds_of(plan, scatter_terms(plan, share)) < seconds_of(plan, terms_of(plan));
}

double predicted_seconds(const Plan& plan) {
  const double sorted = seconds_of(plan, terms_of(plan));
  if (plan.algorithm != Algorithm::automatic || !may_scatter(plan)) return sorted;
  // The share of the nonzeros of a window that have a key of their own.
  const double keys = static_cast<double>(plan.key.max >> plan.sorted.low) + 1;
  const double window = as_double(std::max<std::int64_t>(1, sampled_window(plan)));
  const double share = keys * -std::expm1(-window / keys) / window;
  return std::min(sorted, seconds_of(plan, scatter_terms(plan, share)));
}

}  // namespace ttlg::sparse
