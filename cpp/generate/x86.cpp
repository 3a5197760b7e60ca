// Shuffles of x86: SSSE3, AVX2 and AVX-512, with and without its permutations of bytes.
#include <cstdint>
#include <string>
#include <utility>

#include "generate/index_patterns.hpp"
#include "generate/lowering.hpp"
#include "generate/x86_memory.hpp"

namespace ttlg::generate {
namespace {

using shuffle::kUndefined;
using x86::call;
using x86::epi;
using x86::hex;
using x86::prefix;
using x86::si;

constexpr int kGroup = 16;

// An immediate of fields of `bits` each; what may be any is 0.
std::uint64_t immediate(std::span<const int> fields, int bits, int mask) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == kUndefined) continue;
    result |= static_cast<std::uint64_t>(fields[i] & mask) << (static_cast<int>(i) * bits);
  }
  return result;
}

class X86 : public x86::Memory {
 public:
  using x86::Memory::Memory;

 protected:
  Lowered self_shuffle(const std::string& source, const ByteIndex& index) override {
    const int bytes = vector_bytes();
    if (is_identity(index)) return {source, 0};
    if (const auto words = same_in_groups(index, 4, kGroup)) {
      const std::string value = hex(immediate(*words, 2, 3));
      return {intrinsic("shuffle_epi32",
                        source + ", " +
                            (bytes == 64 ? "static_cast<_MM_PERM_ENUM>(" + value + ")" : value)),
              1};
    }
    if (stays_in_groups(index, kGroup)) {
      return {intrinsic("shuffle_epi8", source + ", " + bytes_in_groups(index, kAny)), 1};
    }
    if (const auto result = across_groups(source, index)) return *result;
    return by_rotation(source, index);
  }

  Lowered shuffle(const std::string& first, const std::string& second,
                  const ByteIndex& index) override {
    const std::string both = first + ", " + second;
    if (is_merge(index)) {
      if (const auto result = merge(first, second, index)) return *result;
    }
    if (const auto pairs = find_pairs(index, kGroup, false)) {
      const std::string arguments = pairs->is_swapped ? second + ", " + first : both;
      return {
          intrinsic((pairs->is_second ? "unpackhi_" : "unpacklo_") + epi(pairs->unit), arguments),
          1};
    }
    if (const auto result = halves_of_each(first, second, index)) return *result;
    if (const auto moved = find_extraction(index, kGroup)) {
      const std::string arguments = moved->is_swapped ? both : second + ", " + first;
      return {intrinsic("alignr_epi8", arguments + ", " + std::to_string(moved->bytes)), 1};
    }
    if (const auto result = whole_groups(first, second, index)) return *result;
    if (isa().takes_any_index) {
      if (const auto result = any(first, second, index)) return *result;
    }
    if (stays_in_groups(index, kGroup)) {
      constexpr std::uint64_t kZero = 0x80;
      const std::string low = bytes_in_groups(of_source(index, 0), kZero);
      const std::string high = bytes_in_groups(of_source(index, 1), kZero);
      return {intrinsic("or_" + si(vector_bytes()),
                        intrinsic("shuffle_epi8", first + ", " + low) + ", " +
                            intrinsic("shuffle_epi8", second + ", " + high)),
              3};
    }
    const Lowered x = self_shuffle(first, of_source(index, 0));
    const Lowered y = self_shuffle(second, of_source(index, 1));
    Lowered result = *merge(x.text, y.text, merged(index));
    result.instructions += x.instructions + y.instructions;
    return result;
  }

 private:
  bool has_avx2() const { return isa().vector_bytes.front() >= 32; }
  bool has_vbmi() const { return isa().flags.ends_with("vbmi"); }

  std::string intrinsic(const std::string& name, const std::string& arguments) const {
    return call(prefix(vector_bytes()) + name, arguments);
  }

  // The register of indices for _mm*_shuffle_epi8.
  std::string bytes_in_groups(const ByteIndex& index, std::uint64_t undefined) {
    std::vector<std::uint64_t> values;
    for (const int place : index) {
      values.push_back(place == kUndefined ? undefined
                                           : static_cast<std::uint64_t>(place % kGroup));
    }
    return table().add(1, std::move(values));
  }

