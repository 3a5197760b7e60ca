// How programs are written for instruction sets: how many instructions they take, and tables of
// indices.
#include "generate/lowering.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "generate/choices.hpp"
#include "messages.hpp"

namespace ttlg::generate {
namespace {

using shuffle::kUndefined;

TEST(ByteIndex, RepeatsLanesForEachByte) {
  EXPECT_EQ(byte_index({2, kUndefined, 0}, 2), (ByteIndex{4, 5, kUndefined, kUndefined, 0, 1}));
  EXPECT_EQ(byte_index({1, 0}, 1), (ByteIndex{1, 0}));
}

TEST(Constants, AreKeptOnce) {
  Constants constants;
  EXPECT_EQ(constants.add(1, {1, kAny, 3}), "i0");
  EXPECT_EQ(constants.add(1, {1, 2, kAny}), "i0") << "numbers that may be any take others'";
  EXPECT_EQ(constants.add(1, {1, 7, 3}), "i1") << "which then are no longer any";
  EXPECT_EQ(constants.add(2, {1, 2, 3}), "i2") << "of other units";
  EXPECT_EQ(constants.add(4, {kAny}), "i3");
  EXPECT_EQ(constants.size(), 4U);
  EXPECT_EQ(constants.tables(),
            "  alignas(64) static const std::uint8_t kIndex0[3] = {\n      1, 2, 3};\n"
            "  alignas(64) static const std::uint8_t kIndex1[3] = {\n      1, 7, 3};\n"
            "  alignas(64) static const std::uint16_t kIndex2[3] = {\n      1, 2, 3};\n"
            "  alignas(64) static const std::uint32_t kIndex3[1] = {\n      0};\n");
  std::string names;
  constants.for_each([&](const std::string& name, const std::string& table) {
    names += name + " " + table + "\n";
  });
  EXPECT_EQ(names, "i0 kIndex0\ni1 kIndex1\ni2 kIndex2\ni3 kIndex3\n");
}

// A square of 32-bit elements: as many shuffles as the butterfly has, an instruction each, with no
// table.
void check_square(std::string_view name, int lanes, int shuffles) {
  const Isa& isa = find_isa(name);
  SCOPED_TRACE(name);
  const Choice choice = choose(test::matrix(lanes, lanes, 4), isa, {});
  const shuffle::Counts counts = shuffle::count(choice.program);
  EXPECT_EQ(choice.vector_bytes, 4 * lanes);
  EXPECT_EQ(counts.shuffles, shuffles);
  EXPECT_EQ(counts.self_shuffles, 0);
  EXPECT_EQ(counts.loads, lanes);
  EXPECT_EQ(counts.stores, lanes);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  for (const shuffle::Operation& each : choice.program.operations) {
    EXPECT_EQ(lowering->lower(choice.program, each).instructions, 1);
  }
  EXPECT_EQ(lowering->constants().size(), 0U);
  EXPECT_EQ(choice.instructions, 2 * lanes + shuffles);
}

TEST(Lowering, TakesAnInstructionForAShuffleOfASquare) {
  check_square("ssse3", 4, 8);
  check_square("avx2", 8, 24);
  check_square("avx512", 16, 64);
  check_square("avx512vbmi", 16, 64);
  check_square("neon", 4, 8);
  check_square("sve2-128", 4, 8);
  check_square("sve2-256", 8, 24);
  check_square("sve2-512", 16, 64);
}

// A program's one shuffle of registers of 16 bytes.
Lowered lower_shuffle(std::string_view isa, const std::vector<int>& index,
                      std::int64_t element_bytes, bool is_of_two = true) {
  shuffle::Program program{.lanes = static_cast<int>(index.size()),
                           .element_bytes = element_bytes,
                           .registers = 3,
                           .operations = {}};
  shuffle::Operation each{.kind = shuffle::Kind::shuffle, .index = index, .accesses = {}};
  each.target = 2;
  each.first = 0;
  if (is_of_two) each.second = 1;
  const auto bytes = static_cast<int>(program.lanes * element_bytes);
  return make_lowering(find_isa(isa), bytes)->lower(program, each);
}

TEST(Lowering, PicksTheInstructionOfAnIndex) {
  using test::expect_contains;
  const auto text = [](std::string_view isa, const std::vector<int>& index,
                       std::int64_t element_bytes, bool is_of_two = true) {
    return lower_shuffle(isa, index, element_bytes, is_of_two).text;
  };
  EXPECT_EQ(text("ssse3", {0, 4, 1, 5}, 4), "const __m128i r2 = _mm_unpacklo_epi32(r0, r1);\n");
  EXPECT_EQ(text("ssse3", {6, 2, 7, 3}, 4), "const __m128i r2 = _mm_unpackhi_epi32(r1, r0);\n");
  EXPECT_EQ(text("ssse3", {1, 2, 3, 4}, 4), "const __m128i r2 = _mm_alignr_epi8(r1, r0, 4);\n");
  EXPECT_EQ(text("ssse3", {1, 0, 3, 2}, 4, false),
            "const __m128i r2 = _mm_shuffle_epi32(r0, 0xb1);\n");
  EXPECT_EQ(text("ssse3", {0, 1, 2, 3}, 4, false), "const __m128i r2 = r0;\n");
  expect_contains(text("ssse3", {1, 3, 4, 6}, 4), "_mm_shuffle_ps");
  expect_contains(text("avx2", {0, 1, 4, 5}, 8), "_mm256_permute2x128_si256(r0, r1, 0x20)");
  expect_contains(text("avx2", {0, 5, 2, 7}, 8), "_mm256_blend_epi32(r0, r1, 0xcc)");
  expect_contains(text("avx2", {3, 2, 1, 0}, 8, false), "_mm256_permute4x64_epi64(r0, 0x1b)");
  expect_contains(text("avx512", {7, 0, 1, 2, 3, 4, 5, 6}, 8, false), "_mm512_permutexvar_epi64");
  expect_contains(text("avx512", {7, 0, 9, 2, 3, 4, 5, 6}, 8), "_mm512_permutex2var_epi64");
  EXPECT_EQ(text("neon", {0, 4, 2, 6}, 4),
            "const uint8x16_t r2 = vreinterpretq_u8_u32(vtrn1q_u32(vreinterpretq_u32_u8(r0), "
            "vreinterpretq_u32_u8(r1)));\n");
  expect_contains(text("neon", {1, 3, 5, 7}, 4), "vuzp2q_u32");
  expect_contains(text("neon", {3, 4, 5, 6}, 4), "vextq_u8(r0, r1, 12)");
  expect_contains(text("neon", {3, 0, 5, 6}, 4), "vqtbx1q_u8(vqtbl1q_u8(r0, i0), r1, i1)");
  expect_contains(text("sve2-256", {0, 8, 1, 9, 2, 10, 3, 11}, 4), "svzip1_u32");
  expect_contains(text("sve2-256", {0, 9, 2, 3, 4, 5, 6, 7}, 4), "svsel_u8");
}

TEST(Lowering, CountsWhatHasNoInstructionAsSeveral) {
  // Any 32-bit words of two registers.
  EXPECT_EQ(lower_shuffle("ssse3", {3, 4, 0, 5}, 4).instructions, 3) << "shuffle, shuffle, or";
  EXPECT_EQ(lower_shuffle("avx2", {7, 8, 0, 9, 1, 10, 2, 11}, 4).instructions, 3)
      << "permutation, permutation, blend";
  EXPECT_EQ(lower_shuffle("neon", {3, 4, 0, 5}, 4).instructions, 2) << "a lookup in each";
}

TEST(Isas, AreFoundByName) {
  for (const Isa& isa : isas()) EXPECT_EQ(&find_isa(isa.name), &isa);
  test::expect_contains(test::message_of([] { find_isa("mmx"); }), "isa='mmx'");
}

}  // namespace
}  // namespace ttlg::generate
