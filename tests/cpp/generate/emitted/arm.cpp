#include <string>

#include "generate/emitted/intrinsics.hpp"

namespace ttlg::test::emitted {
namespace {

// Unit i of a zip, uzp or trn of two registers of `units` units each, one behind the other.
using Pairing = int (*)(int i, int units);

void add_pairs(Intrinsics& all, const std::string& prefix, const std::string& suffix, int unit) {
  const auto add = [&](const std::string& name, Pairing from) {
    all[prefix + name + suffix] = {1, [=](Arguments x) {
                                     const auto bytes = static_cast<int>(x[0].bytes.size());
                                     return gather(x[0].bytes + x[1].bytes, bytes, unit,
                                                   [&](int i) { return from(i, bytes / unit); });
                                   }};
  };
  add("zip1", [](int i, int units) { return i / 2 + i % 2 * units; });
  add("zip2", [](int i, int units) { return units / 2 + i / 2 + i % 2 * units; });
  add("uzp1", [](int i, int) { return 2 * i; });
  add("uzp2", [](int i, int) { return 2 * i + 1; });
  add("trn1", [](int i, int units) { return i / 2 * 2 + i % 2 * units; });
  add("trn2", [](int i, int units) { return i / 2 * 2 + 1 + i % 2 * units; });
}

// Bytes of `sources`; an index beyond them takes that of `others`.
Bytes look_up(const Bytes& sources, const Bytes& indices, const Bytes& others) {
  Bytes result = others;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto from = static_cast<std::size_t>(number_of(indices[i]));
    if (from < sources.size()) result[i] = sources[from];
  }
  return result;
}

Bytes extract(Arguments x) {
  const auto bytes = static_cast<int>(x[0].bytes.size());
  return gather(x[0].bytes + x[1].bytes, bytes, 1, [&](int i) { return i + x[2].number; });
}

Bytes unchanged(Arguments x) { return x[0].bytes; }

void add_neon_memory(Intrinsics& all) {
  for (const int width : {8, 16}) {
    const std::string quad = width == 16 ? "q" : "";
    all["vld1" + quad + "_u8"] = {1, [=](Arguments x) { return x[0].load(width); }};
    all["vst1" + quad + "_u8"] = {1, [=](Arguments x) {
                                    x[0].store(part(x[1].bytes, 0, width));
                                    return Bytes{};
                                  }};
  }
  // Nothing has to be combined with zeros: a load of a half leaves them in the other one.
  all["vdup_n_u8"] = {-1, [](Arguments x) { return Bytes(8, constant(x[0].number)); }};
  all["vcombine_u8"] = {1, [](Arguments x) { return x[0].bytes + x[1].bytes; }};
  all["vget_low_u8"] = {
      0, [](Arguments x) { return gather(x[0].bytes, 8, 8, [](int) { return 0; }); }};
  all["vget_high_u8"] = {
      1, [](Arguments x) { return gather(x[0].bytes, 8, 8, [](int) { return 1; }); }};
}

void add_neon(Intrinsics& all) {
  add_neon_memory(all);
  for (const int unit : {1, 2, 4, 8}) {
    const std::string bits = std::to_string(8 * unit);
    all["vgetq_lane_u" + bits] = {1, [=](Arguments x) {
                                    return gather(x[0].bytes, unit, unit,
                                                  [&](int) { return x[1].number; });
                                  }};
    all["vreinterpretq_u8_u" + bits] = all["vreinterpretq_u" + bits + "_u8"] = {0, unchanged};
    add_pairs(all, "v", "q_u" + bits, unit);
  }
  all["vextq_u8"] = {1, extract};
  all["vbslq_u8"] = {1, [](Arguments x) {
                       const Bytes first = combine(x[0].bytes, x[1].bytes, both_and);
                       const Bytes second =
                           combine(x[0].bytes, x[2].bytes, [](Byte mask, Byte value) {
                             return both_and(constant(~number_of(mask)), value);
                           });
                       return combine(first, second, both_or);
                     }};
  all["vqtbl1q_u8"] = {1, [](Arguments x) { return look_up(x[0].bytes, x[1].bytes, zeros(16)); }};
  all["vqtbx1q_u8"] = {1, [](Arguments x) { return look_up(x[1].bytes, x[2].bytes, x[0].bytes); }};
}

// Predicates are bytes of 0 and 1.
void add_predicates(Intrinsics& all, int width) {
  const auto where = [=](const auto& holds) {
    Bytes result;
    for (int i = 0; i < width; ++i) result.push_back(constant(holds(i) ? 1 : 0));
    return result;
  };
  all["svptrue_b8"] = {0, [=](Arguments) { return where([](int) { return true; }); }};
  all["svwhilelt_b8"] = {
      0, [=](Arguments x) { return where([&](int i) { return x[0].number + i < x[1].number; }); }};
  all["svcmpne_n_u8"] = {1, [=](Arguments x) {
                           return where([&](int i) {
                             const auto byte = static_cast<std::size_t>(i);
                             return number_of(x[0].bytes[byte]) != 0 &&
                                    number_of(x[1].bytes[byte]) != x[2].number;
                           });
                         }};
  all["svsel_u8"] = {1, [=](Arguments x) {
                       return gather(x[1].bytes + x[2].bytes, width, 1, [&](int i) {
                         return number_of(x[0].bytes[static_cast<std::size_t>(i)]) != 0 ? i
                                                                                        : i + width;
                       });
                     }};
}

void add_sve(Intrinsics& all, int width) {
  add_predicates(all, width);
  const auto is_set = [](const Value& predicate, int i) {
    return number_of(predicate.bytes[static_cast<std::size_t>(i)]) != 0;
  };
  all["svld1_u8"] = {1, [=](Arguments x) {
                       Bytes result = zeros(width);
                       for (int i = 0; i < width; ++i) {
                         if (!is_set(x[0], i)) continue;
                         result[static_cast<std::size_t>(i)] =
                             x[1].memory->load(x[1].number + i, 1).front();
                       }
                       return result;
                     }};
  all["svst1_u8"] = {1, [=](Arguments x) {
                       for (int i = 0; i < width; ++i) {
                         if (is_set(x[0], i)) x[1].store(part(x[2].bytes, i, 1), i);
                       }
                       return Bytes{};
                     }};
  for (const int unit : {1, 2, 4, 8}) {
    const std::string bits = std::to_string(8 * unit);
    all["svreinterpret_u8_u" + bits] = all["svreinterpret_u" + bits + "_u8"] = {0, unchanged};
    add_pairs(all, "sv", "_u" + bits, unit);
  }
  all["svext_u8"] = {1, extract};
  all["svcreate2_u8"] = {0, [](Arguments x) { return x[0].bytes + x[1].bytes; }};
  const Intrinsic table{1,
                        [=](Arguments x) { return look_up(x[0].bytes, x[1].bytes, zeros(width)); }};
  all["svtbl_u8"] = all["svtbl2_u8"] = table;
}

}  // namespace

void add_arm(Intrinsics& all, int vector_bytes) {
  add_neon(all);
  add_sve(all, vector_bytes);
}

}  // namespace ttlg::test::emitted
