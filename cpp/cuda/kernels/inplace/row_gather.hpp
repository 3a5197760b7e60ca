// The row shuffle of C2R and R2C (Catanzaro et al., PPoPP 2014) for rows that are too long for
// shared memory: some of them are gathered into a workspace, from which they are copied back. C2R
// gathers with the inverse of d' (Eq. 31), whose quotient is reduced modulo b before it is
// multiplied, and R2C with d' (Eq. 24).
#pragma once

#include "cuda/kernels/inplace/pass_common.hpp"
#include "plan/cuda/inplace/policy.hpp"
#include "tensor/integer.hpp"

namespace ttlg::cuda {

struct RowGatherArguments {
  FastDivisor height;  // m
  FastDivisor width;   // n
  FastDivisor32 c;
  FastDivisor b;
  FastDivisor32 block;  // b
  std::uint32_t a;
  std::uint32_t a_inverse;
  std::uint32_t stride;    // m modulo n
  std::int64_t first_row;  // of all matrices' rows, the launch's first
  FastDivisor32 chunks;    // of a row
  std::uint32_t element_bytes;
  FastDivisor32 element_words;
  std::uint32_t elements_at_once;  // by all threads of a block
  bool forward;                    // C2R
};

TTLG_DEVICE std::int64_t modulo(std::int64_t x, const FastDivisor& divisor) {
  return x - divisor.quotient(x) * divisor.divisor();
}

// d'_i of R2C.
class ShuffledRow {
 public:
  TTLG_DEVICE ShuffledRow(const RowGatherArguments& p, std::uint32_t i) : p_(p), i_(i) {}

  TTLG_DEVICE std::int64_t operator()(std::uint32_t j) const {
    const std::uint32_t before = p_.block.quotient(j);
    const std::uint32_t in_block = j - before * p_.block.divisor();
    const std::uint32_t rotated =
        wrapped(i_ + before, static_cast<std::uint32_t>(p_.height.divisor()));
    return modulo(std::int64_t{in_block} * p_.stride + rotated, p_.width);
  }

 private:
  const RowGatherArguments& p_;
  std::uint32_t i_;
};

// Its inverse: element k of the row comes from the block before which there are (k - i) mod c
// others, and from where in that block a x = k div c - t div c modulo b, where t is that many more
// than i, modulo m.
class UnshuffledRow {
 public:
  TTLG_DEVICE UnshuffledRow(const RowGatherArguments& p, std::uint32_t i) : p_(p) {
    const std::uint32_t whole = p.c.quotient(i);
    in_c_ = i - whole * p.c.divisor();
    rotation_[0] = static_cast<std::uint32_t>(modulo(whole, p.b));
    rotation_[1] = static_cast<std::uint32_t>(modulo(wrapped(whole + 1, p.a), p.b));
  }

  TTLG_DEVICE std::int64_t operator()(std::uint32_t k) const {
    const std::uint32_t whole = p_.c.quotient(k);
    const std::uint32_t in_c = k - whole * p_.c.divisor();
    const bool carries = in_c < in_c_;
    const std::uint32_t before = in_c - in_c_ + (carries ? p_.c.divisor() : 0);
    const std::uint32_t rotation = carries ? rotation_[1] : rotation_[0];
    const std::uint32_t rotated =
        wrapped(whole + p_.block.divisor() - rotation, p_.block.divisor());
    return std::int64_t{before} * p_.block.divisor() +
           modulo(std::int64_t{rotated} * p_.a_inverse, p_.b);
  }

 private:
  const RowGatherArguments& p_;
  std::uint32_t in_c_;
  std::uint32_t rotation_[2];
};

template <int kWidth, typename Context, typename From>
TTLG_DEVICE void gather_row(const RowGatherArguments& p, const Context& context,
                            const From& from_element, std::uint32_t chunk) {
  const auto columns = static_cast<std::uint32_t>(p.width.divisor());
  const std::uint32_t number = p.element_words.quotient(context.thread());
  const std::uint32_t word =
      (context.thread() - number * p.element_words.divisor()) * static_cast<std::uint32_t>(kWidth);
  std::uint32_t element = chunk * (p.elements_at_once * RowGatherPolicy::kBatch) + number;
  Word<kWidth> held[RowGatherPolicy::kBatch];
  const std::uint32_t end = number < p.elements_at_once ? columns : 0;
  TTLG_UNROLL
  for (int i = 0; i < RowGatherPolicy::kBatch; ++i) {
    const std::uint32_t to = element + static_cast<std::uint32_t>(i) * p.elements_at_once;
    held[i] = context.template load<Word<kWidth>>(
        to < end, from_element(to < end ? to : 0) * p.element_bytes + word);
  }
  TTLG_UNROLL
  for (int i = 0; i < RowGatherPolicy::kBatch; ++i) {
    const std::uint32_t to = element + static_cast<std::uint32_t>(i) * p.elements_at_once;
    context.store(to < end, std::int64_t{to} * p.element_bytes + word, held[i]);
  }
}

// A block gathers a chunk of a row.
template <int kWidth, bool kForward, typename Context>
TTLG_DEVICE void row_gather(const RowGatherArguments& p, const Context& context) {
  const std::uint32_t row = p.chunks.quotient(context.block());
  const std::uint32_t chunk = context.block() - row * p.chunks.divisor();
  const auto i = static_cast<std::uint32_t>(modulo(p.first_row + row, p.height));
  const std::int64_t offset = row * (p.width.divisor() * p.element_bytes);
  const Context here = context.at(offset, offset);
  if constexpr (kForward) {
    gather_row<kWidth>(p, here, UnshuffledRow(p, i), chunk);
  } else {
    gather_row<kWidth>(p, here, ShuffledRow(p, i), chunk);
  }
}

}  // namespace ttlg::cuda