  std::optional<Lowered> across_groups(const std::string& source, const ByteIndex& index) {
    const int bytes = vector_bytes();
    if (const auto quads = same_in_groups(index, 8, 32); quads && bytes >= 32) {
      const std::string name = bytes == 32 ? "permute4x64_epi64" : "permutex_epi64";
      return Lowered{intrinsic(name, source + ", " + hex(immediate(*quads, 2, 3))), 1};
    }
    if (const auto groups = in_units(index, kGroup); groups && bytes == 64) {
      return Lowered{
          intrinsic("shuffle_i32x4", source + ", " + source + ", " + hex(immediate(*groups, 2, 3))),
          1};
    }
    const int least = has_vbmi() ? 1 : isa().takes_any_index ? 2 : 4;
    const int unit = std::min(widest_unit(index), bytes == 64 ? 8 : 4);
    if (unit < least) return std::nullopt;
    const std::string places = table().add(unit, numbers(*in_units(index, unit)));
    if (!isa().takes_any_index) {
      return Lowered{intrinsic("permutevar8x32_epi32", source + ", " + places), 1};
    }
    return Lowered{intrinsic("permutexvar_" + epi(unit), places + ", " + source), 1};
  }

  // Bytes from other groups where no instruction takes them: from whole groups that were moved
  // first.
  Lowered by_rotation(const std::string& source, const ByteIndex& index) {
    const int groups = vector_bytes() / kGroup;
    Lowered result;
    for (int by = 0; by < groups; ++by) {
      ByteIndex part(index.size(), kUndefined);
      std::vector<int> rotated;
      for (int g = 0; g < groups; ++g) rotated.push_back((g + by) % groups);
      bool is_used = false;
      for (std::size_t i = 0; i < index.size(); ++i) {
        if (index[i] == kUndefined) continue;
        const int group = static_cast<int>(i) / kGroup;
        if (index[i] / kGroup != rotated[static_cast<std::size_t>(group)]) continue;
        part[i] = group * kGroup + index[i] % kGroup;
        is_used = true;
      }
      if (!is_used) continue;
      std::string x = source;
      if (by != 0 && groups == 2) x = intrinsic("permute4x64_epi64", source + ", 0x4e");
      if (by != 0 && groups == 4) {
        x = intrinsic("shuffle_i32x4",
                      source + ", " + source + ", " + hex(immediate(rotated, 2, 3)));
      }
      x = intrinsic("shuffle_epi8", x + ", " + bytes_in_groups(part, 0x80));
      const int instructions = by == 0 ? 1 : 2;
      if (result.text.empty()) {
        result = {x, instructions};
      } else {
        result = {intrinsic("or_" + si(vector_bytes()), result.text + ", " + x),
                  result.instructions + instructions + 1};
      }
    }
    return result;
  }

  // An index with every byte in its place, to join what was moved before.
  static ByteIndex merged(const ByteIndex& index) {
    ByteIndex result = index;
    const auto bytes = static_cast<int>(index.size());
    for (int i = 0; i < bytes; ++i) {
      int& place = result[static_cast<std::size_t>(i)];
      if (place != kUndefined) place = i + (place >= bytes ? bytes : 0);
    }
    return result;
  }

  std::optional<Lowered> merge(const std::string& first, const std::string& second,
                               const ByteIndex& index) {
    const std::string both = first + ", " + second;
    const auto bytes = static_cast<int>(index.size());
    const bool masks = isa().has_masks;
    const int unit = std::min(widest_unit(index), masks ? 8 : 4);
    std::vector<int> is_second;
    for (int i = 0; i < bytes; i += unit) {
      int found = kUndefined;
      for (int k = 0; k < unit; ++k) {
        const int place = index[static_cast<std::size_t>(i + k)];
        if (place != kUndefined) found = place >= bytes ? 1 : 0;
      }
      is_second.push_back(found);
    }
    if (masks) {
      return Lowered{
          intrinsic("mask_blend_" + epi(unit), hex(immediate(is_second, 1, 1)) + ", " + both), 1};
    }
    if (has_avx2() && unit == 4) {
      return Lowered{intrinsic("blend_epi32", both + ", " + hex(immediate(is_second, 1, 1))), 1};
    }
    std::vector<std::uint64_t> mask;
    for (const int place : index) {
      mask.push_back(place == kUndefined ? kAny : place >= bytes ? 0xff : 0);
    }
    const std::string which = table().add(1, std::move(mask));
    if (has_avx2()) return Lowered{intrinsic("blendv_epi8", both + ", " + which), 1};
    return Lowered{"_mm_or_si128(_mm_andnot_si128(" + which + ", " + first + "), _mm_and_si128(" +
                       which + ", " + second + "))",
                   3};
  }

