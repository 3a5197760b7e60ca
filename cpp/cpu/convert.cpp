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
      parts_(is_complex(conversion.map.from) && is_complex(conversion.map.to) ? 2 : 1),
      from_parts_(is_complex(conversion.map.from) ? 2 : 1),
      to_parts_(is_complex(conversion.map.to) ? 2 : 1) {}

std::int64_t RowConverter::index_at(std::int64_t place, std::int64_t inner) const {
  const std::int64_t extent = conversion_.values.extent;
  const std::int64_t index = inner == 0 ? place : place / inner % extent;
  return conversion_.values.is_reversed ? extent - 1 - index : index;
}

void RowConverter::expand(const std::byte* values, Expanded& to, const RowValues& row,
                          std::int64_t count) const {
  const std::int64_t bytes = parts_ * part_bytes_;
  const auto put = [&](std::int64_t element, std::int64_t index) {
    std::memcpy(to.bytes.data() + element * bytes, values + index * bytes,
                static_cast<std::size_t>(bytes));
  };
  if (row.inner == 0) {
    for (std::int64_t i = 0; i < count; ++i) put(i, index_at(row.place, 0));
    return;
  }
  std::int64_t left = row.inner - row.place % row.inner;
  for (std::int64_t i = 0; i < count; left = row.inner) {
    const std::int64_t index = index_at(row.place + i, row.inner);
    for (; left > 0 && i < count; --left) put(i++, index);
  }
}

std::int64_t RowConverter::prepare_values(const RowValues& row, std::int64_t count) {
  const std::int64_t chunk = kChunk / parts_;
  const std::int64_t period = row.inner * conversion_.values.extent;
  // Vectors of a short period are expanded once.
  const bool is_kept = period <= chunk;
  RowValues wanted = row;
  if (is_kept && row.inner > 0) wanted.place = 0;
  if (!is_kept || wanted.place != expanded_for_.place || wanted.inner != expanded_for_.inner) {
    const std::int64_t expanded = is_kept ? chunk + period : count;
    if (values_.scales != nullptr) expand(values_.scales, scales_, wanted, expanded);
    if (values_.offsets != nullptr) expand(values_.offsets, offsets_, wanted, expanded);
    expanded_for_ = is_kept ? wanted : RowValues{-1, -1};
  }
  return is_kept && row.inner > 0 ? row.place % period * parts_ * part_bytes_ : 0;
}

void RowConverter::compute(std::byte* chunk, std::int64_t count, const RowValues& row) {
  const ElementMap& map = conversion_.map;
  if (map.conjugates && parts_ == 2) kernels_.conjugate(chunk, count);
  if (!map.scales && !map.adds) return;
  const bool is_same = parts_ == 1 && row.inner == 0;  // for all elements
  std::int64_t at = 0;
  if (is_same) {
    at = (map.varies() ? index_at(row.place, 0) : 0) * part_bytes_;
  } else {
    at = prepare_values(row, count);
  }
  const std::byte* const scales = is_same ? values_.scales : scales_.bytes.data();
  const std::byte* const offsets = is_same ? values_.offsets : offsets_.bytes.data();
  if (map.scales) multiply(chunk, scales + at, count, !is_same, values_.scales_are_complex);
  if (map.adds) kernels_.add(chunk, offsets + at, count * parts_, !is_same);
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

// To `direct`, if it is given, or wherever they lie already.
const std::byte* RowConverter::load_chunk(const std::byte* in, std::byte* direct,
                                          std::int64_t count) {
  const ElementMap& map = conversion_.map;
  const Type from = part_of(map.from);
  const bool is_computed = from == map.computed_in() && !map.swaps_bytes;
  if (from_parts_ > parts_) {
    kernels_.load[type_number(from)](in, other_.data(), 2 * count, map.swaps_bytes);
    kernels_.take_real(other_.data(), computed_.data(), count);
    return computed_.data();
  }
  const bool changes = map.computes() || map.conjugates;
  if (is_computed && !changes) return in;
  std::byte* const to = direct != nullptr ? direct : computed_.data();
  kernels_.load[type_number(from)](in, to, count * parts_, map.swaps_bytes);
  return to;
}

void RowConverter::move_chunk(const std::byte* in, std::byte* out, std::int64_t count,
                              const RowValues& row) {
  const ElementMap& map = conversion_.map;
  const Type to = part_of(map.to);
  const bool is_saved = to == map.computed_in() && to_parts_ == parts_;
  const bool is_direct = is_saved && !streaming_ && !map.accumulates;
  const std::byte* from = load_chunk(in, is_direct ? out : nullptr, count);
  if (map.computes() || map.conjugates) {
    auto* const chunk = const_cast<std::byte*>(from);  // a buffer, or the output
    compute(chunk, count, row);
    if (map.accumulates) accumulate(chunk, out, count);
  }
  if (to_parts_ > parts_) {
    kernels_.make_complex(from, other_.data(), count);
    from = other_.data();
  }
  const std::int64_t bytes = count * conversion_.to_bytes;
  if (from == out) return;
  if (to != map.computed_in()) {
    const ConvertKernels::Save save =
        (map.saturates ? kernels_.save_saturated : kernels_.save)[type_number(to)];
    if (!streaming_) return save(from, out, count * to_parts_);
    std::byte* const saved = from == other_.data() ? computed_.data() : other_.data();
    save(from, saved, count * to_parts_);
    from = saved;
  }
  (streaming_ ? table_.stream : table_.copy)(out, from, bytes);
}

void RowConverter::move(const std::byte* in, std::byte* out, std::int64_t count,
                        const RowValues& row) {
  const std::int64_t most = kChunk / std::max(from_parts_, to_parts_);
  // Chunks begin where lines do.
  const std::int64_t head = (kLineBytes - line_offset(out)) % kLineBytes / conversion_.to_bytes;
  std::int64_t now = head > 0 ? std::min(head, count) : std::min(most, count);
  for (std::int64_t at = 0; at < count; now = std::min(most, count - at)) {
    const RowValues part{row.inner > 0 ? row.place + at : row.place, row.inner};
    move_chunk(in + at * conversion_.from_bytes, out + at * conversion_.to_bytes, now, part);
    at += now;
  }
}

}  // namespace ttlg::cpu
