#include "cpu/convert.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/pipeline.hpp"

namespace ttlg::cpu {

RowConverter::RowConverter(const Conversion& conversion, const MapValues& values,
                           const Kernels& table, bool streaming)
    : conversion_(conversion),
      values_(values),
      table_(table),
      kernels_(table.convert[number_of_computed(conversion.map.computed_in())]),
      streaming_(streaming),
      part_bytes_(bytes_of(conversion.map.computed_in())),
      parts_(conversion.map.parts()),
      from_parts_(is_complex(conversion.map.from) ? 2 : 1),
      to_parts_(is_complex(conversion.map.to) ? 2 : 1),
      fused_(fused_kernel()) {}

// Whether elements are multiplied and added to while they are loaded.
bool RowConverter::fuses() const {
  const ElementMap& map = conversion_.map;
  return !map.swaps_bytes && !map.conjugates && !values_.scales_are_complex &&
         from_parts_ == parts_;
}

// Whether elements have the type that they are computed in on both sides, and are added to at once.
bool RowConverter::accumulates_at_once() const {
  const ElementMap& map = conversion_.map;
  return map.accumulates && fuses() && !values_.beta_is_complex && to_parts_ == parts_ &&
         part_of(map.from) == map.computed_in() && part_of(map.to) == map.computed_in();
}

FusedKernel RowConverter::fused_kernel() const {
  const ElementMap& map = conversion_.map;
  const bool wraps = is_integral(map.to) && !map.saturates;
  if (!fuses() || map.accumulates || wraps || to_parts_ > parts_) return nullptr;
  return table_.convert_fused[type_number(part_of(map.from))][type_number(part_of(map.to))];
}

const std::byte* RowConverter::identity(bool of_scales) const {
  static constexpr std::array<float, 2> kFloats{1, -0.0F};
  static constexpr std::array<double, 2> kDoubles{1, -0.0};
  const std::size_t which = of_scales ? 0 : 1;
  return part_bytes_ == 4 ? reinterpret_cast<const std::byte*>(&kFloats[which])
                          : reinterpret_cast<const std::byte*>(&kDoubles[which]);
}

void RowConverter::repeat(const std::byte* value, std::span<std::byte> to) const {
  for (std::size_t at = 0; at < to.size(); at += static_cast<std::size_t>(part_bytes_)) {
    std::memcpy(&to[at], value, static_cast<std::size_t>(part_bytes_));
  }
}

std::int64_t RowConverter::index_at(std::int64_t place, std::int64_t inner) const {
  const std::int64_t extent = conversion_.values.extent;
  const std::int64_t index = inner == 0 ? place : place / inner % extent;
  return conversion_.values.is_reversed ? extent - 1 - index : index;
}

void RowConverter::expand(const std::byte* values, Expanded& to, const RowValues& row,
                          std::int64_t count) const {
  const std::int64_t bytes = parts_ * part_bytes_;
  std::byte* const begin = to.bytes.data();
  // One period, or one value where they do not vary, and then that again and again.
  const std::int64_t period = std::max<std::int64_t>(row.inner * conversion_.values.extent, 1);
  const std::int64_t first = std::min(period, count);
  std::int64_t left = row.inner == 0 ? first : row.inner - row.place % row.inner;
  for (std::int64_t i = 0; i < first; left = row.inner) {
    const std::byte* const value = values + index_at(row.place + i, row.inner) * bytes;
    for (; left > 0 && i < first; --left, ++i) {
      std::memcpy(begin + i * bytes, value, static_cast<std::size_t>(bytes));
    }
  }
  for (std::int64_t done = first; done < count; done *= 2) {
    const std::int64_t now = std::min(done, count - done);
    std::memcpy(begin + done * bytes, begin, static_cast<std::size_t>(now * bytes));
  }
}

std::int64_t RowConverter::prepare_values(const RowValues& row, std::int64_t count) {
  const std::int64_t period = row.inner * conversion_.values.extent;
  // Vectors of a short period are expanded once, for chunks that begin anywhere in it.
  const bool is_kept = period <= kChunk / parts_;
  const std::int64_t at = is_kept && period > 0 ? row.place % period : 0;
  const RowValues wanted{row.place - at, row.inner};
  const bool is_there = is_kept && wanted.inner == expanded_for_.inner && at + count <= expanded_ &&
                        (period > 0 || wanted.place == expanded_for_.place);
  if (!is_there) {
    expanded_ = period + count;
    if (!is_kept) expanded_ = count;
    const auto fill = [&](bool has_any, const std::byte* values, Expanded& to, bool are_scales) {
      if (has_any) return expand(values, to, wanted, expanded_);
      const auto bytes = static_cast<std::size_t>(expanded_ * parts_ * part_bytes_);
      repeat(identity(are_scales), std::span(to.bytes).first(bytes));
    };
    fill(conversion_.map.scales, values_.scales, scales_, true);
    fill(conversion_.map.adds, values_.offsets, offsets_, false);
    expanded_for_ = wanted;
  }
  return at * parts_ * part_bytes_;
}

ChunkValues RowConverter::values_of(const RowValues& row, std::int64_t count) {
  const ElementMap& map = conversion_.map;
  if (parts_ > 1 || row.inner > 0) {
    const std::int64_t at = prepare_values(row, count);
    return {scales_.bytes.data() + at, offsets_.bytes.data() + at, true};
  }
  if (constant_for_ != row.place) {
    const std::int64_t at = map.varies() ? index_at(row.place, 0) * part_bytes_ : std::int64_t{0};
    repeat(map.scales ? values_.scales + at : identity(true), scale_.bytes);
    repeat(map.adds ? values_.offsets + at : identity(false), offset_.bytes);
    constant_for_ = row.place;
  }
  return {scale_.bytes.data(), offset_.bytes.data(), false};
}

void RowConverter::compute(std::byte* chunk, std::int64_t count, const RowValues& row) {
  const ElementMap& map = conversion_.map;
  if (map.conjugates && parts_ == 2) kernels_.conjugate(chunk, count);
  if (!map.scales && !map.adds) return;
  const auto [scales, offsets, vary] = values_of(row, count);
  if (map.scales) multiply(chunk, scales, count, vary, values_.scales_are_complex);
  if (map.adds) kernels_.add(chunk, offsets, count * parts_, vary);
}

void RowConverter::accumulate(std::byte* chunk, const std::byte* out, std::int64_t count) {
  const Type to = part_of(conversion_.map.to);
  kernels_.load[type_number(to)](out, other_.data(), count * to_parts_, false);
  if (to_parts_ > parts_) kernels_.take_real(other_.data(), other_.data(), count);
  multiply(other_.data(), values_.beta, count, false, values_.beta_is_complex);
  kernels_.add(chunk, other_.data(), count * parts_, true);
}

void RowConverter::multiply(std::byte* chunk, const std::byte* values, std::int64_t count,
                            bool vary, bool by_complex) const {
  if (by_complex) {
    kernels_.scale_complex(chunk, values, count, vary);
  } else {
    kernels_.scale(chunk, values, count * parts_, vary);
  }
}

// Elements as they are computed: in `direct`, if it is given, or wherever they lie already.
const std::byte* RowConverter::compute_chunk(const std::byte* in, std::byte* direct,
                                             std::int64_t count, const RowValues& row) {
  const ElementMap& map = conversion_.map;
  const std::size_t from = type_number(part_of(map.from));
  std::byte* const to = direct != nullptr ? direct : computed_.data();
  if ((map.scales || map.adds) && fuses()) {
    kernels_.load_scaled[from](in, to, count * parts_, values_of(row, count));
    return to;
  }
  if (from_parts_ > parts_) {
    kernels_.load[from](in, other_.data(), 2 * count, map.swaps_bytes);
    kernels_.take_real(other_.data(), to, count);
  } else {
    const bool is_computed = part_of(map.from) == map.computed_in() && !map.swaps_bytes;
    if (is_computed && !map.computes() && !map.conjugates) return in;
    kernels_.load[from](in, to, count * parts_, map.swaps_bytes);
  }
  compute(to, count, row);
  return to;
}

std::int64_t RowConverter::move_fused(const std::byte* in, std::byte* out, std::int64_t count,
                                      const RowValues& row) {
  if (fused_ == nullptr) return 0;
  const std::int64_t part_bytes = conversion_.to_bytes / parts_;
  // Whole lines are streamed, and only those.
  const std::int64_t unit =
      streaming_ ? std::max(kFusedElements, kLineBytes / part_bytes) : kFusedElements;
  const std::int64_t whole = count * parts_ / unit * unit;
  if (whole == 0 || (streaming_ && line_offset(out) != 0)) return 0;
  fused_(in, out, whole, values_of(row, count), streaming_);
  return whole / parts_;
}

void RowConverter::move_chunk(const std::byte* in, std::byte* out, std::int64_t count,
                              const RowValues& row) {
  const ElementMap& map = conversion_.map;
  if (accumulates_at_once()) {
    kernels_.accumulate(in, out, count * parts_, values_of(row, count), values_.beta);
    return;
  }
  const Type to = part_of(map.to);
  const bool is_saved = to == map.computed_in() && to_parts_ == parts_;
  // In place the compiler's loops would take elements one by one.
  const bool is_direct = is_saved && !streaming_ && !map.accumulates && in != out;
  const std::byte* from = compute_chunk(in, is_direct ? out : nullptr, count, row);
  if (is_direct && from == out) return;
  if (map.accumulates) accumulate(computed_.data(), out, count);
  if (to_parts_ > parts_) {
    kernels_.make_complex(from, other_.data(), count);
    from = other_.data();
  }
  if (to != map.computed_in()) {
    const ConvertKernels::Save save =
        (map.saturates ? kernels_.save_saturated : kernels_.save)[type_number(to)];
    if (!streaming_) return save(from, out, count * to_parts_);
    std::byte* const saved = from == other_.data() ? computed_.data() : other_.data();
    save(from, saved, count * to_parts_);
    from = saved;
  }
  (streaming_ ? table_.stream : table_.copy)(out, from, count * conversion_.to_bytes);
}

void RowConverter::move(const std::byte* in, std::byte* out, std::int64_t count,
                        const RowValues& row) {
  constexpr std::int64_t kLongInner = 256;  // elements of one value that are a chunk of their own
  const std::int64_t most = kChunk / std::max(from_parts_, to_parts_);
  // Chunks that are streamed begin where lines do.
  const std::int64_t rest = streaming_ ? (kLineBytes - line_offset(out)) % kLineBytes : 0;
  const std::int64_t head = rest / conversion_.to_bytes;
  std::int64_t limit = head > 0 ? std::min(head, most) : most;
  for (std::int64_t at = 0; at < count; limit = most) {
    std::int64_t now = std::min(limit, count - at);
    RowValues part = row;
    if (row.inner > 0) part.place += at;
    if (row.inner >= kLongInner) {
      now = std::min(now, row.inner - part.place % row.inner);
      part = {part.place / row.inner % conversion_.values.extent, 0};
    }
    const std::byte* const from = in + at * conversion_.from_bytes;
    std::byte* const to = out + at * conversion_.to_bytes;
    const std::int64_t moved = move_fused(from, to, now, part);
    if (moved < now) {
      if (part.inner > 0) part.place += moved;
      move_chunk(from + moved * conversion_.from_bytes, to + moved * conversion_.to_bytes,
                 now - moved, part);
    }
    at += now;
  }
}

}  // namespace ttlg::cpu
