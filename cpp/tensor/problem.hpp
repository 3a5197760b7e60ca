// The Problem: what is to be moved where, in normal form. A pure value without memory or device.
//
// Modes are numbered as in the papers, 0 being the fastest varying one of the input, and
// perm[i] = j says that the output's i-th fastest mode is the input's mode j (TTLG, section III).
// Strides are kept in bytes, not elements: a field of a packed structure has a stride that is no
// multiple of its size, and folding a run of elements into one leaves byte strides as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/axes.hpp"
#include "tensor/conversion.hpp"
#include "tensor/element_map.hpp"

namespace ttlg {

// The first `count` numbers: the modes in the order in which they are kept.
std::span<const int> identity_order(std::size_t count);

struct Mode {
  std::int64_t extent;
  std::int64_t in_byte_stride;
  std::int64_t out_byte_stride;
  // Along the axis of the element map, from one value of its vectors to the next.
  std::int64_t value_step = 0;

  bool operator==(const Mode&) const = default;
};

struct Problem {
  std::int64_t in_bytes = 1;  // of an element
  std::int64_t out_bytes = 1;
  ElementMap map{};
  std::vector<Mode> modes;
  std::vector<int> perm;
  // Where element (0, ..., 0) of the flipped problem lies, relative to the caller's pointers.
  std::int64_t in_byte_offset = 0;
  std::int64_t out_byte_offset = 0;
  // The largest power of two that is known to divide the address of that element of the output.
  std::int64_t out_alignment = 1;
  // Of a problem that moves bits: what these become as they leave for the output.
  std::optional<Conversion> conversion{};

  bool operator==(const Problem&) const = default;

  std::int64_t elements() const;
  // Whether the fastest mode is the same on both sides.
  bool keeps_fastest_mode() const { return !perm.empty() && perm.front() == 0; }
  // Whether elements keep their bits, so that whatever moves these carries the problem out.
  bool moves_bits() const { return in_bytes == out_bytes && map.is_identity(); }
  // Why what moves bits cannot carry it out, in words; empty where it can.
  std::string conversion_obstacle() const;
  // For what moves bits: of an element and of all, on either side. Both throw
  // std::invalid_argument, with the obstacle, where there is one.
  std::int64_t element_bytes() const {
    if (!moves_bits()) refuse_conversion();
    return in_bytes;
  }
  std::int64_t bytes() const { return elements() * element_bytes(); }
  // Of the larger side.
  std::int64_t max_bytes() const { return elements() * std::max(in_bytes, out_bytes); }

 private:
  [[noreturn]] void refuse_conversion() const;
};

// What a caller asks for, in NumPy's terms: axis 0 first, output axis i is input axis axes[i].
struct Request {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> in_byte_strides;
  std::vector<int> axes;
  std::int64_t itemsize = 1;                   // of the input
  std::vector<std::int64_t> out_byte_strides;  // one per output axis; empty means C-contiguous
  bool inplace = false;                        // the output takes the input's memory
  std::int64_t out_alignment = 1;  // a power of two known to divide the output's address
  ElementMap map{};                // from elements of `itemsize` bytes

  bool operator==(const Request&) const = default;

  std::int64_t out_itemsize() const;
  std::vector<std::int64_t> out_shape() const;
  std::vector<std::int64_t> resolved_out_byte_strides() const;
};

std::vector<std::int64_t> contiguous_byte_strides(std::span<const std::int64_t> shape,
                                                  std::int64_t itemsize);

// Brings NumPy's order into mode order and normalises: unit modes dropped, output strides made
// positive, modes sorted by input stride, modes adjacent on both sides fused (TTLG, section III).
// Then signs move to where they cost nothing: where a fast mode of the input runs against the
// output, of which it is a slow mode, the output's stride is negative. Throws std::invalid_argument
// for a malformed request, std::overflow_error beyond 64 bits.
Problem make_problem(const Request& request);

// The passes of the normal form, in the order in which they apply.
Problem drop_unit_modes(Problem problem);
Problem flip_negative_strides(Problem problem);
Problem sort_by_input_stride(Problem problem);
Problem fuse_modes(Problem problem);
Problem place_signs(Problem problem);

// A mode with unit stride on both sides becomes part of the element: 4 bytes x 4 moves as 16. Only
// where elements keep their bits: others are converted one by one.
Problem fold_run(Problem problem);

// What moves bits of a problem, so that elements follow one another as in the output, for which
// they are converted then: the problem itself, or its input's elements at their places among the
// output's. Elements are folded as above. Throws std::invalid_argument where the output's steps are
// no whole elements.
Problem gather_bits(const Problem& problem);

// True if stepping through the given axes never comes back to the same byte. Sufficient, not
// necessary: interleaved layouts that happen not to collide are reported as overlapping.
bool is_free_of_self_overlap(std::span<const std::int64_t> shape,
                             std::span<const std::int64_t> byte_strides, std::int64_t itemsize);

}  // namespace ttlg
