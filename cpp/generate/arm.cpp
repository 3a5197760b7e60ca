// Lowering for ARM: NEON, and SVE2 with registers of a fixed length.
#include <cstdint>
#include <string>
#include <utility>

#include "generate/index_patterns.hpp"
#include "generate/lowering.hpp"

namespace ttlg::generate {
namespace {

using shuffle::Access;
using shuffle::kUndefined;

std::string name_of(const PairPattern& pairs) {
  const char* const number = pairs.is_second ? "2" : "1";
  switch (pairs.kind) {
    case PairPattern::Kind::zip:
      return std::string("zip") + number;
    case PairPattern::Kind::unzip:
      return std::string("uzp") + number;
    case PairPattern::Kind::transpose:
      break;
  }
  return std::string("trn") + number;
}

// An instruction of two registers for elements of `unit` bytes; `cast` is the start of the name of
// casts, and `quad` a letter of NEON's.
std::string by_units(const std::string& name, const std::string& cast, const std::string& quad,
                     int unit, const std::string& x, const std::string& y) {
  const std::string bits = std::to_string(8 * unit);
  const auto casted = [&](const std::string& each) {
    return unit == 1 ? each : cast + quad + "_u" + bits + "_u8(" + each + ")";
  };
  const std::string result = name + quad + "_u" + bits + "(" + casted(x) + ", " + casted(y) + ")";
  return unit == 1 ? result : cast + quad + "_u8_u" + bits + "(" + result + ")";
}

// Bytes of a mask that takes the second source.
std::vector<std::uint64_t> second_mask(const ByteIndex& index) {
  std::vector<std::uint64_t> result;
  for (const int place : index) {
    result.push_back(place == kUndefined                       ? kAny
                     : place >= static_cast<int>(index.size()) ? 0xff
                                                               : 0);
  }
  return result;
}

class Neon : public Lowering {
 public:
  using Lowering::Lowering;

  std::string includes() const override { return "#include <arm_neon.h>\n"; }
  std::string vector_type() const override { return "uint8x16_t"; }
  std::string load_table(const std::string& table) const override {
    return "vld1q_u8(" + table + ")";
  }

 protected:
  Lowered load(std::span<const Access> accesses, std::int64_t element_bytes) override {
    if (accesses.front().lanes * element_bytes == 16) {
      return {"vld1q_u8(" + at("in", accesses.front().offset) + ")", 1};
    }
    std::string halves[2] = {"vdup_n_u8(0)", "vdup_n_u8(0)"};
    int instructions = -1;
    for (const Access& access : accesses) {
      halves[access.lane == 0 ? 0 : 1] = "vld1_u8(" + at("in", access.offset) + ")";
      instructions += 2;
    }
    return {"vcombine_u8(" + halves[0] + ", " + halves[1] + ")", instructions};
  }

  Lowered store(const std::string& source, const Access& access,
                std::int64_t element_bytes) override {
    const auto bytes = static_cast<int>(access.lanes * element_bytes);
    const auto from = static_cast<int>(access.lane * element_bytes);
    const std::string to = at("out", access.offset);
    if (bytes == 16) return {"vst1q_u8(" + to + ", " + source + ");\n", 1};
    if (bytes == 8) {
      return {
          "vst1_u8(" + to + ", vget_" + (from == 0 ? "low" : "high") + "_u8(" + source + "));\n",
          from == 0 ? 1 : 2};
    }
    const std::string bits = std::to_string(8 * bytes);
    const std::string lane = std::to_string(from / bytes);
    const std::string vector =
        bytes == 1 ? source : "vreinterpretq_u" + bits + "_u8(" + source + ")";
    return {"{ const std::uint" + bits + "_t x = vgetq_lane_u" + bits + "(" + vector + ", " + lane +
                "); std::memcpy(" + to + ", &x, " + std::to_string(bytes) + "); }\n",
            2};
  }

  Lowered self_shuffle(const std::string& source, const ByteIndex& index) override {
    if (is_identity(index)) return {source, 0};
    return {"vqtbl1q_u8(" + source + ", " + table().add(1, numbers(index)) + ")", 1};
  }