  // Half of every group from one source, half from the other.
  std::optional<Lowered> halves_of_each(const std::string& first, const std::string& second,
                                        const ByteIndex& index) const {
    const auto in_order = [&](std::span<const int> group) -> std::optional<bool> {
      const auto count = static_cast<int>(group.size());
      for (const bool is_swapped : {false, true}) {
        bool fits = true;
        for (int i = 0; i < count; ++i) {
          const int place = group[static_cast<std::size_t>(i)];
          if (place != kUndefined) fits &= ((place >= count) == (i >= count / 2)) != is_swapped;
        }
        if (fits) return is_swapped;
      }
      return std::nullopt;
    };
    const auto group = same_in_groups(index, 4, kGroup);
    if (!group) return std::nullopt;
    const auto is_swapped = in_order(*group);
    if (!is_swapped) return std::nullopt;
    const auto as_floats = [&](const std::string& x) {
      return intrinsic("cast" + si(vector_bytes()) + "_ps", x);
    };
    const std::string& x = *is_swapped ? second : first;
    const std::string& y = *is_swapped ? first : second;
    const std::string shuffled = intrinsic(
        "shuffle_ps", as_floats(x) + ", " + as_floats(y) + ", " + hex(immediate(*group, 2, 3)));
    return Lowered{intrinsic("castps_" + si(vector_bytes()), shuffled), 1};
  }

  // Groups that stay as they are.
  std::optional<Lowered> whole_groups(const std::string& first, const std::string& second,
                                      const ByteIndex& index) const {
    const auto groups = in_units(index, kGroup);
    if (!groups) return std::nullopt;
    const auto count = static_cast<int>(groups->size());
    if (count == 2) {
      std::uint64_t value = 0;
      for (int i = 0; i < 2; ++i) {
        const int place = (*groups)[static_cast<std::size_t>(i)];
        if (place != kUndefined) value |= static_cast<std::uint64_t>(place) << (4 * i);
      }
      return Lowered{intrinsic("permute2x128_si256", first + ", " + second + ", " + hex(value)), 1};
    }
    for (const bool is_swapped : {false, true}) {
      bool fits = true;
      for (int i = 0; i < count; ++i) {
        const int place = (*groups)[static_cast<std::size_t>(i)];
        if (place != kUndefined) fits &= ((place >= count) == (i >= count / 2)) != is_swapped;
      }
      if (!fits) continue;
      const std::string& x = is_swapped ? second : first;
      const std::string& y = is_swapped ? first : second;
      return Lowered{
          intrinsic("shuffle_i32x4", x + ", " + y + ", " + hex(immediate(*groups, 2, 3))), 1};
    }
    return std::nullopt;
  }

  std::optional<Lowered> any(const std::string& first, const std::string& second,
                             const ByteIndex& index) {
    const int unit = std::min(widest_unit(index), 8);
    if (unit == 1 && !has_vbmi()) return std::nullopt;
    const std::string places = table().add(unit, numbers(*in_units(index, unit)));
    return Lowered{intrinsic("permutex2var_" + epi(unit), first + ", " + places + ", " + second),
                   1};
  }
};

}  // namespace

std::unique_ptr<Lowering> lower_for_x86(const Isa& isa, int vector_bytes) {
  return std::make_unique<X86>(isa, vector_bytes);
}

}  // namespace ttlg::generate
