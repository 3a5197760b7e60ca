#include <gtest/gtest.h>

#include "sparse/tensor.hpp"
#include "sparse/transpose.hpp"

namespace ttlg::sparse {
namespace {

struct Checked {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::int32_t>> modes;
  std::vector<std::int32_t> rows;

  Problem problem() const {
    return {.extents = extents,
            .perm = {},
            .nonzeros = static_cast<std::int64_t>(modes.back().size()),
            .in_rows = !rows.empty()};
  }
  Input input() const {
    Input input;
    for (const auto& mode : modes) input.modes.push_back({mode.data(), false});
    if (!rows.empty()) {
      input.modes[0] = {};
      input.row_pointers = {rows.data(), false};
    }
    return input;
  }
  std::string fault() const {
    Problem checked = problem();
    checked.perm.resize(extents.size());
    return check(checked, input(), false, 2).fault;
  }
  bool in_order() const {
    Problem checked = problem();
    checked.perm.resize(extents.size());
    return check(checked, input(), true, 2).is_sorted;
  }
};

TEST(SparseCheck, NoFault) {
  EXPECT_EQ((Checked{{3, 4}, {{0, 1, 2}, {3, 0, 1}}, {}}.fault()), "");
  EXPECT_EQ((Checked{{3, 4}, {{}, {3, 0, 1}}, {0, 1, 1, 3}}.fault()), "");
  EXPECT_EQ((Checked{{0, 4}, {{}, {}}, {0}}.fault()), "");
}

TEST(SparseCheck, NamesTheCoordinate) {
  EXPECT_EQ((Checked{{3, 4}, {{0, 1, 2}, {3, 0, 4}}, {}}.fault()),
            "the coordinate of nonzero 2 in mode 1 is 4, and the extent there is 4");
  EXPECT_EQ((Checked{{3, 4}, {{0, -1, 2}, {3, 0, 1}}, {}}.fault()),
            "the coordinate of nonzero 1 in mode 0 is -1, and the extent there is 3");
  EXPECT_EQ((Checked{{3, 0}, {{0}, {0}}, {}}.fault()),
            "the coordinate of nonzero 0 in mode 1 is 0, and the extent there is 0");
}

TEST(SparseCheck, FindsOneAmongMany) {
  for (const std::size_t at : {0, 32767, 32768, 99999}) {
    Checked tensor{
        {10, 10}, {std::vector<std::int32_t>(100000), std::vector<std::int32_t>(100000)}, {}};
    tensor.modes[1][at] = 10;
    EXPECT_NE(tensor.fault().find("nonzero " + std::to_string(at) + " in mode 1 is 10"),
              std::string::npos);
  }
}

TEST(SparseCheck, NamesTheRowPointer) {
  EXPECT_EQ((Checked{{3, 4}, {{}, {1, 1}}, {1, 1, 1, 2}}.fault()),
            "row pointers begin with 1, not with 0");
  EXPECT_EQ((Checked{{3, 4}, {{}, {1, 1}}, {0, 1, 1, 3}}.fault()),
            "row pointers end with 3, and there are 2 nonzeros");
  EXPECT_EQ((Checked{{3, 4}, {{}, {1, 1}}, {0, 2, 1, 2}}.fault()),
            "row pointer 2 is 1, less than the one before, 2");
  EXPECT_EQ((Checked{{3, 4}, {{}, {1, 1}}, {0, -5, 1, 2}}.fault()),
            "row pointer 1 is -5, less than the one before, 0");
}

TEST(SparseCheck, Order) {
  EXPECT_TRUE((Checked{{3, 4}, {{0, 1, 1}, {3, 0, 0}}, {}}.in_order()));
  EXPECT_FALSE((Checked{{3, 4}, {{0, 1, 1}, {3, 1, 0}}, {}}.in_order()));
  EXPECT_FALSE((Checked{{3, 4}, {{1, 0, 2}, {0, 1, 2}}, {}}.in_order()));
  EXPECT_TRUE((Checked{{3, 4}, {{}, {3, 0, 1}}, {0, 1, 1, 3}}.in_order()));
  EXPECT_FALSE((Checked{{3, 4}, {{}, {3, 1, 0}}, {0, 1, 1, 3}}.in_order()));
}

TEST(SparseCheck, OrderBetweenBlocksAndShares) {
  for (const std::size_t at : {1, 511, 512, 513, 32768, 65536, 99999}) {
    Checked tensor{
        {100000, 1}, {std::vector<std::int32_t>(100000), std::vector<std::int32_t>(100000)}, {}};
    std::iota(tensor.modes[0].begin(), tensor.modes[0].end(), 0);
    EXPECT_TRUE(tensor.in_order());
    std::swap(tensor.modes[0][at], tensor.modes[0][at - 1]);
    EXPECT_FALSE(tensor.in_order()) << at;
  }
}

// More bits than a key has.
TEST(SparseCheck, OrderOfManyModes) {
  const std::vector<std::int64_t> extents(5, std::int64_t{1} << 30);
  Checked tensor{extents, std::vector(5, std::vector<std::int32_t>(40000, 5)), {}};
  EXPECT_TRUE(tensor.in_order());
  tensor.modes[4][33000] = 4;
  EXPECT_FALSE(tensor.in_order());
}

}  // namespace
}  // namespace ttlg::sparse