  Lowered shuffle(const std::string& first, const std::string& second,
                  const ByteIndex& index) override {
    if (const auto pairs = find_pairs(index, 16, true)) {
      const std::string& x = pairs->is_swapped ? second : first;
      const std::string& y = pairs->is_swapped ? first : second;
      return {by_units(std::string("v").append(name_of(*pairs)), "vreinterpret", "q", pairs->unit,
                       x, y),
              1};
    }
    if (const auto moved = find_extraction(index, 16)) {
      const std::string& x = moved->is_swapped ? second : first;
      const std::string& y = moved->is_swapped ? first : second;
      return {"vextq_u8(" + x + ", " + y + ", " + std::to_string(moved->bytes) + ")", 1};
    }
    if (is_merge(index)) {
      return {"vbslq_u8(" + table().add(1, second_mask(index)) + ", " + second + ", " + first + ")",
              1};
    }
    // Of one register and then of the other, since GCC 12 puts pairs of registers together in
    // memory. Indices beyond a register give 0, or leave what was there.
    const std::string low = table().add(1, numbers(of_source(index, 0), 0xff));
    const std::string high = table().add(1, numbers(of_source(index, 1), 0xff));
    return {"vqtbx1q_u8(vqtbl1q_u8(" + first + ", " + low + "), " + second + ", " + high + ")", 2};
  }
};

class Sve2 : public Lowering {
 public:
  using Lowering::Lowering;

  std::string includes() const override {
    const std::string bits = std::to_string(8 * vector_bytes());
    return "#include <arm_sve.h>\n\n#if __ARM_FEATURE_SVE_BITS != " + bits +
           "\n#error compile this with " + std::string(isa().flags) + "\n#endif\n";
  }
  std::string vector_type() const override { return "svuint8_t"; }
  std::string load_table(const std::string& table) const override {
    return "svld1_u8(all, " + table + ")";
  }
  std::string prologue() const override { return "const svbool_t all = svptrue_b8();\n"; }

 protected:
  Lowered load(std::span<const Access> accesses, std::int64_t) override {
    return {"svld1_u8(all, " + at("in", accesses.front().offset) + ")", 1};
  }

  Lowered store(const std::string& source, const Access& access,
                std::int64_t element_bytes) override {
    const auto bytes = static_cast<int>(access.lanes * element_bytes);
    const auto from = static_cast<int>(access.lane * element_bytes);
    const std::string to = at("out", access.offset);
    if (bytes == vector_bytes()) return {"svst1_u8(all, " + to + ", " + source + ");\n", 1};
    const std::string x =
        from == 0 ? source
                  : "svext_u8(" + source + ", " + source + ", " + std::to_string(from) + ")";
    return {"svst1_u8(svwhilelt_b8(0, " + std::to_string(bytes) + "), " + to + ", " + x + ");\n",
            from == 0 ? 1 : 2};
  }

  Lowered self_shuffle(const std::string& source, const ByteIndex& index) override {
    if (is_identity(index)) return {source, 0};
    return {"svtbl_u8(" + source + ", " + table().add(1, numbers(index)) + ")", 1};
  }

  Lowered shuffle(const std::string& first, const std::string& second,
                  const ByteIndex& index) override {
    if (const auto pairs = find_pairs(index, vector_bytes(), true)) {
      const std::string& x = pairs->is_swapped ? second : first;
      const std::string& y = pairs->is_swapped ? first : second;
      return {by_units("sv" + name_of(*pairs), "svreinterpret", "", pairs->unit, x, y), 1};
    }
    if (is_merge(index)) {
      const std::string mask = table().add(1, second_mask(index));
      return {"svsel_u8(svcmpne_n_u8(all, " + mask + ", 0), " + second + ", " + first + ")", 2};
    }
    return {"svtbl2_u8(svcreate2_u8(" + first + ", " + second + "), " +
                table().add(1, numbers(index)) + ")",
            1};
  }
};

}  // namespace

std::unique_ptr<Lowering> lower_for_neon(const Isa& isa, int vector_bytes) {
  return std::make_unique<Neon>(isa, vector_bytes);
}

std::unique_ptr<Lowering> lower_for_sve2(const Isa& isa, int vector_bytes) {
  return std::make_unique<Sve2>(isa, vector_bytes);
}

}  // namespace ttlg::generate
