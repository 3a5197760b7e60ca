#include "generate/index_patterns.hpp"

#include <algorithm>

namespace ttlg::generate {

using shuffle::kUndefined;

namespace {

int size(const ByteIndex& index) { return static_cast<int>(index.size()); }

// Puts the sources in the other order.
int swapped(int place, int bytes) {
  return place == kUndefined ? kUndefined : place < bytes ? place + bytes : place - bytes;
}

// The byte that an instruction for pairs puts at byte i.
int pair_source(const PairPattern& pattern, int i, int group, int bytes) {
  const int unit = pattern.unit;
  const int start = i / group * group;
  const int units = group / unit;
  const int at = i % group / unit;  // unit of the result
  const int rest = i % unit;
  int source = 0;
  int from = 0;
  switch (pattern.kind) {
    case PairPattern::Kind::zip:
      source = at % 2;
      from = at / 2 + (pattern.is_second ? units / 2 : 0);
      break;
    case PairPattern::Kind::unzip:
      source = at >= units / 2;
      from = at % (units / 2) * 2 + (pattern.is_second ? 1 : 0);
      break;
    case PairPattern::Kind::transpose:
      source = at % 2;
      from = at / 2 * 2 + (pattern.is_second ? 1 : 0);
      break;
  }
  return (source != 0) != pattern.is_swapped ? bytes + start + from * unit + rest
                                             : start + from * unit + rest;
}

}  // namespace

std::optional<std::vector<int>> in_units(const ByteIndex& index, int unit) {
  std::vector<int> result;
  for (int i = 0; i < size(index); i += unit) {
    int place = kUndefined;
    for (int k = 0; k < unit; ++k) {
      const int byte = index[static_cast<std::size_t>(i + k)];
      if (byte == kUndefined) continue;
      if (byte % unit != k || (place != kUndefined && byte / unit != place)) return std::nullopt;
      place = byte / unit;
    }
    result.push_back(place);
  }
  return result;
}

int widest_unit(const ByteIndex& index) {
  int unit = 16;
  while (!in_units(index, unit)) unit /= 2;
  return unit;
}

bool is_identity(const ByteIndex& index) {
  return matches(index, [](int i) { return i; });
}

std::optional<PairPattern> find_pairs(const ByteIndex& index, int group, bool all) {
  using enum PairPattern::Kind;
  for (const PairPattern::Kind kind : {zip, unzip, transpose}) {
    if (kind != zip && !all) break;
    for (int unit = 1; unit <= std::min(group / 2, 8); unit *= 2) {
      for (const bool is_second : {false, true}) {
        for (const bool is_swapped : {false, true}) {
          const PairPattern pattern{kind, unit, is_second, is_swapped};
          if (matches(index, [&](int i) { return pair_source(pattern, i, group, size(index)); })) {
            return pattern;
          }
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Extraction> find_extraction(const ByteIndex& index, int group) {
  const int bytes = size(index);
  for (int by = 1; by < group; ++by) {
    for (const bool is_swapped : {false, true}) {
      if (matches(index, [&](int i) {
            const int from = i % group + by;
            const int start = i / group * group;
            const int place = from < group ? start + from : bytes + start + from - group;
            return is_swapped ? swapped(place, bytes) : place;
          })) {
        return Extraction{by, is_swapped};
      }
    }
  }
  return std::nullopt;
}

bool stays_in_groups(const ByteIndex& index, int group) {
  for (int i = 0; i < size(index); ++i) {
    const int place = index[static_cast<std::size_t>(i)];
    if (place != kUndefined && place % size(index) / group != i / group) return false;
  }
  return true;
}

std::optional<std::vector<int>> same_in_groups(const ByteIndex& index, int unit, int group) {
  const auto places = in_units(index, unit);
  if (!places || !stays_in_groups(index, group)) return std::nullopt;
  const int units = group / unit;
  const int all = size(index) / unit;
  std::vector<int> result(static_cast<std::size_t>(units), kUndefined);
  for (int i = 0; i < all; ++i) {
    const int place = (*places)[static_cast<std::size_t>(i)];
    if (place == kUndefined) continue;
    const int local = place % units + (place >= all ? units : 0);
    int& known = result[static_cast<std::size_t>(i % units)];
    if (known != kUndefined && known != local) return std::nullopt;
    known = local;
  }
  return result;
}

bool is_merge(const ByteIndex& index) {
  const int bytes = size(index);
  for (int i = 0; i < bytes; ++i) {
    const int place = index[static_cast<std::size_t>(i)];
    if (place != kUndefined && place % bytes != i) return false;
  }
  return true;
}

ByteIndex of_source(const ByteIndex& index, int source) {
  ByteIndex result;
  for (const int place : index) {
    const bool is_its = place != kUndefined && place / size(index) == source;
    result.push_back(is_its ? place % size(index) : kUndefined);
  }
  return result;
}

}  // namespace ttlg::generate
