#include <string>

#include "generate/emitted/intrinsics.hpp"

namespace ttlg::test::emitted {
namespace {

constexpr int kGroup = 16;

std::string si(int width) { return "si" + std::to_string(8 * width); }
std::string epi(int unit) { return "epi" + std::to_string(8 * unit); }

void add_memory(Intrinsics& all, const std::string& mm, int width) {
  all[mm + "loadu_" + si(width)] = {1, [=](Arguments x) { return x[0].load(width); }};
  all[mm + "storeu_" + si(width)] = {1, [=](Arguments x) {
                                       x[0].store(part(x[1].bytes, 0, width));
                                       return Bytes{};
                                     }};
  all[mm + "setzero_" + si(width)] = {0, [=](Arguments) { return zeros(width); }};
  for (const int unit : {1, 2, 4, 8}) {
    all[mm + "mask_storeu_" + epi(unit)] = {
        1, [=](Arguments x) {
          require(width / unit == 64 || x[1].number >> (width / unit) == 0, "a mask is too long");
          for (int i = 0; i < width / unit; ++i) {
            if (bit(x[1].number, i) != 0) x[0].store(part(x[2].bytes, i * unit, unit), i * unit);
          }
          return Bytes{};
        }};
  }
}

// Between widths, and between integers and floats; what a cast adds is undefined.
void add_casts(Intrinsics& all, const std::string& mm, int width) {
  for (const int to : {16, 32, 64}) {
    all[mm + "cast" + si(width) + "_" + si(to)] =
        all["_mm" + std::to_string(8 * to) + "_cast" + si(width) + "_" + si(to)] = {
            0, [=](Arguments x) {
              Bytes result = x[0].bytes;
              result.resize(static_cast<std::size_t>(to), kGarbage);
              return result;
            }};
  }
  for (const std::string& name : {"cast" + si(width) + "_ps", "castps_" + si(width)}) {
    all[mm + name] = {0, [](Arguments x) { return x[0].bytes; }};
  }
}

void add_parts(Intrinsics& all) {
  const auto extract = [&](const std::string& name, int size) {
    all[name] = {1, [=](Arguments x) {
                   const auto taken = part(x[0].bytes, static_cast<int>(x[1].number) * size, size);
                   return Bytes(taken.begin(), taken.end());
                 }};
  };
  extract("_mm256_extracti128_si256", 16);
  extract("_mm512_extracti32x4_epi32", 16);
  extract("_mm512_extracti64x4_epi64", 32);
  const auto insert = [&](const std::string& name, int size) {
    all[name] = {1, [=](Arguments x) {
                   Bytes result = x[0].bytes;
                   std::ranges::copy(part(x[1].bytes, 0, size),
                                     result.begin() + x[2].number * size);
                   return result;
                 }};
  };
  insert("_mm256_inserti128_si256", 16);
  insert("_mm512_inserti32x4", 16);
  insert("_mm512_inserti64x4", 32);
}

void add_halves(Intrinsics& all) {
  all["_mm_loadl_epi64"] = {1, [](Arguments x) { return x[0].load(8) + zeros(8); }};
  // A load, and what joins it to the lower half.
  all["_mm_loadh_pi"] = {2, [](Arguments x) {
                           return gather(x[0].bytes, 8, 8, [](int) { return 0; }) + x[1].load(8);
                         }};
  const auto store_half = [&](const std::string& name, int from) {
    all[name] = {1, [=](Arguments x) {
                   x[0].store(part(x[1].bytes, from, 8));
                   return Bytes{};
                 }};
  };
  store_half("_mm_storel_epi64", 0);
  store_half("_mm_storeh_pi", 8);
  all["_mm_srli_si128"] = {1, [](Arguments x) {
                             return gather(x[0].bytes + zeros(16), 16, 1,
                                           [&](int i) { return i + x[1].number; });
                           }};
  all["_mm_cvtsi128_si32"] = {
      1, [](Arguments x) { return gather(x[0].bytes, 4, 4, [](int) { return 0; }); }};
}

void add_logic(Intrinsics& all, const std::string& mm, int width) {
  all[mm + "or_" + si(width)] = {
      1, [](Arguments x) { return combine(x[0].bytes, x[1].bytes, both_or); }};
  all[mm + "and_" + si(width)] = {
      1, [](Arguments x) { return combine(x[0].bytes, x[1].bytes, both_and); }};
  all[mm + "andnot_" + si(width)] = {1, [](Arguments x) {
                                       return combine(x[0].bytes, x[1].bytes, [](Byte a, Byte b) {
                                         return both_and(constant(~number_of(a)), b);
                                       });
                                     }};
  all[mm + "blendv_epi8"] = {1, [=](Arguments x) {
                               return gather(x[0].bytes + x[1].bytes, width, 1, [&](int i) {
                                 const Byte mask = x[2].bytes[static_cast<std::size_t>(i)];
                                 return i + width * bit(number_of(mask), 7);
                               });
                             }};
  for (const int unit : {1, 2, 4, 8}) {
    all[mm + "mask_blend_" + epi(unit)] = {
        1, [=](Arguments x) {
          return gather(x[1].bytes + x[2].bytes, width, unit,
                        [&](int i) { return i + width / unit * bit(x[0].number, i); });
        }};
  }
  all[mm + "blend_epi32"] = {1, [=](Arguments x) {
                               return gather(x[0].bytes + x[1].bytes, width, 4, [&](int i) {
                                 return i + width / 4 * bit(x[2].number, i);
                               });
                             }};
}

// Within groups of 16 bytes.
void add_groups(Intrinsics& all, const std::string& mm, int width) {
  all[mm + "shuffle_epi32"] = {1, [=](Arguments x) {
                                 return gather(x[0].bytes, width, 4, [&](int i) {
                                   return i / 4 * 4 + pair_of_bits(x[1].number, i % 4);
                                 });
                               }};
  all[mm + "shuffle_ps"] = {1, [=](Arguments x) {
                              return gather(x[0].bytes + x[1].bytes, width, 4, [&](int i) {
                                return i / 4 * 4 + pair_of_bits(x[2].number, i % 4) +
                                       (i % 4 < 2 ? 0 : width / 4);
                              });
                            }};
  all[mm + "shuffle_epi8"] = {1, [=](Arguments x) {
                                return gather(x[0].bytes + zeros(1), width, 1, [&](int i) {
                                  const auto by =
                                      number_of(x[1].bytes[static_cast<std::size_t>(i)]);
                                  return bit(by, 7) != 0 ? width : i / kGroup * kGroup + by % 16;
                                });
                              }};
  all[mm + "alignr_epi8"] = {1, [=](Arguments x) {
                               return gather(x[1].bytes + x[0].bytes + zeros(1), width, 1,
                                             [&](int i) -> std::int64_t {
                                               const auto from = i % kGroup + x[2].number;
                                               const int group = i / kGroup * kGroup;
                                               if (from < kGroup) return group + from;
                                               if (from >= 2 * kGroup) return 2 * width;
                                               return width + group + from - kGroup;
                                             });
                             }};
  for (const int unit : {1, 2, 4, 8}) {
    const auto unpack = [&](const std::string& name, int half) {
      all[mm + name + epi(unit)] = {
          1, [=](Arguments x) {
            const int units = kGroup / unit;
            return gather(x[0].bytes + x[1].bytes, width, unit, [&](int i) {
              return i / units * units + half * units / 2 + i % units / 2 + i % 2 * (width / unit);
            });
          }};
    };
    unpack("unpacklo_", 0);
    unpack("unpackhi_", 1);
  }
}

// Across groups.
void add_permutations(Intrinsics& all, const std::string& mm, int width) {
  const Intrinsic quads{1, [=](Arguments x) {
                          return gather(x[0].bytes, width, 8, [&](int i) {
                            return i / 4 * 4 + pair_of_bits(x[1].number, i % 4);
                          });
                        }};
  if (width == 32) all[mm + "permute4x64_epi64"] = quads;
  if (width == 64) all[mm + "permutex_epi64"] = quads;
  for (const int unit : {1, 2, 4, 8}) {
    const int units = width / unit;
    const auto index = [=](const Bytes& indices, int i, int count) {
      return static_cast<int>(number_of(part(indices, i * unit, unit)) %
                              static_cast<std::uint64_t>(count));
    };
    all[mm + "permutexvar_" + epi(unit)] = {1, [=](Arguments x) {
                                              return gather(x[1].bytes, width, unit, [&](int i) {
                                                return index(x[0].bytes, i, units);
                                              });
                                            }};
    all[mm + "permutex2var_" + epi(unit)] = {
        1, [=](Arguments x) {
          return gather(x[0].bytes + x[2].bytes, width, unit,
                        [&](int i) { return index(x[1].bytes, i, 2 * units); });
        }};
    if (width == 32 && unit == 4) {
      all[mm + "permutevar8x32_epi32"] = {1, [=](Arguments x) {
                                            return gather(x[0].bytes, width, unit, [&](int i) {
                                              return index(x[1].bytes, i, units);
                                            });
                                          }};
    }
  }
}

void add_whole_groups(Intrinsics& all) {
  all["_mm512_shuffle_i32x4"] = {1, [](Arguments x) {
                                   return gather(x[0].bytes + x[1].bytes, 64, kGroup, [&](int i) {
                                     return pair_of_bits(x[2].number, i) + (i < 2 ? 0 : 4);
                                   });
                                 }};
  all["_mm256_permute2x128_si256"] = {
      1, [](Arguments x) {
        return gather(x[0].bytes + x[1].bytes + zeros(kGroup), 32, kGroup, [&](int i) {
          const auto control = x[2].number >> (4 * i);
          return bit(control, 3) != 0 ? 4 : control % 4;
        });
      }};
}

}  // namespace

void add_x86(Intrinsics& all) {
  for (const int width : {16, 32, 64}) {
    const std::string mm = width == 16 ? "_mm_" : "_mm" + std::to_string(8 * width) + "_";
    add_memory(all, mm, width);
    add_casts(all, mm, width);
    add_logic(all, mm, width);
    add_groups(all, mm, width);
    add_permutations(all, mm, width);
  }
  add_parts(all);
  add_halves(all);
  add_whole_groups(all);
}

}  // namespace ttlg::test::emitted
